"""A family of parity-HIST machines on two symbols, and contexts on which G is checked one by one.

Machine n of 18 steps from state p or q at parity mask m to choice number

    (n + 5 m + 7 [state is q]) mod 18

among all pairs of a next state (p, q, halt) and an appended word (a, b, aa, ab, ba, bb), in this
order; so over the family every step occurs at every state and parity.

Source: Sliding-Window Transformers Without Positional Encodings, Appendix A.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any

from constructions.machines import definitions
from constructions.machines.definitions import (
    MachineError,
    ParityHistMachine,
    Token,
    Word,
    markers,
    parity_mask,
    sem,
)
from constructions.machines.matrices import MatrixTransformer, Vocabulary
from constructions.machines.readings import (
    ALPHABET,
    MARKER,
    Context,
    displayed_text,
    words_up_to,
)
from constructions.machines.window import (
    Normal,
    Pending,
    WindowLabel,
    WindowToken,
    WindowTransformer,
    window_transformer,
)
from verify.counterexamples import Counterexample
from verify.ranges import Range
from verify.verdicts import Json

HALT = "halt"
_STATES = ("p", "q", HALT)
CHOICES: tuple[tuple[str, Word], ...] = tuple(
    itertools.product(_STATES, [word for word in words_up_to(ALPHABET, 2) if word])
)


def hist_machine_number(number: int) -> ParityHistMachine[str]:
    """Machine `number` of the family."""

    def rule(state: str, mask: int) -> tuple[str, Word]:
        return CHOICES[(number + 5 * mask + 7 * (state == "q")) % len(CHOICES)]

    return ParityHistMachine(
        name=f"family {number}",
        alphabet=ALPHABET,
        start="p",
        is_halting=lambda state: state == HALT,
        rule=rule,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextCase:
    """A machine of the family, the displayed symbols of a context and the state in its label."""

    number: int
    displayed: Word
    state: str

    @property
    def context(self) -> Context:
        """The context; all its tokens are labelled alike, only the newest label is read."""
        label: WindowLabel[Any] = Normal(state=self.state)
        return tuple(Token(displayed=d, label=label, update=0) for d in self.displayed)

    def as_json(self) -> dict[str, Json]:
        """The case as certificates and counterexamples name it."""
        return {
            "machine": self.number,
            "displayed": " ".join(self.displayed),
            "state": self.state,
        }


def context_range(length: int, *, marked: bool, states: Word = ("p", "q")) -> Range:
    """All words up to a length, with one marker anywhere or with none, for all 18 machines."""
    return Range(
        bound=f"18 parity-HIST machines on two symbols in which every step occurs, states "
        f"{', '.join(states)}, all windows of at most {length} symbols, "
        + ("the marker at every place" if marked else "no marker"),
        over=lambda: _cases(length, marked, states),
    )


def _cases(length: int, marked: bool, states: Word) -> Iterator[ContextCase]:
    for word in words_up_to(ALPHABET, length):
        shown = [
            (*word[:place], MARKER, *word[place:]) for place in range(len(word) + 1) if marked
        ] or [word]
        for displayed, state, number in itertools.product(shown, states, range(len(CHOICES))):
            if displayed:
                yield ContextCase(number=number, displayed=displayed, state=state)


Maker = Callable[[ParityHistMachine[str]], WindowTransformer[str]]


def next_of(transformer: WindowTransformer[Any], context: Context) -> WindowToken[Any]:
    """G of a context, from its displayed counts and its newest label."""
    shown = displayed_text(context)
    counts = [shown.count(symbol) for symbol in transformer.displayed]
    return transformer.next_token(context[-1].label, counts)


def label_text(label: WindowLabel[Any]) -> str:
    """`N q` or `P q s`."""
    if isinstance(label, Pending):
        return f"P {label.state} {label.symbol}"
    return f"N {label.state}"


def token_text(token: WindowToken[Any]) -> list[Json]:
    """A token as certificates show it: displayed symbol, label, update bit."""
    return [token.displayed, label_text(token.label), token.update]


def context_failure(case: ContextCase, text: str) -> Counterexample:
    """The case as a counterexample."""
    return Counterexample(
        text=f"machine {case.number} of the family in state {case.state} on the context "
        f"{' '.join(case.displayed)}: {text}",
        instance=case.as_json(),
    )


def one_step(transformer: WindowTransformer[str], case: ContextCase) -> tuple[Context, ...]:
    """The contexts from a case's, up to the end of one HIST step or refresh."""
    context = case.context
    path = [context]
    for _ in range(2):
        token = next_of(transformer, context)
        context = definitions.slide(context, token)
        path.append(context)
        if isinstance(token.label, Normal):
            break
    return tuple(path)


def ready_fails(make: Maker = window_transformer) -> Callable[[ContextCase], Counterexample | None]:
    """The obligation that a ready context steps to ready or refresh form of the next window."""

    def holds(case: ContextCase) -> Counterexample | None:
        machine = hist_machine_number(case.number)
        word = sem(case.context, MARKER)
        step = machine.transition(case.state, parity_mask(ALPHABET, word))
        full = word + step.appended
        try:
            path = one_step(make(machine), case)
        except MachineError as error:
            return context_failure(case, str(error))
        last = path[-1]
        found = (markers(last, MARKER), sem(last, MARKER), last[-1].label)
        forms = ((1, full[1:], Normal(state=step.state)), (0, full, Normal(state=step.state)))
        if found in forms and len(path) == len(step.appended) + 1:
            return None
        return context_failure(
            case,
            f"the window {''.join(full[1:])} of state {step.state} is required, after "
            f"{len(path) - 1} tokens the context shows {' '.join(displayed_text(last))} with the "
            f"label {label_text(last[-1].label)}",
        )

    return holds


def refresh_fails(
    make: Maker = window_transformer,
) -> Callable[[ContextCase], Counterexample | None]:
    """The obligation that a context without marker goes to ready form of its tail."""

    def holds(case: ContextCase) -> Counterexample | None:
        word = sem(case.context, MARKER)
        try:
            last = one_step(make(hist_machine_number(case.number)), case)[1]
        except MachineError as error:
            return context_failure(case, str(error))
        found = (markers(last, MARKER), sem(last, MARKER), last[-1].label)
        if found == (1, word[1:], Normal(state=case.state)):
            return None
        return context_failure(
            case,
            f"one marker and the window {''.join(word[1:])} are required, the context shows "
            f"{' '.join(displayed_text(last))} with the label {label_text(last[-1].label)}",
        )

    return holds


def step_exhibit(case: ContextCase) -> Json:
    """Kind `context`: the case, the tokens of its step, what the context displays afterwards."""
    path = one_step(window_transformer(hist_machine_number(case.number)), case)
    return {
        **case.as_json(),
        "tokens": [token_text(context[-1]) for context in path[1:]],
        "after": " ".join(displayed_text(path[-1])),
    }


# --- attention, decoding, order --------------------------------------------------------------

Exact = Callable[[WindowTransformer[str], Vocabulary[str]], MatrixTransformer[str]]
Choose = Callable[[WindowTransformer[str], Context], WindowToken[str]]


def exact(
    transformer: WindowTransformer[str], vocabulary: Vocabulary[str]
) -> MatrixTransformer[str]:
    """The transformer in exact matrices."""
    return MatrixTransformer(transformer=transformer, vocabulary=vocabulary)


@lru_cache(maxsize=32)
def whole_vocabulary(number: int) -> tuple[WindowTransformer[str], Vocabulary[str]]:
    """A family machine's transformer and its vocabulary: 3 symbols, 9 labels, 2 update bits."""
    transformer = window_transformer(hist_machine_number(number))
    labels: list[WindowLabel[str]] = [Normal(state=state) for state in _STATES]
    labels += [Pending(state=state, symbol=symbol) for state in _STATES for symbol in ALPHABET]
    return transformer, Vocabulary(displayed=transformer.displayed, labels=tuple(labels))


def histogram_fails(make: Exact = exact) -> Callable[[ContextCase], Counterexample | None]:
    """The obligation that attention is the normalised histogram and leaves the rest as it was.

    With one marker the ratios to the marker's mass are the counts.
    """

    def holds(case: ContextCase) -> Counterexample | None:
        transformer, vocabulary = whole_vocabulary(case.number)
        model, context = make(transformer, vocabulary), case.context
        size, shown = len(vocabulary.displayed), displayed_text(context)
        counts = tuple(shown.count(symbol) for symbol in vocabulary.displayed)
        required = [Fraction(entry) for entry in vocabulary.embed(context[-1])]
        required[size : 2 * size] = [Fraction(count, len(context)) for count in counts]
        middle = model.attend(context)
        if list(middle) != required:
            return context_failure(
                case,
                f"counts {counts} over {len(context)} tokens are required in the histogram block, "
                f"({', '.join(map(str, middle[size : 2 * size]))}) came",
            )
        if counts[-1] == 1 and model.counts(middle) != counts:
            return context_failure(case, f"ratios must be {counts}, got {model.counts(middle)}")
        return None

    return holds


def histogram_exhibit(case: ContextCase) -> Json:
    """Kind `context`: the case and its normalised histogram, marker last."""
    transformer, vocabulary = whole_vocabulary(case.number)
    size = len(vocabulary.displayed)
    middle = exact(transformer, vocabulary).attend(case.context)
    return {**case.as_json(), "histogram": " ".join(map(str, middle[size : 2 * size]))}


def decoding_fails(make: Exact = exact) -> Callable[[ContextCase], Counterexample | None]:
    """The obligation that the argmax over the whole vocabulary is unique and equals G."""

    def holds(case: ContextCase) -> Counterexample | None:
        transformer, vocabulary = whole_vocabulary(case.number)
        required = next_of(transformer, case.context)
        try:
            came = make(transformer, vocabulary).next_token(case.context)
        except MachineError as error:
            return context_failure(case, str(error))
        if came == required:
            return None
        return context_failure(case, f"G is {token_text(required)}, the argmax {token_text(came)}")

    return holds


def order_fails(choose: Choose = next_of) -> Callable[[ContextCase], Counterexample | None]:
    """The obligation that no order of all but the newest token changes the next token."""

    def holds(case: ContextCase) -> Counterexample | None:
        transformer, _ = whole_vocabulary(case.number)
        *older, newest = case.context
        required = choose(transformer, case.context)
        for order in sorted(set(itertools.permutations([token.displayed for token in older]))):
            context = (*(replace(newest, displayed=d) for d in order), newest)
            came = choose(transformer, context)
            if came != required:
                return context_failure(
                    case,
                    f"the next token is {token_text(required)}, in the order "
                    f"{' '.join(displayed_text(context))} it is {token_text(came)}",
                )
        return None

    return holds


def next_exhibit(case: ContextCase) -> Json:
    """Kind `context`: the case and its next token."""
    transformer, _ = whole_vocabulary(case.number)
    return {**case.as_json(), "next": token_text(next_of(transformer, case.context))}
