"""SMT-LIB formulas as a reader sees them: one part a line where a line would be too long."""

from __future__ import annotations

from collections.abc import Iterable

from verify.errors import GoalError
from verify.smtlib import Term, parse

LINE = 72
"""A formula longer than this is laid out on several lines."""
SHORT = 4
"""After a symbol of at most so many characters its first argument stands on the same line."""
_BINDERS = ("forall", "exists", "let")


def laid_out(formula: str, width: int = LINE) -> str:
    """An SMT-LIB formula with its parts on lines of their own; any other text as it stands."""
    if any(mark in formula for mark in '"|;'):  # blanks inside quotes and comments mean something
        return formula
    try:
        return "\n".join(_laid_out(term, 0, width) for term in parse(formula)) or formula
    except (GoalError, RecursionError):
        return formula


def _laid_out(term: Term, indent: int, width: int) -> str:
    flat = _flat(term)
    if isinstance(term, str) or indent + len(flat) <= width or not term:
        return flat
    head, *rest = term
    if not isinstance(head, str):  # the bindings of a quantifier or a let
        return f"({_joined(term, indent + 1, width)})"
    opening = f"({head}"
    if head in _BINDERS and len(rest) > 1:
        binding, *rest = rest
        opening += f" {_laid_out(binding, indent + len(opening) + 1, width)}"
    elif len(head) <= SHORT:
        return f"{opening} {_joined(rest, indent + len(opening) + 1, width)})"
    pad = " " * (indent + 2)
    return f"{opening}\n{pad}{_joined(rest, indent + 2, width)})"


def _joined(terms: Iterable[Term], indent: int, width: int) -> str:
    """Terms on lines of their own; a keyword such as :pattern stands before its value."""
    text, gap = "", ""
    for term in terms:
        text += gap + _laid_out(term, indent, width)
        keyword = isinstance(term, str) and term.startswith(":")
        gap = " " if keyword else "\n" + " " * indent
    return text


def _flat(term: Term) -> str:
    return term if isinstance(term, str) else f"({' '.join(map(_flat, term))})"
