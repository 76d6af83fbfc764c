"""Theorem 3.1: the tree. Value maps are masks, and P_0 is a selection of distinct coordinates.

    R_V^{l,h}   diagonal: keeps the coordinates whose sequence takes head h at layer l
    R_Q^{l,h}   reads the query columns of head h from all sequences of length l - 1; R_K alike
    U           reads all leaves

Masks commute and multiply to the mask of a whole path, so what survives the first l layers along
p is exactly the subtree below p, and a reader then hits one block.

Source: Fixed Universal Transformers, Theorem 3.1 and Appendix A.2.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

from constructions.universal.definitions import TransformerSize, Universal
from constructions.universal.instances import (
    FixedCase,
    fixed_exhibit,
    fixed_ranges,
    selection_fails,
)
from constructions.universal.layouts import (
    KEY,
    LEAF,
    QUERY,
    Coordinates,
    Layout,
    coordinates,
    embedding,
    ones_where,
    tree_order,
)
from constructions.universal.maps import ColumnMap, Ones
from constructions.universal.tree_theory import (
    MASK_RULE,
    binary_goals,
    padding_goals,
    tree_identity_goals,
    tree_theory,
    tree_worlds,
)
from verify.claims import Check, Source, claim, covers, supports
from verify.counterexamples import Counterexample
from verify.facts import COUNTING, INDUCTION, MATRIX_LAWS, SELECTION_PRODUCT, Fact
from verify.methods.exhaustive import Exhaustive
from verify.methods.identity import Equation, Identity
from verify.methods.smt import Smt
from verify.smtlib import Goal, Theory
from verify.verdicts import Status

PAPER = "fixed-universal-transformers"


# --- parameters ------------------------------------------------------------------------------


def tree_value(places: Coordinates, layer: int, head: int) -> ColumnMap:
    """Value map of the tree: keeps the coordinates whose sequence takes `head` at `layer`.

        shape (m, m), diagonal, entries 0 and 1, at most m ones

    Source: Fixed Universal Transformers, Appendix A.2.
    """
    kept = (places.depth > layer) & (places.digit(layer) == head)
    return ColumnMap(rows=np.where(kept, np.arange(places.width), -1))


def tree_reader(places: Coordinates, kind: int, layer: int, head: int) -> Ones:
    """Query or key map of the tree: reads head `head` of all sequences of length `layer`.

    shape (m, d), at most one 1 in each row
    """
    chosen = (places.kind == kind) & (places.depth == layer) & (places.head == head)
    return ones_where(places, chosen, places.size.head_width)


def tree(size: TransformerSize, width: int | None = None) -> Universal:
    """The tree's fixed parameters in an embedding dimension of `width`, or of the least one.

    Raises:
        SizeError: width below `size.probe_width`.
    """
    return tree_on(coordinates(size, size.probe_width if width is None else width))


def tree_on(places: Coordinates) -> Universal:
    """The tree's fixed parameters on given coordinates, plain or folded."""
    size = places.size
    layers, heads = range(size.layers), range(size.heads)
    keys = [places.node.key_head(h) for h in heads]
    return Universal(
        size=size,
        width=places.width,
        queries=tuple(tuple(tree_reader(places, QUERY, t, h) for h in heads) for t in layers),
        keys=tuple(tuple(tree_reader(places, KEY, t, h) for h in keys) for t in layers),
        values=tuple(tuple(tree_value(places, t, h) for h in heads) for t in layers),
        readout=ones_where(places, places.kind == LEAF, size.token_width),
    )


# --- claims ----------------------------------------------------------------------------------

LAYOUT = Layout(
    name="tree",
    build=tree,
    least_width=lambda size: size.probe_width,
    order=tree_order,
    write=embedding,
    tied=False,
)


def selection_check(layout: Layout) -> Check:
    """The layout's parameters at small sizes, multiplied as index maps and as matrices."""
    return supports(
        Exhaustive(
            holds=selection_fails(layout),
            ranges=fixed_ranges(layout),
            rechecked_as="fixed-parameters",
            exhibit=fixed_exhibit(layout),
        )
    )


def _tree_checks(
    goals: Callable[[Theory], tuple[Goal, ...]],
    instances: str,
    leans_on: tuple[Fact, ...],
    layout: Layout,
    mask_rule: str = MASK_RULE,
) -> tuple[Check, ...]:
    """Goals of the tree's theory, and the parameters themselves at small sizes."""
    smt = Smt(
        goals=lambda: goals(tree_theory(mask_rule, lambda: tree_worlds(layout.build))),
        instances=instances,
        leans_on=leans_on,
    )
    return (covers(smt), selection_check(layout))


def identity_checks(mask_rule: str = MASK_RULE, layout: Layout = LAYOUT) -> tuple[Check, ...]:
    """Masks by induction over the layers; then each column of P_0 is a coordinate of its own."""
    return _tree_checks(
        tree_identity_goals,
        "all H, L, d, d_in, all paths, columns and readers",
        (INDUCTION, MATRIX_LAWS, SELECTION_PRODUCT),
        layout,
        mask_rule,
    )


@claim(
    id="universal.tree.identity",
    source=Source(PAPER, "Theorem 3.1, Appendix A.2"),
    latex=r"D_p R_Q^{l,h} = S_{B^Q_{l-1,p;h}},\quad D_p R_K^{l,h} = S_{B^K_{l-1,p;h}},"
    r"\quad D_p U = S_{C_p}",
    scope="all H, L, d, d_in",
    uses=("universal.probes.layer", "universal.paths.identities"),
    expected=Status.PROVED,
)
def masks_pick_the_block_of_their_path() -> tuple[Check, ...]:
    """The masks of a path, followed by a selector, pick exactly that path's block, which exists
    and is its own; so E P_0 = C_0 can be solved for every target.
    """  # noqa: D205 - one statement, in one sentence
    return identity_checks()


Counted = Callable[[Any, Any], Any]
"""The coordinates of a node by H and d."""


def node_width(heads: Any, width: Any) -> Any:
    """2Hd."""
    return 2 * heads * width


def width_equations(counted: Counted = node_width) -> tuple[Equation, ...]:
    """The count of coordinates by levels against its closed form; y stands for H^k.

    `counted` is what the closed form counts of a node.
    """
    sympy: Any = import_module("sympy")

    heads, layers, width, tokens, y = sympy.symbols("H L d d_in y")

    def closed(power: Any) -> Any:  # (H - 1) times the count, k levels above the leaves
        return counted(heads, width) * (power - 1) + (heads - 1) * power * tokens

    return (
        Equation(name="a leaf has d_in coordinates", left=closed(1), right=(heads - 1) * tokens),
        Equation(
            name="a node has 2Hd coordinates and H subtrees",
            left=closed(heads * y),
            right=(heads - 1) * node_width(heads, width) + heads * closed(y),
        ),
        Equation(
            name="for H = 1 a level adds 2d",
            left=2 * (layers + 1) * width + tokens,
            right=2 * width + (2 * layers * width + tokens),
        ),
    )


def width_checks(
    count: Callable[[TransformerSize], int] | None = None, *, counted: Counted = node_width
) -> tuple[Check, ...]:
    """The closed form for all sizes, and the coordinates counted one by one at small ones."""
    wanted = count or _closed_form

    def holds(case: FixedCase) -> Counterexample | None:
        places = coordinates(case.size, case.width)
        labels = {
            (int(places.kind[i]), places.path(i), int(places.head[i]), int(places.column[i]))
            for i in range(places.width)
            if places.depth[i] >= 0
        }
        if len(labels) == wanted(case.size):
            return None
        return Counterexample(
            text=f"{case.size} has {len(labels)} labels, the formula gives {wanted(case.size)}",
            instance=case.as_json(),
        )

    return (
        covers(
            Identity(
                equations=lambda: width_equations(counted),
                instances="all H >= 2 (and H = 1), L, d, d_in",
                leans_on=(INDUCTION, COUNTING),
            )
        ),
        supports(
            Exhaustive(
                holds=holds,
                ranges=fixed_ranges(LAYOUT),
                rechecked_as="width",
                exhibit=lambda case: case.as_json(),
            )
        ),
    )


def _closed_form(size: TransformerSize) -> int:
    heads, reads = size.heads, 2 * size.heads * size.head_width
    if heads == 1:
        return reads * size.layers + size.token_width
    power = heads**size.layers
    return reads * (power - 1) // (heads - 1) + power * size.token_width


@claim(
    id="universal.tree.width",
    source=Source(PAPER, "Theorem 3.1"),
    latex=r"\overline m = \frac{2H(H^L-1)}{H-1} d + H^L d_{in}\ (H \ge 2),"
    r"\qquad 2Ld + d_{in}\ (H = 1)",
    scope="all H, L, d, d_in",
    expected=Status.PROVED,
)
def the_tree_has_m_bar_coordinates() -> tuple[Check, ...]:
    """The number of coordinates is m-bar for H >= 2 and 2Ld + d_in for H = 1."""
    return width_checks()


def binary_checks(layout: Layout = LAYOUT) -> tuple[Check, ...]:
    """Each row of a reader holds at most one 1 and masks are diagonal, so m ones at most."""
    return _tree_checks(binary_goals, "all H, L, d, d_in", (COUNTING,), layout)


@claim(
    id="universal.tree.binary",
    source=Source(PAPER, "Theorem 3.1"),
    latex=r"R_Q, R_K \in \{0,1\}^{m \times d},\ R_V \in \{0,1\}^{m \times m},"
    r"\ U \in \{0,1\}^{m \times d_{in}},\ \text{at most } m \text{ ones each}",
    scope="all H, L, d, d_in",
    expected=Status.PROVED,
)
def fixed_parameters_are_sparse() -> tuple[Check, ...]:
    """All fixed parameters are 0/1 with at most m ones each."""
    return binary_checks()


def padding_checks(layout: Layout = LAYOUT) -> tuple[Check, ...]:
    """Nothing reads a spare coordinate, and P_0 selects the same blocks beside them."""
    instances = "all H, L, d, d_in and every m >= m-bar"
    return _tree_checks(padding_goals, instances, (MATRIX_LAWS,), layout)


@claim(
    id="universal.tree.padding",
    source=Source(PAPER, "Theorem 3.1"),
    latex=r"m \ge \overline m",
    scope="all H, L, d, d_in and every m at least the number of coordinates",
    uses=("universal.tree.identity",),
    expected=Status.PROVED,
)
def any_larger_width_serves() -> tuple[Check, ...]:
    """Any m >= m-bar serves: coordinates beyond the layout are read by nothing."""
    return padding_checks()
