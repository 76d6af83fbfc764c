"""What a verdict was computed by: one hash over all sources of the suite and the user's own.

A record, its certificates and the ledger bear it; what other sources computed is obsolete.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path

from verify.claims import Claim

PACKAGES = ("verify", "constructions", "lowerbounds", "reports")
LEFT_OUT = frozenset({"__pycache__", "out"})
"""Folders below a package that hold what was made from its sources."""


def fingerprint(claim: Claim) -> str:
    """Hash of all that settles a claim: the suite's files, and the file or folder it is stated in.

    Names of files count relative to their package, so a copy elsewhere has the same hash. What a
    user's file imports from outside its folder is not seen.
    """
    return suite() if claim.path is None else _joined([suite(), _tree(Path(claim.path))])


@cache
def suite() -> str:
    """Hash of every file of the four packages, data included."""
    return _joined([_tree(folder) for folder in _folders()])


def _folders() -> Iterator[Path]:
    for name in PACKAGES:
        spec = find_spec(name)
        for folder in (spec.submodule_search_locations or ()) if spec else ():
            yield Path(folder)


def _tree(place: Path) -> str:
    """Hash of a file, or of a folder's files with their names."""
    if place.is_file():
        return sha256(place.read_bytes()).hexdigest()
    files = sorted(path for path in place.rglob("*") if path.is_file())
    named = {path.relative_to(place).as_posix(): path for path in files}
    return _joined(
        [
            f"{name} {sha256(path.read_bytes()).hexdigest()}"
            for name, path in sorted(named.items())
            if not LEFT_OUT & set(name.split("/"))
            and not any(part.startswith(".") for part in name.split("/"))
        ]
    )


def _joined(parts: list[str]) -> str:
    return sha256("\n".join(parts).encode()).hexdigest()
