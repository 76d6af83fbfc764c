"""Theorem 4.1 once more, by what a narrow model cannot see: no rank, no factorisation.

If m < H^L d_in, the m equations sum_p R_p U z_p = 0 in H^L d_in unknowns z_p have a solution other
than 0. Every target reads 0 off that sum, and is to read sum_p z_p prod_l w^{l,p_l}. Unit weights
make this z_q for each path q in turn; powers x_l^{p_l} of any H distinct numbers per layer, weights
that may lie in any open set, make it a polynomial of degree below H in each variable that is 0 on
a grid of H^L points. Either way z = 0. With a readout per target the equations are
sum_p z_p R_p = 0, m^2 of them in H^L unknowns.

Source: Fixed Universal Transformers, Section 4 and Theorem 4.1; the argument is ours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from constructions.universal.sums import PAPER
from lowerbounds.kernel_instances import (
    FIXED_RULES,
    FREE_RULES,
    Rules,
    narrow_ranges,
    vanishing_exhibit,
    vanishing_fails,
)
from lowerbounds.kernel_models import Weights, powers
from lowerbounds.kernel_theory import (
    bound_goals,
    descent_goals,
    grid_goals,
    sum_goals,
    summand_goals,
    unit_goals,
)
from lowerbounds.kernel_worlds import HEADS, narrow_world, whole_world
from verify.claims import Check, Source, claim, covers, supports
from verify.facts import COUNTING, HOMOGENEOUS, INDUCTION, MATRIX_LAWS, POLYNOMIAL_ZEROS
from verify.methods.exhaustive import Exhaustive
from verify.methods.smt import Smt
from verify.rational import Matrix
from verify.smtlib import Goal, World
from verify.verdicts import Status

# --- claims ----------------------------------------------------------------------------------

_PATHS = "(count L)"
_ENTRIES = "(* (count L) din)"


def kernel_goals(
    rules: Rules, *, token_width: int, equations: str, unknown: str, bound: str
) -> tuple[Goal, ...]:
    """The linear argument, for unit weights and for a grid.

    `equations`, `unknown` and `bound` are in the theory what `rules.readout` and `rules.needed` are
    in the code.
    """
    points = rules.points(HEADS)

    def world(weights: Weights, build: Callable[..., World] = whole_world) -> World:
        return build(rules.readout, token_width, weights, points)

    def on_grid() -> Iterator[World]:
        yield world(powers(points, HEADS))

    def on_units() -> Iterator[World]:
        yield world(Matrix.identity(HEADS).rows())

    def on_both() -> Iterator[World]:
        yield from (*on_grid(), *on_units())

    def of_systems() -> Iterator[World]:
        yield from on_grid()
        yield world(powers(points, HEADS), narrow_world)

    return (
        *summand_goals(on_both),
        *sum_goals(on_both),
        *unit_goals(on_units),
        *grid_goals(on_grid),
        *descent_goals(on_both),
        *bound_goals(of_systems, equations, unknown, bound),
    )


def _checks(rules: Rules, goals: Callable[[], tuple[Goal, ...]]) -> tuple[Check, ...]:
    """The proof for all sizes, and instances."""
    tokens = "; d_in = 1" if rules.readout.per_target else " and d_in"
    return (
        covers(
            Smt(
                goals=goals,
                instances=f"all H, L, m{tokens}, under the condition on path vectors; targets "
                "with unit weights, and with powers of any H distinct numbers",
                leans_on=(INDUCTION, COUNTING, MATRIX_LAWS, HOMOGENEOUS, POLYNOMIAL_ZEROS),
            )
        ),
        supports(
            Exhaustive(
                holds=vanishing_fails(rules),
                ranges=narrow_ranges(rules),
                rechecked_as="vanishing-paths",
                exhibit=vanishing_exhibit(rules),
            )
        ),
    )


def fixed_checks(rules: Rules = FIXED_RULES, *, bound: str = _ENTRIES) -> tuple[Check, ...]:
    """One readout for all targets: m equations."""

    def goals() -> tuple[Goal, ...]:
        return kernel_goals(rules, token_width=2, equations="m", unknown=_ENTRIES, bound=bound)

    return _checks(rules, goals)


def free_checks(rules: Rules = FREE_RULES, *, bound: str = _PATHS) -> tuple[Check, ...]:
    """A readout per target: m^2 equations, d_in = 1."""

    def goals() -> tuple[Goal, ...]:
        return kernel_goals(rules, token_width=1, equations="(* m m)", unknown=_PATHS, bound=bound)

    return _checks(rules, goals)


@claim(
    id="lowerbounds.kernel.fixed_readout",
    source=Source(PAPER, "Section 4"),
    latex=r"\sum_p R_p U z_p = 0 \;\Longrightarrow\; "
    r"\sum_p z_p \prod_l w^{l,p_l} = 0 \text{ for all targets} \;\Longrightarrow\; z = 0,"
    r"\qquad m \ge H^L d_{in}",
    scope="shared attention, readout fixed, all H, L and d_in; targets with independent path "
    "vectors whose heads are multiples of the identity",
    uses=("universal.paths.unrolling",),
    expected=Status.PROVED,
)
def a_narrow_model_does_not_see_some_combination_of_paths() -> tuple[Check, ...]:
    """Shared attention, every d_in: if the path vectors are independent at targets with unit
    weights, or with weights x^(h-1) for H distinct numbers x per layer, then m >= H^L d_in for a
    fixed readout, for all H and L; a second argument, from a combination of paths that vanishes.
    """  # noqa: D205 - one statement, in one sentence
    return fixed_checks()


@claim(
    id="lowerbounds.kernel.free_readout",
    source=Source(PAPER, "Theorem 4.1"),
    latex=r"\sum_p z_p R_p = 0 \;\Longrightarrow\; "
    r"\sum_p z_p \prod_l w^{l,p_l} = 0 \text{ for all targets} \;\Longrightarrow\; z = 0,"
    r"\qquad m^2 \ge H^L",
    scope="shared attention, readout per target, d_in = 1, all H, L; targets with independent "
    "path vectors",
    uses=("universal.paths.unrolling",),
    expected=Status.PROVED,
)
def fewer_products_than_paths_are_dependent() -> tuple[Check, ...]:
    """Shared attention, d_in = 1: under the same condition m^2 >= H^L for a readout chosen per
    target, for all H and L; a second argument, from a combination of paths that vanishes.
    """  # noqa: D205 - one statement, in one sentence
    return free_checks()
