"""The probe lemma's gated half as a theory: one GLU block, with or without a carried stream.

Target neuron j adds (sigma(S W_g e_j) . S W_u e_j) W_d[j, :]. Unit i of the j-th universal group
has the gate of neuron j and alpha_j[i] times its linear branch, so what it adds is that column
times alpha_j[i] R_d[(j, i), :]; the scale stands on the linear branch, since sigma is any
function. The group's sum is then the column times alpha_j R_d[I_j, :], and times P_l it is
alpha_j B_j = W_d[j, :] C_l.

Source: Fixed Universal Transformers, Appendix E, Lemma E.1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from constructions.universal.instances import random_matrix, seeded
from constructions.universal.lemma_theory import NO_MLP, STREAMS, SUMS_AGREE
from constructions.universal.sums import ASSOCIATIVE, MATRICES, Summation
from verify.rational import Matrix
from verify.smtlib import Axiom, Goal, Theory, World

OVER_NEURONS = Summation(
    sort="Neurons", count="r", member="neuron", total="overNeurons", words="neurons"
)
OVER_UNITS = Summation(
    sort="Units", count="s", member="unit", total="overUnits", words="units of a group"
)

_BRANCHES = """
(declare-fun WG (Int) Mat) (declare-fun WU (Int) Mat)
(declare-fun RG (Int Int) Mat) (declare-fun RU (Int Int) Mat)
(declare-fun alpha (Int Int) Mat)
(define-fun inIJ ((j Int) (i Int)) Bool (and (<= 1 j) (<= j r) (<= 1 i) (<= i s)))
"""

_PIECES = (
    MATRICES
    + STREAMS
    + "(declare-const r Int) (declare-const s Int)"
    + _BRANCHES
    + """
(declare-sort Piece 0)
(declare-fun piece (Mat Piece) Mat)
(declare-const carried Piece)
(declare-fun gate (Int Int) Piece) (declare-fun up (Int Int) Piece)
"""
)

_DECLARATIONS = (
    MATRICES
    + OVER_NEURONS.declarations
    + OVER_UNITS.declarations
    + STREAMS
    + _BRANCHES
    + """
(declare-fun act (Mat) Mat) (declare-fun had (Mat Mat) Mat) (declare-fun add (Mat Mat) Mat)
(declare-fun WD (Int) Mat) (declare-fun RD (Int Int) Mat)
(declare-fun local (Int) Units)
(declare-fun unitsY (Int) Units) (declare-fun unitsYP (Int) Units)
(declare-const neuronsX Neurons) (declare-const neuronsXC Neurons)
(declare-const neuronsY Neurons) (declare-const neuronsYP Neurons)
(define-fun inJ ((j Int)) Bool (and (<= 1 j) (<= j r)))
(define-fun hidden ((j Int)) Mat (had (act (mul (SX k) (WG j))) (mul (SX k) (WU j))))
(define-fun hiddenY ((j Int) (i Int)) Mat
  (had (act (mul (SY k) (RG j i))) (mul (SY k) (RU j i))))
"""
)

SCALE = "(mul (WU j) (alpha j i))"
"""Column (j, i) of U^: the scale stands on the linear branch; a mutant moves it."""

_JI = "(forall ((j Int) (i Int)) (! (=> (inIJ j i) {0}) :pattern ({1})))"
_J = "(forall ((j Int)) (! (=> (inJ j) {0}) :pattern ({1})))"


def branches_theory(scale: str, worlds: Callable[[], Iterable[World]]) -> Theory:
    """Q_l and D_l of layer k by their blocks of columns."""
    return Theory(
        name="gated branches",
        declarations=_PIECES,
        axioms=(
            Axiom("layer", "(layer k)", "k is a layer"),
            ASSOCIATIVE,
            Axiom(
                "pieces of a product",
                """(forall ((a Mat) (b Mat) (x Piece)) (!
                  (= (piece (mul a b) x) (mul a (piece b x))) :pattern ((piece (mul a b) x))))""",
                "a block of columns of A B is A times that block of B",
            ),
            Axiom(
                "Q: branches",
                _JI.format(
                    """(and (= (piece (Q k) (gate j i)) (RG j i))
                      (= (piece (Q k) (up j i)) (RU j i)))""",
                    "(RG j i)",
                ),
                "Q_l holds the columns of R_g and R_u",
            ),
            Axiom(
                "Q: carried",
                "(=> residual (= (piece (Q k) carried) (P (+ k 1))))",
                "and P_l if streams are carried on",
            ),
            Axiom(
                "D: branches",
                _JI.format(
                    f"""(and (= (piece (D k) (gate j i)) (WG j))
                      (= (piece (D k) (up j i)) {scale}))""",
                    "(RG j i)",
                ),
                "D_l holds column j of W_g, and alpha_j[i] times column j of W_u",
            ),
            Axiom(
                "D: carried",
                "(=> residual (= (piece (D k) carried) (C (+ k 1))))",
                "and C_l if streams are carried on",
            ),
        ),
        worlds=worlds,
    )


def gated_theory(worlds: Callable[[], Iterable[World]]) -> Theory:
    """The block of layer k: its neurons and groups of units, and how both models sum them."""
    return Theory(
        name="gated block",
        declarations=_DECLARATIONS,
        axioms=(
            Axiom("layer", "(layer k)", "k is a layer"),
            OVER_NEURONS.nonempty,
            OVER_UNITS.nonempty,
            ASSOCIATIVE,
            OVER_NEURONS.equal,
            OVER_NEURONS.right,
            OVER_UNITS.equal,
            OVER_UNITS.right,
            OVER_UNITS.left,
            Axiom(
                "scalars",
                """(forall ((j Int) (i Int) (a Mat)) (! (=> (inIJ j i)
                  (= (had a (mul (mul (SX k) (WU j)) (alpha j i)))
                     (mul (had a (mul (SX k) (WU j))) (alpha j i))))
                  :pattern ((had a (mul (mul (SX k) (WU j)) (alpha j i))))))""",
                "a number moves out of an entrywise product of columns",
            ),
            Axiom(
                "local members",
                _JI.format(
                    "(= (unit (local j) i) (mul (alpha j i) (mul (RD j i) (P (+ k 1)))))",
                    "(unit (local j) i)",
                ),
                "row i of B_j is R_d[(j, i), :] P_l; it is taken alpha_j[i] times",
            ),
            Axiom(
                "local equations",
                _J.format("(= (overUnits (local j)) (mul (WD j) (C (+ k 1))))", "(WD j)"),
                "alpha_j B_j = W_d[j, :] C_l",
            ),
            Axiom(
                "target neurons",
                _J.format("(= (neuron neuronsX j) (mul (hidden j) (WD j)))", "(neuron neuronsX j)"),
                "neuron j adds (sigma(S W_g e_j) . S W_u e_j) W_d[j, :]",
            ),
            Axiom(
                "target times C",
                _J.format(
                    "(= (neuron neuronsXC j) (mul (neuron neuronsX j) (C (+ k 1))))",
                    "(neuron neuronsXC j)",
                ),
                "members times C_l",
            ),
            Axiom(
                "universal units",
                _JI.format("(= (unit (unitsY j) i) (mul (hiddenY j i) (RD j i)))", "(RD j i)"),
                "unit (j, i) adds (sigma(S~ R_g) . S~ R_u) R_d, each by its column or row",
            ),
            Axiom(
                "units times P",
                _JI.format(
                    "(= (unit (unitsYP j) i) (mul (unit (unitsY j) i) (P (+ k 1))))",
                    "(unit (unitsYP j) i)",
                ),
                "members times P_l",
            ),
            Axiom(
                "groups",
                _J.format(
                    """(and (= (neuron neuronsY j) (overUnits (unitsY j)))
                      (= (neuron neuronsYP j) (mul (neuron neuronsY j) (P (+ k 1)))))""",
                    "(neuron neuronsYP j)",
                ),
                "the universal MLP sums group by group",
            ),
            Axiom(
                "streams",
                """(and
                  (= (X (+ k 1)) (ite residual (add (overNeurons neuronsX) (SX k))
                    (overNeurons neuronsX)))
                  (= (Y (+ k 1)) (ite residual (add (overNeurons neuronsY) (SY k))
                    (overNeurons neuronsY))))""",
                "the next stream is what the MLP adds up to, and S if streams are carried on",
            ),
            Axiom(
                "distributes right",
                """(forall ((a Mat) (b Mat) (c Mat)) (! (= (mul (add a b) c)
                  (add (mul a c) (mul b c))) :pattern ((mul (add a b) c))))""",
                "(A + B) C = A C + B C",
            ),
        ),
        worlds=worlds,
    )


_GATES = _JI.format("(= (mul (SY k) (RG j i)) (mul (SX k) (WG j)))", "(RG j i)")
_UPS = _JI.format("(= (mul (SY k) (RU j i)) (mul (mul (SX k) (WU j)) (alpha j i)))", "(RU j i)")
_HIDDEN = _JI.format("(= (hiddenY j i) (mul (hidden j) (alpha j i)))", "(RD j i)")
_UNITS = _JI.format(
    "(= (unit (unitsYP j) i) (mul (hidden j) (unit (local j) i)))", "(unit (unitsYP j) i)"
)
_GROUPS = _J.format(
    "(= (overUnits (unitsYP j)) (mul (hidden j) (overUnits (local j))))", "(unitsYP j)"
)
_GROUPS_OUT = _J.format(
    "(= (overUnits (unitsYP j)) (mul (overUnits (unitsY j)) (P (+ k 1))))", "(unitsY j)"
)
_NEURONS = _J.format("(= (neuron neuronsYP j) (neuron neuronsXC j))", "(neuron neuronsYP j)")
_SUM_Y = "(= (overNeurons neuronsYP) (mul (overNeurons neuronsY) (P (+ k 1))))"
_SUM_X = "(= (overNeurons neuronsXC) (mul (overNeurons neuronsX) (C (+ k 1))))"
_SUMS = "(= (overNeurons neuronsYP) (overNeurons neuronsXC))"
_CARRIED = "(=> residual (= (mul (SY k) (P (+ k 1))) (mul (SX k) (C (+ k 1)))))"


_PIECES_AGREE = """(forall ((x Piece)) (! (= (piece (mul (SY k) (Q k)) x)
  (piece (mul (SX k) (D k)) x)) :pattern ((piece (Q k) x))))"""
_WHOLE_GROUPS = _J.format(
    "(= (overUnits (unitsYP j)) (mul (hidden j) (mul (WD j) (C (+ k 1)))))", "(unitsY j)"
)
_WHOLE_NEURONS = _J.format(
    "(= (neuron neuronsXC j) (mul (hidden j) (mul (WD j) (C (+ k 1)))))", "(neuron neuronsXC j)"
)

Move = tuple[str, tuple[str, ...], str]


def gated_goals(branches: Theory, block: Theory) -> tuple[Goal, ...]:
    """From S~ Q_l = S D_l to the next streams: branches, units, groups, neurons, streams."""
    reading: tuple[Move, ...] = (
        ("equal matrices have equal blocks", (SUMS_AGREE,), _PIECES_AGREE),
        ("the gates agree", (_PIECES_AGREE,), _GATES),
        ("a linear branch is scaled by alpha", (_PIECES_AGREE,), _UPS),
        ("the carried sums agree", (_PIECES_AGREE,), _CARRIED),
    )
    summing: tuple[Move, ...] = (
        ("a hidden unit is a hidden neuron scaled", (_GATES, _UPS), _HIDDEN),
        ("a unit adds its row of B", (_HIDDEN,), _UNITS),
        ("a column moves out of the sum over units", (_UNITS,), _GROUPS),
        ("a group's rows add up to its neuron's", (_GROUPS,), _WHOLE_GROUPS),
        ("P_l moves out of the sum over units", (), _GROUPS_OUT),
        ("a neuron times C_l", (), _WHOLE_NEURONS),
        (
            "a group adds what its neuron adds",
            (_WHOLE_GROUPS, _GROUPS_OUT, _WHOLE_NEURONS),
            _NEURONS,
        ),
        ("P_l moves out of the sum over neurons", (), _SUM_Y),
        ("C_l moves out of the sum over neurons", (), _SUM_X),
        ("equal members have equal sums", (_NEURONS,), _SUMS),
        ("a gated block keeps the agreement", (_SUM_Y, _SUM_X, _SUMS, _CARRIED), NO_MLP),
    )
    return tuple(
        Goal(name=name, theory=theory, assumptions=given, conclusion=then)
        for theory, moves in ((branches, reading), (block, summing))
        for name, given, then in moves
    )


# --- solving ---------------------------------------------------------------------------------


def solving_theory() -> Theory:
    """What full column rank and invertible blocks are needed for."""
    return Theory(
        name="solving",
        declarations=MATRICES
        + """
(declare-const P0 Mat) (declare-const C0 Mat) (declare-const G Mat) (declare-const unit Mat)
(declare-const B Mat) (declare-const inverse Mat) (declare-const gamma Mat)
""",
        axioms=(
            ASSOCIATIVE,
            Axiom("left inverse", "(= (mul G P0) unit)", "P_0 of full column rank: some G P_0 = I"),
            Axiom("local inverse", "(= (mul inverse B) unit)", "B_j is invertible"),
            Axiom(
                "neutral",
                "(and (= (mul C0 unit) C0) (= (mul gamma unit) gamma))",
                "the identity is neutral",
            ),
        ),
        worlds=_solving_worlds,
    )


def solving_goals(theory: Theory) -> tuple[Goal, ...]:
    """E = C_0 G meets the probe equations, alpha = gamma B^{-1} the local ones."""
    return (
        Goal(
            name="full column rank solves the probe equations",
            theory=theory,
            role="conclusion",
            conclusion="(= (mul (mul C0 G) P0) C0)",
        ),
        Goal(
            name="an invertible block solves the local equations",
            theory=theory,
            role="conclusion",
            conclusion="(= (mul (mul gamma inverse) B) gamma)",
        ),
    )


def _solving_worlds() -> Iterator[World]:
    """A square block, and a tall matrix with one of its left inverses, padded to squares."""
    source = seeded(3)
    block = Matrix.from_rows([[2, 1], [1, 1]])
    tall = Matrix.stack([block, random_matrix(source, 1, 2), Matrix.zero(1, 2)])
    inverse = block.inverse()

    def pad(matrix: Matrix) -> Matrix:
        wide = Matrix.beside([matrix, Matrix.zero(matrix.height, 4 - matrix.width)])
        return Matrix.stack([wide, Matrix.zero(4 - matrix.height, 4)])

    yield World(
        sorts={"Mat": [pad(tall), pad(block), pad(inverse)]},
        symbols={
            "mul": lambda a, b: a @ b,
            "P0": pad(tall),
            "C0": pad(random_matrix(source, 3, 2)),
            "G": pad(inverse),
            "unit": pad(Matrix.identity(2)),
            "B": pad(block),
            "inverse": pad(inverse),
            "gamma": pad(random_matrix(source, 1, 2)),
        },
    )
