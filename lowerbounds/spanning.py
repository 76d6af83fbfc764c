"""Theorem 4.1 rebuilt: path vectors that are independent force the embedding dimension up.

In the shared-attention model with d_in = 1 the target's output is sum_p A_p X prod_l w^{l,p_l} and
the model's is sum_p A_p X (E R_p U), p over the H^L head sequences. Where the vectors A_p X are
independent the coefficients agree: E_q R_p U_q = T[q, p] for each target q and each path p. If
the targets' weight tensors T[q, :] span, T has rank H^L, and it factors

    readout U fixed         T = [E_q]_q [R_p U]_p                    inner dimension m
    readout per target      T = [E_q (x) U_q]_q [vec R_p]_p          inner dimension m^2

so m >= H^L, and m^2 >= H^L. Unit weights w^l = e_{q_l} make T the identity.

Source: Fixed Universal Transformers, Section 4 and Theorem 4.1; the proof is ours.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from random import Random
from typing import Any

from constructions.universal.instances import random_matrix
from constructions.universal.sums import PAPER
from verify.claims import Check, Profile, Source, claim, covers, supports
from verify.counterexamples import Counterexample
from verify.errors import SizeError
from verify.facts import COUNTING, INDUCTION, MATRIX_LAWS, RANK_OF_PRODUCT
from verify.methods.exhaustive import Exhaustive, Range
from verify.methods.smt import Smt
from verify.methods.witness import Witness
from verify.rational import Matrix
from verify.smtlib import Axiom, Goal, Theory, World, induction
from verify.verdicts import Json, Status

# --- instances: a shared-attention model that attains the fixed-readout bound ------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedAttention:
    """A shared-attention model with d_in = 1 for H^L targets.

    paths R_p: (m, m) each; embeddings E_q: (1, m); readouts U_q: (m, 1); tensors T: (targets, paths)
    """

    heads: int
    layers: int
    products: tuple[Matrix, ...]
    embeddings: tuple[Matrix, ...]
    readouts: tuple[Matrix, ...]
    tensors: Matrix

    @property
    def width(self) -> int:
        """m."""
        return self.products[0].height

    def responses(self) -> Matrix:
        """[E_q R_p U_q]_{q,p}."""
        return Matrix.from_rows(
            [
                [(e @ r @ u)[0, 0] for r in self.products]
                for e, u in zip(self.embeddings, self.readouts, strict=True)
            ]
        )


def weight_tensor(weights: tuple[tuple[Fraction, ...], ...]) -> list[Fraction]:
    """prod_l w^{l,p_l} for every path p, in lexical order."""
    products = [Fraction(1)]
    for layer in weights:
        products = [value * weight for value in products for weight in layer]
    return products


def leaves_only(heads: int, layers: int, seed: int) -> SharedAttention:
    """The tree's leaves alone, m = H^L: R_p = e_p e_p^T, U = all ones, E_q holds the tensor of q.

    Seed 0 takes the unit weights w^l = e_{q_l}; other seeds random ones.

    Raises:
        SizeError: a size below 1.
    """
    if heads < 1 or layers < 1:
        raise SizeError(f"H and L must be at least 1, got H = {heads}, L = {layers}")
    source, paths = Random(seed), heads**layers
    unit = Matrix.identity(paths)
    rows: list[list[Fraction]] = []
    for q in itertools.product(range(heads), repeat=layers):
        weights = tuple(
            tuple(
                Fraction(int(h == q[layer])) if seed == 0 else Fraction(source.randint(-3, 3), 2)
                for h in range(heads)
            )
            for layer in range(layers)
        )
        rows.append(weight_tensor(weights))
    column = Matrix(paths, 1, [1] * paths)
    return SharedAttention(
        heads=heads,
        layers=layers,
        products=tuple(
            unit.select_columns([p if j == p else -1 for j in range(paths)]) for p in range(paths)
        ),
        embeddings=tuple(Matrix(1, paths, row) for row in rows),
        readouts=(column,) * paths,
        tensors=Matrix.from_rows(rows),
    )


def fixed_factors(model: SharedAttention) -> tuple[Matrix, Matrix]:
    """[E_q]_q of shape (targets, m) and [R_p U]_p of shape (m, paths)."""
    left = Matrix.stack(list(model.embeddings))
    right = Matrix.beside([r @ model.readouts[0] for r in model.products])
    return left, right


def free_factors(model: SharedAttention) -> tuple[Matrix, Matrix]:
    """[E_q (x) U_q]_q of shape (targets, m^2) and [vec R_p]_p of shape (m^2, paths)."""
    m = model.width
    left = Matrix.from_rows(
        [
            [e[0, i] * u[j, 0] for i in range(m) for j in range(m)]
            for e, u in zip(model.embeddings, model.readouts, strict=True)
        ]
    )
    columns = [Matrix(m * m, 1, [x for row in r.rows() for x in row]) for r in model.products]
    return left, Matrix.beside(columns)


Factors = Callable[[SharedAttention], tuple[Matrix, Matrix]]
Case = tuple[int, int, int]


def factors_fail(
    factors: Factors, bound: Callable[[SharedAttention], int]
) -> Callable[[Case], Counterexample | None]:
    """The obligation that T factors as stated, and that its rank is at most the bound's side.

    `bound` is the inner dimension that the theorem compares with H^L (m or m^2).
    """

    def holds(case: Case) -> Counterexample | None:
        heads, layers, seed = case
        model = leaves_only(heads, layers, seed)
        left, right = factors(model)
        tensors = model.responses()
        if tensors != model.tensors or left @ right != tensors:
            text = "the responses must be the weight tensors and factor as stated; they do not"
        elif tensors.rank() > bound(model):
            text = f"rank {tensors.rank()} must be at most {bound(model)}; it is not"
        else:
            return None
        return Counterexample(
            text=f"{text} (H = {heads}, L = {layers}, m = {model.width}, seed {seed})",
            instance={"heads": heads, "layers": layers, "seed": seed, "width": model.width},
        )

    return holds


def _range(heads: int, layers: int, seeds: int) -> Range:
    return Range(
        bound=f"H <= {heads}, L <= {layers}, unit weights and {seeds - 1} random ones",
        over=lambda: itertools.product(
            range(1, heads + 1), range(1, layers + 1), range(seeds)
        ),
    )


RANGES: dict[Profile, Range] = {
    "quick": _range(2, 2, 2),
    "standard": _range(3, 2, 3),
    "deep": _range(3, 3, 5),
}


def factors_exhibit(factors: Factors) -> Callable[[Case], Json]:
    """The two factors and the tensors, exactly."""

    def texts(matrix: Matrix) -> Json:
        return [[str(x) for x in row] for row in matrix.rows()]

    def exhibit(case: Case) -> Json:
        model = leaves_only(*case)
        left, right = factors(model)
        return {"left": texts(left), "right": texts(right), "product": texts(model.tensors)}

    return exhibit


# --- theory ----------------------------------------------------------------------------------

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
                    "mul": lambda a, b, n=len(indices): (
                        a @ b if a.width == b.height else Matrix.zero(n, n)
                    ),
                },
            )

    return worlds


# --- claims ----------------------------------------------------------------------------------


def spanning_checks(
    *,
    inner: str,
    words: str,
    factors: Factors,
    bound: Callable[[SharedAttention], int],
) -> tuple[Check, ...]:
    """The rank argument for all sizes, unit weights as targets that span, and instances."""

    def goals() -> tuple[Goal, ...]:
        theory = spanning_theory(inner, words, spanning_worlds(factors))
        return (*spanning_goals(theory, inner), *unit_goals(unit_theory(unit_worlds)))

    return (
        covers(
            Smt(
                goals=goals,
                instances="all H, L, m, under the condition on path vectors",
                leans_on=(INDUCTION, COUNTING, MATRIX_LAWS, RANK_OF_PRODUCT),
            )
        ),
        supports(
            Exhaustive(
                holds=factors_fail(factors, bound),
                ranges=RANGES,
                rechecked_as="factorisation",
                exhibit=factors_exhibit(factors),
            )
        ),
    )


@claim(
    id="lowerbounds.spanning.fixed_readout",
    source=Source(PAPER, "Section 4"),
    latex=r"[E_q R_p U]_{q,p} = T,\ \mathrm{rank}\, T = H^L \;\Longrightarrow\; m \ge H^L",
    scope="shared attention, d_in = 1, all H, L; targets with independent path vectors",
    uses=("universal.paths.unrolling",),
    expected=Status.PROVED,
)
def a_fixed_readout_needs_a_coordinate_per_path() -> tuple[Check, ...]:
    """Shared attention, d_in = 1: if the path vectors are independent at targets whose weight
    tensors span, then m >= H^L for a fixed readout, for all H and L.
    """
    return spanning_checks(
        inner="m",
        words="T = [E_q]_q [R_p U]_p, since the readout is the same for every target",
        factors=fixed_factors,
        bound=lambda model: model.width,
    )


@claim(
    id="lowerbounds.spanning.free_readout",
    source=Source(PAPER, "Theorem 4.1"),
    latex=r"[E_q R_p U_q]_{q,p} = T,\ \mathrm{rank}\, T = H^L \;\Longrightarrow\; m^2 \ge H^L",
    scope="shared attention, d_in = 1, all H, L; targets with independent path vectors",
    uses=("universal.paths.unrolling",),
    expected=Status.PROVED,
)
def a_readout_per_target_needs_the_root_of_the_paths() -> tuple[Check, ...]:
    """Shared attention, d_in = 1: under the same condition m^2 >= H^L for a readout chosen per
    target, for all H and L.
    """
    return spanning_checks(
        inner="(* m m)",
        words="T = [E_q (x) U_q]_q [vec R_p]_p: E R U is bilinear in (E, U) and linear in R",
        factors=free_factors,
        bound=lambda model: model.width**2,
    )


def independent_attention(seed: int) -> dict[str, Any]:
    """Row-stochastic rational attention for (H, L) = (2, 2), inputs X and the four vectors A_p X."""
    source = Random(seed)

    def stochastic() -> Matrix:
        rows = [[Fraction(source.randint(1, 5)) for _ in range(4)] for _ in range(4)]
        return Matrix.from_rows([[x / sum(row) for x in row] for row in rows])

    attention = [[stochastic() for _ in range(2)] for _ in range(2)]
    inputs = random_matrix(source, 4, 1)
    vectors = [attention[1][b] @ attention[0][a] @ inputs for a in range(2) for b in range(2)]
    return {"attention": attention, "inputs": inputs, "vectors": Matrix.beside(vectors)}


def dependent(found: dict[str, Any]) -> Counterexample | None:
    """The obligation that the path vectors are independent."""
    vectors: Matrix = found["vectors"]
    if vectors.rank() == vectors.width:
        return None
    return Counterexample(
        text=f"{vectors.width} path vectors must be independent, their rank is {vectors.rank()}",
        instance=_attention_exhibit(found),
    )


def _attention_exhibit(found: dict[str, Any]) -> dict[str, Json]:
    def texts(matrix: Matrix) -> Json:
        return [[str(x) for x in row] for row in matrix.rows()]

    return {
        "attention": [[texts(a) for a in layer] for layer in found["attention"]],
        "inputs": texts(found["inputs"]),
        "inverse": texts(found["vectors"].inverse())
        if found["vectors"].rank() == found["vectors"].width
        else [],
    }


def condition_checks(
    find: Callable[[], dict[str, Any]] = lambda: independent_attention(1),
) -> tuple[Check, ...]:
    """One exact instance, exhibited with the inverse of its matrix of path vectors."""
    return (
        covers(
            Witness(
                find=find,
                holds=dependent,
                exhibit=_attention_exhibit,
                rechecked_as="independent-paths",
                instances="four tokens, rational row-stochastic attention, H = L = 2",
            )
        ),
    )


@claim(
    id="lowerbounds.spanning.condition",
    source=Source(PAPER, "Section 4"),
    latex=r"\{A_p X\}_{p \in [2]^2} \text{ independent for some row-stochastic } A^{l,h}",
    scope="some attention matrices at H = L = 2",
    expected=Status.PROVED,
)
def path_vectors_can_be_independent() -> tuple[Check, ...]:
    """The condition on path vectors can be met: some row-stochastic attention matrices with
    H = L = 2 have four independent path vectors on four tokens.
    """
    return condition_checks()
