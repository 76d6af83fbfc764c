"""What a shell offers to complete an argument with; quick, since somebody waits for it.

Where nothing is offered the shell completes the names of files.
"""

from __future__ import annotations

import os
import re
from importlib.util import find_spec
from pathlib import Path

from reports.selection import OURS

MACHINES = (".txt", ".tm", ".yaml", ".yml", ".jff", ".safetensors")
"""Endings of what `run`, `convert` and `compile` read."""
_CLAIM = re.compile(r'^@claim\(\s*id="([^"]+)"', re.MULTILINE)


def claim_ids(incomplete: str) -> list[str]:
    """The ids that begin so, found in the sources: importing them all takes more than a second."""
    return sorted(
        name
        for package in OURS
        for folder in _folders(package)
        for path in folder.rglob("*.py")
        if "mutants" not in path.parts
        for name in _CLAIM.findall(path.read_text(encoding="utf-8"))
        if name.startswith(incomplete)
    )


def machine_files(incomplete: str) -> list[str]:
    """The machines' files that begin so; nothing where a folder does too, so that it is offered."""
    folder = Path(os.path.dirname(incomplete) or ".")
    try:
        begun = [p for p in folder.iterdir() if p.name.startswith(os.path.basename(incomplete))]
    except OSError:
        return []
    if any(path.is_dir() for path in begun):
        return []
    return sorted(str(path) for path in begun if path.suffix in MACHINES)


def constructions(incomplete: str) -> list[str]:
    """The constructions of `encode` that begin so."""
    from constructions.universal.encoding import CONSTRUCTIONS

    return [name for name in CONSTRUCTIONS if name.startswith(incomplete)]


def dtypes(incomplete: str) -> list[str]:
    """The dtypes of `encode` that begin so."""
    from constructions.universal.weights import DTYPES

    return [name for name in DTYPES if name.startswith(incomplete)]


def _folders(package: str) -> list[Path]:
    spec = find_spec(package)
    return [Path(place) for place in (spec.submodule_search_locations or ())] if spec else []
