"""Models narrower than the bound: a combination they do not see, and a target that is to see it.

Source: Fixed Universal Transformers, Section 4 and Theorem 4.1; the argument is ours.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from lowerbounds.kernel_models import (
    FIXED,
    FREE,
    Column,
    PathModel,
    Readout,
    by_path,
    grid_points,
    null_vector,
    powers,
    random_path_model,
    residue,
)
from verify.certificates import matrix, number
from verify.claims import Profile
from verify.counterexamples import Counterexample
from verify.ranges import Range
from verify.rational import Matrix
from verify.verdicts import Json

# --- rules -----------------------------------------------------------------------------------


def unknowns(heads: int, layers: int, token_width: int) -> int:
    """H^L d_in."""
    return heads**layers * token_width


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What is claimed; mutants change one of them.

    readout     how a model's readout enters
    needed      the equations without which some combination vanishes, from H, L and d_in
    solution    a vector other than 0 that a system sends to 0
    points      the H numbers whose powers are a layer's weights
    """

    readout: Readout
    needed: Callable[[int, int, int], int] = unknowns
    solution: Callable[[Matrix], Column] = null_vector
    points: Callable[[int], Column] = grid_points


FIXED_RULES = Rules(readout=FIXED)
FREE_RULES = Rules(readout=FREE)

# --- instances -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Narrow:
    """Sizes and a model of width m: the first m coordinates of the construction, or a draw."""

    heads: int
    layers: int
    token_width: int
    width: int
    seed: int

    def model(self, readout: Readout) -> PathModel:
        """Seed 0 is the construction."""
        sizes = self.heads, self.layers, self.token_width, self.width
        return random_path_model(*sizes, self.seed) if self.seed else readout.construct(*sizes)

    def combination(self, rules: Rules, model: PathModel) -> tuple[Column, ...] | None:
        """z, or None if the model sees every combination."""
        system = rules.readout.system(model)
        if system.rank() == system.width:
            return None
        return by_path(rules.solution(system), self.token_width)

    def target(self, rules: Rules, combination: tuple[Column, ...]) -> Column | None:
        """The first point of the grid, a number per layer, whose target would have to see z."""
        grid = itertools.product(rules.points(self.heads), repeat=self.layers)
        seen = (x for x in grid if any(residue(combination, powers(x, self.heads))))
        return next(seen, None)

    def as_json(self) -> dict[str, Json]:
        """The case as counterexamples name it."""
        return {
            "heads": self.heads,
            "layers": self.layers,
            "token_width": self.token_width,
            "width": self.width,
            "seed": self.seed,
        }


def vanishing_fails(rules: Rules) -> Callable[[Narrow], Counterexample | None]:
    """The obligation: some z other than 0 vanishes, and some target of the grid is to see it."""

    def shortcoming(case: Narrow) -> str | None:
        model = case.model(rules.readout)
        found = case.combination(rules, model)
        if found is None:
            return "some combination of paths must vanish, the model sees all of them"
        total = rules.readout.sum(model, found)
        if any(any(row) for row in total.rows()):
            return "the sum over paths must be 0, it is not"
        if not any(any(part) for part in found):
            return "the combination must not be 0, it is"
        if case.target(rules, found) is None:
            return "a target of the grid must have another response than 0, none has"
        return None

    def holds(case: Narrow) -> Counterexample | None:
        text = shortcoming(case)
        if text is None:
            return None
        sizes = f"H = {case.heads}, L = {case.layers}, d_in = {case.token_width}"
        return Counterexample(
            text=f"{sizes}, m = {case.width}, seed {case.seed}: {text}", instance=case.as_json()
        )

    return holds


def vanishing_exhibit(rules: Rules) -> Callable[[Narrow], Json]:
    """Kind `vanishing-paths`: R^{l,h}, U unless it is the target's, z, and the target's numbers."""

    def exhibit(case: Narrow) -> Json:
        model = case.model(rules.readout)
        found = case.combination(rules, model) or ()
        numbers = case.target(rules, found) or ()
        return {
            "values": [[matrix(value) for value in layer] for layer in model.values],
            "readout": None if rules.readout.per_target else matrix(model.readout),
            "combination": [[number(entry) for entry in part] for part in found],
            "numbers": [number(x) for x in numbers],
        }

    return exhibit


def narrow_ranges(rules: Rules) -> dict[Profile, Range]:
    """The least, a middle and the greatest width below the bound, at every size of a profile."""

    def over(heads: int, layers: int, token_width: int, seeds: int) -> Iterator[Narrow]:
        for h, n, d in itertools.product(
            range(1, heads + 1), range(1, layers + 1), range(1, token_width + 1)
        ):
            for width in _widths_below(rules, h, n, d):
                for seed in range(seeds):
                    yield Narrow(heads=h, layers=n, token_width=d, width=width, seed=seed)

    def chosen(heads: int, layers: int, token_width: int, seeds: int) -> Range:
        tokens = 1 if rules.readout.per_target else token_width
        return Range(
            bound=f"H <= {heads}, L <= {layers}, d_in <= {tokens}, three widths m below the bound; "
            f"the construction cut short and {seeds - 1} random models",
            over=lambda: over(heads, layers, tokens, seeds),
        )

    return {
        "quick": chosen(2, 2, 2, 2),
        "standard": chosen(3, 2, 2, 3),
        "deep": chosen(3, 3, 2, 3),
    }


def _widths_below(rules: Rules, heads: int, layers: int, token_width: int) -> list[int]:
    """The least, a middle and the greatest m with fewer equations than are needed."""
    needed = rules.needed(heads, layers, token_width)
    narrow = itertools.takewhile(lambda m: rules.readout.equations(m) < needed, itertools.count(1))
    most = sum(1 for _ in narrow)
    return sorted({1, (most + 1) // 2, most}) if most else []
