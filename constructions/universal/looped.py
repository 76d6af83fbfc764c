"""The weight-tied construction for H >= 2 (and H = 1), whose proof the paper's text leaves out.

The coordinates are the tree's. All layers share

    R_V^h       column map: a block of sequence p (shorter than L - 1) takes its 1 in the block of
                h p; a leaf s in the leaf (h, s_1, .., s_{L-1}); blocks of length L - 1 vanish
    R_Q^h,R_K^h read the root's columns of head h
    U           reads the leaf (1, .., 1)

Acting from the right, each factor prepends its head; the leaves form a de Bruijn graph on [H]^L,
so after L factors the leaf at which U started is forgotten.

Source: Fixed Universal Transformers, Section 3.1, the looped theorem; proof ours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from constructions.universal.coordinate_theory import (
    PLAIN,
    Labels,
    distinct,
    labelled_cases,
)
from constructions.universal.definitions import TransformerSize, Universal
from constructions.universal.layouts import (
    KEY,
    LEAF,
    QUERY,
    UNUSED,
    Coordinates,
    Layout,
    coordinates,
    embedding,
    ones_where,
    tree_order,
)
from constructions.universal.maps import ColumnMap, Ones
from constructions.universal.tree import PAPER, selection_check
from verify.claims import Check, Source, claim, covers
from verify.facts import INDUCTION, MATRIX_LAWS, SELECTION_PRODUCT
from verify.methods.smt import Smt
from verify.smtlib import Axiom, Goal, Theory, World, induction
from verify.verdicts import Status

# --- parameters ------------------------------------------------------------------------------


def prepend(places: Coordinates, head: int) -> ColumnMap:
    """R_V^h: where the 1 of each coordinate's column stands, or -1 where the column is zero.

    shape (m, m), at most one 1 in each column, so at most m ones
    """
    size = places.size
    heads, stored = size.heads, places.node.width
    depth = np.maximum(places.depth, 0)
    level_start = stored * (np.power(heads, depth + 1) - 1) // max(heads - 1, 1)
    if heads == 1:
        level_start = stored * (depth + 1)
    node = head * np.power(heads, depth) + places.number
    to_node = level_start + node * stored + places.place
    leaf = head * heads ** (size.layers - 1) + places.number // heads
    to_leaf = stored * size.internal_nodes + leaf * size.token_width + places.column
    alive = places.depth + 1 < size.layers
    rows = np.where(places.kind == LEAF, to_leaf, np.where(alive, to_node, -1))
    return ColumnMap(rows=np.where(places.kind == UNUSED, -1, rows))


def root_reader(places: Coordinates, kind: int, head: int) -> Ones:
    """R_Q^h or R_K^h: reads the root's columns of one head; shape (m, d), d ones."""
    chosen = (places.kind == kind) & (places.depth == 0) & (places.head == head)
    return ones_where(places, chosen, places.size.head_width)


def looped(size: TransformerSize, width: int | None = None) -> Universal:
    """The weight-tied fixed parameters in an embedding dimension of `width`, or of the least one.

    Raises:
        SizeError: width below `size.probe_width`.
    """
    return looped_on(coordinates(size, size.probe_width if width is None else width))


def looped_on(places: Coordinates) -> Universal:
    """The weight-tied fixed parameters on given coordinates, plain or folded."""
    size = places.size
    heads = range(size.heads)
    keys = [places.node.key_head(h) for h in heads]
    first_leaf = (places.kind == LEAF) & (places.number == 0)
    return Universal(
        size=size,
        width=places.width,
        queries=(tuple(root_reader(places, QUERY, h) for h in heads),) * size.layers,
        keys=(tuple(root_reader(places, KEY, h) for h in keys),) * size.layers,
        values=(tuple(prepend(places, h) for h in heads),) * size.layers,
        readout=ones_where(places, first_leaf, size.token_width),
    )


# --- theory ----------------------------------------------------------------------------------

PREPEND_PATH = "(= (path (push g i) s) (path i (- s 1)))"
"""What stands behind the new first head; the mutants replace it."""

_DECLARATIONS = """
(declare-fun push (Int Co) Co)
(declare-fun alive (Int Co) Bool)
(declare-fun root (Kind Int Int) Co)
(declare-fun start (Int) Co)
(declare-fun t (Int) Co) (declare-fun u (Int) Co)
(declare-const k Int) (declare-const j Int)
(declare-const k0 Kind) (declare-const h0 Int) (declare-const c0 Int)
(define-fun carries ((i Co) (k1 Kind) (h1 Int) (c1 Int)) Bool
  (and (= (kind i) k1) (= (head i) h1) (= (column i) c1)))
"""


def looped_theory(
    prepend_path: str, worlds: Callable[[], Iterator[World]], labels: Labels = PLAIN
) -> Theory:
    """The shared value maps as a map on coordinates, and where selectors go under k factors."""
    return Theory(
        name=f"{labels.name}looped",
        declarations=labels.declarations() + _DECLARATIONS,
        axioms=(
            *labels.axioms(),
            Axiom(
                "alive",
                """(forall ((g Int) (i Co)) (! (=> (and (<= 1 g) (<= g H)) (= (alive g i)
                  (or (= (kind i) KC) (and (not (= (kind i) KX)) (< (+ (depth i) 1) L)))))
                  :pattern ((alive g i))))""",
                "column i of R_V^g has a 1 unless i stands at depth L - 1 or is unused",
            ),
            Axiom(
                "push",
                f"""(forall ((g Int) (i Co)) (! (=> (and (<= 1 g) (<= g H) (alive g i))
                  (and (carries (push g i) (kind i) (head i) (column i))
                  (= (depth (push g i)) (ite (= (kind i) KC) L (+ (depth i) 1)))
                  (= (path (push g i) 1) g)
                  (forall ((s Int)) (! (=> (and (<= 2 s) (<= s (depth (push g i))))
                    {prepend_path}) :pattern ((path (push g i) s))))))
                  :pattern ((push g i))))""",
                "that 1 stands in the row of the sequence with g in front (leaves drop their end)",
            ),
            Axiom(
                "root",
                """(forall ((k1 Kind) (h1 Int) (c1 Int)) (! (=> (and (label k1 0 h1 c1)
                  (not (= k1 KC))) (and (carries (root k1 h1 c1) k1 h1 c1)
                  (= (depth (root k1 h1 c1)) 0))) :pattern ((root k1 h1 c1))))""",
                "R_Q^h and R_K^h read the root",
            ),
            Axiom(
                "start",
                """(forall ((c1 Int)) (! (=> (and (<= 1 c1) (<= c1 din))
                  (carries (start c1) KC 0 c1)) :pattern ((start c1))))""",
                "U reads one leaf",
            ),
            Axiom(
                "from the root",
                """(=> (and (label k0 0 h0 c0) (not (= k0 KC)) (< k L)) (and
                  (= (t 0) (root k0 h0 c0))
                  (forall ((x Int)) (! (=> (and (<= 0 x) (< x k)) (= (t (+ x 1))
                    (push (p (- k x)) (t x)))) :pattern ((t (+ x 1)))))))""",
                "R_V^{p_1} .. R_V^{p_k} acts on the reader's column from p_k to p_1",
            ),
            Axiom(
                "from a leaf",
                """(=> (and (<= 1 c0) (<= c0 din)) (and
                  (= (u 0) (start c0))
                  (forall ((x Int)) (! (=> (and (<= 0 x) (< x L)) (= (u (+ x 1))
                    (push (p (- L x)) (u x)))) :pattern ((u (+ x 1)))))))""",
                "R_V^{p_1} .. R_V^{p_L} acts on the readout's column from p_L to p_1",
            ),
        ),
        worlds=worlds,
    )


def _read_invariant(x: str) -> str:
    return f"""(and (carries (t {x}) k0 h0 c0) (= (depth (t {x})) {x})
      (forall ((s Int)) (! (=> (and (<= 1 s) (<= s {x}))
        (= (path (t {x}) s) (p (+ (- k {x}) s)))) :pattern ((path (t {x}) s)))))"""


def _leaf_invariant(x: str) -> str:
    return f"""(and (carries (u {x}) KC 0 c0) (= (depth (u {x})) L)
      (forall ((s Int)) (! (=> (and (<= 1 s) (<= s {x}))
        (= (path (u {x}) s) (p (+ (- L {x}) s)))) :pattern ((path (u {x}) s)))))"""


_READER = "(and (label k0 0 h0 c0) (not (= k0 KC)) (<= 0 k) (< k L))"
_LEAF = "(and (<= 1 c0) (<= c0 din))"


def looped_goals(theory: Theory, labels: Labels = PLAIN) -> tuple[Goal, ...]:
    """Readers and the readout by induction over the factors; then each column is one coordinate."""
    return (
        *induction(
            name="readers climb to the block of their path",
            theory=theory,
            invariant=_read_invariant,
            base="0",
            step=("j", "(+ j 1)"),
            base_assumptions=(_READER,),
            step_assumptions=(_READER, "(and (<= 0 j) (< j k))"),
        ),
        Goal(
            name="a reader along p selects the block of p",
            theory=theory,
            role="conclusion",
            assumptions=(_READER, _read_invariant("k")),
            conclusion="(= (t k) (node k0 k h0 c0))",
        ),
        *induction(
            name="the readout forgets its leaf",
            theory=theory,
            invariant=_leaf_invariant,
            base="0",
            step=("j", "(+ j 1)"),
            base_assumptions=(_LEAF,),
            step_assumptions=(_LEAF, "(and (<= 0 j) (< j L))"),
        ),
        Goal(
            name="the readout along a full path selects its leaf",
            theory=theory,
            role="conclusion",
            assumptions=(_LEAF, _leaf_invariant("L")),
            conclusion="(= (u L) (node KC L 0 c0))",
        ),
        distinct(labels),
    )


def looped_worlds(
    build: Callable[[TransformerSize, int], Universal] = looped, labels: Labels = PLAIN
) -> Iterator[World]:
    """The looped theory on the actual index maps of small sizes."""
    for index, case in enumerate(labelled_cases(spare=1, labels=labels)):
        places, size = case.places, case.places.size
        model = build(size, places.width)
        pushed = [value.rows.tolist() for value in model.values[0]]
        kind, readers = (("KQ", model.queries[0]), ("KK", model.keys[0]))[index % 2]
        shared = kind == "KK" and places.node.shared_keys
        head, column = 0 if shared else size.heads, min(size.head_width, size.token_width)
        length = size.layers - 1
        chain = _Chain(pushed=pushed, path=case.first)
        yield World(
            sorts=case.sorts(),
            integers=case.integers(),
            symbols={
                **case.symbols(),
                "push": lambda g, i, pushed=pushed: pushed[g - 1][i],
                "alive": lambda g, i, pushed=pushed: pushed[g - 1][i] >= 0,
                "root": _root_of(model),
                "start": _row_of(model.readout),
                "t": chain.climb(_row_of(readers[max(head, 1) - 1])(column), length),
                "u": chain.climb(_row_of(model.readout)(column), size.layers),
                "k": length,
                "k0": kind,
                "h0": head,
                "c0": column,
            },
            free={"j": range(size.layers)},
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Chain:
    """Where a column's 1 goes under the value maps along a path."""

    pushed: list[list[int]]
    path: tuple[int, ...]

    def climb(self, first: int, length: int) -> Callable[[int], int]:
        """After x factors of R_V^{p_1} .. R_V^{p_length}, from the last one on."""
        places = [first]
        for head in reversed(self.path[:length]):
            places.append(self.pushed[head][places[-1]])
        return places.__getitem__


def _row_of(part: Ones) -> Callable[[int], int]:
    """The row of the 1 in a column, counted from 1."""
    return lambda c: int(part.rows[part.columns == c - 1][0])


def _root_of(model: Universal) -> Callable[[str, int, int], int]:
    readers = {"KQ": model.queries[0], "KK": model.keys[0]}
    return lambda kind, h, c: _row_of(readers[kind][max(h, 1) - 1])(c)


# --- claims ----------------------------------------------------------------------------------

LAYOUT = Layout(
    name="looped",
    build=looped,
    least_width=lambda size: size.probe_width,
    order=tree_order,
    write=embedding,
    tied=True,
)


def looped_checks(prepend_path: str = PREPEND_PATH, layout: Layout = LAYOUT) -> tuple[Check, ...]:
    """The for-all proof, and the parameters themselves at small sizes."""
    return (
        covers(
            Smt(
                goals=lambda: looped_goals(
                    looped_theory(prepend_path, lambda: looped_worlds(layout.build))
                ),
                instances="all H, L, d, d_in, all paths, columns and readers",
                leans_on=(INDUCTION, MATRIX_LAWS, SELECTION_PRODUCT),
            )
        ),
        selection_check(layout),
    )


@claim(
    id="universal.looped.identity",
    source=Source(PAPER, "Looped theorem, Section 3.1"),
    latex=r"R_V^{p_1} \cdots R_V^{p_t} R_Q^{h} = S_{B^Q_{t,p;h}},\quad "
    r"R_V^{p_1} \cdots R_V^{p_L} U = S_{C_p}",
    scope="all H, L, d, d_in",
    uses=("universal.probes.layer", "universal.paths.identities", "universal.tree.width"),
    expected=Status.PROVED,
)
def each_shared_value_map_prepends_its_head() -> tuple[Check, ...]:
    """The weight-tied construction serves H >= 2 at the same m-bar, with R_Q, R_K and R_V shared
    by all layers: each value map prepends its head, and the readout forgets where it started.
    """  # noqa: D205 - one statement, in one sentence
    return looped_checks()
