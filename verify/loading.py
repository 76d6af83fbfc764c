"""Claims in modules, packages, and files of a user's."""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
import sys
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from hashlib import sha256
from pathlib import Path
from types import ModuleType

from verify.claims import Claim
from verify.containment import contained
from verify.errors import ClaimError, ClaimFileError


def claims_of(module: ModuleType) -> list[Claim]:
    """The claims stated in one module, in the order of its source; imported ones are left out."""
    return [
        value
        for value in vars(module).values()
        if isinstance(value, Claim) and value.module == module.__name__
    ]


def modules_of(package: str | ModuleType) -> Iterator[ModuleType]:
    """A package or module and all its submodules, imported."""
    yield from _found(package)


@cache
def _found(package: str | ModuleType) -> tuple[ModuleType, ...]:
    """The same; looking through folders takes longer than what is done with the modules."""
    return tuple(_walked(package))


def _walked(package: str | ModuleType) -> Iterator[ModuleType]:
    root = importlib.import_module(package) if isinstance(package, str) else package
    yield root
    for info in pkgutil.walk_packages(getattr(root, "__path__", ()), root.__name__ + "."):
        with contained():
            module = importlib.import_module(info.name)
        yield module


def claims_in(package: str | ModuleType) -> list[Claim]:
    """All claims of a package or module, submodules included, sorted by id.

    Claims that share an id are one claim with a fault.
    """
    by_id: dict[str, Claim] = {}
    for module in modules_of(package):
        for item in claims_of(module):
            add_claim(by_id, item)
    return [by_id[key] for key in sorted(by_id)]


def add_claim(known: dict[str, Claim], item: Claim) -> None:
    """Put a claim among those known by their ids; another of its id gives both the same fault."""
    other = known.setdefault(item.id, item)
    if other.build is not item.build and not other.fault:
        known[item.id] = replace(
            other,
            fault=f"claim id {item.id} stands in {_place(other)} and in {_place(item)}; "
            "ids must be unique, so rename one",
        )


def _place(item: Claim) -> str:
    return f"{item.path or item.module} ({getattr(item.build, '__name__', '?')})"


def load_file(path: str | Path) -> ModuleType:
    """Import a file or a package folder with claims; it is code and runs with your rights.

    Raises:
        ClaimFileError: it does not exist, is not Python, or fails to import.
    """
    place = Path(path).resolve()
    file = place / "__init__.py" if place.is_dir() else place
    if not file.is_file() or file.suffix != ".py":
        raise ClaimFileError(
            f"{path}: must be a Python file or a package folder with __init__.py, got "
            f"{'a folder without one' if place.is_dir() else 'no such file'}; check the path"
        )
    name = f"claims_{place.stem}_{sha256(str(place).encode()).hexdigest()[:8]}"
    if name in sys.modules:
        return sys.modules[name]
    search = [str(place)] if place.is_dir() else None
    spec = importlib.util.spec_from_file_location(name, file, submodule_search_locations=search)
    if spec is None or spec.loader is None:
        raise ClaimFileError(f"{path}: must be a Python file that can be loaded; check the path")
    module = importlib.util.module_from_spec(spec)
    module.__dict__["__certiformer_path__"] = str(place)
    sys.modules[name] = module
    try:
        with contained():
            spec.loader.exec_module(module)
    except ClaimError:
        del sys.modules[name]
        raise
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        raise ClaimFileError(
            f"{path}: must import without an error, got {type(error).__name__}: {error}; "
            "run it with python to see the traceback"
        ) from error
    return module
