"""Coverage: for each place of a paper that states something, the claims that check it, or why none.

entry    a numbered statement, a definition with content, an equation, a table or a figure
checked  names claims
not      gives a reason instead

"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from types import ModuleType

from verify.errors import ClaimError
from verify.loading import modules_of

NOT_RUN = "an experiment that is not run here"
NO_CONTENT = "it states nothing that could fail"
EXPERIMENT = "an experiment, run again and shown beside the paper's numbers; no claim"


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One place of a paper: where it is, what stands there, and what checks it.

    `reason` says why it is not checked, or what of it is not; without claims there must be one.

    Raises:
        ClaimError: neither claims nor a reason.
    """

    where: str
    what: str
    claims: tuple[str, ...] = ()
    reason: str = ""

    def __post_init__(self) -> None:
        """Check that it says something."""
        if not (self.claims or self.reason):
            raise ClaimError(
                f"coverage of {self.where} must name claims or say why there are none, got "
                "neither; add a reason"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """All places of one paper, in its order."""

    paper: str
    entries: tuple[Entry, ...]

    @property
    def checked(self) -> int:
        """How many entries some claim checks."""
        return sum(bool(entry.claims) for entry in self.entries)


def coverage_in(package: str | ModuleType) -> list[Coverage]:
    """The coverages that a package or module states, by paper.

    Raises:
        ClaimError: a paper is covered twice.
    """
    found: dict[str, Coverage] = {}
    for module in modules_of(package):
        for value in _values(module):
            if value.paper in found and found[value.paper] is not value:
                raise ClaimError(
                    f"the paper {value.paper} must be covered once, got a second list in "
                    f"{module.__name__}; join the two"
                )
            found[value.paper] = value
    return [found[key] for key in sorted(found)]


def _values(module: ModuleType) -> Iterable[Coverage]:
    return [value for value in vars(module).values() if isinstance(value, Coverage)]
