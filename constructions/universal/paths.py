"""The path form that the paper prints: streams as sums over head sequences, and Equations 1 to 4.

    X^l = sum over (h_1..h_l) of A^{l,h_l} .. A^{1,h_1} X^0 M^{1,h_1} .. M^{l,h_l}
    E R_V^{1,h_1} .. R_V^{l-1,h_{l-1}} R_Q^{l,h} = M^{1,h_1} .. M^{l-1,h_{l-1}} W_Q^{l,h}

The unrolling holds for the target (factors M) and for the universal model (factors R_V) alike. The
columns of P_0 and C_0, taken along a path, are the two sides of the second line, so the probe
equations E P_0 = C_0 are the paper's Equations 3 and 4, and 1 and 2 for H = 1.

Source: Fixed Universal Transformers, Lemma (unrolling) and Equations 1 to 4, Appendix A.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

from constructions.universal.definitions import (
    TransformerSize,
    causal_mask,
    run_target,
    run_universal,
    scrambled_attention,
)
from constructions.universal.lemma import (
    LEMMA_RANGES,
    LemmaCase,
    simulation,
    simulation_exhibit,
)
from constructions.universal.layouts import Layout, digits
from constructions.universal.probes import coefficients, probe
from constructions.universal.sums import (
    ASSOCIATIVE,
    FAMILIES,
    HEADS,
    MATRICES,
    PAPER,
    SUM_LAWS,
)
from constructions.universal.tree import LAYOUT as TREE
from verify.claims import Check, Source, claim, covers, supports
from verify.counterexamples import Counterexample
from verify.facts import INDUCTION, MATRIX_LAWS
from verify.methods.exhaustive import Exhaustive
from verify.methods.smt import Smt
from verify.rational import Matrix
from verify.smtlib import Axiom, Goal, Theory, World, induction
from verify.verdicts import Status

Path = tuple[int, ...]

# --- unrolling -------------------------------------------------------------------------------

_UNROLLING = (
    MATRICES
    + FAMILIES
    + """
(declare-sort Path 0) (declare-sort Terms 0)
(declare-const nil Path) (declare-fun snoc (Path Int) Path) (declare-fun len (Path) Int)
(declare-fun A (Int Int) Mat) (declare-fun V (Int Int) Mat) (declare-fun X (Int) Mat)
(declare-fun left (Path) Mat) (declare-fun right (Path) Mat)
(declare-fun pick (Terms Path) Mat)
(declare-fun psum (Int Terms) Mat)
(declare-fun ext (Terms Int) Terms)
(declare-fun around (Mat Terms Mat) Terms)
(declare-fun slices (Int Terms) Family)
(declare-fun inside (Int Terms Mat) Family)
(declare-fun members (Int) Family)
(declare-const printed Terms)
(declare-const n Int) (declare-const F Terms) (declare-const G Terms)
(declare-const a0 Mat) (declare-const b0 Mat)
(define-fun term ((q Path)) Mat (mul (left q) (mul (X 0) (right q))))
"""
)

EXTENSION = "(= (right (snoc q h)) (mul (right q) (V (len q) h)))"
"""How the value factors of a path grow; the refutable twins replace it."""


def unrolling_theory(extension: str, worlds: Callable[[], Iterator[World]]) -> Theory:
    """Streams, and sums over paths that take one head more at their end; layers count from 0."""
    return Theory(
        name="unrolling",
        declarations=_UNROLLING,
        axioms=(
            HEADS,
            ASSOCIATIVE,
            *SUM_LAWS,
            Axiom("empty path", "(= (len nil) 0)", "the empty path has length 0"),
            Axiom(
                "longer path",
                """(forall ((q Path) (h Int)) (! (and (= (len (snoc q h)) (+ (len q) 1))
                  (not (= (snoc q h) nil))) :pattern ((snoc q h))))""",
                "one head more is one longer",
            ),
            Axiom(
                "left factors",
                """(forall ((q Path) (h Int)) (! (= (left (snoc q h)) (mul (A (len q) h) (left q)))
                  :pattern ((left (snoc q h)))))""",
                "attention matrices pile up on the left",
            ),
            Axiom(
                "right factors",
                f"(forall ((q Path) (h Int)) (! {extension} :pattern ((right (snoc q h)))))",
                "value factors pile up on the right",
            ),
            Axiom("empty products", "(= (term nil) (X 0))", "the empty products leave X^0"),
            Axiom(
                "printed",
                "(forall ((q Path)) (! (= (pick printed q) (term q)) :pattern ((pick printed q))))",
                "the summand of a path",
            ),
            Axiom(
                "sum over the empty path",
                "(forall ((f Terms)) (! (= (psum 0 f) (pick f nil)) :pattern ((psum 0 f))))",
                "[H]^0 has one member",
            ),
            Axiom(
                "sum over longer paths",
                """(forall ((l Int) (f Terms)) (! (=> (>= l 0)
                  (= (psum (+ l 1) f) (total (slices l f)))) :pattern ((slices l f))))""",
                "[H]^{l+1} is [H]^l once for each last head",
            ),
            Axiom(
                "slices",
                """(forall ((l Int) (f Terms) (h Int)) (! (=> (and (>= l 0) (<= 1 h) (<= h H))
                  (= (at (slices l f) h) (psum l (ext f h)))) :pattern ((at (slices l f) h))))""",
                "the part of the sum with last head h",
            ),
            Axiom(
                "extended",
                """(forall ((f Terms) (h Int) (q Path)) (! (= (pick (ext f h) q)
                  (pick f (snoc q h))) :pattern ((pick (ext f h) q))))""",
                "summands of the paths that end in h",
            ),
            Axiom(
                "around",
                """(forall ((a Mat) (f Terms) (b Mat) (q Path)) (! (= (pick (around a f b) q)
                  (mul a (mul (pick f q) b))) :pattern ((pick (around a f b) q))))""",
                "every summand between two factors",
            ),
            Axiom(
                "inside",
                """(forall ((l Int) (f Terms) (b Mat) (h Int)) (! (=> (and (<= 1 h) (<= h H))
                  (= (at (inside l f b) h) (mul (at (slices l f) h) b)))
                  :pattern ((at (inside l f b) h))))""",
                "slices times the right factor",
            ),
            Axiom(
                "members",
                """(forall ((l Int) (h Int)) (! (=> (and (>= l 0) (<= 1 h) (<= h H))
                  (= (at (members l) h) (mul (A l h) (mul (X l) (V l h)))))
                  :pattern ((at (members l) h))))""",
                "head h adds A X V",
            ),
            Axiom(
                "streams",
                """(forall ((l Int)) (! (=> (>= l 0) (= (X (+ l 1)) (total (members l))))
                  :pattern ((members l))))""",
                "a stream is the sum of its heads' members",
            ),
        ),
        worlds=worlds,
    )


def _congruent(l: str) -> str:  # noqa: E741 - the layer's name in the paper
    return f"""(forall ((f Terms) (g Terms)) (! (=>
      (forall ((q Path)) (=> (= (len q) {l}) (= (pick f q) (pick g q))))
      (= (psum {l} f) (psum {l} g))) :pattern ((psum {l} f) (psum {l} g))))"""


def _linear(l: str) -> str:  # noqa: E741 - the layer's name in the paper
    return f"""(forall ((a Mat) (f Terms) (b Mat)) (! (= (psum {l} (around a f b))
      (mul a (mul (psum {l} f) b))) :pattern ((psum {l} (around a f b)))))"""


_N = "(>= n 0)"
_EACH = "(forall ((h Int)) (! (=> (and (<= 1 h) (<= h H)) {0}) :pattern ({1})))"
_SAME_PATHS = "(forall ((q Path)) (=> (= (len q) (+ n 1)) (= (pick F q) (pick G q))))"
_SAME_SLICES = _EACH.format("(= (psum n (ext F h)) (psum n (ext G h)))", "(psum n (ext F h))")
_SAME_TOTALS = "(= (total (slices n F)) (total (slices n G)))"
_PRINTED_TOTAL = "(= (total (members n)) (total (slices n printed)))"
_AROUND_PATHS = """(forall ((h Int) (q Path)) (= (pick (ext (around a0 F b0) h) q)
  (pick (around a0 (ext F h) b0) q)))"""
_AROUND_ENDINGS = _EACH.format(
    "(= (psum n (ext (around a0 F b0) h)) (psum n (around a0 (ext F h) b0)))",
    "(psum n (ext (around a0 F b0) h))",
)
_AROUND_SLICES = _EACH.format(
    "(= (at (slices n (around a0 F b0)) h) (mul a0 (at (inside n F b0) h)))",
    "(at (slices n (around a0 F b0)) h)",
)
_INSIDE = "(= (total (inside n F b0)) (mul (total (slices n F)) b0))"
_OUTSIDE = "(= (total (slices n (around a0 F b0))) (mul a0 (total (inside n F b0))))"
_GROWTH = """(forall ((q Path) (h Int)) (! (= (term (snoc q h))
  (mul (A (len q) h) (mul (term q) (V (len q) h)))) :pattern ((snoc q h))))"""
_MEMBERS = _EACH.format(
    "(= (at (members n) h) (at (slices n printed) h))", "(at (members n) h)"
)
_ENDINGS = _EACH.format(
    "(= (psum n (ext printed h)) (psum n (around (A n h) printed (V n h))))",
    "(psum n (ext printed h))",
)


def unrolling_goals(theory: Theory) -> tuple[Goal, ...]:
    """Two laws of sums over paths by induction, then the streams by induction over the layers."""

    def goal(name: str, given: tuple[str, ...], then: str) -> Goal:
        return Goal(name=name, theory=theory, assumptions=(_N, *given), conclusion=then)

    def printed(l: str) -> str:  # noqa: E741 - the layer's name in the paper
        return f"(= (X {l}) (psum {l} printed))"

    base, step = induction(
        name="a stream is the printed sum",
        theory=theory,
        invariant=printed,
        base="0",
        step=("n", "(+ n 1)"),
        step_assumptions=(_N, _PRINTED_TOTAL),
    )
    return (
        Goal(
            name="congruent sums: base",
            theory=theory,
            role="base",
            conclusion=_congruent("0"),
        ),
        goal("congruent slices", (_congruent("n"), _SAME_PATHS), _SAME_SLICES),
        goal("congruent totals", (_SAME_SLICES,), _SAME_TOTALS),
        goal("congruent sums: step", (_SAME_TOTALS,), "(= (psum (+ n 1) F) (psum (+ n 1) G))"),
        Goal(name="factors leave sums: base", theory=theory, role="base", conclusion=_linear("0")),
        goal("factors commute with endings", (), _AROUND_PATHS),
        goal("factors leave endings", (_congruent("n"), _AROUND_PATHS), _AROUND_ENDINGS),
        goal("factors leave slices", (_linear("n"), _AROUND_ENDINGS), _AROUND_SLICES),
        goal("the right factor leaves the sum over last heads", (), _INSIDE),
        goal("the left factor leaves it too", (_AROUND_SLICES,), _OUTSIDE),
        goal(
            "factors leave sums: step",
            (_INSIDE, _OUTSIDE),
            "(= (psum (+ n 1) (around a0 F b0)) (mul a0 (mul (psum (+ n 1) F) b0)))",
        ),
        goal("one head more wraps the summand", (), _GROWTH),
        goal("endings wrap the sum", (_congruent("n"), _GROWTH), _ENDINGS),
        goal("members are slices", (_linear("n"), _ENDINGS, printed("n")), _MEMBERS),
        goal("members have the sum of the slices", (_MEMBERS,), _PRINTED_TOTAL),
        base,
        step,
    )


def _square(matrix: Matrix, size: int) -> Matrix:
    wide = Matrix.beside([matrix, Matrix.zero(matrix.height, size - matrix.width)])
    return Matrix.stack([wide, Matrix.zero(size - matrix.height, size)])


Summand = Callable[[Path], Matrix]


def unrolling_worlds(layout: Layout = TREE) -> Iterator[World]:
    """The streams of an actual target and of the universal model that simulates it."""
    size = TransformerSize(heads=2, layers=2, head_width=1, token_width=2)
    case = simulation(layout, size, seed=5)
    theirs = run_target(case.target, case.inputs, case.normalise)
    ours = run_universal(case.universal, case.embedding, case.inputs, case.normalise)
    mixes = case.target.mixes()
    values = [[value.dense() for value in layer] for layer in case.universal.values]
    for run, factors in ((theirs, mixes), (ours, values)):
        full = max(stream.width for stream in run.streams) + case.inputs.height
        yield _unrolled(
            size.heads,
            [[_square(a, full) for a in layer] for layer in run.attention],
            [[_square(v, full) for v in layer] for layer in factors],
            [_square(stream, full) for stream in run.streams],
        )


def _unrolled(
    heads: int,
    attention: list[list[Matrix]],
    factors: list[list[Matrix]],
    streams: list[Matrix],
) -> World:
    layers = len(attention)
    zero, unit = Matrix.zero(*streams[0].shape), Matrix.identity(streams[0].height)
    paths = [p for n in range(layers) for p in itertools.product(range(1, heads + 1), repeat=n)]

    def entry(table: list[list[Matrix]], layer: int, head: int) -> Matrix:
        known = 0 <= layer < layers and 1 <= head <= heads
        return table[layer][head - 1] if known else zero

    def left(path: Path) -> Matrix:
        product = unit
        for layer, head in enumerate(path):
            product = entry(attention, layer, head) @ product
        return product

    def right(path: Path) -> Matrix:
        product = unit
        for layer, head in enumerate(path):
            product = product @ entry(factors, layer, head)
        return product

    def printed(path: Path) -> Matrix:
        return left(path) @ (streams[0] @ right(path))

    def psum(length: int, terms: Summand) -> Matrix:
        total = zero
        for path in itertools.product(range(1, heads + 1), repeat=max(length, 0)):
            total = total + terms(path)
        return total

    def around(a: Matrix, terms: Summand, b: Matrix) -> Summand:
        return lambda path: a @ (terms(path) @ b)

    def ext(terms: Summand, head: int) -> Summand:
        return lambda path: terms((*path, head))

    def slices(length: int, terms: Summand) -> tuple[Matrix, ...]:
        return tuple(psum(length, ext(terms, h)) for h in range(1, heads + 1))

    def stream(layer: int) -> Matrix:
        return streams[layer] if 0 <= layer <= layers else zero

    def members(layer: int) -> tuple[Matrix, ...]:
        return tuple(
            entry(attention, layer, h) @ (stream(layer) @ entry(factors, layer, h))
            for h in range(1, heads + 1)
        )

    wrapped = around(attention[0][0], printed, factors[0][-1])
    return World(
        sorts={
            "Mat": [streams[0], attention[0][0], factors[0][-1]],
            "Path": paths,
            "Terms": [printed, wrapped],
            "Family": [members(0), slices(0, wrapped)],
        },
        integers=range(layers + 1),
        symbols={
            "H": heads,
            "mul": lambda a, b: a @ b,
            "at": lambda f, h: f[h - 1] if 1 <= h <= heads else zero,
            "total": lambda f: sum(f[1:], start=f[0]),
            "nil": (),
            "snoc": lambda q, h: (*q, h),
            "len": len,
            "A": lambda layer, head: entry(attention, layer, head),
            "V": lambda layer, head: entry(factors, layer, head),
            "X": stream,
            "left": left,
            "right": right,
            "pick": lambda terms, q: terms(q),
            "psum": psum,
            "ext": ext,
            "around": around,
            "slices": slices,
            "inside": lambda layer, terms, b: tuple(s @ b for s in slices(layer, terms)),
            "members": members,
            "printed": printed,
            "F": printed,
            "G": lambda path: printed(path) if path else printed(()),
            "a0": attention[0][0],
            "b0": factors[0][-1],
        },
        free={"n": range(layers)},
    )


def path_sum(
    attention: tuple[tuple[Matrix, ...], ...],
    factors: Callable[[int, int], Matrix],
    inputs: Matrix,
    layers: int,
) -> Matrix:
    """The paper's sum over all head sequences of length `layers`, summand by summand."""
    heads = len(attention[0])
    total = Matrix.zero(inputs.height, inputs.width)
    for path in itertools.product(range(heads), repeat=layers):
        summand = inputs
        for layer, head in enumerate(path):
            summand = attention[layer][head] @ summand @ factors(layer, head)
        total = total + summand
    return total


PathSum = Callable[..., Matrix]


def unrolled_fails(
    layout: Layout, total: PathSum = path_sum
) -> Callable[[LemmaCase], Counterexample | None]:
    """The obligation that every stream of both models is the sum over paths."""

    def holds(case: LemmaCase) -> Counterexample | None:
        chosen = simulation(layout, case.size, case.seed)
        theirs = run_target(chosen.target, chosen.inputs, chosen.normalise)
        ours = run_universal(chosen.universal, chosen.embedding, chosen.inputs, chosen.normalise)
        values = [[value.dense() for value in layer] for layer in chosen.universal.values]
        for name, run, factors in (
            ("target", theirs, chosen.target.mix),
            ("universal", ours, lambda layer, head: values[layer][head]),
        ):
            for layer, stream in enumerate(run.streams):
                if total(run.attention, factors, run.streams[0], layer) != stream:
                    return Counterexample(
                        text=f"X^{layer} of the {name} model must be the sum over paths "
                        f"({case.as_json()})",
                        instance=case.as_json(),
                    )
        return None

    return holds


def unrolling_checks(
    extension: str = EXTENSION, layout: Layout = TREE, total: PathSum = path_sum
) -> tuple[Check, ...]:
    """The for-all proof, and the sums formed path by path."""
    return (
        covers(
            Smt(
                goals=lambda: unrolling_goals(
                    unrolling_theory(extension, lambda: unrolling_worlds(layout))
                ),
                instances="all H, L, attention matrices and value factors",
                leans_on=(INDUCTION, MATRIX_LAWS),
            )
        ),
        supports(
            Exhaustive(
                holds=unrolled_fails(layout, total),
                ranges=LEMMA_RANGES,
                rechecked_as="simulation",
                exhibit=simulation_exhibit(layout),
            )
        ),
    )


@claim(
    id="universal.paths.unrolling",
    source=Source(PAPER, "Lemma (unrolling), Appendix A.1 and A.2"),
    latex=r"X^l = \sum_{(h_1,\dots,h_l) \in [H]^l} A^{l,h_l} \cdots A^{1,h_1} X^0 "
    r"M^{1,h_1} \cdots M^{l,h_l}",
    scope="all H, l, n and widths; target and universal model alike",
    uses=("universal.sums.laws",),
    expected=Status.PROVED,
)
def streams_are_sums_over_paths() -> tuple[Check, ...]:
    """X^l and X~^l are the sums over head sequences printed in the paper."""
    return unrolling_checks()


# --- equations 1 to 4 ------------------------------------------------------------------------

_EQUATIONS = (
    MATRICES
    + """
(declare-sort Path 0)
(declare-datatypes ((Kind 0)) (((KQ) (KK) (KC))))
(declare-const H Int) (declare-const L Int) (declare-const l0 Int)
(declare-const nil Path) (declare-fun cons (Int Path) Path) (declare-fun len (Path) Int)
(declare-fun heads_within (Path) Bool)
(declare-fun reads (Int Mat Kind Int) Mat)
(declare-fun sub (Int Mat Int) Mat)
(declare-fun block (Int Mat Path Kind Int) Mat)
(declare-fun RV (Int Int) Mat) (declare-fun M (Int Int) Mat)
(declare-fun R (Int Kind Int) Mat) (declare-fun W (Int Kind Int) Mat)
(declare-fun P (Int) Mat) (declare-fun C (Int) Mat)
(declare-fun along (Int Path Mat) Mat) (declare-fun mixed (Int Path Mat) Mat)
(declare-const E Mat)
(declare-const q0 Path) (declare-const h1 Int)
(declare-const g Kind) (declare-const h Int)
(define-fun inner ((l Int) (j Int)) Bool (and (<= 0 l) (< l L) (<= 1 j) (<= j H)))
(define-fun column ((l Int) (k Kind) (j Int)) Bool
  (ite (= k KC) (and (= l L) (= j 0)) (inner l j)))
(define-fun place ((l Int) (q Path) (k Kind) (j Int)) Bool
  (and (<= 0 l) (column (+ l (len q)) k j)))
"""
)


def _recursion(stack: str, factor: str, ends: str, words: str) -> tuple[Axiom, ...]:
    return (
        Axiom(
            f"{stack}: reads",
            f"""(forall ((l Int) (k Kind) (j Int)) (! (=> (column l k j)
              (= (reads l ({stack} l) k j) ({ends} l k j))) :pattern ((reads l ({stack} l) k j))))""",
            f"{words}: the reads of its level",
        ),
        Axiom(
            f"{stack}: heads",
            f"""(forall ((l Int) (j Int)) (! (=> (inner l j) (= (sub l ({stack} l) j)
              (mul ({factor} l j) ({stack} (+ l 1))))) :pattern ((sub l ({stack} l) j))))""",
            f"{words}: one block per head, that head's factor times the level above",
        ),
    )


def _product(name: str, factor: str) -> tuple[Axiom, ...]:
    return (
        Axiom(
            f"{name}: empty",
            f"(forall ((l Int) (b Mat)) (! (= ({name} l nil b) b) :pattern (({name} l nil b))))",
            "no factor",
        ),
        Axiom(
            f"{name}: next",
            f"""(forall ((l Int) (j Int) (q Path) (b Mat)) (! (= ({name} l (cons j q) b)
              (mul ({factor} l j) ({name} (+ l 1) q b))) :pattern (({name} l (cons j q) b))))""",
            f"the product of {factor} along a path, times a last matrix",
        ),
    )


def equations_theory(worlds: Callable[[], Iterator[World]], swap: bool = False) -> Theory:
    """P and C as stacks of blocks, and the products that the paper prints.

    `swap` exchanges the head whose factor a block of P holds: the refutable twin.
    """
    probe_axioms = _recursion("P", "RV", "R", "P_l")
    if swap:
        wrong = probe_axioms[1].formula.replace("(RV l j)", "(RV l (- (+ H 1) j))")
        probe_axioms = (probe_axioms[0], Axiom("P: heads", wrong, "heads swapped"))
    return Theory(
        name="equations",
        declarations=_EQUATIONS,
        axioms=(
            ASSOCIATIVE,
            Axiom(
                "lengths",
                """(and (= (len nil) 0) (forall ((j Int) (q Path)) (! (and (>= (len q) 0)
                  (= (len (cons j q)) (+ (len q) 1))) :pattern ((cons j q)))))""",
                "paths are finite",
            ),
            Axiom(
                "heads of a path",
                """(and (heads_within nil) (forall ((j Int) (q Path)) (! (=
                  (heads_within (cons j q)) (and (<= 1 j) (<= j H) (heads_within q)))
                  :pattern ((cons j q)))))""",
                "a path goes through heads 1..H",
            ),
            Axiom(
                "reads of a product",
                """(forall ((l Int) (a Mat) (b Mat) (k Kind) (j Int)) (! (=> (column l k j)
                  (= (reads l (mul a b) k j) (mul a (reads l b k j))))
                  :pattern ((reads l (mul a b) k j))))""",
                "columns of A B are A times the columns of B",
            ),
            Axiom(
                "sub-blocks of a product",
                """(forall ((l Int) (a Mat) (b Mat) (j Int)) (! (=> (inner l j)
                  (= (sub l (mul a b) j) (mul a (sub l b j)))) :pattern ((sub l (mul a b) j))))""",
                "columns of A B are A times the columns of B",
            ),
            Axiom(
                "block: here",
                """(forall ((l Int) (a Mat) (k Kind) (j Int)) (! (= (block l a nil k j)
                  (reads l a k j)) :pattern ((block l a nil k j))))""",
                "the empty path reads the level itself",
            ),
            Axiom(
                "block: further",
                """(forall ((l Int) (a Mat) (i Int) (q Path) (k Kind) (j Int)) (!
                  (= (block l a (cons i q) k j) (block (+ l 1) (sub l a i) q k j))
                  :pattern ((block l a (cons i q) k j))))""",
                "a path goes through its first head's sub-block",
            ),
            *probe_axioms,
            *_recursion("C", "M", "W", "C_l"),
            *_product("along", "RV"),
            *_product("mixed", "M"),
        ),
        worlds=worlds,
    )


def _linear_blocks(q: str) -> str:
    return f"""(forall ((l Int) (a Mat) (b Mat) (k Kind) (j Int)) (! (=> (and (place l {q} k j)
      (heads_within {q})) (= (block l (mul a b) {q} k j) (mul a (block l b {q} k j))))
      :pattern ((block l (mul a b) {q} k j))))"""


def _named_blocks(stack: str, product: str, ends: str, q: str) -> str:
    return f"""(forall ((l Int) (k Kind) (j Int)) (! (=> (and (place l {q} k j) (heads_within {q}))
      (= (block l ({stack} l) {q} k j) ({product} l {q} ({ends} (+ l (len {q})) k j))))
      :pattern ((block l ({stack} l) {q} k j))))"""


def equations_goals(theory: Theory) -> tuple[Goal, ...]:
    """Blocks are linear, and are the printed products, by induction over the path."""
    goals: list[Goal] = list(
        induction(
            name="blocks of a product",
            theory=theory,
            invariant=_linear_blocks,
            base="nil",
            step=("q0", "(cons h1 q0)"),
        )
    )
    for stack, product, ends in (("P", "along", "R"), ("C", "mixed", "W")):

        def invariant(
            q: str, stack: str = stack, product: str = product, ends: str = ends
        ) -> str:
            return _named_blocks(stack, product, ends, q)

        goals += induction(
            name=f"blocks of {stack} are products along their path",
            theory=theory,
            invariant=invariant,
            base="nil",
            step=("q0", "(cons h1 q0)"),
            step_assumptions=(_linear_blocks("q0"),),
        )
    where = "(and (place 0 q0 g h) (heads_within q0))"
    equation = """(= (mul E (along 0 q0 (R (len q0) g h))) (mixed 0 q0 (W (len q0) g h)))"""
    named = (
        "(= (block 0 (P 0) q0 g h) (along 0 q0 (R (len q0) g h)))",
        "(= (block 0 (C 0) q0 g h) (mixed 0 q0 (W (len q0) g h)))",
        "(= (block 0 (mul E (P 0)) q0 g h) (mul E (block 0 (P 0) q0 g h)))",
    )
    goals += [
        Goal(
            name="E P_0 = C_0 gives Equations 1 to 4",
            theory=theory,
            role="conclusion",
            assumptions=(where, *named, "(= (mul E (P 0)) (C 0))"),
            conclusion=equation,
        ),
        Goal(
            name="Equations 1 to 4 give the blocks of E P_0 = C_0",
            theory=theory,
            role="conclusion",
            assumptions=(where, *named, equation),
            conclusion="(= (block 0 (mul E (P 0)) q0 g h) (block 0 (C 0) q0 g h))",
        ),
    ]
    return tuple(goals)


def equations_worlds(layout: Layout = TREE) -> Iterator[World]:
    """The actual P_l and C_l of a size with two heads and two layers."""
    size = TransformerSize(heads=2, layers=2, head_width=1, token_width=2)
    case = simulation(layout, size, seed=7)
    model, target, heads = case.universal, case.factored, range(1, size.heads + 1)
    mixes = target.mixes()
    probes = [probe(model, layer).dense() for layer in range(size.layers + 1)]
    coefficient = [coefficients(target, layer).transposed for layer in range(size.layers + 1)]
    none = Matrix.zero(0, 0)

    def sub(level: int, matrix: Matrix, head: int) -> Matrix:
        widths = _widths(size)
        if not (0 <= level < size.layers and matrix.width == widths[level]):
            return none
        start = widths[level] - (size.heads - head + 1) * widths[level + 1]
        return matrix.select_columns(range(start, start + widths[level + 1]))

    def reads(level: int, matrix: Matrix, kind: str, head: int) -> Matrix:
        if kind == "KC":
            return matrix
        start = (2 * (head - 1) + (kind == "KK")) * size.head_width
        if matrix.width < start + size.head_width:
            return none
        return matrix.select_columns(range(start, start + size.head_width))

    def block(level: int, matrix: Matrix, path: Path, kind: str, head: int) -> Matrix:
        for step in path:
            matrix, level = sub(level, matrix, step), level + 1
        return reads(level, matrix, kind, head)

    def along(factors: Callable[[int, int], Matrix]) -> Callable[[int, Path, Matrix], Matrix]:
        def product(level: int, path: Path, last: Matrix) -> Matrix:
            for depth in range(len(path) - 1, -1, -1):
                factor = factors(level + depth, path[depth])
                if factor.width != last.height:
                    return none
                last = factor @ last
            return last

        return product

    def table(values: Callable[[int, int], Matrix]) -> Callable[[int, int], Matrix]:
        known = {(t, h): values(t, h - 1) for t in range(size.layers) for h in heads}
        return lambda layer, head: known.get((layer, head), none)

    value = table(lambda t, h: model.values[t][h].dense())
    mix = table(lambda t, h: mixes[t][h])
    dense = {
        "KQ": table(lambda t, h: model.queries[t][h].dense()),
        "KK": table(lambda t, h: model.keys[t][h].dense()),
        "KC": lambda t, h: model.readout.dense(),
    }
    ends = {
        "KQ": table(lambda t, h: target.queries[t][h]),
        "KK": table(lambda t, h: target.keys[t][h]),
        "KC": lambda t, h: Matrix.identity(size.token_width),
    }
    paths = [q for n in range(size.layers + 1) for q in itertools.product(heads, repeat=n)]
    yield World(
        sorts={
            "Mat": [case.embedding, *probes],
            "Path": paths,
            "Kind": ("KQ", "KK", "KC"),
        },
        integers=range(size.layers + 1),
        symbols={
            **{kind: kind for kind in dense},
            "H": size.heads,
            "L": size.layers,
            "mul": lambda a, b: a @ b if a.width == b.height else none,
            "nil": (),
            "cons": lambda head, q: (head, *q),
            "len": len,
            "heads_within": lambda q: all(1 <= head <= size.heads for head in q),
            "reads": reads,
            "sub": sub,
            "block": block,
            "RV": value,
            "M": mix,
            "R": lambda layer, kind, head: dense[kind](layer, head),
            "W": lambda layer, kind, head: ends[kind](layer, head),
            "P": lambda layer: probes[layer] if layer <= size.layers else none,
            "C": lambda layer: coefficient[layer] if layer <= size.layers else none,
            "along": along(value),
            "mixed": along(mix),
            "E": case.embedding,
            "h1": 2,
        },
        free={
            "q0": paths[:3],
            "g": ("KQ", "KK", "KC"),
            "h": range(size.heads + 1),
        },
    )


def _widths(size: TransformerSize) -> list[int]:
    widths = [size.token_width]
    for _ in range(size.layers):
        widths.insert(0, 2 * size.heads * size.head_width + size.heads * widths[0])
    return widths


def equations_fail(layout: Layout) -> Callable[[LemmaCase], Counterexample | None]:
    """The obligation that E times each printed product is the target's product."""

    def holds(case: LemmaCase) -> Counterexample | None:
        chosen = simulation(layout, case.size, case.seed)
        model, target = chosen.universal, chosen.factored
        values = [[value.dense() for value in layer] for layer in model.values]
        for depth in range(case.size.layers + 1):
            for number in range(case.size.heads**depth):
                path = digits(number, depth, case.size.heads)
                left, right = chosen.embedding, Matrix.identity(case.size.token_width)
                for layer, head in enumerate(path):
                    left, right = left @ values[layer][head], right @ target.mix(layer, head)
                for name, ours, theirs in _ends(chosen, depth):
                    if left @ ours != right @ theirs:
                        return Counterexample(
                            text=f"the equation of path {path} and {name} must hold "
                            f"({case.as_json()})",
                            instance={**case.as_json(), "path": list(path), "reader": name},
                        )
        return None

    return holds


def _ends(case: Any, depth: int) -> Iterator[tuple[str, Matrix, Matrix]]:
    """What stands at the end of a path of that length, in the universal model and the target."""
    size = case.universal.size
    if depth == size.layers:
        yield "U", case.universal.readout.dense(), Matrix.identity(size.token_width)
        return
    for head in range(size.heads):
        for name in ("queries", "keys"):
            ours = getattr(case.universal, name)[depth][head].dense()
            yield f"{name} of head {head}", ours, getattr(case.factored, name)[depth][head]


def equations_checks(layout: Layout = TREE, swap: bool = False) -> tuple[Check, ...]:
    """The for-all proof, and every printed equation at small sizes."""
    return (
        covers(
            Smt(
                goals=lambda: equations_goals(
                    equations_theory(lambda: equations_worlds(layout), swap)
                ),
                instances="all H, L, d, d_in, m, all paths and readers",
                leans_on=(INDUCTION, MATRIX_LAWS),
            )
        ),
        supports(
            Exhaustive(
                holds=equations_fail(layout),
                ranges=LEMMA_RANGES,
                rechecked_as="simulation",
                exhibit=simulation_exhibit(layout),
            )
        ),
    )


@claim(
    id="universal.paths.identities",
    source=Source(PAPER, "Equations 1 to 4, Appendix A"),
    latex=r"E R_V^{1,h_1} \cdots R_V^{l-1,h_{l-1}} R_Q^{l,h} = M^{1,h_1} \cdots "
    r"M^{l-1,h_{l-1}} W_Q^{l,h},\quad E R_V^{1,h_1} \cdots R_V^{L,h_L} U = M^{1,h_1} \cdots M^{L,h_L}",
    scope="all H, L, d, d_in and m",
    expected=Status.PROVED,
)
def columns_of_the_probes_are_the_printed_products() -> tuple[Check, ...]:
    """The columns of P_0 and C_0 are the products the paper equates: E P_0 = C_0 holds exactly
    when Equations 1 and 2 (H = 1) or 3 and 4 (H >= 2) do.
    """
    return equations_checks()
