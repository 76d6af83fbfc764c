"""Matrices, and finite sums of matrices over the heads, as the proofs use them.

The proofs never open a sum: they use that families equal head by head have equal sums, and that
a fixed factor moves in and out on either side. Those laws are proved here for actual sums.

Source: used throughout Fixed Universal Transformers, Appendix A; the laws are elementary.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from constructions.universal.instances import random_matrix, seeded
from verify.claims import Check, Source, claim, covers, supports
from verify.counterexamples import Counterexample
from verify.facts import INDUCTION, MATRIX_LAWS
from verify.methods.exhaustive import Exhaustive
from verify.methods.smt import Smt
from verify.ranges import Range
from verify.rational import Matrix
from verify.smtlib import Axiom, Goal, Theory, World, induction
from verify.verdicts import Json, Status

PAPER = "fixed-universal-transformers"

MATRICES = """
(declare-sort Mat 0)
(declare-fun mul (Mat Mat) Mat)
"""

ASSOCIATIVE = Axiom(
    "associative",
    """(forall ((a Mat) (b Mat) (c Mat)) (! (= (mul (mul a b) c) (mul a (mul b c)))
      :pattern ((mul (mul a b) c))))""",
    "matrix products are associative",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Summation:
    """Sums over one kind of index: a sort of families, their length, members and totals.

    The proofs never open a sum; they use the three laws, which are claimed for all lengths.
    """

    sort: str
    count: str
    member: str
    total: str
    words: str

    @property
    def declarations(self) -> str:
        """The sort and its three functions."""
        return f"""
(declare-sort {self.sort} 0)
(declare-const {self.count} Int)
(declare-fun {self.member} ({self.sort} Int) Mat)
(declare-fun {self.total} ({self.sort}) Mat)
"""

    def each(self, member: str) -> str:
        """The members of f and g are related as stated, index by index."""
        inside = f"(and (<= 1 h) (<= h {self.count}))"
        return f"(forall ((h Int)) (=> {inside} (= ({self.member} g h) {member})))"

    @property
    def same(self) -> str:
        """g_h = f_h."""
        return self.each(f"({self.member} f h)")

    @property
    def times_right(self) -> str:
        """g_h = f_h B."""
        return self.each(f"(mul ({self.member} f h) b)")

    @property
    def times_left(self) -> str:
        """g_h = B f_h."""
        return self.each(f"(mul b ({self.member} f h))")

    @property
    def nonempty(self) -> Axiom:
        """There is something to sum."""
        return Axiom(
            self.words, f"(>= {self.count} 1)", f"there is at least one of the {self.words}"
        )

    @property
    def equal(self) -> Axiom:
        """Equal members, equal sums."""
        return Axiom(
            f"equal sums over {self.words}",
            f"""(forall ((f {self.sort}) (g {self.sort})) (=> {self.same}
              (= ({self.total} f) ({self.total} g))))""",
            f"families that are equal one by one have equal sums over the {self.words}",
        )

    @property
    def right(self) -> Axiom:
        """A factor on the right moves out."""
        return Axiom(
            f"factor on the right of {self.words}",
            f"""(forall ((f {self.sort}) (g {self.sort}) (b Mat)) (! (=> {self.times_right}
              (= ({self.total} g) (mul ({self.total} f) b)))
              :pattern (({self.total} g) (mul ({self.total} f) b))))""",
            f"the sum of f_h B over the {self.words} is the sum of f_h, times B",
        )

    @property
    def left(self) -> Axiom:
        """A factor on the left moves out."""
        return Axiom(
            f"factor on the left of {self.words}",
            f"""(forall ((f {self.sort}) (g {self.sort}) (b Mat)) (! (=> {self.times_left}
              (= ({self.total} g) (mul b ({self.total} f))))
              :pattern (({self.total} g) (mul b ({self.total} f)))))""",
            f"the sum of B f_h over the {self.words} is B times the sum of f_h",
        )

    @property
    def laws(self) -> tuple[Axiom, Axiom, Axiom]:
        """All three."""
        return self.equal, self.right, self.left


OVER_HEADS = Summation(sort="Family", count="H", member="at", total="total", words="heads")

_DECLARATIONS = (
    MATRICES
    + OVER_HEADS.declarations
    + """
(declare-const zero Mat)
(declare-fun add (Mat Mat) Mat)
(declare-fun partial (Family Int) Mat)
(declare-const n Int)
"""
)

PARTIAL_STEP = "(add (partial f m) (at f (+ m 1)))"
"""The sum of one more member; the mutant drops it."""


def sums_theory(partial_step: str = PARTIAL_STEP) -> Theory:
    """Sums as partial sums, one head after the other."""
    return Theory(
        name="sums",
        declarations=_DECLARATIONS,
        axioms=(
            OVER_HEADS.nonempty,
            Axiom(
                "distributes right",
                """(forall ((a Mat) (b Mat) (c Mat)) (! (= (mul (add a b) c)
                  (add (mul a c) (mul b c))) :pattern ((mul (add a b) c))))""",
                "(A + B) C = A C + B C",
            ),
            Axiom(
                "distributes left",
                """(forall ((a Mat) (b Mat) (c Mat)) (! (= (mul c (add a b))
                  (add (mul c a) (mul c b))) :pattern ((mul c (add a b)))))""",
                "C (A + B) = C A + C B",
            ),
            Axiom(
                "zero",
                """(forall ((a Mat)) (! (and (= (mul zero a) zero) (= (mul a zero) zero))
                  :pattern ((mul zero a)) :pattern ((mul a zero))))""",
                "0 A = A 0 = 0",
            ),
            Axiom("empty sum", "(forall ((f Family)) (= (partial f 0) zero))", "no head, no sum"),
            Axiom(
                "one more",
                f"""(forall ((f Family) (m Int)) (! (=> (and (<= 0 m) (< m H))
                  (= (partial f (+ m 1)) {partial_step})) :pattern ((partial f (+ m 1)))))""",
                "the sum over m + 1 heads is the sum over m plus the next member",
            ),
            Axiom(
                "total",
                "(forall ((f Family)) (! (= (total f) (partial f H)) :pattern ((total f))))",
                "the sum over the heads is the sum over all H of them",
            ),
        ),
        worlds=sums_worlds,
    )


def sums_goals(theory: Theory) -> tuple[Goal, ...]:
    """Each law by induction over the number of heads summed, then in its final form."""
    goals: list[Goal] = []
    for law, variables, premise, equal in (
        (
            OVER_HEADS.equal,
            "(f Family) (g Family)",
            OVER_HEADS.same,
            "(= (partial f {0}) (partial g {0}))",
        ),
        (
            OVER_HEADS.right,
            "(f Family) (g Family) (b Mat)",
            OVER_HEADS.times_right,
            "(= (partial g {0}) (mul (partial f {0}) b))",
        ),
        (
            OVER_HEADS.left,
            "(f Family) (g Family) (b Mat)",
            OVER_HEADS.times_left,
            "(= (partial g {0}) (mul b (partial f {0})))",
        ),
    ):

        def invariant(
            x: str, variables: str = variables, premise: str = premise, equal: str = equal
        ) -> str:
            return f"(forall ({variables}) (=> {premise} {equal.format(x)}))"

        goals += induction(
            name=f"{law.name}, partial",
            theory=theory,
            invariant=invariant,
            base="0",
            step=("n", "(+ n 1)"),
            step_assumptions=("(and (<= 0 n) (< n H))",),
        )
        goals.append(
            Goal(
                name=law.name,
                theory=theory,
                role="conclusion",
                assumptions=(invariant("H"),),
                conclusion=law.formula,
            )
        )
    return tuple(goals)


def sums_worlds() -> Iterator[World]:
    """Square matrices and families of two and three of them, with their actual sums."""
    for heads in (2, 3):
        source = seeded(heads)
        matrices = [random_matrix(source, 2, 2) for _ in range(3)]
        families = [
            tuple(matrices[(start + h * step) % 3] for h in range(heads))
            for start, step in ((0, 1), (1, 1), (2, 0))
        ]
        families += [tuple(m @ matrices[0] for m in families[0])]
        families += [tuple(matrices[1] @ m for m in families[1])]
        zero = Matrix.zero(2, 2)
        yield World(
            sorts={"Mat": [*matrices, zero], "Family": families},
            integers=range(heads + 2),
            symbols={
                "H": heads,
                "zero": zero,
                "mul": lambda a, b: a @ b,
                "add": lambda a, b: a + b,
                "at": lambda f, h, heads=heads, zero=zero: f[h - 1] if 1 <= h <= heads else zero,
                "partial": lambda f, count: summed(f[: max(count, 0)]),
                "total": summed,
            },
            free={"n": range(heads)},
        )


def summed(family: tuple[Matrix, ...]) -> Matrix:
    """The sum of the members, all of one shape; none add up to 0 of shape (2, 2)."""
    return sum(family[1:], start=family[0]) if family else Matrix.zero(2, 2)


def member(family: tuple[Matrix, ...], index: int) -> Matrix | None:
    """A family's member, counted from 1; None beyond its ends."""
    return family[index - 1] if 1 <= index <= len(family) else None


Total = Callable[[tuple[Matrix, ...]], Matrix]


def law_fails(total: Total) -> Callable[[tuple[int, int]], Counterexample | None]:
    """The obligation that a random family's total adds every member and lets factors out."""

    def holds(case: tuple[int, int]) -> Counterexample | None:
        heads, seed = case
        source = seeded(seed)
        family = tuple(random_matrix(source, 2, 2) for _ in range(heads))
        factor = random_matrix(source, 2, 2)
        entries = [sum(member[i, j] for member in family) for i in range(2) for j in range(2)]
        if total(family) != Matrix(2, 2, entries):
            text = "the total must add every member"
        elif total(tuple(member @ factor for member in family)) != total(family) @ factor:
            text = "a factor on the right must move out"
        elif total(tuple(factor @ member for member in family)) != factor @ total(family):
            text = "a factor on the left must move out"
        else:
            return None
        return Counterexample(
            text=f"{text}; it does not ({heads} heads, seed {seed})",
            instance={"heads": heads, "seed": seed},
        )

    return holds


def _family_exhibit(case: tuple[int, int]) -> Json:
    heads, seed = case
    source = seeded(seed)
    members = [random_matrix(source, 2, 2) for _ in range(heads + 1)]
    return {"matrices": [[[str(x) for x in row] for row in m.rows()] for m in members]}


def _cases(count: int) -> Range:
    return Range(
        bound=f"families of 1 to 4 matrices of shape (2, 2), {count} of each drawn",
        over=lambda: ((heads, seed) for heads in range(1, 5) for seed in range(count)),
    )


def sums_checks(partial_step: str = PARTIAL_STEP, total: Total = summed) -> tuple[Check, ...]:
    """The for-all proof, and actual sums."""
    return (
        covers(
            Smt(
                goals=lambda: sums_goals(sums_theory(partial_step)),
                instances="all H, all families",
                leans_on=(INDUCTION, MATRIX_LAWS),
            )
        ),
        supports(
            Exhaustive(
                holds=law_fails(total),
                ranges={"quick": _cases(3), "standard": _cases(10), "deep": _cases(50)},
                rechecked_as="factor-moves-out",
                exhibit=_family_exhibit,
            )
        ),
    )


@claim(
    id="universal.sums.laws",
    source=Source(PAPER, "used throughout Appendix A"),
    latex=r"\sum_h f_h B = \Big(\sum_h f_h\Big) B,\quad \sum_h B f_h = B \sum_h f_h",
    scope="all numbers of heads and all matrices",
    expected=Status.PROVED,
)
def factors_move_out_of_sums_over_heads() -> tuple[Check, ...]:
    """Families of matrices that are equal head by head have equal sums, and a fixed factor on
    either side moves out of a sum over the heads.
    """  # noqa: D205 - one statement, in one sentence
    return sums_checks()
