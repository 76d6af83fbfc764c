"""The tree's maps as rules on coordinates, and what follows for every size.

Masks commute and multiply to the mask of a whole path, so what survives the first l layers along
p is exactly the subtree below p, and a reader then hits one block.

Source: Fixed Universal Transformers, Theorem 3.1 and Appendix A.2.
"""

from collections.abc import Callable, Iterable, Iterator

import numpy as np

from constructions.universal.coordinate_theory import (
    PLAIN,
    Labels,
    distinct,
    labelled_cases,
)
from constructions.universal.definitions import TransformerSize, Universal
from constructions.universal.maps import Ones
from verify.smtlib import Axiom, Goal, Theory, World, induction

_DECLARATIONS = """
(declare-fun keep (Int Int Co) Bool)
(declare-fun query (Int Int Int Co) Bool) (declare-fun key (Int Int Int Co) Bool)
(declare-fun readout (Int Co) Bool)
(declare-fun D (Int Co) Bool)
(declare-const k Int) (declare-const h Int) (declare-const c Int)
(define-fun reader ((l Int) (g Int) (b Int)) Bool
  (and (<= 1 l) (<= l L) (<= 1 g) (<= g H) (<= 1 b) (<= b d)))
"""

MASK_RULE = "(and (>= (depth i) l) (= (path i l) g))"
"""Which coordinates R_V^{l,g} keeps; the mutants replace it."""


def _reads(function: str, kind: str, head: str = "g") -> str:
    return f"""(forall ((l Int) (g Int) (b Int) (i Co)) (! (=> (reader l g b)
      (= ({function} l g b i)
        (and (= (kind i) {kind}) (= (depth i) (- l 1)) (= (head i) {head}) (= (column i) b))))
      :pattern (({function} l g b i))))"""


def tree_theory(
    mask_rule: str, worlds: Callable[[], Iterable[World]], labels: Labels = PLAIN
) -> Theory:
    """The tree's maps as rules on coordinates, and the product D of the masks along p."""
    return Theory(
        name=f"{labels.name}tree",
        declarations=labels.declarations() + _DECLARATIONS,
        axioms=(
            *labels.axioms(),
            Axiom(
                "mask",
                f"""(forall ((l Int) (g Int) (i Co)) (! (=> (and (<= 1 l) (<= l L) (<= 1 g)
                  (<= g H)) (= (keep l g i) {mask_rule})) :pattern ((keep l g i))))""",
                "R_V^{l,g} keeps the coordinates whose sequence takes head g at layer l",
            ),
            Axiom("query", _reads("query", "KQ"), "R_Q^{l,g} reads head g at depth l - 1"),
            Axiom(
                "key",
                _reads("key", "KK", labels.key_head),
                "R_K^{l,g} reads the keys of head g, or the shared ones, at depth l - 1",
            ),
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


def _one_hot(reader: str, kind: str, head: str = "h") -> str:
    return f"""(forall ((i Co)) (= (and (D k i) ({reader} (+ k 1) h c i))
      (= i (node {kind} k {head} c))))"""


def tree_identity_goals(theory: Theory, labels: Labels = PLAIN) -> tuple[Goal, ...]:
    """Masks by induction over the layers; then each column of P_0 is one coordinate of its own."""
    base, step = induction(
        name="masks of a path keep its extensions",
        theory=theory,
        invariant=_survivors,
        base="0",
        step=("k", "(+ k 1)"),
        step_assumptions=("(and (<= 0 k) (< k L))",),
    )
    key_head = labels.key_head.replace("g", "h")
    return (
        base,
        step,
        *(
            Goal(
                name=f"{what} of a path selects one block",
                theory=theory,
                role="conclusion",
                assumptions=(_HEAD, f"(label {kind} k {head} c)", _survivors("k")),
                conclusion=_one_hot(reader, kind, head),
            )
            for what, reader, kind, head in (
                ("the query reader", "query", "KQ", "h"),
                ("the key reader", "key", "KK", key_head),
            )
        ),
        Goal(
            name="the readout of a full path selects its leaf",
            theory=theory,
            role="conclusion",
            assumptions=("(and (<= 1 c) (<= c din))", _survivors("L")),
            conclusion="(forall ((i Co)) (= (and (D L i) (readout c i)) (= i (node KC L 0 c))))",
        ),
        distinct(labels),
    )


_HEAD = "(and (<= 0 k) (< k L) (<= 1 h) (<= h H))"


def beyond_goals(theory: Theory) -> tuple[Goal, ...]:
    """Columns of a reader beyond d_in are zero where nodes are folded."""
    return tuple(
        Goal(
            name=f"columns of {reader} readers beyond d_in are zero",
            theory=theory,
            role="conclusion",
            assumptions=(_HEAD, "(and (< din c) (<= c d))"),
            conclusion=f"(forall ((i Co)) (not ({reader} (+ k 1) h c i)))",
        )
        for reader in ("query", "key")
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


def tree_worlds(
    build: Callable[[TransformerSize, int], Universal], labels: Labels = PLAIN
) -> Iterator[World]:
    """The tree theory on the actual index maps of small sizes."""
    for case in labelled_cases(spare=1, labels=labels):
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
                "keep": lambda layer, g, i, kept=kept: i in kept[layer, g],
                "query": lambda layer, g, b, i, queries=queries: (b, i) in queries[layer, g],
                "key": lambda layer, g, b, i, keys=keys: (b, i) in keys[layer, g],
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
        (t + 1, h + 1): read(part) for t, layer in enumerate(layers) for h, part in enumerate(layer)
    }
