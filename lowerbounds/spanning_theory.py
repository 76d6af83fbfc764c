"""The rank argument of Theorem 4.1 as a theory, and unit weights as targets whose tensors span.

Source: Fixed Universal Transformers, Section 4 and Theorem 4.1; the proof is ours.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from fractions import Fraction

from lowerbounds.shared_attention import Factors, leaves_only, weight_tensor
from verify.rational import Matrix
from verify.smtlib import Axiom, Goal, Theory, World, induction

_SPANNING = """
(declare-sort Path 0) (declare-sort Target 0) (declare-sort Vector 0) (declare-sort Mat 0)
(declare-const H Int) (declare-const L Int) (declare-const m Int)
(declare-fun count (Int) Int)
(declare-fun T (Target Path) Real)
(declare-fun response (Target Path) Real)
(declare-fun pathVector (Path Target) Vector)
(declare-fun combine (Target) Vector) (declare-const zero Vector)
(declare-const tensors Mat) (declare-const responses Mat)
(declare-const left Mat) (declare-const right Mat)
(declare-fun entry (Mat Target Path) Real)
(declare-fun inner (Mat) Int) (declare-fun rank (Mat) Int)
(declare-fun mul (Mat Mat) Mat)
"""


def _axioms(inner: str, words: str) -> tuple[Axiom, ...]:
    return (
        Axiom("sizes", "(and (>= H 1) (>= L 1) (>= m 1))", "all sizes are at least 1"),
        Axiom(
            "condition",
            """(forall ((q Target)) (=> (= (combine q) zero)
              (forall ((p Path)) (= (- (response q p) (T q p)) 0.0))))""",
            "the condition: path vectors A_p X are independent at each target, so a combination "
            "of them that vanishes has coefficients 0",
        ),
        Axiom(
            "simulates",
            "(forall ((q Target)) (= (combine q) zero))",
            "model and target have equal output: sum_p A_p X (E_q R_p U_q - T[q,p]) = 0",
        ),
        Axiom(
            "entries",
            """(and (forall ((q Target) (p Path)) (! (= (entry tensors q p) (T q p))
                :pattern ((entry tensors q p))))
              (forall ((q Target) (p Path)) (! (= (entry responses q p) (response q p))
                :pattern ((entry responses q p)))))""",
            "the two matrices over targets and paths",
        ),
        Axiom(
            "extensional",
            """(forall ((a Mat) (b Mat)) (=> (forall ((q Target) (p Path))
              (= (entry a q p) (entry b q p))) (= a b)))""",
            "matrices with equal entries are equal",
        ),
        Axiom("factors", "(= responses (mul left right))", words),
        Axiom("inner dimension", f"(= (inner left) {inner})", "the width of the left factor"),
        Axiom(
            "rank",
            "(forall ((a Mat) (b Mat)) (! (<= (rank (mul a b)) (inner a)) :pattern ((mul a b))))",
            "the rank of a product is at most the inner dimension",
        ),
        Axiom(
            "spanning",
            "(= (rank tensors) (count L))",
            "the condition: the targets' weight tensors span, so T has rank H^L",
        ),
    )


def spanning_theory(inner: str, words: str, worlds: Callable[[], Iterator[World]]) -> Theory:
    """Targets, paths, the two matrices over them and the factorisation; count(L) is H^L."""
    return Theory(
        name="spanning", declarations=_SPANNING, axioms=_axioms(inner, words), worlds=worlds
    )


def spanning_goals(theory: Theory, inner: str) -> tuple[Goal, ...]:
    """Coefficients agree, so the matrices do, so the rank is at most the inner dimension."""
    agree = "(forall ((q Target) (p Path)) (= (response q p) (T q p)))"
    return (
        Goal(name="independent path vectors: coefficients agree", theory=theory, conclusion=agree),
        Goal(
            name="the tensors are the responses",
            theory=theory,
            assumptions=(agree,),
            conclusion="(= tensors responses)",
        ),
        Goal(
            name="the embedding dimension is bounded below",
            theory=theory,
            role="conclusion",
            assumptions=("(= tensors responses)",),
            conclusion=f"(>= {inner} (count L))",
        ),
    )


_UNIT = """
(declare-sort Path 0)
(declare-const nil Path) (declare-fun cons (Int Path) Path) (declare-fun len (Path) Int)
(declare-fun weight (Path Path) Real)
(declare-const q0 Path) (declare-const h0 Int)
"""


def unit_theory(worlds: Callable[[], Iterator[World]]) -> Theory:
    """The weight tensor of the target with unit weights e_{q_l}, along a path."""
    return Theory(
        name="unit weights",
        declarations=_UNIT,
        axioms=(
            Axiom(
                "paths",
                """(and (= (len nil) 0)
                  (forall ((i Int) (q Path)) (! (and (= (len (cons i q)) (+ (len q) 1))
                    (>= (len q) 0)) :pattern ((cons i q))))
                  (forall ((q Path)) (or (= q nil)
                    (exists ((i Int) (r Path)) (= q (cons i r)))))
                  (forall ((i Int) (q Path) (j Int) (r Path)) (! (= (= (cons i q) (cons j r))
                    (and (= i j) (= q r))) :pattern ((cons i q) (cons j r)))))""",
                "paths are finite words over the heads",
            ),
            Axiom(
                "empty product",
                "(= (weight nil nil) 1.0)",
                "no layer: the product is 1",
            ),
            Axiom(
                "next layer",
                """(forall ((i Int) (q Path) (j Int) (p Path)) (!
                  (= (weight (cons i q) (cons j p)) (ite (= i j) (weight q p) 0.0))
                  :pattern ((weight (cons i q) (cons j p)))))""",
                "a layer with unit weights e_i passes head i with factor 1 and others with 0",
            ),
        ),
        worlds=worlds,
    )


def unit_goals(theory: Theory) -> tuple[Goal, ...]:
    """T[q, p] = [p = q] for paths of one length: unit weights make T the identity."""

    def invariant(q: str) -> str:
        return f"""(forall ((p Path)) (! (=> (= (len p) (len {q}))
          (= (weight {q} p) (ite (= p {q}) 1.0 0.0))) :pattern ((weight {q} p))))"""

    return induction(
        name="unit weights give unit tensors",
        theory=theory,
        invariant=invariant,
        base="nil",
        step=("q0", "(cons h0 q0)"),
    )


# --- the theories' meaning in the code -------------------------------------------------------


def unit_worlds() -> Iterator[World]:
    """Words of length up to 2 over two heads."""
    heads = (1, 2)
    paths = [p for n in range(3) for p in itertools.product(heads, repeat=n)]

    def weight(q: tuple[int, ...], p: tuple[int, ...]) -> Fraction:
        if len(p) != len(q):
            return Fraction(0)
        weights = tuple(tuple(Fraction(int(h == i)) for h in heads) for i in q)
        position = 0
        for head in p:
            position = position * len(heads) + heads.index(head)
        return weight_tensor(weights)[position]

    yield World(
        sorts={"Path": paths},
        integers=heads,
        symbols={
            "nil": (),
            "cons": lambda i, q: (i, *q),
            "len": len,
            "weight": weight,
        },
        free={"q0": paths[:3], "h0": heads},
    )


def spanning_worlds(factors: Factors) -> Callable[[], Iterator[World]]:
    """The leaves-only model, with random and with unit weights."""

    def worlds() -> Iterator[World]:
        for heads, layers, seed in ((2, 2, 0), (2, 2, 3)):
            model = leaves_only(heads, layers, seed)
            tensors, responses = model.tensors, model.responses()
            left, right = factors(model)
            indices = range(heads**layers)
            yield World(
                sorts={
                    "Target": indices,
                    "Path": indices,
                    "Mat": [tensors, responses, left @ right],
                },
                symbols={
                    "H": heads,
                    "L": layers,
                    "m": model.width,
                    "count": lambda length, heads=heads: heads**length,
                    "T": lambda q, p, t=tensors: t[q, p],
                    "response": lambda q, p, r=responses: r[q, p],
                    "combine": lambda q: 0,
                    "zero": 0,
                    "tensors": tensors,
                    "responses": responses,
                    "left": left,
                    "right": right,
                    "entry": lambda a, q, p: a[q, p],
                    "inner": lambda a: a.width,
                    "rank": lambda a: a.rank(),
                    "mul": lambda a, b, n=heads**layers: (
                        a @ b if a.width == b.height else Matrix.zero(n, n)
                    ),
                },
            )

    return worlds
