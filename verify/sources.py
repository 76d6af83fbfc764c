"""What a verdict was computed by: one hash over all sources of the suite and the user's own.

A record, its certificates and the ledger bear it; what other sources computed is obsolete. The
ledger also asks for the versions of the libraries.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable, Iterator
from functools import cache
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

from verify.claims import Claim

PACKAGES = ("verify", "constructions", "lowerbounds", "reports")
LEFT_OUT = frozenset({"__pycache__", "out"})
"""Folders below a package that hold what was made from its sources."""
LIBRARIES = tuple(
    "python-flint numpy sympy mpmath z3-solver cvc5 hypothesis sortedcontainers networkx numba "
    "llvmlite torch safetensors pyyaml defusedxml".split()
)
"""Distributions that can change a verdict."""


def fingerprint(claim: Claim) -> str:
    """Hash of all that settles a claim: the suite's files, and the file or folder it is stated in.

    Names of files count relative to their package, so a copy elsewhere has the same hash. What a
    user's file imports from outside its folder is not seen.
    """
    return hash_at(claim.path)


def hash_at(path: str | None) -> str:
    """The fingerprint of claims at a path of the user's, or of the suite's own."""
    return suite() if path is None else _joined([suite(), _tree(Path(path))])


@cache
def suite() -> str:
    """Hash of every file of the four packages, data included."""
    return _joined([_tree(folder) for folder in _folders()])


def stamp(claim: Claim) -> tuple[tuple[str, int, int], ...]:
    """Place, time of change and size of every file that `fingerprint` reads, without reading it.

    Two equal stamps say that nothing was written in between.
    """
    return stamp_at(claim.path)


def stamp_at(path: str | None) -> tuple[tuple[str, int, int], ...]:
    """The stamp of claims at a path of the user's, or of the suite's own."""
    places = [*_folders(), *(() if path is None else (Path(path),))]
    found = [(file, os.stat(file)) for place in places for _, file in _files(place)]
    return tuple((file, seen.st_mtime_ns, seen.st_size) for file, seen in found)


def versions(names: Iterable[str] = LIBRARIES) -> dict[str, str | None]:
    """Versions of Python and of the named distributions; None for what is not installed."""
    found: dict[str, str | None] = {"python": platform.python_version()}
    for name in names:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = None
    return found


def _folders() -> Iterator[Path]:
    for name in PACKAGES:
        spec = find_spec(name)
        for folder in (spec.submodule_search_locations or ()) if spec else ():
            yield Path(folder)


def _tree(place: Path) -> str:
    """Hash of a file, or of a folder's files with their names."""
    if place.is_file():
        return sha256(place.read_bytes()).hexdigest()
    return _joined(
        [f"{name} {sha256(Path(path).read_bytes()).hexdigest()}" for name, path in _files(place)]
    )


def _files(place: Path) -> list[tuple[str, str]]:
    """Every source below a folder: its name there and its path, in order; of a file, itself."""
    if place.is_file():
        return [(place.name, str(place))]
    found: list[tuple[str, str]] = []
    for folder, below, names in os.walk(place):
        below[:] = [name for name in below if _is_source(name)]
        paths = [os.path.join(folder, name) for name in names if _is_source(name)]
        found += [(_name(place, path), path) for path in paths if os.path.isfile(path)]
    return sorted(found)


def _name(place: Path, path: str) -> str:
    return path[len(str(place)) + 1 :].replace(os.sep, "/")


def _is_source(name: str) -> bool:
    return name not in LEFT_OUT and not name.startswith(".")


def _joined(parts: list[str]) -> str:
    return sha256("\n".join(parts).encode()).hexdigest()
