"""From selectors to claims and to the mutants that break them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from reports.selection import (
    OURS,
    is_path,
    module_of_ours,
    our_claims,
    select,
    stdout_to_stderr,
)
from verify.claims import Claim
from verify.errors import ClaimError
from verify.loading import claims_in, load_file
from verify.mutants import Mutant, mutants_in


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """The selected claims, the mutants that are stated of them, and the claims that these break.

    A file of the user's may state mutants of claims that are not selected.
    """

    selectors: tuple[str, ...]
    claims: tuple[Claim, ...]
    mutants: tuple[Mutant, ...]
    broken: tuple[Claim, ...]

    @property
    def all_claims(self) -> tuple[Claim, ...]:
        """The claims that are selected or broken, sorted by id."""
        both = {item.id: item for item in (*self.claims, *self.broken)}
        return tuple(both[key] for key in sorted(both))


def field_of(selectors: Sequence[str]) -> Field:
    """What the selectors name; none at all selects every claim of ours.

    Raises:
        SelectorError: a selector matches nothing.
        ClaimFileError: a file cannot be imported.
        ClaimError: an id occurs twice, or a mutant breaks no known claim.
    """
    with stdout_to_stderr():
        theirs = {item: load_file(item) for item in selectors if is_path(item) and _foreign(item)}
        stated = {item: mutants_in(module) for item, module in theirs.items()}
        rest = [item for item in selectors if not stated.get(item) or claims_in(theirs[item])]
    chosen = select(rest).chosen if rest or not selectors else ()
    own = [item for found in stated.values() for item in found]
    known = {item.id: item for item in (*our_claims(), *chosen)}
    ids = {item.id for item in chosen}
    ours = [item for package in OURS for item in mutants_in(package) if item.of in ids]
    mutants = sorted((*ours, *own), key=lambda item: item.claim.id)
    for item in mutants:
        if item.of not in known:
            raise ClaimError(
                f"mutant {item.claim.id} must break a known claim, got {item.of!r}; correct the "
                "id or select the file that states it"
            )
    broken = {item.of: known[item.of] for item in mutants}
    return Field(
        selectors=tuple(selectors),
        claims=chosen,
        mutants=tuple(mutants),
        broken=tuple(broken[key] for key in sorted(broken)),
    )


def _foreign(selector: str) -> bool:
    return module_of_ours(selector) is None
