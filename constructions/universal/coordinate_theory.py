"""The coordinates of the shared layout as a theory, and its meaning on actual index arrays.

A used coordinate is a kind, a head sequence, a head and a column; coordinates with one label are
one. The tree and the looped construction state their maps as rules on these labels.

Source: Fixed Universal Transformers, Appendix A.2.
"""

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from constructions.universal.definitions import TransformerSize
from constructions.universal.layouts import (
    KEY,
    QUERY,
    Coordinates,
    Node,
    coordinates,
    stored_width,
)
from verify.smtlib import Axiom, Goal, Symbol, Theory, World

COORDINATES = """
(declare-sort Co 0)
(declare-datatypes ((Kind 0)) (((KQ) (KK) (KC) (KX))))
(declare-const H Int) (declare-const L Int) (declare-const d Int) (declare-const din Int)
(declare-fun kind (Co) Kind) (declare-fun depth (Co) Int) (declare-fun path (Co Int) Int)
(declare-fun head (Co) Int) (declare-fun column (Co) Int)
(declare-fun p (Int) Int) (declare-fun q (Int) Int)
(declare-fun node (Kind Int Int Int) Co) (declare-fun other (Kind Int Int Int) Co)
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Labels:
    """Which labels a node's coordinates have, in the theory and in the code.

    `condition` is a formula of kind k, head h and column c; `key_head` the head h under which
    head g's keys stand; `node` makes the arrays.
    """

    name: str
    condition: str
    key_head: str
    node: Callable[[TransformerSize], Node]
    sizes: tuple[Axiom, ...] = ()

    def axioms(self) -> tuple[Axiom, ...]:
        """What the labels of coordinates are like."""
        return (*self.sizes, *COORDINATE_AXIOMS)

    def declarations(self) -> str:
        """The coordinates' symbols, and `label`: the labels that a used coordinate can have."""
        return f"""{COORDINATES}
(define-fun label ((k Kind) (t Int) (h Int) (c Int)) Bool
  (ite (= k KC) (and (= t L) (= h 0) (<= 1 c) (<= c din))
    (and (not (= k KX)) (<= 0 t) (< t L) (<= 1 c) {self.condition})))
"""


PLAIN = Labels(
    name="",
    condition="(<= 1 h) (<= h H) (<= c d)",
    key_head="g",
    node=Node.plain,
)
"""Each head has d query and d key columns."""
FOLDED = Labels(
    name="folded ",
    condition="(<= c din) (ite (= k KQ) (and (<= 1 h) (<= h H)) (= h 0))",
    key_head="0",
    node=Node.folded,
    sizes=(Axiom("wide heads", "(>= d din)", "folding is for d >= d_in"),),
)
"""Each head has d_in query columns, and all share d_in key columns."""


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


# --- the theory's meaning in the code --------------------------------------------------------

KINDS = ("KQ", "KK", "KC", "KX")


@dataclass(frozen=True, slots=True, kw_only=True)
class Labelled:
    """The actual coordinates of a size, with the symbols of the coordinate theory on them."""

    places: Coordinates
    first: tuple[int, ...]
    second: tuple[int, ...]

    def symbols(self) -> dict[str, Symbol]:
        """Meaning of the coordinate theory's symbols; paths and columns count from 1 there."""
        size, places = self.places.size, self.places
        paths = [places.path(i) if places.depth[i] >= 0 else () for i in range(places.width)]
        by_label: dict[tuple[str, tuple[int, ...], int, int], int] = {
            (KINDS[places.kind[i]], paths[i], self._head(i), int(places.column[i]) + 1): i
            for i in range(places.width)
        }

        def path(i: int, s: int) -> int:
            return paths[i][s - 1] + 1 if 1 <= s <= len(paths[i]) else 0

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
            "path": path,
            "head": self._head,
            "column": lambda i: int(places.column[i]) + 1,
            "p": head_of(self.first),
            "q": head_of(self.second),
            "node": node(self.first),
            "other": node(self.second),
        }

    def _head(self, i: int) -> int:
        shared = (KEY,) if self.places.node.shared_keys else ()
        return int(self.places.head[i]) + (self.places.kind[i] in {QUERY, KEY}.difference(shared))

    def sorts(self) -> dict[str, range | tuple[str, ...]]:
        """All coordinates and kinds."""
        return {"Co": range(self.places.width), "Kind": KINDS}

    def integers(self) -> range:
        """From below the least index to the largest."""
        size = self.places.size
        return range(-1, max(size.layers, size.heads, size.head_width, size.token_width) + 1)


WORLD_SIZES = ((2, 2, 2, 3), (3, 3, 1, 1), (1, 2, 2, 2))


def labelled_cases(spare: int, labels: Labels = PLAIN) -> Iterator[Labelled]:
    """Small trees, each with two of its paths; `spare` coordinates are left unused."""
    for heads, layers, head_width, token_width in WORLD_SIZES:
        size = TransformerSize(
            heads=heads, layers=layers, head_width=head_width, token_width=token_width
        )
        paths = list(itertools.product(range(heads), repeat=layers))
        if labels.node(size).shared_keys:
            size = replace(size, head_width=size.token_width + 1)
        node = labels.node(size)
        places = coordinates(size, stored_width(size, node) + spare, node)
        yield Labelled(places=places, first=paths[len(paths) // 3], second=paths[-1])


def coordinates_alone(labels: Labels = PLAIN) -> Theory:
    """The coordinates alone, without the maps of any construction."""

    def worlds() -> Iterator[World]:
        for case in labelled_cases(spare=1, labels=labels):
            yield World(sorts=case.sorts(), integers=case.integers(), symbols=case.symbols())

    return Theory(
        name=f"{labels.name}coordinates",
        declarations=labels.declarations(),
        axioms=labels.axioms(),
        worlds=worlds,
    )


def distinct(labels: Labels = PLAIN) -> Goal:
    """Columns of P_0 with different labels are different coordinates, so E can be written."""
    return Goal(
        name="different columns select different coordinates",
        theory=coordinates_alone(labels),
        role="conclusion",
        conclusion="""(forall ((k1 Kind) (t1 Int) (h1 Int) (c1 Int) (k2 Kind) (t2 Int) (h2 Int)
          (c2 Int)) (=> (and (label k1 t1 h1 c1) (label k2 t2 h2 c2)
            (= (node k1 t1 h1 c1) (other k2 t2 h2 c2)))
          (and (= k1 k2) (= t1 t2) (= h1 h2) (= c1 c2)
            (forall ((s Int)) (=> (and (<= 1 s) (<= s t1)) (= (p s) (q s)))))))""",
    )
