"""Polynomial identities, commutative or not, expanded by two engines: PROVED.

An equation holds for all values of its symbols exactly when both sides expand to the same
polynomial. Both sides are expanded by SymPy and by the plain arithmetic below; they must agree.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from importlib import import_module
from typing import Any

from verify.claims import Setting
from verify.counterexamples import Counterexample, Shown, replayed
from verify.errors import GoalError
from verify.facts import Fact
from verify.verdicts import Json, Status, Verdict, union, unknown

Monomial = tuple[str, ...]
"""Product of symbols: sorted if they commute, in order if they do not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Equation:
    """Two SymPy expressions that are to be the same polynomial; symbols declare commutativity."""

    name: str
    left: Any
    right: Any


def tree(expression: Any) -> Json:
    """A SymPy polynomial as nested lists: ["+", ..], ["*", ..], ["^", base, n], symbol, "p/q".

    Raises:
        GoalError: it holds something that is not a polynomial.
    """
    sympy: Any = import_module("sympy")

    if expression.is_Symbol:
        return ["symbol", str(expression)]
    if expression.is_Rational:
        return ["number", str(Fraction(int(expression.p), int(expression.q)))]
    if isinstance(expression, sympy.Add | sympy.Mul):
        head = "+" if isinstance(expression, sympy.Add) else "*"
        return [head, *(tree(part) for part in expression.args)]
    if isinstance(expression, sympy.Pow) and expression.exp.is_Integer and expression.exp > 0:
        return ["^", tree(expression.base), int(expression.exp)]
    raise GoalError(
        f"identities are between polynomials, got {expression}; "
        "name every other part by a symbol of its own"
    )


def expand(expression: Json, commutative: bool) -> Counter[Monomial]:
    """The polynomial of a tree: coefficient per monomial, none of them 0."""
    head = expression[0]
    if head == "symbol":
        return Counter({(expression[1],): Fraction(1)})
    if head == "number":
        value = Fraction(expression[1])
        return Counter({(): value} if value else {})
    if head == "^":
        return expand(["*", *[expression[1]] * expression[2]], commutative)
    parts = [expand(part, commutative) for part in expression[1:]]
    total: Counter[Monomial] = Counter({(): Fraction(1)}) if head == "*" else Counter()
    for part in parts:
        if head == "+":
            for monomial, value in part.items():
                total[monomial] += value
        else:
            total = _product(total, part, commutative)
    return Counter({monomial: value for monomial, value in total.items() if value})


def _product(
    left: Counter[Monomial], right: Counter[Monomial], commutative: bool
) -> Counter[Monomial]:
    result: Counter[Monomial] = Counter()
    for (a, x), (b, y) in itertools.product(left.items(), right.items()):
        monomial = tuple(sorted(a + b)) if commutative else a + b
        result[monomial] += x * y
    return result


def _value(expression: Json, values: Mapping[str, Fraction]) -> Fraction:
    head = expression[0]
    if head == "symbol":
        return values[expression[1]]
    if head == "number":
        return Fraction(expression[1])
    if head == "^":
        return _value(expression[1], values) ** expression[2]
    result = Fraction(int(head == "*"))
    for part in expression[1:]:
        value = _value(part, values)
        result = result + value if head == "+" else result * value
    return result


def _shown(row: Mapping[str, Json], values: Mapping[str, Fraction]) -> Json:
    """An equation and a point: the values of its symbols."""
    sides = {"left": row["left"], "right": row["right"]}
    return {**sides, "point": {name: str(value) for name, value in values.items()}}


def _points(symbols: Sequence[str]) -> Iterator[dict[str, Fraction]]:
    for values in itertools.product((1, 2, 3, 5), repeat=len(symbols)):
        yield dict(zip(symbols, map(Fraction, values), strict=True))


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """Equations between polynomials, for all values of their symbols."""

    equations: Callable[[], Sequence[Equation]]
    instances: str
    leans_on: tuple[Fact, ...] = ()
    name: str = field(default="identity", init=False)
    ceiling: Status = field(default=Status.PROVED, init=False)
    fresh_process: bool = field(default=False, init=False)

    def scope(self, setting: Setting) -> str:
        """The values that the equations speak of."""
        del setting
        return self.instances

    def shards(self, setting: Setting) -> int:
        """One."""
        del setting
        return 1

    def combine(self, verdicts: Sequence[Verdict]) -> Verdict:
        """There is one shard."""
        return verdicts[0]

    def settle(self, setting: Setting) -> Verdict:
        """Expand both sides of every equation with both engines."""
        del setting
        sympy: Any = import_module("sympy")

        equations = tuple(self.equations())
        if not equations:
            return unknown("there is no equation to check")
        rows: list[dict[str, Json]] = []
        for equation in equations:
            left, right = sympy.sympify(equation.left), sympy.sympify(equation.right)
            commutative = bool((left * right).is_commutative)
            row = {
                "name": equation.name,
                "left": tree(left),
                "right": tree(right),
                "commutative": commutative,
            }
            ours = expand(row["left"], commutative) == expand(row["right"], commutative)
            theirs = sympy.expand(left - right) == 0
            if ours != theirs:
                return unknown(f"the two engines disagree on equation {equation.name!r}")
            if not ours:
                return self._refuted(row)
            rows.append(row)
        return Verdict(
            status=Status.PROVED,
            evidence={"equations": [row["name"] for row in rows]},
            trusts=union([("library:sympy",), (fact.trust for fact in self.leans_on)]),
            instances=len(rows),
            certificate={"kind": "identity", "equations": rows},
        )

    def _refuted(self, row: Mapping[str, Json]) -> Verdict:
        """A point where the sides differ; non-commuting sides differ as polynomials at least."""
        names = sorted({name for side in ("left", "right") for name in _symbols(row[side])})

        def holds(values: dict[str, Fraction]) -> Counterexample | None:
            left, right = _value(row["left"], values), _value(row["right"], values)
            if left == right:
                return None
            return Counterexample(
                text=f"{row['name']}: left side {left}, right side {right}",
                instance={name: str(value) for name, value in values.items()},
            )

        if row["commutative"]:
            for tried, values in enumerate(itertools.islice(_points(names), 100_000), start=1):
                found = holds(values)
                if found is not None:
                    shown = Shown(rechecked_as="equation", exhibit=lambda at: _shown(row, at))
                    return replayed(holds, values, found, tried, shown)
        return unknown(f"equation {row['name']!r} fails as polynomials, but no point was found")


def _symbols(expression: Json) -> Iterator[str]:
    if expression[0] == "symbol":
        yield expression[1]
    elif expression[0] in ("+", "*"):
        for part in expression[1:]:
            yield from _symbols(part)
    elif expression[0] == "^":
        yield from _symbols(expression[1])
