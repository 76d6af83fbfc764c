"""The round trip of the shipped trained models, checked: coefficients, exact runs, softmax.

Source: Fixed Universal Transformers, Theorem 3.1 and Section 5.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np

from constructions.learning.dyck import strings
from constructions.learning.reencoding import (
    SERVING,
    Embedded,
    coefficients_of,
    exact_model,
    reencoded,
)
from constructions.learning.shipped import NAMES, shipped
from constructions.universal.ball_runs import Mask, converted, softmax_of
from constructions.universal.definitions import forward, places_json
from constructions.universal.enclosed import DECIMALS, agreement
from constructions.universal.encoding import Deficit, whole_json
from constructions.universal.nonlinearities import causal_mask, scrambled_attention
from constructions.universal.sums import PAPER
from verify.balls import Balls
from verify.claims import Check, Profile, Source, claim, covers, supports
from verify.counterexamples import Counterexample
from verify.methods.enclosure import Decision, Enclosure
from verify.methods.exhaustive import Exhaustive
from verify.ranges import Range
from verify.rational import Matrix
from verify.verdicts import Json, Status

SMALL = "dyck-small"
"""The model that a draw takes too: a drawn E' has some 60 bits per entry and column of P_0, too
much to solve for and to show at m = 1,024.
"""
SHORT, LONG = 2, 8
"""Most pairs of parentheses of the strings for exact runs and for runs over balls."""
RUNS = 2
"""Strings for exact runs."""

LIBRARIES = ("library:flint", "library:numpy", "library:safetensors")

Written = Callable[[Embedded], Matrix]
"""The coefficients, shape (s_0, V), that are written into the other model."""
Masking = Callable[[int], Mask]
"""The mask of a string of a length."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A shipped model and the construction that it is encoded into."""

    model: str
    construction: str

    def as_json(self) -> dict[str, Json]:
        """The case as certificates and counterexamples name it."""
        return {"model": self.model, "construction": self.construction}

    def __str__(self) -> str:
        """The case in words."""
        return f"{self.model} in {self.construction}"


def cases(names: Sequence[str]) -> tuple[Case, ...]:
    """The models in each construction; of a draw only the small one."""
    return tuple(
        Case(model=name, construction=construction)
        for name in names
        for construction in SERVING
        if construction != "generic" or name == SMALL
    )


def _range(names: Sequence[str]) -> Range:
    words = ", ".join(map(str, cases(names)))
    return Range(bound=f"{words}; least m, draw of seed 0", over=lambda: cases(names))


RANGES: dict[Profile, Range] = {
    "quick": _range((SMALL,)),
    "standard": _range(NAMES),
    "deep": _range(NAMES),
}


@lru_cache(maxsize=2)
def _source(name: str) -> tuple[Embedded, Matrix]:
    """A shipped model and its coefficients."""
    source = exact_model(shipped(name))
    return source, coefficients_of(source)


@lru_cache(maxsize=2)
def _written(case: Case, written: Written) -> Embedded | Deficit:
    """The re-encoded model; kept while one check looks at it more than once."""
    source, _ = _source(case.model)
    return reencoded(source.size, written(source), case.construction)


def texts(count: int, pairs: int) -> list[list[int]]:
    """Strings of the task as a model reads them: query, answer and padding included."""
    found = strings(np.random.default_rng(0), count, pairs)
    return found.tokens[:, :-1].tolist()


# --- obligations -----------------------------------------------------------------------------

Compare = Callable[[Case, Embedded, Embedded], Any]
"""What comes of a case, the trained model and the re-encoded one."""


def _compared(case: Case, written: Written, compare: Compare) -> Any:
    """What comes of both models, or that there is no second one."""
    ours = _written(case, written)
    if isinstance(ours, Deficit):
        return Counterexample(text=f"{case}: {ours.text}", instance=case.as_json())
    return compare(case, _source(case.model)[0], ours)


def _equations_fail(case: Case, source: Embedded, ours: Embedded) -> Counterexample | None:
    """The obligation that E' P'_0 = C_0, entry by entry."""
    del source
    _, wanted = _source(case.model)
    found = coefficients_of(ours)
    if found == wanted:
        return None
    column, token = next(
        (c, i)
        for c, i in product(range(wanted.height), range(wanted.width))
        if found[c, i] != wanted[c, i]
    )
    return Counterexample(
        text=f"{case}: E' P'_0 must equal C_0; in row {token}, column {column} "
        f"{wanted[column, token]} is required, got {found[column, token]}",
        instance={**case.as_json(), "row": token, "column": column},
    )


def _runs_differ(mask: Masking) -> Compare:
    """The obligation that both models give the same logits on strings of the task, exactly."""

    def compare(case: Case, source: Embedded, ours: Embedded) -> Counterexample | None:
        for tokens in texts(RUNS, SHORT):
            wanted = source.output(tokens, scrambled_attention(causal_mask(len(tokens))))
            if ours.output(tokens, scrambled_attention(mask(len(tokens)))) != wanted:
                return Counterexample(
                    text=f"{case}: both models must give the same logits on {tokens}; they do not",
                    instance={**case.as_json(), "tokens": tokens},
                )
        return None

    return compare


def _softmax_differs(mask: Masking, shrink: int, bits: int) -> Compare:
    """The obligation that both outputs under softmax itself agree to 30 decimals."""

    def compare(case: Case, source: Embedded, ours: Embedded) -> Decision:
        (tokens,) = texts(1, LONG)
        length = len(tokens)
        theirs = _enclosed(source, tokens, softmax_of(causal_mask(length), 1), bits)
        found = _enclosed(ours, tokens, softmax_of(mask(length), shrink), bits)
        return agreement(found, theirs, case.as_json())

    return compare


def _enclosed(
    embedded: Embedded, tokens: Sequence[int], softmax: Callable[[Balls], Balls], bits: int
) -> Balls:
    """Encloses the logits, shape (n, V)."""
    model = converted(embedded.model, lambda exact: Balls.of(exact, bits))
    return forward(
        (model.layer(index) for index in range(model.size.layers)),
        Balls.of(embedded.embedding.select_rows(tokens), bits),
        model.readout,
        softmax,
        Balls.silu,
    ).output


# --- certificates ----------------------------------------------------------------------------


def embedded_json(model: Embedded) -> Json:
    """Fixed parameters or their draw, E, and the trained readout if there is one."""
    return {
        "fixed": places_json(model.fixed) if model.drawn is None else model.drawn.as_json(),
        "embedding": whole_json(model.embedding),
        "readout": None if model.readout is None else whole_json(model.readout),
    }


def _shown(written: Written) -> Callable[[Case], Json]:
    """Both models in full, for a second program to compare."""

    def show(case: Case, source: Embedded, ours: Embedded) -> Json:
        del case
        return {"source": embedded_json(source), "reencoded": embedded_json(ours)}

    return lambda case: _compared(case, written, show)


# --- claim -----------------------------------------------------------------------------------


def reencoding_checks(
    written: Written = coefficients_of, mask: Masking = causal_mask, shrink: int = 1
) -> tuple[Check, ...]:
    """The equations of E', exact runs, and runs under softmax.

    `written` is what becomes of the trained model's coefficients; the re-encoded model has `mask`,
    and divides what enters softmax by the root of `shrink`.
    """
    shown, differ = _shown(written), _runs_differ(mask)

    def decide(case: Case, bits: int) -> Decision:
        return _compared(case, written, _softmax_differs(mask, shrink, bits))

    return (
        covers(
            Exhaustive(
                holds=lambda case: _compared(case, written, _equations_fail),
                ranges=RANGES,
                rechecked_as="reencoding",
                exhibit=shown,
                leans_on=LIBRARIES,
            )
        ),
        supports(
            Exhaustive(
                holds=lambda case: _compared(case, written, differ),
                ranges=RANGES,
                rechecked_as="reencoded-runs",
                exhibit=lambda case: {**shown(case), "strings": texts(RUNS, SHORT)},
                leans_on=LIBRARIES,
            )
        ),
        supports(
            Enclosure(
                decide=decide,
                ranges=RANGES,
                margin=f"logits under softmax on a string of up to {2 * LONG} parentheses "
                f"certainly agree to {DECIMALS} decimals",
                exhibit=Case.as_json,
                first_bits=160,
                leans_on=LIBRARIES,
            )
        ),
    )


@claim(
    id="learning.reencoding",
    source=Source(PAPER, "Theorem 3.1, Section 5"),
    latex=r"E' \overline P'_0 = E \overline P_0",
    scope=f"the shipped trained models in the tree and the looped model; {SMALL} in a random draw",
    uses=("universal.probes.layer",),
    expected=Status.BOUNDED,
)
def trained_models_are_computed_by_fixed_ones() -> tuple[Check, ...]:
    """The shipped trained sparse models are computed exactly by the tree with its fixed readout,
    by the looped model, and the small one by a random draw.
    """  # noqa: D205 - one statement, in one sentence
    return reencoding_checks()
