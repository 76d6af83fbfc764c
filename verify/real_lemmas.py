"""Facts about real numbers: proved once for all of them, then used at terms.

Solvers find a non-linear step more easily where it is stated by itself and instantiated by hand.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from verify.smtlib import Goal, Theory, World


@dataclass(frozen=True, slots=True, kw_only=True)
class RealLemma:
    """An implication between real numbers, proved once and then used at terms."""

    name: str
    premises: tuple[str, ...]
    conclusion: str
    variables: str

    def at(self, **terms: str) -> str:
        """The implication for the given terms."""
        premises = " ".join(part.format(**terms) for part in self.premises) or "true"
        return f"(=> (and {premises}) {self.conclusion.format(**terms)})"

    @property
    def goal(self) -> Goal:
        """The implication for all real numbers."""
        names = self.variables.split()
        bound = " ".join(f"({name} Real)" for name in names)
        return Goal(
            name=self.name,
            theory=_NUMBERS,
            conclusion=f"(forall ({bound}) {self.at(**{name: name for name in names})})",
        )


def _number_worlds() -> Iterator[World]:
    yield World(sorts={"Real": (Fraction(0), Fraction(1, 3), Fraction(1), Fraction(3))}, symbols={})


_NUMBERS = Theory(name="real numbers", declarations="", axioms=(), worlds=_number_worlds)
