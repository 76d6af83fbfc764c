"""Wrong versions of the sliding-window transformer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from constructions.machines.attention_claims import histogram_checks
from constructions.machines.contexts import next_of
from constructions.machines.decoding_claims import decoding_checks, exact, order_checks
from constructions.machines.definitions import Token
from constructions.machines.halting_claims import halting_checks
from constructions.machines.matrices import MatrixTransformer, Vector, Vocabulary
from constructions.machines.mutants.parity import forgetful
from constructions.machines.window import ABSENT, Pending, window_transformer
from constructions.machines.window_claims import bound_checks, ready_checks, refresh_checks
from constructions.machines.window_theory import Code, Rules
from verify.claims import Check
from verify.mutants import mutant


def changed(change: Callable[[Any, int, Any], Any]) -> Callable[[Any], Any]:
    """A transformer whose next token is changed from label, parity (or ABSENT) and token."""

    def make(machine: Any) -> Any:
        right = window_transformer(machine)

        def rule(label: Any, seen: int) -> Any:
            return change(label, seen, right.rule(label, seen))

        return replace(right, rule=rule)

    return make


def no_bit(label: Any, seen: int, token: Any) -> Any:
    """No update bit: the first of two symbols drops a token too."""
    del label, seen
    return replace(token, update=0)


@mutant(of="machines.window.ready", breaks="rule")
def the_update_bit_is_missing() -> tuple[Check, ...]:
    """The first token of a two-symbol append slides the context."""
    rules = Rules(both="(tok (sym (o1 q p)) (P (dq q p) (o2 q p)) false)")
    return ready_checks(rules, Code(make=changed(no_bit)))


def no_refresh(label: Any, seen: int, token: Any) -> Any:
    """Where a marker is due, the last token's symbol kind is repeated as a plain symbol."""
    return Token(displayed="a", label=label, update=0) if seen == ABSENT else token


@mutant(of="machines.window.refresh", breaks="rule")
def the_marker_is_not_refreshed() -> tuple[Check, ...]:
    """Without a marker a plain symbol is emitted."""
    return refresh_checks(
        Rules(refresh="(tok (sym first) (newest c) false)"), Code(make=changed(no_refresh))
    )


def pending_grows(label: Any, seen: int, token: Any) -> Any:
    """The owed symbol is appended without dropping a token."""
    owed = isinstance(label, Pending) and seen != ABSENT
    return replace(token, update=1) if owed else token


@mutant(of="machines.window.bounds", breaks="rule")
def the_owed_symbol_grows_the_context() -> tuple[Check, ...]:
    """Both tokens of a two-symbol append grow the context."""
    return bound_checks(
        Rules(pending="(tok (sym (ps (newest c))) (N (pq (newest c))) true)"),
        Code(make=changed(pending_grows)),
    )


@mutant(of="machines.window.halting", breaks="rule")
def the_final_label_drops_the_parity() -> tuple[Check, ...]:
    """The final queue is read from a halting label that forgot r."""
    return halting_checks(make=forgetful)


@dataclass(frozen=True, slots=True, kw_only=True)
class WithoutMarker(MatrixTransformer[str]):
    """Attention over the symbols only: the marker has no share."""

    def attend(self, context: Any) -> Vector:
        """The mean over the tokens that show a symbol."""
        kept = [t for t in context if t.displayed != self.transformer.marker] or context
        middle = list(MatrixTransformer[str].attend(self, tuple(kept)))
        size = len(self.vocabulary.displayed)
        newest = self.vocabulary.embed(context[-1])
        return (*newest[:size], *middle[size : 2 * size], *newest[2 * size :])


@mutant(of="machines.window.histogram", breaks="construction")
def the_marker_is_left_out_of_the_histogram() -> tuple[Check, ...]:
    """The attention output is the histogram of the plain symbols."""
    return histogram_checks(make=lambda t, v: WithoutMarker(transformer=t, vocabulary=v))


@dataclass(frozen=True, slots=True, kw_only=True)
class WithoutBit(Vocabulary[str]):
    """Embeddings whose update block is zero."""

    def embed(self, token: Any) -> Vector:
        """The embedding without its last block."""
        return (*Vocabulary[str].embed(self, token)[:-2], Fraction(0), Fraction(0))


def without_bit(transformer: Any, vocabulary: Any) -> MatrixTransformer[str]:
    """A transformer that embeds no update bit."""
    blind = WithoutBit(displayed=vocabulary.displayed, labels=vocabulary.labels)
    return MatrixTransformer(transformer=transformer, vocabulary=blind)


TWO_BLOCKS = "(or (= j (place v)) (= j (+ n n (row v))))"


@mutant(of="machines.window.decodes", breaks="construction")
def a_block_of_the_embedding_is_dropped() -> tuple[Check, ...]:
    """Embeddings do not show the update bit, so two tokens tie."""
    return decoding_checks(TWO_BLOCKS, without_bit)


def oldest_matters(transformer: Any, context: Any) -> Any:
    """A map that looks at the oldest token."""
    token = next_of(transformer, context)
    return replace(token, update=1) if context[0].displayed == "b" else token


@mutant(of="machines.window.permutation", breaks="rule")
def the_oldest_token_matters() -> tuple[Check, ...]:
    """The update bit depends on the oldest token."""
    return order_checks(oldest_matters)


# --- wrong on machines that no theory is evaluated on ----------------------------------------

EVALUATED = frozenset({"family 3", "family 11"})
"""Machines on whose transformers the theories' axioms are evaluated."""


def on_others(wrong: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """The right transformer of the machines that theories are evaluated on, a wrong one else."""
    return lambda machine: (window_transformer if machine.name in EVALUATED else wrong)(machine)


@mutant(of="machines.window.ready", breaks="rule", name="others")
def the_update_bit_is_missing_on_others() -> tuple[Check, ...]:
    """The first token of a two-symbol append slides the context, but for two machines."""
    return ready_checks(code=Code(make=on_others(changed(no_bit))))


@mutant(of="machines.window.refresh", breaks="rule", name="others")
def the_marker_is_not_refreshed_on_others() -> tuple[Check, ...]:
    """Without a marker a plain symbol is emitted, but for two machines."""
    return refresh_checks(code=Code(make=on_others(changed(no_refresh))))


@mutant(of="machines.window.bounds", breaks="rule", name="others")
def the_owed_symbol_grows_the_context_on_others() -> tuple[Check, ...]:
    """Both tokens of a two-symbol append grow the context, but for two machines."""
    return bound_checks(code=Code(make=on_others(changed(pending_grows))))


def without_marker(transformer: Any, vocabulary: Any) -> MatrixTransformer[str]:
    """A transformer that attends to no marker."""
    return WithoutMarker(transformer=transformer, vocabulary=vocabulary)


def exact_on_some(
    wrong: Callable[[Any, Any], MatrixTransformer[str]],
) -> Callable[[Any, Any], MatrixTransformer[str]]:
    """The right matrices for the machines that theories are evaluated on, wrong ones else."""

    def make(transformer: Any, vocabulary: Any) -> MatrixTransformer[str]:
        right = transformer.machine.name in EVALUATED
        return (exact if right else wrong)(transformer, vocabulary)

    return make


@mutant(of="machines.window.histogram", breaks="construction", name="others")
def the_marker_is_left_out_of_the_histogram_on_others() -> tuple[Check, ...]:
    """The attention output is the histogram of the plain symbols, but for two machines."""
    return histogram_checks(make=exact_on_some(without_marker))


@mutant(of="machines.window.decodes", breaks="construction", name="others")
def a_block_of_the_embedding_is_dropped_on_others() -> tuple[Check, ...]:
    """Embeddings do not show the update bit, but for two machines."""
    return decoding_checks(make=exact_on_some(without_bit))


def oldest_matters_on_others(transformer: Any, context: Any) -> Any:
    """A map that looks at the oldest token, but for the machines of the theories."""
    right = transformer.machine.name in EVALUATED
    return (next_of if right else oldest_matters)(transformer, context)


@mutant(of="machines.window.permutation", breaks="rule", name="others")
def the_oldest_token_matters_on_others() -> tuple[Check, ...]:
    """The update bit depends on the oldest token, but for two machines."""
    return order_checks(oldest_matters_on_others)
