"""Folded layouts: fewer coordinates when d >= d_in, since only the logits matter.

Logits depend on W_Q W_K^T alone, so they may be read through other factors:

    F_Q = [W_Q W_K^T, 0],  F_K = [I, 0]      (d_in, d),      F_Q F_K^T = W_Q W_K^T

A head sequence p then stores M^p W_Q^h W_K^{hT} for each head and M^p once, which is the key block
of all heads; R_Q and R_K have zero columns beyond d_in. Width (H+1) d_in (1 + H + .. + H^{L-1}) +
H^L d_in: 164 in place of 1024 at the paper's Table 5 sizes. P_0 repeats columns, so it has not
full rank; E P_0 = C_0 holds all the same, for the coefficients with these factors.

Source: beyond Fixed Universal Transformers, Theorem 3.1; the layouts are ours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from importlib import import_module
from typing import Any

from constructions.universal.comparisons import Factoring, comparison_check, refactored
from constructions.universal.coordinate_theory import FOLDED
from constructions.universal.definitions import Target, TransformerSize, Universal
from constructions.universal.instances import (
    fixed_exhibit,
    fixed_ranges,
    random_matrix,
    seeded,
    selection_fails,
)
from constructions.universal.layouts import (
    Layout,
    Node,
    coordinates,
    folded_width,
    node_blocks,
    tree_order,
)
from constructions.universal.lemma import agreement_fails
from constructions.universal.looped import (
    PREPEND_PATH,
    looped_goals,
    looped_on,
    looped_theory,
    looped_worlds,
)
from constructions.universal.sums import PAPER
from constructions.universal.tree import tree_on
from constructions.universal.tree_theory import (
    MASK_RULE,
    beyond_goals,
    tree_identity_goals,
    tree_theory,
    tree_worlds,
)
from verify.claims import Check, Source, claim, covers, supports
from verify.errors import SizeError
from verify.facts import COUNTING, INDUCTION, MATRIX_LAWS, SELECTION_PRODUCT
from verify.methods.exhaustive import Exhaustive
from verify.methods.identity import Equation, Identity
from verify.methods.smt import Smt
from verify.rational import Matrix
from verify.smtlib import Axiom, Goal, Theory, World
from verify.verdicts import Status

# --- parameters ------------------------------------------------------------------------------


def _require_wide_heads(size: TransformerSize) -> None:
    if size.head_width < size.token_width:
        raise SizeError(
            f"a folded layout needs heads as wide as tokens, d >= d_in = {size.token_width}, got "
            f"d = {size.head_width}; use tree or looped"
        )


def _folded(
    build: Callable[..., Universal], size: TransformerSize, width: int | None = None
) -> Universal:
    """A layout's rules on folded coordinates, in an m of `width` or of the least one.

    Raises:
        SizeError: d < d_in, or width below `folded_width(size)`.
    """
    _require_wide_heads(size)
    m = folded_width(size) if width is None else width
    return build(coordinates(size, m, Node.folded(size)))


def refold(target: Target) -> Target:
    """The target with the factors F_Q, F_K for its queries and keys.

    Raises:
        SizeError: d < d_in.
    """
    size = target.size
    _require_wide_heads(size)
    rest = Matrix.zero(size.token_width, size.head_width - size.token_width)
    unit = Matrix.beside([Matrix.identity(size.token_width), rest])
    return replace(
        target,
        queries=tuple(
            tuple(
                Matrix.beside([query @ key.transposed, rest])
                for query, key in zip(queries, keys, strict=True)
            )
            for queries, keys in zip(target.queries, target.keys, strict=True)
        ),
        keys=((unit,) * size.heads,) * size.layers,
    )


def folded_reads(target: Target, level: int) -> Matrix:
    """[W_Q^h W_K^{hT}]_h and the identity, what a node of a level stores; (d_in, (H + 1) d_in)."""
    pairs = zip(target.queries[level], target.keys[level], strict=True)
    logits = [query @ key.transposed for query, key in pairs]
    return Matrix.beside([*logits, Matrix.identity(target.size.token_width)])


def embedding(target: Target, width: int) -> Matrix:
    """E transposed, shape (m, d_in), for both folded layouts.

    Raises:
        SizeError: d < d_in, or width below `folded_width(size)`.
    """
    _require_wide_heads(target.size)
    coordinates(target.size, width, Node.folded(target.size))
    spare = Matrix.zero(width - folded_width(target.size), target.size.token_width)
    return Matrix.stack([*node_blocks(target, folded_reads), spare])


def _layout(name: str, build: Callable[..., Universal], *, tied: bool) -> Layout:
    return Layout(
        name=name,
        build=partial(_folded, build),
        least_width=folded_width,
        order=lambda size, width: tree_order(size, width, Node.folded(size)),
        write=embedding,
        tied=tied,
        wide_heads=True,
        factored=refold,
    )


LAYOUT = _layout("folded", tree_on, tied=False)
TIED_LAYOUT = _layout("folded looped", looped_on, tied=True)


# --- theory ----------------------------------------------------------------------------------


def factors_theory() -> Theory:
    """Two blocks beside each other, times the transpose of two others."""
    return Theory(
        name="folded factors",
        declarations="""
(declare-sort Mat 0)
(declare-const a Mat) (declare-const unit Mat) (declare-const nil Mat)
(declare-fun mul (Mat Mat) Mat) (declare-fun add (Mat Mat) Mat) (declare-fun transpose (Mat) Mat)
(declare-fun beside (Mat Mat) Mat)
""",
        axioms=(
            Axiom(
                "blocks",
                """(forall ((p Mat) (q Mat) (r Mat) (s Mat)) (!
                  (= (mul (beside p q) (transpose (beside r s)))
                    (add (mul p (transpose r)) (mul q (transpose s))))
                  :pattern ((mul (beside p q) (transpose (beside r s))))))""",
                "[P, Q][R, S]^T = P R^T + Q S^T",
            ),
            Axiom(
                "units",
                "(and (= (transpose unit) unit) (= (mul a unit) a))",
                "the identity is symmetric and neutral",
            ),
            Axiom(
                "zeros",
                "(and (= (mul nil (transpose nil)) nil) (= (add a nil) a))",
                "zeros add nothing",
            ),
        ),
        worlds=_factors_worlds,
    )


def factors_goal(theory: Theory) -> Goal:
    """F_Q F_K^T = W_Q W_K^T, here a."""
    return Goal(
        name="the folded factors have the target's logits",
        theory=theory,
        role="conclusion",
        conclusion="(= (mul (beside a nil) (transpose (beside unit nil))) a)",
    )


def _factors_worlds() -> Iterator[World]:
    source = seeded(2)
    a, other = random_matrix(source, 2, 2), random_matrix(source, 2, 2)
    unit, nil = Matrix.identity(2), Matrix.zero(2, 2)
    yield World(
        sorts={"Mat": [a, other, unit, nil]},
        symbols={
            "a": a,
            "unit": unit,
            "nil": nil,
            "mul": lambda p, q: p @ q,
            "add": lambda p, q: p + q,
            "transpose": lambda p: p.transposed,
            "beside": lambda p, q: Matrix.beside([p, q]),
        },
    )


def width_theory() -> Theory:
    """A node's coordinates, folded and plain, as whole numbers."""
    numbers = range(1, 4)
    cases = ((heads, d, tokens) for heads in numbers for d in numbers for tokens in range(1, d + 1))
    return Theory(
        name="folded widths",
        declarations="(declare-const H Int) (declare-const d Int) (declare-const din Int)",
        axioms=(
            Axiom(
                "sizes",
                "(and (>= H 1) (>= din 1) (>= d din))",
                "all sizes are at least 1, and d >= d_in",
            ),
        ),
        worlds=lambda: (
            World(sorts={}, symbols={"H": heads, "d": d, "din": tokens})
            for heads, d, tokens in cases
        ),
    )


def width_goals(theory: Theory) -> tuple[Goal, ...]:
    """(H + 1) d_in <= 2 H d, one factor at a time."""
    return (
        Goal(
            name="H + 1 is at most 2H",
            theory=theory,
            conclusion="(<= (* (+ H 1) din) (* (* 2 H) din))",
        ),
        Goal(
            name="d_in is at most d",
            theory=theory,
            conclusion="(<= (* (* 2 H) din) (* (* 2 H) d))",
        ),
        Goal(
            name="a folded node is never wider",
            theory=theory,
            role="conclusion",
            assumptions=(
                "(<= (* (+ H 1) din) (* (* 2 H) din))",
                "(<= (* (* 2 H) din) (* (* 2 H) d))",
            ),
            conclusion="(<= (* (+ H 1) din) (* (* 2 H) d))",
        ),
    )


Counted = Callable[[Any, Any], Any]
"""The coordinates of a node by H and d_in."""


def node_width(heads: Any, tokens: Any) -> Any:
    """(H + 1) d_in."""
    return (heads + 1) * tokens


def width_equations(counted: Counted = node_width) -> tuple[Equation, ...]:
    """The count of folded coordinates by levels against its closed form; y stands for H^k.

    `counted` is what the closed form counts of a node.
    """
    sympy: Any = import_module("sympy")

    heads, tokens, y = sympy.symbols("H d_in y")

    def closed(power: Any) -> Any:  # (H - 1) times the count, k levels above the leaves
        return counted(heads, tokens) * (power - 1) + (heads - 1) * power * tokens

    return (
        Equation(name="a leaf has d_in coordinates", left=closed(1), right=(heads - 1) * tokens),
        Equation(
            name="a node has (H + 1) d_in coordinates and H subtrees",
            left=closed(heads * y),
            right=(heads - 1) * node_width(heads, tokens) + heads * closed(y),
        ),
    )


# --- claims ----------------------------------------------------------------------------------


def folded_checks(
    mask_rule: str = MASK_RULE,
    prepend_path: str = PREPEND_PATH,
    layouts: tuple[Layout, Layout] = (LAYOUT, TIED_LAYOUT),
    *,
    counted: Counted = node_width,
    factors: tuple[Factoring, Factoring] = (refactored, refactored),
) -> tuple[Check, ...]:
    """Both layouts for every size, their width, themselves at small sizes, and forward passes.

    `counted` is what the closed form of the width counts of a node, `factors` how forward passes
    factor the logits for each layout.
    """
    plain, tied = layouts

    def goals() -> tuple[Goal, ...]:
        tree = tree_theory(mask_rule, lambda: tree_worlds(plain.build, FOLDED), FOLDED)
        loop = looped_theory(prepend_path, lambda: looped_worlds(tied.build, FOLDED), FOLDED)
        return (
            factors_goal(factors_theory()),
            *tree_identity_goals(tree, FOLDED),
            *beyond_goals(tree),
            *looped_goals(loop, FOLDED),
            *width_goals(width_theory()),
        )

    return (
        covers(
            Smt(
                goals=goals,
                instances="all H, L and d >= d_in, all paths, columns and readers",
                leans_on=(INDUCTION, COUNTING, MATRIX_LAWS, SELECTION_PRODUCT),
            )
        ),
        supports(
            Identity(
                equations=lambda: width_equations(counted),
                instances="all H >= 2, L, d_in",
                leans_on=(INDUCTION, COUNTING),
            )
        ),
        *(
            check
            for layout, factor in zip(layouts, factors, strict=True)
            for check in (
                supports(
                    Exhaustive(
                        holds=selection_fails(layout),
                        ranges=fixed_ranges(layout),
                        rechecked_as="folded-parameters",
                        exhibit=fixed_exhibit(layout),
                    )
                ),
                comparison_check(agreement_fails(layout, factor), layout),
            )
        ),
    )


@claim(
    id="universal.folded.identity",
    source=Source(PAPER, "beyond the paper"),
    latex=r"m = (H+1) d_{in} (1 + H + \dots + H^{L-1}) + H^L d_{in} \quad (d \ge d_{in})",
    scope="all H, L and d >= d_in, weight-tied or not",
    uses=("universal.probes.layer", "universal.paths.identities"),
    expected=Status.PROVED,
)
def folded_layouts_serve_with_fewer_coordinates() -> tuple[Check, ...]:
    """For d >= d_in the folded layouts serve with (H+1) d_in (1+..+H^(L-1)) + H^L d_in
    coordinates, weight-tied or not.
    """  # noqa: D205 - one statement, in one sentence
    return folded_checks()
