"""Theories and goals as SMT-LIB 2.6 text, and their meaning on real objects.

A theory's axioms are written once, as the text that the solvers read. A `World` gives every
symbol of that text a meaning among real objects of the code; evaluating the axioms and the goals
there guards a for-all proof against vacuity and against a theory that is not about the code.
This module starts no solver.
"""

from __future__ import annotations

import itertools
import operator
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import Any, Literal, cast

from verify.errors import GoalError

Term = Any
"""An atom (str) or a tuple of terms."""

Symbol = (
    Callable[[Any], Any]
    | Callable[[Any, Any], Any]
    | Callable[[Any, Any, Any], Any]
    | Callable[[Any, Any, Any, Any], Any]
    | object
)
"""A function symbol's meaning, or a constant's value."""

Role = Literal["lemma", "base", "step", "conclusion"]

_WORD = re.compile(r";[^\n]*|\(|\)|[^\s();]+")


@lru_cache(maxsize=4096)
def parse(text: str) -> tuple[Term, ...]:
    """All terms of an SMT-LIB text.

    Raises:
        GoalError: brackets that do not match.
    """
    stack: list[list[Term]] = [[]]
    for word in _WORD.findall(text):
        if word.startswith(";"):
            continue
        if word == "(":
            stack.append([])
        elif word == ")":
            if len(stack) == 1:
                raise GoalError(f"SMT-LIB text closes a bracket too many: {text[:80]!r}")
            closed = tuple(stack.pop())
            stack[-1].append(closed)
        else:
            stack[-1].append(word)
    if len(stack) != 1:
        raise GoalError(
            f"SMT-LIB text leaves {len(stack) - 1} brackets open: {text[:80]!r}; close them"
        )
    return tuple(stack[0])


@dataclass(frozen=True, slots=True)
class Axiom:
    """One assumption of a theory: its name, its formula, and what it says in words."""

    name: str
    formula: str
    gloss: str


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """A meaning for every symbol of a theory.

    `sorts` lists sample members per sort (quantifiers range over them, those over Int over
    `integers`); `symbols` maps function symbols to callables and constants to values; `free`
    lists several values for a constant, and all combinations are tried.
    """

    sorts: Mapping[str, Sequence[Any]]
    symbols: Mapping[str, Symbol]
    integers: Sequence[int] = tuple(range(-1, 5))
    free: Mapping[str, Sequence[Any]] = field(default_factory=dict[str, Sequence[Any]])


@dataclass(frozen=True, slots=True, kw_only=True)
class Theory:
    """Declarations and axioms, and the real objects they are about."""

    name: str
    declarations: str
    axioms: tuple[Axiom, ...]
    worlds: Callable[[], Iterable[World]]

    def script(self) -> str:
        """Declarations and axioms as SMT-LIB commands."""
        lines = [self.declarations.strip()]
        lines += [f"; {axiom.gloss}\n(assert {axiom.formula.strip()})" for axiom in self.axioms]
        return "\n".join(lines)


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """What is to follow from a theory and some assumptions; valid when the negation is unsat."""

    name: str
    theory: Theory
    conclusion: str
    assumptions: tuple[str, ...] = ()
    role: Role = "lemma"

    def script(self) -> str:
        """The whole query as SMT-LIB 2.6 text, the same for every solver."""
        lines = [f"; {self.role}: {self.name}", "(set-logic ALL)", self.theory.script()]
        lines += [f"(assert {part.strip()})" for part in self.assumptions]
        lines += [f"(assert (not {self.conclusion.strip()}))", "(check-sat)"]
        return "\n".join(lines) + "\n"


def induction(
    *,
    name: str,
    theory: Theory,
    invariant: Callable[[str], str],
    base: str,
    step: tuple[str, str],
    base_assumptions: tuple[str, ...] = (),
    step_assumptions: tuple[str, ...] = (),
) -> tuple[Goal, Goal]:
    """Base and step query of one induction, both from the same invariant text.

    `base` is the first term; `step` the terms (k, its successor), where the step's assumptions
    declare what k is. That base and step suffice is the fact `induction`.
    """
    before, after = step
    return (
        Goal(
            name=f"{name}: base",
            theory=theory,
            assumptions=base_assumptions,
            conclusion=invariant(base),
            role="base",
        ),
        Goal(
            name=f"{name}: step",
            theory=theory,
            assumptions=(*step_assumptions, invariant(before)),
            conclusion=invariant(after),
            role="step",
        ),
    )


# --- meaning ---------------------------------------------------------------------------------

Environment = dict[str, Any]
Evaluator = Callable[[Environment], Any]


def _chain(compare: Callable[[Any, Any], bool]) -> Callable[..., bool]:
    return lambda *values: all(compare(a, b) for a, b in itertools.pairwise(values))


def _minus(first: Any, *rest: Any) -> Any:
    return first - sum(rest) if rest else -first


def _divide(first: Any, second: Any) -> Any:
    return Fraction(first) / Fraction(second)


_OPERATIONS: dict[str, Callable[..., Any]] = {
    "not": operator.not_,
    "=": _chain(lambda a, b: a == b),
    "distinct": lambda *values: all(a != b for a, b in itertools.combinations(values, 2)),
    "<": _chain(lambda a, b: a < b),
    "<=": _chain(lambda a, b: a <= b),
    ">": _chain(lambda a, b: a > b),
    ">=": _chain(lambda a, b: a >= b),
    "+": lambda *values: sum(values),
    "-": _minus,
    "/": _divide,
    "xor": lambda *values: sum(map(bool, values)) % 2 == 1,
    "to_real": Fraction,
}


def _product(*values: Any) -> Any:
    result = values[0]
    for value in values[1:]:
        result = result * value
    return result


_OPERATIONS["*"] = _product


class Interpretation:
    """Evaluates SMT-LIB formulas of a theory in one world.

    Raises:
        GoalError: a symbol or a sort that the world gives no meaning.
    """

    def __init__(self, theory: Theory, world: World) -> None:
        """Read the theory's macros (define-fun) and bind its symbols to the world."""
        self._world = world
        self._name = theory.name
        self._macros: dict[str, tuple[tuple[str, ...], Term]] = {}
        for command in parse(theory.declarations):
            if command[0] == "define-fun":
                _, name, parameters, _, body = command
                self._macros[name] = (tuple(parameter[0] for parameter in parameters), body)

    def value(self, formula: str, environment: Mapping[str, Any] | None = None) -> Any:
        """The formula's value; free constants are taken from `environment`."""
        (term,) = parse(formula)
        return self._compile(term, frozenset(environment or ()))(dict(environment or {}))

    def judged(self, formula: str, assumptions: Sequence[str] = ()) -> tuple[bool, bool]:
        """Whether some free constants meet the assumptions; whether the formula fails for some."""
        met = failed = False
        for env in self.valuations([*assumptions, formula]):
            if all(self.value(part, env) for part in assumptions):
                met = True
                failed = failed or not self.value(formula, env)
        return met, failed

    def valuations(self, formulas: Iterable[str]) -> Iterator[dict[str, Any]]:
        """All combinations of the world's free constants that occur in the formulas."""
        used = {atom for text in formulas for atom in self._atoms(parse(text))}
        names = sorted(used & set(self._world.free))
        for values in itertools.product(*(self._world.free[name] for name in names)):
            yield dict(zip(names, values, strict=True))

    def _atoms(self, term: Term) -> set[str]:
        """Atoms that occur free: names bound by quantifiers, lets and macros are left out."""
        if isinstance(term, str):
            if term not in self._macros:
                return {term}
            parameters, body = self._macros[term]
            return {term} | (self._atoms(body) - set(parameters))
        if term and term[0] in ("forall", "exists"):
            return self._atoms(term[2]) - {name for name, _ in term[1]}
        if term and term[0] == "let":
            values = {atom for _, value in term[1] for atom in self._atoms(value)}
            return values | (self._atoms(term[2]) - {name for name, _ in term[1]})
        return {atom for part in term for atom in self._atoms(part)}

    def _compile(self, term: Term, bound: frozenset[str]) -> Evaluator:
        if isinstance(term, str):
            return self._atom(term, bound)
        head = term[0]
        if isinstance(head, tuple):  # ((_ is constructor) x)
            return self._tester(cast("tuple[str, ...]", head), term[1], bound)
        special = getattr(self, f"_compile_{_SPECIAL[head]}", None) if head in _SPECIAL else None
        if special is not None:
            return cast("Evaluator", special(term, bound))
        parts = [self._compile(part, bound) for part in term[1:]]
        if head in self._macros:
            return self._macro(head, parts, bound)
        return _applied(_OPERATIONS.get(head) or self._symbol(head), parts)

    def _atom(self, atom: str, bound: frozenset[str]) -> Evaluator:
        if atom in bound:
            return lambda env: env[atom]
        if atom in self._macros:
            return self._macro(atom, [], bound)
        constant = _literal(atom)
        if constant is None:
            constant = self._symbol(atom)
        return lambda env: constant

    def _symbol(self, name: str) -> Any:
        if name not in self._world.symbols:
            raise GoalError(
                f"theory {self._name}: the world must give {name!r} a meaning, got none; "
                "add it to `symbols` or `free`"
            )
        return self._world.symbols[name]

    def _macro(self, name: str, parts: list[Evaluator], bound: frozenset[str]) -> Evaluator:
        parameters, body = self._macros[name]
        inner = self._compile(body, bound | set(parameters))

        def call(env: Environment) -> Any:
            values = [part(env) for part in parts]
            return inner({**env, **dict(zip(parameters, values, strict=True))})

        return call

    def _tester(self, head: tuple[str, ...], argument: Term, bound: frozenset[str]) -> Evaluator:
        test = self._symbol(f"is-{head[2]}")
        inner = self._compile(argument, bound)
        return lambda env: test(inner(env))

    def _compile_and(self, term: Term, bound: frozenset[str]) -> Evaluator:
        parts = [self._compile(part, bound) for part in term[1:]]
        return lambda env: all(part(env) for part in parts)

    def _compile_or(self, term: Term, bound: frozenset[str]) -> Evaluator:
        parts = [self._compile(part, bound) for part in term[1:]]
        return lambda env: any(part(env) for part in parts)

    def _compile_implies(self, term: Term, bound: frozenset[str]) -> Evaluator:
        *premises, conclusion = (self._compile(part, bound) for part in term[1:])
        return lambda env: conclusion(env) if all(p(env) for p in premises) else True

    def _compile_ite(self, term: Term, bound: frozenset[str]) -> Evaluator:
        test, yes, no = (self._compile(part, bound) for part in term[1:])
        return lambda env: yes(env) if test(env) else no(env)

    def _compile_let(self, term: Term, bound: frozenset[str]) -> Evaluator:
        names = [name for name, _ in term[1]]
        values = [self._compile(value, bound) for _, value in term[1]]
        body = self._compile(term[2], bound | set(names))
        return lambda env: body({**env, **{n: v(env) for n, v in zip(names, values, strict=True)}})

    def _compile_annotation(self, term: Term, bound: frozenset[str]) -> Evaluator:
        return self._compile(term[1], bound)

    def _compile_quantifier(self, term: Term, bound: frozenset[str]) -> Evaluator:
        """Nested loops; a premise is tested as soon as its variables have their values."""
        kind, variables, body = term
        premises, conclusion = _guards(body) if kind == "forall" else ([], body)
        inner = bound | {name for name, _ in variables}
        decide = all if kind == "forall" else any
        run = self._compile(conclusion, inner)
        waiting = [(premise, set(self._atoms(premise))) for premise in premises]
        for place in reversed(range(len(variables))):
            name, sort = variables[place]
            known = {earlier for earlier, _ in variables[:place]}
            ready = [premise for premise, atoms in waiting if name in atoms]
            waiting = [(premise, atoms) for premise, atoms in waiting if name not in atoms]
            tests = [self._compile(p, bound | known | {name}) for p in ready]
            run = _loop(decide, name, self._domain(sort), tests, run)
        if waiting:
            tests = [self._compile(premise, bound) for premise, _ in waiting]
            rest = run
            return lambda env: rest(env) if all(test(env) for test in tests) else True
        return run

    def _domain(self, sort: str) -> Sequence[Any]:
        if sort == "Int":
            return self._world.integers
        if sort == "Bool":
            return (False, True)
        if sort not in self._world.sorts:
            raise GoalError(
                f"theory {self._name}: the world must list members of sort {sort!r}, got none; "
                "add them to `sorts`"
            )
        return self._world.sorts[sort]


def _applied(function: Callable[..., Any], parts: Sequence[Evaluator]) -> Evaluator:
    """The function of the parts' values; one and two parts are spelled out for speed."""
    match parts:
        case [only]:
            return lambda env: function(only(env))
        case [first, second]:
            return lambda env: function(first(env), second(env))
        case _:
            return lambda env: function(*(part(env) for part in parts))


def _literal(atom: str) -> bool | int | Fraction | None:
    """The value of a literal, or None for a symbol."""
    if atom in ("true", "false"):
        return atom == "true"
    if atom.isdigit():
        return int(atom)
    return Fraction(atom) if re.fullmatch(r"\d+\.\d+", atom) else None


def _loop(
    decide: Callable[[Iterable[bool]], bool],
    name: str,
    domain: Sequence[Any],
    tests: Sequence[Evaluator],
    body: Evaluator,
) -> Evaluator:
    """One variable's loop: over the values that pass the tests, all or any of the body."""

    def run(env: Environment) -> bool:
        local = dict(env)

        def outcomes() -> Iterator[bool]:
            for value in domain:
                local[name] = value
                if all(test(local) for test in tests):
                    yield body(local)

        return decide(outcomes())

    return run


def _guards(body: Term) -> tuple[list[Term], Term]:
    """Premises and conclusion of a quantified implication, conjunctions taken apart."""
    while body[0] == "!":
        body = body[1]
    if isinstance(body, str) or body[0] != "=>":
        return [], body
    premises: list[Term] = []
    pending: list[Term] = list(body[1:-1])
    while pending:
        premise = pending.pop(0)
        if not isinstance(premise, str) and premise[0] == "and":
            pending[:0] = premise[1:]
        else:
            premises.append(premise)
    return premises, body[-1]


_SPECIAL = {
    "and": "and",
    "or": "or",
    "=>": "implies",
    "ite": "ite",
    "let": "let",
    "!": "annotation",
    "forall": "quantifier",
    "exists": "quantifier",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Grounding:
    """What evaluating a theory and its goals on real objects showed."""

    worlds: int
    failures: tuple[str, ...]
    """Axioms, or goals under their assumptions, that are false in some world."""
    idle: tuple[str, ...]
    """Goals whose assumptions hold in no world that was tried."""


def ground(goals: Sequence[Goal], most_worlds: int | None = None) -> Grounding:
    """Evaluate every axiom and every goal of the given goals in their theories' worlds.

    `most_worlds` stops after so many of each theory; worlds stand richest first.
    """
    failures: dict[str, None] = {}
    met: set[int] = set()
    count = 0
    for theory in {id(goal.theory): goal.theory for goal in goals}.values():
        own = [place for place, goal in enumerate(goals) if goal.theory is theory]
        for world in itertools.islice(theory.worlds(), most_worlds):
            count += 1
            meaning = Interpretation(theory, world)
            for axiom in theory.axioms:
                _, failed = meaning.judged(axiom.formula)
                if failed:
                    failures[f"{theory.name}: axiom {axiom.name}"] = None
            for place in own:
                goal = goals[place]
                reached, failed = meaning.judged(goal.conclusion, goal.assumptions)
                if reached:
                    met.add(place)
                if failed:
                    failures[f"{theory.name}: goal {goal.name}"] = None
    idle = tuple(goal.name for place, goal in enumerate(goals) if place not in met)
    return Grounding(worlds=count, failures=tuple(failures), idle=idle)
