"""What a run stands on: sources and libraries, which must be the same in every process of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

from verify.claims import Claim
from verify.sources import LIBRARIES, hash_at, stamp_at, suite, versions

SHOWN = 12
"""Digits of a hash that tell two sources apart in a message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """Hashes of sources by path, None for the suite alone, and versions of libraries by name."""

    sources: tuple[tuple[str | None, str], ...]
    versions: tuple[tuple[str, str | None], ...]


def ground_of(claims: Iterable[Claim], *beside: str) -> Ground:
    """What claims stand on in this process; `beside` names libraries beside those of verdicts."""
    suite.cache_clear()  # what this process read of the suite earlier may be old
    paths = sorted({claim.path for claim in claims if claim.path is not None})
    return Ground(
        sources=tuple((path, hash_at(path)) for path in (None, *paths)),
        versions=tuple(versions((*LIBRARIES, *beside)).items()),
    )


def difference(ground: Ground) -> str | None:
    """What is required here, what came and the remedy, or None if this process stands the same."""
    return _difference(ground, tuple(stamp_at(path) for path, _ in ground.sources))


@lru_cache(maxsize=8)
def _difference(ground: Ground, stamps: tuple[object, ...]) -> str | None:
    """The same; `stamps` make it a new question when a source was written."""
    del stamps
    suite.cache_clear()
    found = versions([name for name, _ in ground.versions if name != "python"])
    for name, wanted in ground.versions:
        if found[name] != wanted:
            return (
                f"must have {name} {wanted or 'not installed'}, got {found[name] or 'none'}; "
                "install the same versions there"
            )
    for path, wanted in ground.sources:
        if path is not None and not Path(path).exists():
            return f"must see {path}, got no such file; share its folder under the same path"
        if (came := hash_at(path)) != wanted:
            what, remedy = (
                ("certiformer's own sources", "install the same version there and start it again")
                if path is None
                else (path, "share its folder, so that there is one copy")
            )
            return f"must see {what} as {wanted[:SHOWN]}, got {came[:SHOWN]}; {remedy}"
        if path is None and (came := _imported()) != wanted:
            return (
                f"must have imported certiformer's own sources as {wanted[:SHOWN]}, got "
                f"{came[:SHOWN]} before they were changed; start it again"
            )
    return None


@cache
def _imported() -> str:
    """Hash of the suite when this process was asked first, just after it imported this module."""
    return suite()
