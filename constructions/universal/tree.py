"""Theorem 3.1: the tree. Value maps are masks, and P_0 is a selection of distinct coordinates.

    R_V^{l,h}   diagonal: keeps the coordinates whose sequence takes head h at layer l
    R_Q^{l,h}   reads the query columns of head h from all sequences of length l - 1; R_K alike
    U           reads all leaves

Masks commute and multiply to the mask of a whole path, so what survives the first l layers along
p is exactly the subtree below p, and a reader then hits one block.

Source: Fixed Universal Transformers, Theorem 3.1 and Appendix A.2.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from constructions.universal.definitions import (
    ColumnMap,
    Ones,
    TransformerSize,
    Universal,
)
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
from verify.claims import Check, Source, claim, covers, supports
from verify.counterexamples import Counterexample
from verify.facts import COUNTING, INDUCTION, MATRIX_LAWS, SELECTION_PRODUCT
from verify.methods.exhaustive import Exhaustive
from verify.methods.identity import Equation, Identity
from verify.methods.smt import Smt
from verify.smtlib import Axiom, Goal, Theory, World, induction
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
    places = coordinates(size, size.probe_width if width is None else width)
    layers, heads = range(size.layers), range(size.heads)

    def readers(kind: int) -> tuple[tuple[Ones, ...], ...]:
        return tuple(tuple(tree_reader(places, kind, t, h) for h in heads) for t in layers)

    return Universal(
        size=size,
        width=places.width,
        queries=readers(QUERY),
        keys=readers(KEY),
        values=tuple(tuple(tree_value(places, t, h) for h in heads) for t in layers),
        readout=ones_where(places, places.kind == LEAF, size.token_width),
    )


# --- theory ----------------------------------------------------------------------------------

COORDINATES = """
(declare-sort Co 0)
(declare-datatypes ((Kind 0)) (((KQ) (KK) (KC) (KX))))
(declare-const H Int) (declare-const L Int) (declare-const d Int) (declare-const din Int)
(declare-fun kind (Co) Kind) (declare-fun depth (Co) Int) (declare-fun path (Co Int) Int)
(declare-fun head (Co) Int) (declare-fun column (Co) Int)
(declare-fun p (Int) Int) (declare-fun q (Int) Int)
(declare-fun node (Kind Int Int Int) Co) (declare-fun other (Kind Int Int Int) Co)
(define-fun label ((k Kind) (t Int) (h Int) (c Int)) Bool
  (ite (= k KC) (and (= t L) (= h 0) (<= 1 c) (<= c din))
    (and (not (= k KX)) (<= 0 t) (< t L) (<= 1 h) (<= h H) (<= 1 c) (<= c d))))
"""


def _named(constructor: str, sequence: str) -> str:
    return f"""
(forall ((k Kind) (t Int) (h Int) (c Int)) (! (=> (label k t h c)
  (and (= (kind ({constructor} k t h c)) k) (= (depth ({constructor} k t h c)) t)
    (= (head ({constructor} k t h c)) h) (= (column ({constructor} k t h c)) c)
    (forall ((s Int)) (! (=> (and (<= 1 s) (<= s t))
      (= (path ({constructor} k t h c) s) ({sequence} s)))
      :pattern ((path ({constructor} k t h c) s))))))
  :pattern (({constructor} k t h c))))"""


COORDINATE_AXIOMS = (
    Axiom("sizes", "(and (>= H 1) (>= L 1) (>= d 1) (>= din 1))", "all sizes are at least 1"),
    Axiom(
        "labels",
        """(forall ((i Co)) (ite (= (kind i) KX) (= (depth i) (- 1))
             (label (kind i) (depth i) (head i) (column i))))""",
        "a used coordinate is a query or key column of a sequence shorter than L, or a leaf's",
    ),
    Axiom(
        "extensional",
        """(forall ((i Co) (j Co)) (=> (and (not (= (kind i) KX)) (= (kind i) (kind j))
             (= (depth i) (depth j)) (= (head i) (head j)) (= (column i) (column j))
             (forall ((s Int)) (=> (and (<= 1 s) (<= s (depth i))) (= (path i s) (path j s)))))
             (= i j)))""",
        "used coordinates with the same label are the same",
    ),
    Axiom(
        "path",
        "(forall ((s Int)) (! (and (<= 1 (p s)) (<= (p s) H)) :pattern ((p s))))",
        "p is a sequence of heads",
    ),
    Axiom("exists", _named("node", "p"), "every label along p has a coordinate"),
    Axiom("exists other", _named("other", "q"), "every label along a second sequence q has one"),
)

TREE_DECLARATIONS = (
    COORDINATES
    + """
(declare-fun keep (Int Int Co) Bool)
(declare-fun query (Int Int Int Co) Bool) (declare-fun key (Int Int Int Co) Bool)
(declare-fun readout (Int Co) Bool)
(declare-fun D (Int Co) Bool)
(declare-const k Int) (declare-const h Int) (declare-const c Int)
(define-fun reader ((l Int) (g Int) (b Int)) Bool
  (and (<= 1 l) (<= l L) (<= 1 g) (<= g H) (<= 1 b) (<= b d)))
"""
)

MASK_RULE = "(and (>= (depth i) l) (= (path i l) g))"
"""Which coordinates R_V^{l,g} keeps; the refutable twins replace it."""


def _reads(function: str, kind: str) -> str:
    return f"""(forall ((l Int) (g Int) (b Int) (i Co)) (! (=> (reader l g b)
      (= ({function} l g b i)
        (and (= (kind i) {kind}) (= (depth i) (- l 1)) (= (head i) g) (= (column i) b))))
      :pattern (({function} l g b i))))"""


def tree_theory(mask_rule: str, worlds: Callable[[], Iterable[World]]) -> Theory:
    """The tree's maps as rules on coordinates, and the product D of the masks along p."""
    return Theory(
        name="tree",
        declarations=TREE_DECLARATIONS,
        axioms=(
            *COORDINATE_AXIOMS,
            Axiom(
                "mask",
                f"""(forall ((l Int) (g Int) (i Co)) (! (=> (and (<= 1 l) (<= l L) (<= 1 g)
                  (<= g H)) (= (keep l g i) {mask_rule})) :pattern ((keep l g i))))""",
                "R_V^{l,g} keeps the coordinates whose sequence takes head g at layer l",
            ),
            Axiom("query", _reads("query", "KQ"), "R_Q^{l,g} reads head g at depth l - 1"),
            Axiom("key", _reads("key", "KK"), "R_K^{l,g} reads head g at depth l - 1"),
            Axiom(
                "readout",
                """(forall ((b Int) (i Co)) (! (=> (and (<= 1 b) (<= b din))
                  (= (readout b i) (and (= (kind i) KC) (= (column i) b))))
                  :pattern ((readout b i))))""",
                "U reads all leaves",
            ),
            Axiom("first", "(forall ((i Co)) (D 0 i))", "the empty product keeps everything"),
            Axiom(
                "product",
                """(forall ((l Int) (i Co)) (! (=> (and (<= 0 l) (< l L)) (= (D (+ l 1) i)
                  (and (D l i) (keep (+ l 1) (p (+ l 1)) i)))) :pattern ((D (+ l 1) i))))""",
                "a product of diagonal 0/1 matrices keeps what every factor keeps",
            ),
        ),
        worlds=worlds,
    )


def _survivors(depth: str) -> str:
    return f"""(forall ((i Co)) (= (D {depth} i) (or (= {depth} 0) (and (>= (depth i) {depth})
      (forall ((s Int)) (=> (and (<= 1 s) (<= s {depth})) (= (path i s) (p s))))))))"""


def _one_hot(reader: str, kind: str) -> str:
    return f"(forall ((i Co)) (= (and (D k i) ({reader} (+ k 1) h c i)) (= i (node {kind} k h c))))"


_RANGE = "(and (<= 0 k) (< k L) (<= 1 h) (<= h H) (<= 1 c) (<= c d))"


def tree_identity_goals(theory: Theory) -> tuple[Goal, ...]:
    """Masks by induction over the layers; then each column of P_0 is one coordinate of its own."""
    base, step = induction(
        name="masks of a path keep its extensions",
        theory=theory,
        invariant=_survivors,
        base="0",
        step=("k", "(+ k 1)"),
        step_assumptions=("(and (<= 0 k) (< k L))",),
    )
    return (
        base,
        step,
        *(
            Goal(
                name=f"{what} of a path selects one block",
                theory=theory,
                role="conclusion",
                assumptions=(_RANGE, _survivors("k")),
                conclusion=_one_hot(reader, kind),
            )
            for what, reader, kind in (
                ("the query reader", "query", "KQ"),
                ("the key reader", "key", "KK"),
            )
        ),
        Goal(
            name="the readout of a full path selects its leaf",
            theory=theory,
            role="conclusion",
            assumptions=("(and (<= 1 c) (<= c din))", _survivors("L")),
            conclusion="(forall ((i Co)) (= (and (D L i) (readout c i)) (= i (node KC L 0 c))))",
        ),
        distinct_goal(theory),
    )


def distinct_goal(theory: Theory) -> Goal:
    """Columns of P_0 with different labels are different coordinates, so P_0 is a selection."""
    return Goal(
        name="different columns select different coordinates",
        theory=theory,
        role="conclusion",
        conclusion="""(forall ((k1 Kind) (t1 Int) (h1 Int) (c1 Int) (k2 Kind) (t2 Int) (h2 Int)
          (c2 Int)) (=> (and (label k1 t1 h1 c1) (label k2 t2 h2 c2)
            (= (node k1 t1 h1 c1) (other k2 t2 h2 c2)))
          (and (= k1 k2) (= t1 t2) (= h1 h2) (= c1 c2)
            (forall ((s Int)) (=> (and (<= 1 s) (<= s t1)) (= (p s) (q s)))))))""",
    )


def binary_goals(theory: Theory) -> tuple[Goal, ...]:
    """Every row of a reader has at most one 1, so a reader has at most m; a mask is diagonal."""
    return tuple(
        Goal(
            name=f"a row of {name} has at most one 1",
            theory=theory,
            conclusion=f"""(forall ((l Int) (g Int) (b Int) (e Int) (i Co)) (=> (and
              {allowed.format("b")} {allowed.format("e")}
              ({call.format("b")}) ({call.format("e")})) (= b e)))""",
        )
        for name, allowed, call in (
            ("R_Q", "(reader l g {})", "query l g {} i"),
            ("R_K", "(reader l g {})", "key l g {} i"),
            ("U", "(and (<= 1 {0}) (<= {0} din))", "readout {} i"),
        )
    )


def padding_goals(theory: Theory) -> tuple[Goal, ...]:
    """A coordinate beyond the layout is read by nothing, whatever the masks do to it."""
    return tuple(
        Goal(
            name=f"unused coordinates are not read by {name}",
            theory=theory,
            conclusion=f"(forall ((i Co) (l Int) (g Int) (b Int)) (=> (and (= (kind i) KX) "
            f"{allowed}) (not {call})))",
        )
        for name, allowed, call in (
            ("R_Q", "(reader l g b)", "(query l g b i)"),
            ("R_K", "(reader l g b)", "(key l g b i)"),
            ("U", "(and (<= 1 b) (<= b din))", "(readout b i)"),
        )
    )


# --- the theory's meaning in the code --------------------------------------------------------

KINDS = ("KQ", "KK", "KC", "KX")


@dataclass(frozen=True, slots=True, kw_only=True)
class Labelled:
    """The actual coordinates of a size, with the symbols of the coordinate theory on them."""

    places: Coordinates
    first: tuple[int, ...]
    second: tuple[int, ...]

    def symbols(self) -> dict[str, object]:
        """Meaning of the coordinate theory's symbols; paths and columns count from 1 there."""
        size, places = self.places.size, self.places
        paths = [places.path(i) if places.depth[i] >= 0 else () for i in range(places.width)]
        by_label = {
            (KINDS[places.kind[i]], paths[i], self._head(i), int(places.column[i]) + 1): i
            for i in range(places.width)
        }

        def node(sequence: tuple[int, ...]) -> Callable[[str, int, int, int], int]:
            return lambda k, t, h, c: by_label[k, sequence[:t], h, c]

        def head_of(sequence: tuple[int, ...]) -> Callable[[int], int]:
            return lambda s: sequence[s - 1] + 1 if 1 <= s <= len(sequence) else 1

        return {
            **{name: name for name in KINDS},
            "H": size.heads,
            "L": size.layers,
            "d": size.head_width,
            "din": size.token_width,
            "kind": lambda i: KINDS[places.kind[i]],
            "depth": lambda i: int(places.depth[i]),
            "path": lambda i, s: paths[i][s - 1] + 1 if 1 <= s <= len(paths[i]) else 0,
            "head": self._head,
            "column": lambda i: int(places.column[i]) + 1,
            "p": head_of(self.first),
            "q": head_of(self.second),
            "node": node(self.first),
            "other": node(self.second),
        }

    def _head(self, i: int) -> int:
        return int(self.places.head[i]) + (self.places.kind[i] in (QUERY, KEY))

    def sorts(self) -> dict[str, range | tuple[str, ...]]:
        """All coordinates and kinds."""
        return {"Co": range(self.places.width), "Kind": KINDS}

    def integers(self) -> range:
        """From below the least index to above the largest."""
        size = self.places.size
        return range(-1, max(size.layers, size.heads, size.head_width, size.token_width) + 2)


WORLD_SIZES = ((1, 2, 2, 2), (2, 2, 2, 3), (2, 3, 1, 2), (3, 3, 1, 1))


def labelled_cases(spare: int) -> Iterator[Labelled]:
    """Small trees, each with two of its paths; `spare` coordinates are left unused."""
    for heads, layers, head_width, token_width in WORLD_SIZES:
        size = TransformerSize(
            heads=heads, layers=layers, head_width=head_width, token_width=token_width
        )
        paths = list(itertools.product(range(heads), repeat=layers))
        places = coordinates(size, size.probe_width + spare)
        yield Labelled(places=places, first=paths[len(paths) // 3], second=paths[-1])


def tree_worlds(build: Callable[[TransformerSize, int], Universal] = tree) -> Iterator[World]:
    """The tree theory on the actual index maps of small sizes."""
    for case in labelled_cases(spare=1):
        places, size = case.places, case.places.size
        model = build(size, places.width)
        kept = {
            (t + 1, h + 1): frozenset(np.flatnonzero(value.rows >= 0).tolist())
            for t, layer in enumerate(model.values)
            for h, value in enumerate(layer)
        }

        def read(part: Ones) -> frozenset[tuple[int, int]]:
            return frozenset(zip((part.columns + 1).tolist(), part.rows.tolist(), strict=True))

        queries = _by_layer_and_head(model.queries, read)
        keys = _by_layer_and_head(model.keys, read)
        leaves = read(model.readout)

        def survives(
            depth: int,
            i: int,
            kept: dict[tuple[int, int], frozenset[int]] = kept,
            first: tuple[int, ...] = case.first,
        ) -> bool:
            return all(i in kept[t + 1, first[t] + 1] for t in range(depth))

        yield World(
            sorts=case.sorts(),
            integers=case.integers(),
            symbols={
                **case.symbols(),
                "keep": lambda l, g, i, kept=kept: i in kept[l, g],
                "query": lambda l, g, b, i, queries=queries: (b, i) in queries[l, g],
                "key": lambda l, g, b, i, keys=keys: (b, i) in keys[l, g],
                "readout": lambda b, i, leaves=leaves: (b, i) in leaves,
                "D": survives,
            },
            free={
                "k": range(size.layers),
                "h": range(1, size.heads + 1),
                "c": range(1, max(size.head_width, size.token_width) + 1),
            },
        )


def _by_layer_and_head(
    layers: tuple[tuple[Ones, ...], ...], read: Callable[[Ones], frozenset[tuple[int, int]]]
) -> dict[tuple[int, int], frozenset[tuple[int, int]]]:
    return {
        (t + 1, h + 1): read(part)
        for t, layer in enumerate(layers)
        for h, part in enumerate(layer)
    }


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


def identity_checks(
    mask_rule: str = MASK_RULE, layout: Layout = LAYOUT
) -> tuple[Check, ...]:
    """The for-all proof, and the parameters themselves at small sizes."""

    def goals() -> tuple[Goal, ...]:
        return tree_identity_goals(tree_theory(mask_rule, lambda: tree_worlds(layout.build)))

    return (
        covers(
            Smt(
                goals=goals,
                instances="all H, L, d, d_in, all paths, columns and readers",
                leans_on=(INDUCTION, MATRIX_LAWS, SELECTION_PRODUCT),
            )
        ),
        selection_check(layout),
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
    """
    return identity_checks()


def width_equations() -> tuple[Equation, ...]:
    """The count of coordinates by levels against its closed form; y stands for H^k."""
    import sympy

    heads, layers, width, tokens, y = sympy.symbols("H L d d_in y")
    reads = 2 * heads * width

    def closed(power: object) -> object:  # (H - 1) times the count, k levels above the leaves
        return reads * (power - 1) + (heads - 1) * power * tokens

    return (
        Equation(name="a leaf has d_in coordinates", left=closed(1), right=(heads - 1) * tokens),
        Equation(
            name="a node has 2Hd coordinates and H subtrees",
            left=closed(heads * y),
            right=(heads - 1) * reads + heads * closed(y),
        ),
        Equation(
            name="for H = 1 a level adds 2d",
            left=2 * (layers + 1) * width + tokens,
            right=2 * width + (2 * layers * width + tokens),
        ),
    )


def width_checks(count: Callable[[TransformerSize], int] | None = None) -> tuple[Check, ...]:
    """The closed form for all sizes, and the coordinates counted one by one at small ones."""
    wanted = count or (lambda size: _closed_form(size))

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
                equations=width_equations,
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
    return (
        covers(
            Smt(
                goals=lambda: binary_goals(
                    tree_theory(MASK_RULE, lambda: tree_worlds(layout.build))
                ),
                instances="all H, L, d, d_in",
                leans_on=(COUNTING,),
            )
        ),
        selection_check(layout),
    )


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
    return (
        covers(
            Smt(
                goals=lambda: padding_goals(
                    tree_theory(MASK_RULE, lambda: tree_worlds(layout.build))
                ),
                instances="all H, L, d, d_in and every m >= m-bar",
                leans_on=(MATRIX_LAWS,),
            )
        ),
        selection_check(layout),
    )


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
