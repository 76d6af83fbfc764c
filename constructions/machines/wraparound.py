"""Remark 5 made exact: with sums mod 2 in place of means, one bit per displayed symbol is enough.

    bits (C, d)     XOR over the context's one-hot vectors, at the coordinate of d
                    = parity of sem(C) at a symbol, number of markers mod 2 at the marker

With at most one marker the marker's bit is its presence, so the bits and the newest label determine
the next token. A primitive that adds over F_2 needs no precision that grows with the window.

Source: Sliding-Window Transformers Without Positional Encodings, Remark 5.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from constructions.machines.contexts import (
    CHOICES,
    ContextCase,
    context_failure,
    hist_machine_number,
    next_of,
    token_text,
)
from constructions.machines.definitions import markers, parity_mask, parity_mask_of, sem
from constructions.machines.readings import (
    ALPHABET,
    MARKER,
    displayed_text,
    graded,
    word_sorts,
    word_symbols,
    words_up_to,
)
from constructions.machines.window import (
    ABSENT,
    WindowLabel,
    WindowToken,
    WindowTransformer,
    window_transformer,
)
from constructions.machines.words import (
    INDUCTION_CONSTANTS,
    MARKS_SIGN,
    PAPER,
    WORDS,
    Law,
    axioms_of,
    context_definitions,
    word_definitions,
)
from verify.claims import Check, Source, claim, covers, supports
from verify.counterexamples import Counterexample
from verify.facts import INDUCTION
from verify.methods.exhaustive import Exhaustive
from verify.methods.smt import Smt
from verify.ranges import Range
from verify.smtlib import Axiom, Goal, Theory, World
from verify.verdicts import Json, Status

Bits = Callable[[Sequence[str], Sequence[str]], tuple[int, ...]]
"""The bits of displayed symbols, by coordinate; a mutant puts a wrong one in."""


def xor_of_one_hots(coordinates: Sequence[str], displayed: Iterable[str]) -> tuple[int, ...]:
    """The sum over F_2 of one one-hot vector per token: a bit for each coordinate."""
    bits = (0,) * len(coordinates)
    for symbol in displayed:
        bits = tuple(bit ^ (symbol == other) for bit, other in zip(bits, coordinates, strict=True))
    return bits


def token_of_bits(
    transformer: WindowTransformer[str], label: WindowLabel[str], bits: Sequence[int]
) -> WindowToken[str]:
    """G from the newest label and the bits alone, the marker's bit last."""
    return transformer.rule(label, parity_mask_of(bits[:-1]) if bits[-1] else ABSENT)


Read = Callable[[WindowTransformer[str], WindowLabel[str], Sequence[int]], WindowToken[str]]
"""The next token by the newest label and the bits."""


# --- theory ----------------------------------------------------------------------------------

_WRAPAROUND = """
(declare-sort Par 0)
(declare-fun bits (Ctx Disp) Bool) (declare-fun has (Par Sym) Bool) (declare-fun pty (Word) Par)
(declare-fun g (Lab Par Bool) Tok) (declare-fun G (Ctx) Tok)
(declare-const c1 Ctx)
"""
FLIP_RULE = "(xor (= (disp t) d) (bits c d))"
"""The bits of the context t c at d; a mutant replaces it."""

BITS_SEM = Law(
    name="bits of symbols",
    over="Ctx",
    others="(y Sym)",
    body="(= (bits {x} (sym y)) (odd (sem {x}) y))",
    pattern="(bits {x} (sym y))",
    gloss="the bit of a symbol is the parity of sem",
)
BITS_MARKS = Law(
    name="bit of the marker",
    over="Ctx",
    body="(= (bits {x} mark) (= (mod (marks {x}) 2) 1))",
    pattern="(bits {x} mark)",
    gloss="the bit of the marker is the number of markers mod 2",
)
_FEW = "(<= (marks {c}) 1)"
_PRESENCE = "(= (bits {c} mark) (= (marks {c}) 1))"
_ALIKE = """(and (distinct c0 cnil) (distinct c1 cnil) (= (newest c0) (newest c1))
  (forall ((d Disp)) (! (= (bits c0 d) (bits c1 d)) :pattern ((bits c0 d)))))"""
_SAME_PARITY = "(= (pty (sem c0)) (pty (sem c1)))"

Worlds = Callable[[], Iterable[World]]


def _theory(name: str, axioms: Sequence[Axiom], worlds: Worlds) -> Theory:
    return Theory(
        name=name,
        declarations=WORDS + INDUCTION_CONSTANTS + _WRAPAROUND,
        axioms=tuple(axioms),
        worlds=worlds,
    )


_PARITIES = (
    Axiom(
        "parity",
        "(forall ((w Word) (y Sym)) (! (= (has (pty w) y) (odd w y)) :pattern ((has (pty w) y))))",
        "the parity of a word at a symbol",
    ),
    Axiom(
        "extensional",
        """(forall ((w Word) (x Word)) (! (=> (forall ((y Sym)) (= (has (pty w) y) (has (pty x) y)))
          (= (pty w) (pty x))) :pattern ((pty w) (pty x))))""",
        "parities with equal bits are equal",
    ),
)
_MAP = Axiom(
    "map",
    """(forall ((c Ctx)) (! (=> (and (distinct c cnil) (<= (marks c) 1))
      (= (G c) (g (newest c) (pty (sem c)) (= (marks c) 1)))) :pattern ((G c))))""",
    "G reads the newest label, the parity of sem and whether the marker is there",
)


def wraparound_goals(worlds: Worlds, flip_rule: str = FLIP_RULE) -> tuple[Goal, ...]:
    """The bits by induction over the context; then the next token is a function of them."""
    bits = _theory(
        "sums mod 2",
        (
            *word_definitions(),
            *context_definitions(),
            Axiom("no bits", "(forall ((d Disp)) (not (bits cnil d)))", "an empty sum"),
            Axiom(
                "bits",
                f"""(forall ((t Tok) (c Ctx) (d Disp)) (! (= (bits (ccons t c) d) {flip_rule})
                  :pattern ((bits (ccons t c) d))))""",
                "a token flips the bit of what it displays",
            ),
        ),
        worlds,
    )
    laws = axioms_of(BITS_SEM, BITS_MARKS, MARKS_SIGN)
    alike = _theory("equal bits", (*laws, *_PARITIES), worlds)
    presence = tuple(_PRESENCE.format(c=context) for context in ("c0", "c1"))
    few = tuple(_FEW.format(c=context) for context in ("c0", "c1"))
    return (
        *BITS_SEM.goals(bits),
        *BITS_MARKS.goals(bits),
        Goal(
            name="the marker's bit is its presence",
            theory=_theory("markers", laws, worlds),
            assumptions=(_FEW.format(c="c0"),),
            conclusion=_PRESENCE.format(c="c0"),
        ),
        Goal(
            name="equal bits are equal parities",
            theory=alike,
            assumptions=(_ALIKE,),
            conclusion=_SAME_PARITY,
        ),
        Goal(
            name="label and bits determine the next token",
            theory=_theory("map", (_MAP,), worlds),
            role="conclusion",
            assumptions=(*few, _ALIKE, _SAME_PARITY, *presence),
            conclusion="(= (G c0) (G c1))",
        ),
    )


def wraparound_worlds(bits: Bits) -> Iterator[World]:
    """A machine of the family and its map on short contexts."""
    transformer = window_transformer(hist_machine_number(3))
    sorts, coordinates = word_sorts(), (*ALPHABET, MARKER)
    yield World(
        sorts={**sorts, "Par": range(1 << len(ALPHABET))},
        symbols={
            **word_symbols(),
            "bits": lambda c, d: bool(bits(coordinates, displayed_text(c))[coordinates.index(d)]),
            "has": lambda mask, y: bool(mask >> ALPHABET.index(y) & 1),
            "pty": lambda w: parity_mask(ALPHABET, w),
            "g": lambda label, seen, here: transformer.rule(label, seen if here else ABSENT),
            "G": lambda c: next_of(transformer, c),
        },
        free={
            "w0": sorts["Word"],
            "s0": sorts["Sym"],
            "c0": sorts["Ctx"],
            "t0": sorts["Tok"],
            "c1": sorts["Ctx"],
        },
    )


# --- instances -------------------------------------------------------------------------------


def wraparound_fails(
    bits: Bits, read: Read = token_of_bits
) -> Callable[[ContextCase], Counterexample | None]:
    """The obligation that bits are parities, and with at most one marker give the next token."""

    def holds(case: ContextCase) -> Counterexample | None:
        word = sem(case.context, MARKER)
        marked = markers(case.context, MARKER)
        required = (*(word.count(symbol) % 2 for symbol in ALPHABET), marked % 2)
        came = bits((*ALPHABET, MARKER), case.displayed)
        if came != required:
            return context_failure(case, f"the bits {required} are required, {came} came")
        if marked > 1:
            return None
        transformer = window_transformer(hist_machine_number(case.number))
        asked = next_of(transformer, case.context)
        found = read(transformer, case.context[-1].label, came)
        if found == asked:
            return None
        return context_failure(
            case, f"the next token is {token_text(asked)}, the bits give {token_text(found)}"
        )

    return holds


def wraparound_exhibit(case: ContextCase) -> Json:
    """Kind `wraparound`: the case and its bits, with at most one marker also the next token."""
    bits = xor_of_one_hots((*ALPHABET, MARKER), case.displayed)
    shown: dict[str, Json] = {**case.as_json(), "bits": list(bits)}
    if markers(case.context, MARKER) <= 1:
        transformer = window_transformer(hist_machine_number(case.number))
        token = token_of_bits(transformer, case.context[-1].label, bits)
        shown["next"] = token_text(token)
    return shown


def _range(length: int) -> Range:
    return Range(
        bound=f"all contexts of at most {length} tokens over two symbols and the marker, for "
        f"{len(CHOICES)} parity-HIST machines on two symbols in which every step occurs",
        over=lambda: (
            ContextCase(number=number, displayed=displayed, state=state)
            for displayed in words_up_to((*ALPHABET, MARKER), length)
            if displayed
            for state in ("p", "q")
            for number in range(len(CHOICES))
        ),
    )


# --- claims ----------------------------------------------------------------------------------


def wraparound_checks(
    flip_rule: str = FLIP_RULE, bits: Bits = xor_of_one_hots, *, read: Read = token_of_bits
) -> tuple[Check, ...]:
    """The for-all proof, and every short context."""
    return (
        covers(
            Smt(
                goals=lambda: wraparound_goals(lambda: wraparound_worlds(bits), flip_rule),
                instances="all alphabets, contexts and parity-HIST machines",
                leans_on=(INDUCTION,),
            )
        ),
        supports(
            Exhaustive(
                holds=wraparound_fails(bits, read),
                ranges=graded(_range, 2, 4, 6),
                rechecked_as="wraparound",
                exhibit=wraparound_exhibit,
                leans_on=(),
            )
        ),
    )


@claim(
    id="machines.precision.wraparound",
    source=Source(PAPER, "Remark 5"),
    latex=r"\bigoplus_{v \in C} \mathbf e_{\tau(v)} = (\Pi(\mathsf{sem}(C)), \#_C \bmod 2),\quad"
    r" \#_C \le 1 \implies G(C) = g(r_m, \textstyle\bigoplus_{v \in C} \mathbf e_{\tau(v)})",
    scope="all alphabets, contexts and parity-HIST machines; the next token for contexts with at "
    "most one marker",
    uses=("machines.words.laws",),
    expected=Status.PROVED,
)
def sums_mod_2_need_no_growing_precision() -> tuple[Check, ...]:
    """XOR of one-hots is the parity of sem and the marker bit the number of markers mod 2.

    With at most one marker these bits and the newest label determine the next token, so an F_2
    primitive needs no growing precision.
    """
    return wraparound_checks()
