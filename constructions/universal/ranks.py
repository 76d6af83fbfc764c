"""Certificates that the very draws of floating-point initialisers are universal.

A draw is a finite set of floating-point numbers, so "almost every draw" says nothing of it. Its
numbers are exact: scaled to integers, P_0 is formed modulo a prime, and a left inverse modulo the
prime proves full column rank, since a rank modulo a prime is at most the true one. A deficit
modulo one prime is retried with others and then decided exactly.

Source: Fixed Universal Transformers, Sections 3.2 and 5.
"""

from __future__ import annotations

import itertools
from base64 import b85encode
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from constructions.universal.definitions import TransformerSize
from constructions.universal.drawn import DrawnModel
from constructions.universal.draws import Block, Distribution, Draw
from constructions.universal.sums import PAPER
from verify.claims import Check, Profile, Source, claim, covers, supports
from verify.counterexamples import Counterexample
from verify.facts import LEFT_INVERSE
from verify.methods.exhaustive import Exhaustive
from verify.modular import PRIMES, LeftInverse, Residues
from verify.ranges import Range
from verify.verdicts import Json, Status

SMALL_PRIME = (1 << 31) - 1
"""Certificates hold residues of four bytes."""

Change = Callable[[Block], Block]


def unchanged(block: Block) -> Block:
    """The draw as it is; the mutants spoil it."""
    return block


@dataclass(frozen=True, slots=True, kw_only=True)
class Rank:
    """What was found of a P_0: its rank, and a left inverse modulo a prime if that is full."""

    rank: int
    prime: int
    inverse: LeftInverse | None


def rank_of(model: DrawnModel, change: Change = unchanged) -> Rank:
    """The column rank of a drawn model's P_0, and its certificate if it is full."""

    def residues(prime: int) -> Callable[[Block], Residues]:
        return lambda block: Residues.of(change(block).residues(prime), prime)

    for prime in (SMALL_PRIME, *PRIMES[:2]):
        probes = model.probe(residues(prime))
        rows = probes.independent_rows()
        if len(rows) == probes.width:
            return Rank(rank=len(rows), prime=prime, inverse=probes.left_inverse_on(rows))
    exact = model.probe(lambda block: change(block).matrix())
    return Rank(rank=exact.rank(), prime=0, inverse=None)


_kept_rank = lru_cache(maxsize=1)(rank_of)
"""The check and its certificate look at the same draw one after the other."""


def rank_fails(change: Change) -> Callable[[DrawnModel], Counterexample | None]:
    """The obligation that a drawn P_0 has full column rank."""

    def holds(model: DrawnModel) -> Counterexample | None:
        found = _kept_rank(model, change)
        if found.rank == model.size.probe_width:
            return None
        return Counterexample(
            text=f"P_0 must have full column rank {model.size.probe_width}, its rank is "
            f"{found.rank}; that refutes full column rank of this draw, not its universality "
            f"({model.as_json()})",
            instance=model.as_json(),
        )

    return holds


def rank_exhibit(change: Change) -> Callable[[DrawnModel], Json]:
    """The draw's seed, and a left inverse of its P_0 modulo a prime."""

    def exhibit(model: DrawnModel) -> Json:
        found = _kept_rank(model, change)
        inverse = found.inverse
        block = [] if inverse is None else inverse.block.tolist()
        entries = np.array(block, dtype="<u8" if found.prime > SMALL_PRIME else "<u4")
        return {
            **model.as_json(),
            "prime": found.prime,
            "rows": [] if inverse is None else list(inverse.rows),
            "inverse": b85encode(entries.tobytes()).decode("ascii"),
        }

    return exhibit


# --- the grid --------------------------------------------------------------------------------

DTYPES: tuple[Distribution, ...] = ("uniform32", "uniform64")
NORMAL: tuple[Distribution, ...] = ("gaussian",)
TABLE_5 = TransformerSize(heads=4, layers=2, head_width=24, token_width=4)
"""The paper's Table 5 size, at which m-bar is 1024."""


def grid(
    most: int, seeds: Iterable[int], laws: Sequence[Distribution] = DTYPES
) -> Iterator[DrawnModel]:
    """H, L up to `most`, the widths of the claim, tied and not, by each law, m = m-bar."""
    numbers = range(1, most + 1)
    for heads, layers, width, tokens in itertools.product(numbers, numbers, (1, 2, 4), (1, 3, 6)):
        size = TransformerSize(heads=heads, layers=layers, head_width=width, token_width=tokens)
        for tied, dtype, seed in itertools.product((False, True), laws, seeds):
            yield drawn(size, dtype, seed, tied)


def drawn(size: TransformerSize, dtype: Distribution, seed: int, tied: bool) -> DrawnModel:
    """A model of the least m, drawn as PyTorch initialises it by default."""
    draw = Draw(distribution=dtype, seed=seed, width=size.probe_width)
    return DrawnModel(size=size, draw=draw, tied=tied)


_GRID = "d in {1, 2, 4}, d_in in {1, 3, 6}, weight-tied and not, float32 and float64, m = m-bar"
RANGES: dict[Profile, Range] = {
    "quick": Range(bound=f"H, L <= 2, {_GRID}, seed 0", over=lambda: grid(2, (0,))),
    "standard": Range(
        bound=f"H, L <= 3, {_GRID}, seed 0; and float32 at (H, L, d, d_in) = (4, 2, 24, 4)",
        over=lambda: itertools.chain(grid(3, (0,)), (drawn(TABLE_5, "uniform32", 0, tied=False),)),
    ),
    "deep": Range(
        bound=f"H, L <= 3, {_GRID}, seeds 0 to 9; and float32 and float64, tied and not, at "
        "(H, L, d, d_in) = (4, 2, 24, 4)",
        over=lambda: itertools.chain(
            grid(3, range(10)),
            (
                drawn(TABLE_5, dtype, 0, tied)
                for dtype, tied in itertools.product(DTYPES, (False, True))
            ),
        ),
    ),
}


_NORMAL = _GRID.replace("float32 and float64", "independent standard normal entries")
NORMAL_RANGES: dict[Profile, Range] = {
    "quick": Range(bound=f"H = L = 1, {_NORMAL}, seed 0", over=lambda: grid(1, (0,), NORMAL)),
    "standard": Range(bound=f"H, L <= 2, {_NORMAL}, seed 0", over=lambda: grid(2, (0,), NORMAL)),
    "deep": Range(
        bound=f"H, L <= 3, {_NORMAL}, seeds 0 to 9", over=lambda: grid(3, range(10), NORMAL)
    ),
}


def draws_checks(change: Change = unchanged, normal: Change | None = None) -> tuple[Check, ...]:
    """Each draw of the grid, certified modulo a prime; and Gaussian ones.

    `normal` is what becomes of Gaussian draws, `change` if it is not given.
    """

    def certified(ranges: dict[Profile, Range], parts: int, made: Change) -> Exhaustive:
        return Exhaustive(
            holds=rank_fails(made),
            ranges=ranges,
            rechecked_as="draw-rank",
            exhibit=rank_exhibit(made),
            parts=parts,
            leans_on=("library:flint", LEFT_INVERSE.trust),
        )

    return (
        covers(certified(RANGES, 6, change)),
        supports(certified(NORMAL_RANGES, 1, normal or change)),
    )


@claim(
    id="universal.generic.draws",
    source=Source(PAPER, "Sections 3.2 and 5"),
    latex=r"\mathrm{rank}\, P_0 = \overline m \text{ for draws of } "
    r"\mathrm{Uniform}(-1/\sqrt m, 1/\sqrt m) \text{ in float32 and float64}",
    scope="a grid of sizes and seeds, which the check states",
    uses=("universal.probes.layer", "universal.gated.probe"),
    expected=Status.BOUNDED,
)
def default_initialisations_are_universal() -> tuple[Check, ...]:
    """The very draws of PyTorch's default initialisation, read as rationals, have full rank on a
    stated grid and set of seeds.
    """  # noqa: D205 - one statement, in one sentence
    return draws_checks()
