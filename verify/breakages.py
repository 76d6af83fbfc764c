"""One thing broken in a formula: a few syntactic changes, each at the first place that it fits.

A formula's conclusion is what stands behind its quantifiers and premises. It is broken first;
only when no change there is left are the premises.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Set
from dataclasses import dataclass

from verify.smtlib import Term, parse

Change = Callable[[Term], Term | None]
"""A term with something changed at its head, or None where the change does not fit."""

TURNED = {"=": "distinct", "distinct": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
SWITCHED = {"and": "or", "or": "and"}
ORDERED = frozenset({"-", "/", "div", "mod", "=>"})
"""Operations of SMT-LIB whose two arguments have one sort, and whose order matters."""
BINDERS = frozenset({"forall", "exists", "let"})
PAIR = 3
"""Length of a term with two arguments."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Breakage:
    """A broken formula, and what was done to it."""

    change: str
    formula: str


def breakages(formula: str, declarations: str, *, premises: bool = True) -> Iterator[Breakage]:
    """The formula broken once in every way that fits, the ways most likely noticed first.

    Arguments are exchanged only where the symbol is declared with two of the same sort;
    `premises` says whether these are broken too.
    """
    (term,) = parse(formula)
    ordered = ORDERED | _of_one_sort(declarations)
    changes: dict[str, Change] = {
        "a comparison turned": _turned,
        "denied": _denied,
        "a number raised by 1": _raised,
        "+ made -": _subtracted,
        "and, or switched": _switched,
        "two arguments exchanged": lambda inner: _exchanged(inner, ordered),
    }
    parts = {"the conclusion": _in_conclusion, **({"a premise": _in_premises} if premises else {})}
    for part, within in parts.items():
        for words, change in changes.items():
            broken = within(term, lambda inner, change=change: _first(inner, change))
            if broken is not None:
                yield Breakage(change=f"{part}: {words}", formula=written(broken))


def written(term: Term) -> str:
    """A term as SMT-LIB text."""
    return term if isinstance(term, str) else f"({' '.join(map(written, term))})"


def _turned(term: Term) -> Term | None:
    fits = not isinstance(term, str) and len(term) == PAIR and term[0] in TURNED
    return (TURNED[term[0]], *term[1:]) if fits else None


def _raised(term: Term) -> Term | None:
    if not isinstance(term, str) or not term[0].isdigit():
        return None
    whole, dot, rest = term.partition(".")
    return f"{int(whole) + 1}{dot}{rest}"


def _subtracted(term: Term) -> Term | None:
    return ("-", *term[1:]) if not isinstance(term, str) and term[0] == "+" else None


def _switched(term: Term) -> Term | None:
    fits = not isinstance(term, str) and term[0] in SWITCHED
    return (SWITCHED[term[0]], *term[1:]) if fits else None


def _denied(term: Term) -> Term:
    """A whole formula denied: `_first` asks at the outermost place first."""
    return term[1] if not isinstance(term, str) and term[0] == "not" else ("not", term)


def _exchanged(term: Term, ordered: Set[str]) -> Term | None:
    if isinstance(term, str) or len(term) != PAIR or term[0] not in ordered:
        return None
    head, one, other = term
    return None if one == other else (head, other, one)


def _of_one_sort(declarations: str) -> set[str]:
    """Functions of two arguments of the same sort that are declared or defined."""
    found: set[str] = set()
    for command in parse(declarations):
        match command:
            case ("declare-fun", str(name), (one, other), _) if one == other:
                found.add(name)
            case ("define-fun", str(name), ((_, one), (_, other)), *_) if one == other:
                found.add(name)
            case _:
                pass
    return found


def _first(term: Term, change: Change) -> Term | None:
    """The term changed at its first place that fits, outermost first; names bound are left."""
    changed = change(term)
    if changed is not None or isinstance(term, str):
        return changed
    for place, part in enumerate(term):
        if place == 0 or (place == 1 and term[0] in BINDERS):
            continue
        inner = _first(part, change)
        if inner is not None:
            return (*term[:place], inner, *term[place + 1 :])
        if term[0] == "!":  # the rest are attributes
            return None
    return None


def _in_conclusion(term: Term, change: Change) -> Term | None:
    """The term with its conclusion changed."""
    place = _conclusion_place(term)
    if place is None:
        return change(term)
    inner = _in_conclusion(term[place], change)
    return None if inner is None else (*term[:place], inner, *term[place + 1 :])


def _in_premises(term: Term, change: Change) -> Term | None:
    """The term with one of its premises changed."""
    place = _conclusion_place(term)
    if place is None:
        return None
    if term[0] == "=>":
        for earlier in range(1, place):
            inner = change(term[earlier])
            if inner is not None:
                return (*term[:earlier], inner, *term[earlier + 1 :])
    inner = _in_premises(term[place], change)
    return None if inner is None else (*term[:place], inner, *term[place + 1 :])


def _conclusion_place(term: Term) -> int | None:
    """Where the part stands that holds the conclusion, or None if it is the term itself."""
    if isinstance(term, str):
        return None
    return {"forall": 2, "let": 2, "!": 1, "=>": len(term) - 1}.get(term[0])
