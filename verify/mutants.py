"""Mutants as values: a claim with one thing broken, which its checks must refute.

A mutant is stated like a claim, by a documented function that returns checks, and is settled like
one; but it is not a claim, so nothing that lists or verifies claims sees it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from types import ModuleType
from typing import Literal

from verify.claims import Check, Claim, Source, claim
from verify.errors import ClaimError
from verify.loading import modules_of
from verify.verdicts import Status

Breaks = Literal["construction", "rule", "size", "bound", "condition", "data", "precision"]
"""What is broken: how something is built; a rule by which it works or is argued about; a width or
a length; a number that is claimed; an assumption that is dropped; what it is fed; its numbers'
format."""

PREFIX = "twin."


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """A broken claim, the id of the claim that it breaks, and what of it is broken."""

    claim: Claim
    of: str
    breaks: Breaks


def mutant(
    *, of: str, breaks: Breaks, name: str = "", latex: str = ""
) -> Callable[[Callable[[], Iterable[Check]]], Mutant]:
    """Turn a documented function that returns checks into a mutant of the claim `of`.

    Its docstring says in words what is claimed wrongly, `latex` in a formula; `name` tells it
    from other mutants of the same claim, whose id is `twin.<of>.<name>`.

    Raises:
        ClaimError: no docstring, or an id that is not dotted lower-case words.
    """
    state = claim(
        id=f"{PREFIX}{of}.{name}" if name else f"{PREFIX}{of}",
        source=Source("mutants", f"one thing broken in {of}"),
        latex=latex,
        scope=f"that of {of}",
        expected=Status.REFUTED,
    )

    def decorate(build: Callable[[], Iterable[Check]]) -> Mutant:
        broken = state(build)
        if broken.fault:
            raise ClaimError(broken.fault)
        return Mutant(claim=broken, of=of, breaks=breaks)

    return decorate


def mutants_of(module: ModuleType) -> list[Mutant]:
    """The mutants stated in one module, in the order of its source; imported ones are left out."""
    return [
        value
        for value in vars(module).values()
        if isinstance(value, Mutant) and value.claim.module == module.__name__
    ]


def mutants_in(package: str | ModuleType) -> list[Mutant]:
    """All mutants of a package or module, submodules included, sorted by id.

    Raises:
        ClaimError: two mutants share an id.
    """
    found: dict[str, Mutant] = {}
    for item in (item for module in modules_of(package) for item in mutants_of(module)):
        other = found.setdefault(item.claim.id, item)
        if other is not item:
            raise ClaimError(
                f"mutant id {item.claim.id} stands in {other.claim.module} and in "
                f"{item.claim.module}; ids must be unique, so give one another name"
            )
    return [found[key] for key in sorted(found)]
