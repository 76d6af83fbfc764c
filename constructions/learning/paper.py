"""What the paper prints of its runs: accuracies, and how they were made.

    Table 1   attention-only, per task and family
    Table 2   balancing, per components and family
    text      hops with residual paths and norms: the least and the greatest of "all reported" ones

Source: Fixed Universal Transformers, Sections 5.1 and 5.2, Tables 1, 2, 5 and 6, Appendix H.2.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from constructions.learning.kinds import Components, Family
from constructions.learning.tasks import Dyck, Hops

FAMILIES = {
    Family.sparse: "sparse",
    Family.random: "random",
    Family.trained: "fully trained",
}
"""The columns of the paper's tables."""
COMPONENTS = {
    Components.attention: "attention-only",
    Components.residual: "+ residual",
    Components.norm: "+ residual and LN",
    Components.mlp: "+ MLP",
    Components.mlp_norm: "+ MLP and LN",
}
"""The rows of Table 2."""
BALANCING = Dyck()
HOPPING = tuple(Hops(hops=hops) for hops in (1, 2, 3, 4))
TASKS = (BALANCING, *HOPPING)
"""The rows of Table 1."""
RANDOM_SEEDS = 5
"""Over so many seeds results of random models are averaged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Printed:
    """An accuracy as printed, and where; two numbers where only a range is."""

    least: Fraction
    greatest: Fraction
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Stated:
    """How the paper trains on a task; None where it does not say.

    The loss is taken everywhere, and the learning rate stays after the warm-up.
    """

    heads: int
    layers: int | None
    head_width: int | None
    steps: int | None
    batch: int
    learning_rate: float
    warmup: int
    source: str


Key = tuple[Dyck | Hops, Components, Family]


def _rows(text: str, source: str) -> Iterator[tuple[Printed, ...]]:
    for line in text.strip().splitlines():
        shares = [Fraction(word) / 100 for word in line.split()]
        yield tuple(Printed(least=share, greatest=share, source=source) for share in shares)


_TABLE_1 = """
100.0 94.4 100.0
30.2 29.4 8.4
33.2 30.5 51.8
39.2 32.6 99.5
39.4 35.2 95.6
"""
_TABLE_2 = """
100 94.4 100
100 95.4 100
100 100 93.0
100 100 100
100 100 94.4
"""
TABLE_1: dict[Key, Printed] = {
    (task, Components.attention, family): printed
    for task, row in zip(TASKS, _rows(_TABLE_1, "Table 1"), strict=True)
    for family, printed in zip(FAMILIES, row, strict=True)
}
TABLE_2: dict[Key, Printed] = {
    (BALANCING, components, family): printed
    for components, row in zip(COMPONENTS, _rows(_TABLE_2, "Table 2"), strict=True)
    for family, printed in zip(FAMILIES, row, strict=True)
}
_REPORTED = 'Section 5.2, of "all reported induction-head tasks"'
RANGES = {
    Family.sparse: Printed(least=Fraction(1), greatest=Fraction(1), source=_REPORTED),
    Family.random: Printed(
        least=Fraction("85.7") / 100, greatest=Fraction("96.1") / 100, source=_REPORTED
    ),
}
"""Hops with residual paths and norms."""
PRINTED: dict[Key, Printed] = {
    **TABLE_1,
    **TABLE_2,
    **{
        (task, Components.norm, family): printed
        for task in HOPPING
        for family, printed in RANGES.items()
    },
}

_HOP_STEPS = {1: 10_000, 2: 15_000, 3: 60_000, 4: 60_000}


def stated(task: Dyck | Hops) -> Stated:
    """The paper's numbers for a task; steps are stated for one to four hops."""
    if isinstance(task, Dyck):
        return Stated(
            heads=4,
            layers=2,
            head_width=24,
            steps=10_000,
            batch=1_000,
            learning_rate=1e-3,
            warmup=50,
            source="Table 5",
        )
    return Stated(
        heads=2,
        layers=None,
        head_width=None,
        steps=_HOP_STEPS.get(task.hops),
        batch=128,
        learning_rate=1e-4,
        warmup=1_000,
        source="Table 6",
    )
