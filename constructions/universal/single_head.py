"""One head needs fewer coordinates than the paper prints: 2Ld + d_in, weight-tied or not.

For H = 1 the tree and the looped layout have L nodes of 2d coordinates and one leaf of d_in. The
paper's m-bar, (L+1) max(2d, d_in), is never smaller, and equal exactly when 2d = d_in.

Source: Fixed Universal Transformers, Theorem 3.1 for H = 1; the sharper width is ours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from constructions.universal import looped, tree
from constructions.universal.definitions import TransformerSize
from constructions.universal.instances import FixedCase, fixed_ranges
from constructions.universal.layouts import Layout
from constructions.universal.tree import PAPER, selection_check
from verify.claims import Check, Source, claim, covers, supports
from verify.counterexamples import Counterexample
from verify.methods.exhaustive import Exhaustive
from verify.methods.smt import Smt
from verify.smtlib import Axiom, Goal, Theory, World
from verify.verdicts import Status


def sharp_width(size: TransformerSize) -> int:
    """2Ld + d_in."""
    return 2 * size.layers * size.head_width + size.token_width


def _worlds() -> Iterator[World]:
    numbers = range(1, 4)
    yield World(sorts={}, symbols={}, free={"L": numbers, "d": numbers, "din": numbers})


def width_theory() -> Theory:
    """Widths as whole numbers."""
    return Theory(
        name="single head widths",
        declarations="""
(declare-const L Int) (declare-const d Int) (declare-const din Int)
(define-fun sharp () Int (+ (* L (* 2 d)) din))
(define-fun b () Int (ite (>= (* 2 d) din) (* 2 d) din))
(define-fun printed () Int (* (+ L 1) b))
(define-fun slack () Int (+ (* L (- b (* 2 d))) (- b din)))
""",
        axioms=(Axiom("sizes", "(and (>= L 1) (>= d 1) (>= din 1))", "all sizes are at least 1"),),
        worlds=_worlds,
    )


def width_goals(theory: Theory) -> tuple[Goal, ...]:
    """m-bar exceeds the sharp width by L (b - 2d) + (b - d_in), two terms never negative."""
    return (
        Goal(
            name="m-bar is the sharp width plus the slack",
            theory=theory,
            conclusion="(= printed (+ sharp slack))",
        ),
        Goal(name="the slack is not negative", theory=theory, conclusion="(>= slack 0)"),
        Goal(
            name="there is no slack exactly when 2d = d_in",
            theory=theory,
            role="conclusion",
            conclusion="(= (= slack 0) (= (* 2 d) din))",
        ),
    )


def sharper_fails(width: Callable[[TransformerSize], int]) -> Callable[..., Counterexample | None]:
    """The obligation that a width is what both layouts use, and at most the paper's."""

    def holds(case: FixedCase) -> Counterexample | None:
        wanted, printed = width(case.size), case.size.paper_width
        if wanted == case.size.probe_width and wanted <= printed:
            return None
        return Counterexample(
            text=f"{wanted} coordinates must be the {case.size.probe_width} of the layout and at "
            f"most the paper's {printed} ({case.as_json()})",
            instance=case.as_json(),
        )

    return holds


def _single(layout: Layout) -> Layout:
    return replace(layout, single_head=True, least_width=sharp_width)


def sharper_checks(
    width: Callable[[TransformerSize], int] = sharp_width,
    layouts: tuple[Layout, ...] = (tree.LAYOUT, looped.LAYOUT),
) -> tuple[Check, ...]:
    """The widths compared for all sizes; that both layouts serve is in the claims that it uses."""
    single = [_single(layout) for layout in layouts]
    return (
        covers(
            Smt(
                goals=lambda: width_goals(width_theory()),
                instances="H = 1 and all L, d, d_in, weight-tied or not",
            )
        ),
        *(selection_check(layout) for layout in single),
        supports(
            Exhaustive(
                holds=sharper_fails(width),
                ranges=fixed_ranges(single[0]),
                rechecked_as="width",
                exhibit=lambda case: case.as_json(),
            )
        ),
    )


@claim(
    id="universal.single_head.sharper",
    source=Source(PAPER, "Theorem 3.1, H = 1"),
    latex=r"2Ld + d_{in} \le (L+1) \max\{2d, d_{in}\}",
    scope="H = 1 and all L, d, d_in",
    uses=("universal.tree.identity", "universal.looped.identity", "universal.tree.width"),
    expected=Status.PROVED,
)
def one_head_needs_fewer_coordinates() -> tuple[Check, ...]:
    """2Ld + d_in coordinates suffice for H = 1, weight-tied or not; the paper's
    (L+1) max(2d, d_in) is never less, and equal only when 2d = d_in.
    """  # noqa: D205 - one statement, in one sentence
    return sharper_checks()
