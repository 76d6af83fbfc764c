"""Each machine claim with one thing wrong: every twin is to be refuted by its instance check."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from constructions.machines import parity
from constructions.machines.attention_claims import histogram_checks
from constructions.machines.chain_claims import chain_checks
from constructions.machines.contexts import next_of
from constructions.machines.decoding_claims import decoding_checks, order_checks
from constructions.machines.definitions import Token, parity_mask
from constructions.machines.halting_claims import halting_checks
from constructions.machines.matrices import MatrixTransformer, Vector, Vocabulary
from constructions.machines.parity import parity_machine
from constructions.machines.parity_claims import recovery_checks, step_checks
from constructions.machines.readings import Reading
from constructions.machines.simulate import Constructions
from constructions.machines.turing import HALT, Phase, TuringQueue
from constructions.machines.turing_claims import length_bound, queue_checks, steps_bound
from constructions.machines.window import ABSENT, Pending, window_transformer
from constructions.machines.window_claims import bound_checks, ready_checks, refresh_checks
from constructions.machines.window_theory import Code, Rules
from constructions.machines.words import law_checks
from verify.claims import Check, Claim, Source, claim
from verify.verdicts import Status

PAPER = "sliding-window-without-pe"


def twin(name: str, where: str) -> Callable[[Callable[[], tuple[Check, ...]]], Claim]:
    """The claim of a wrong construction."""
    return claim(
        id=f"twin.machines.{name}",
        source=Source(PAPER, where),
        latex="",
        scope="as the claim it is a twin of",
        expected=Status.REFUTED,
    )


# --- words -----------------------------------------------------------------------------------

KEPT_MARKERS = Reading(sem=lambda context, _: tuple([t.displayed for t in context]))
SEM_WITH_MARKERS = "(wcons (symof (disp t)) (sem c))"


@twin("words.laws", "Section 5")
def sem_keeps_the_markers() -> tuple[Check, ...]:
    """sem shows every displayed symbol, the marker too."""
    return law_checks(sem_rule=SEM_WITH_MARKERS, reading=KEPT_MARKERS)


# --- Theorem 7 -------------------------------------------------------------------------------


def next_symbol(machine: Any, stored: Any, seen: int) -> str:
    """The symbol behind the recovered one in the alphabet."""
    found = parity.recovered(machine, stored, seen)
    if stored.first:
        return found
    return machine.alphabet[(machine.alphabet.index(found) + 1) % len(machine.alphabet)]


@twin("parity.recovers", "Theorem 7")
def the_wrong_bit_is_named() -> tuple[Check, ...]:
    """The parities name the symbol behind the dropped one."""
    return recovery_checks(naming=next_symbol)


def first_symbol_only(machine: Any) -> Any:
    """A parity-HIST machine that forgets the second appended symbol in r."""
    right = parity_machine(machine)

    def rule(stored: Any, seen: int) -> Any:
        state, word = right.rule(stored, seen)
        return replace(state, parity=seen ^ parity_mask(machine.alphabet, word[:1])), word

    return replace(right, rule=rule)


KEPT_FIRST_ONLY = "(xor (has p y) (= y (o1 q s)))"


@twin("parity.step", "Theorem 7")
def two_symbols_update_one_parity() -> tuple[Check, ...]:
    """On a two-symbol append only the first symbol enters r."""
    return step_checks(KEPT_FIRST_ONLY, first_symbol_only)


def forgetful(machine: Any) -> Any:
    """A parity-HIST machine whose halting state drops r, as the paper's does."""
    right = parity_machine(machine)

    def rule(stored: Any, seen: int) -> Any:
        state, word = right.rule(stored, seen)
        return (replace(state, parity=0) if right.is_halting(state) else state), word

    return replace(right, rule=rule)


@twin("parity.halting", "Theorem 7")
def the_halting_state_drops_the_parity() -> tuple[Check, ...]:
    """The halting state forgets the stored parity."""
    return step_checks(make=forgetful)


# --- Theorem 9 -------------------------------------------------------------------------------


def changed(change: Callable[[Any, int, Any], Any]) -> Callable[[Any], Any]:
    """A transformer whose next token is changed from label, parity (or ABSENT) and token."""

    def make(machine: Any) -> Any:
        right = window_transformer(machine)
        return replace(right, rule=lambda label, seen: change(label, seen, right.rule(label, seen)))

    return make


def no_bit(label: Any, seen: int, token: Any) -> Any:
    """No update bit: the first of two symbols drops a token too."""
    del label, seen
    return replace(token, update=0)


@twin("window.ready", "Appendix A")
def the_update_bit_is_missing() -> tuple[Check, ...]:
    """The first token of a two-symbol append slides the context."""
    rules = Rules(both="(tok (sym (o1 q p)) (P (dq q p) (o2 q p)) false)")
    return ready_checks(rules, Code(make=changed(no_bit)))


def no_refresh(label: Any, seen: int, token: Any) -> Any:
    """Where a marker is due, the last token's symbol kind is repeated as a plain symbol."""
    return Token(displayed="a", label=label, update=0) if seen == ABSENT else token


@twin("window.refresh", "Appendix A")
def the_marker_is_not_refreshed() -> tuple[Check, ...]:
    """Without a marker a plain symbol is emitted."""
    return refresh_checks(
        Rules(refresh="(tok (sym first) (newest c) false)"), Code(make=changed(no_refresh))
    )


def pending_grows(label: Any, seen: int, token: Any) -> Any:
    """The owed symbol is appended without dropping a token."""
    owed = isinstance(label, Pending) and seen != ABSENT
    return replace(token, update=1) if owed else token


@twin("window.bounds", "Theorem 9")
def the_owed_symbol_grows_the_context() -> tuple[Check, ...]:
    """Both tokens of a two-symbol append grow the context."""
    return bound_checks(
        Rules(pending="(tok (sym (ps (newest c))) (N (pq (newest c))) true)"),
        Code(make=changed(pending_grows)),
    )


@twin("window.halting", "Appendix A, halting")
def the_final_label_drops_the_parity() -> tuple[Check, ...]:
    """The final queue is read from a halting label that forgot r."""
    return halting_checks(make=forgetful)


@dataclass(frozen=True, slots=True, kw_only=True)
class WithoutMarker(MatrixTransformer[str]):
    """Attention over the symbols only: the marker has no share."""

    def attend(self, context: Any) -> Vector:
        """The mean over the tokens that show a symbol."""
        kept = [t for t in context if t.displayed != self.transformer.marker] or context
        middle = list(MatrixTransformer.attend(self, tuple(kept)))
        size = len(self.vocabulary.displayed)
        newest = self.vocabulary.embed(context[-1])
        return (*newest[:size], *middle[size : 2 * size], *newest[2 * size :])


@twin("window.histogram", "Section 5")
def the_marker_is_left_out_of_the_histogram() -> tuple[Check, ...]:
    """The attention output is the histogram of the plain symbols."""
    return histogram_checks(make=lambda t, v: WithoutMarker(transformer=t, vocabulary=v))


@dataclass(frozen=True, slots=True, kw_only=True)
class WithoutBit(Vocabulary[str]):
    """Embeddings whose update block is zero."""

    def embed(self, token: Any) -> Vector:
        """emb without its last block."""
        return (*Vocabulary.embed(self, token)[:-2], Fraction(0), Fraction(0))


def without_bit(transformer: Any, vocabulary: Any) -> MatrixTransformer[str]:
    """A transformer that embeds no update bit."""
    blind = WithoutBit(displayed=vocabulary.displayed, labels=vocabulary.labels)
    return MatrixTransformer(transformer=transformer, vocabulary=blind)


TWO_BLOCKS = "(or (= j (place v)) (= j (+ n n (row v))))"


@twin("window.decodes", "Appendix A")
def a_block_of_the_embedding_is_dropped() -> tuple[Check, ...]:
    """Embeddings do not show the update bit, so two tokens tie."""
    return decoding_checks(TWO_BLOCKS, without_bit)


def oldest_matters(transformer: Any, context: Any) -> Any:
    """A map that looks at the oldest token."""
    token = next_of(transformer, context)
    return replace(token, update=1) if context[0].displayed == "b" else token


@twin("window.permutation", "Remark 3")
def the_oldest_token_matters() -> tuple[Check, ...]:
    """The update bit depends on the oldest token."""
    return order_checks(oldest_matters)


# --- Theorem 6 -------------------------------------------------------------------------------


def no_growth(source: TuringQueue) -> Any:
    """A queue machine that appends no blank where the head leaves the tape on the left."""
    right = source.queue_machine()

    def rule(control: Any, symbol: str) -> Any:
        target, word = right.rule(control, symbol)
        grows = control.phase is Phase.SCAN and len(word) > 1 and target != HALT
        return target, word[1:] if grows else word

    return replace(right, rule=rule)


@twin("turing.queue", "Theorem 6")
def the_growth_blank_is_dropped() -> tuple[Check, ...]:
    """A step to the left of the separator appends one symbol only."""
    return queue_checks(Constructions(queue=no_growth))


@twin("turing.steps", "Theorem 6")
def a_rotation_is_one_pop_shorter() -> tuple[Check, ...]:
    """At most t (s - 1) + 2 queue steps."""
    return queue_checks(steps=lambda rules, space: steps_bound(rules, space - 3))


@twin("turing.length", "Theorem 6")
def the_queue_is_one_symbol_shorter() -> tuple[Check, ...]:
    """At most s + 1 symbols in the queue."""
    return queue_checks(length=lambda space: length_bound(space) - 1)


# --- Corollary 10 ----------------------------------------------------------------------------


def grows_when_it_refreshes(machine: Any) -> Any:
    """A transformer that keeps the oldest token when it brings the marker back."""
    right = window_transformer(machine)

    def rule(label: Any, seen: int) -> Any:
        token = right.rule(label, seen)
        return replace(token, update=1) if seen == ABSENT else token

    return replace(right, rule=rule)


@twin("chain", "Corollary 10")
def the_marker_is_brought_back_without_sliding() -> tuple[Check, ...]:
    """The refresh does not remove the oldest token."""
    return chain_checks(Constructions(window=grows_when_it_refreshes))
