"""Claims as values: one statement of a paper, what it rests on, and the checks that settle it."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import pkgutil
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from types import ModuleType
from typing import Literal, Protocol, runtime_checkable

from verify.errors import ClaimError, ClaimFileError
from verify.verdicts import Status, Verdict

Profile = Literal["quick", "standard", "deep"]

_CLAIM_ID = re.compile(r"[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """How much to check and where: one shard of one check under a profile and a seed."""

    profile: Profile = "standard"
    seed: int = 0
    shard: int = 0
    shards: int = 1
    examples: int | None = None
    """Examples asked of a search, over all shards; None leaves it to the profile."""


@runtime_checkable
class Method(Protocol):
    """One way to settle an obligation.

    Laws: `settle` never reports above `ceiling`; it depends on its setting alone; what it checks
    in shard i of n over all i is what it would check in one; `combine` of one verdict is that
    verdict.
    """

    @property
    def name(self) -> str:
        """How the record names the method."""
        ...

    @property
    def ceiling(self) -> Status:
        """The strongest status that the method can reach."""
        ...

    @property
    def fresh_process(self) -> bool:
        """Whether each shard needs a process that has run nothing else."""
        ...

    def scope(self, setting: Setting) -> str:
        """The instances that the check speaks of, in words."""
        ...

    def shards(self, setting: Setting) -> int:
        """Into how many independent parts the check falls, whatever the number of workers."""
        ...

    def settle(self, setting: Setting) -> Verdict:
        """Check the setting's shard."""
        ...

    def combine(self, verdicts: Sequence[Verdict]) -> Verdict:
        """One verdict from those of all shards, in order."""
        ...


@runtime_checkable
class States(Protocol):
    """A method that can say what its certificate holds for less than it costs to settle."""

    def stated(self, setting: Setting) -> Verdict:
        """A verdict whose certificate is the one of the shard, settled or not."""
        ...


@runtime_checkable
class Mutates(Protocol):
    """A method that assumes something, and can break each of its assumptions."""

    def mutated(self, setting: Setting) -> Verdict:
        """A verdict, never on the obligation, whose evidence lists `mutants` and their fates."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """A method applied to an obligation: the statement itself, or a lemma or instance of it."""

    method: Method
    covers: bool


def covers(method: Method) -> Check:
    """A check of the statement itself."""
    return Check(method=method, covers=True)


def supports(method: Method) -> Check:
    """A check of a lemma or of instances of the statement."""
    return Check(method=method, covers=False)


@dataclass(frozen=True, slots=True)
class Source:
    """Where a paper makes the statement."""

    paper: str
    where: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """One statement of a paper.

    `module` and `attribute` say where a worker finds the claim again; `path` is set for a file
    that is not an importable module.
    """

    id: str
    source: Source
    statement: str
    latex: str
    scope: str
    uses: tuple[str, ...]
    expected: Status
    build: Callable[[], Iterable[Check]]
    module: str
    path: str | None = None

    def checks(self) -> tuple[Check, ...]:
        """The checks, built anew; building is cheap and loads no heavy library."""
        checks = tuple(self.build())
        if not any(check.covers for check in checks):
            raise ClaimError(
                f"claim {self.id} must have a check that covers its statement, got "
                f"{len(checks)} that only support it; mark one with covers(...)"
            )
        return checks


def claim(
    *,
    id: str,
    source: Source,
    latex: str,
    scope: str,
    expected: Status,
    uses: tuple[str, ...] = (),
) -> Callable[[Callable[[], Iterable[Check]]], Claim]:
    """Turn a documented function that returns checks into a Claim; its docstring is the statement.

    Raises:
        ClaimError: no docstring, or an id that is not dotted lower-case words.
    """
    if not _CLAIM_ID.fullmatch(id):
        raise ClaimError(
            f"claim id must be dotted lower-case words such as 'paper.theorem', got {id!r}"
        )

    def decorate(build: Callable[[], Iterable[Check]]) -> Claim:
        statement = inspect.cleandoc(build.__doc__ or "").strip()
        name = getattr(build, "__name__", "?")
        if not statement:
            raise ClaimError(
                f"claim {id} ({name}) must have a docstring, which is its statement; got none"
            )
        return Claim(
            id=id,
            source=source,
            statement=" ".join(statement.split()),
            latex=latex,
            scope=scope,
            uses=uses,
            expected=expected,
            build=build,
            module=build.__module__,
            path=_path_of(build.__module__),
        )

    return decorate


def _path_of(module: str) -> str | None:
    loaded = sys.modules.get(module.partition(".")[0])  # a folder's modules are its own
    return getattr(loaded, "__certiformer_path__", None)


def claims_of(module: ModuleType) -> list[Claim]:
    """The claims stated in one module, in the order of its source; imported ones are left out."""
    return [
        value
        for value in vars(module).values()
        if isinstance(value, Claim) and value.module == module.__name__
    ]


def modules_of(package: str | ModuleType) -> Iterator[ModuleType]:
    """A package or module and all its submodules, imported."""
    root = importlib.import_module(package) if isinstance(package, str) else package
    yield root
    for info in pkgutil.walk_packages(getattr(root, "__path__", ()), root.__name__ + "."):
        yield importlib.import_module(info.name)


def claims_in(package: str | ModuleType) -> list[Claim]:
    """All claims of a package or module, submodules included, sorted by id.

    Raises:
        ClaimError: two claims share an id.
    """
    found = [item for module in modules_of(package) for item in claims_of(module)]
    by_id: dict[str, Claim] = {}
    for item in found:
        if item.id in by_id:
            raise ClaimError(
                f"claim id {item.id} stands in {by_id[item.id].module} and in {item.module}; "
                "ids must be unique, so rename one"
            )
        by_id[item.id] = item
    return [by_id[key] for key in sorted(by_id)]


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


def with_dependencies(chosen: Iterable[Claim], known: Mapping[str, Claim]) -> list[Claim]:
    """The chosen claims and all that they use, sorted by id.

    Raises:
        ClaimError: a claim uses an unknown id, or `uses` runs in a cycle.
    """
    order: dict[str, Claim] = {}
    trail: list[str] = []

    def visit(item: Claim) -> None:
        if item.id in trail:
            cycle = " -> ".join([*trail[trail.index(item.id) :], item.id])
            raise ClaimError(
                f"claim {item.id} must not rest on itself, got {cycle}; drop one of these uses"
            )
        if item.id in order:
            return
        trail.append(item.id)
        for used in item.uses:
            if used not in known:
                raise ClaimError(
                    f"claim {item.id} uses {used!r}, which no claim is called; "
                    "correct the id or state that claim"
                )
            visit(known[used])
        trail.pop()
        order[item.id] = item

    for item in chosen:
        visit(item)
    return [order[key] for key in sorted(order)]


def standings(claims: Iterable[Claim], statuses: Mapping[str, Status]) -> dict[str, Status]:
    """Each claim's standing: the weakest status among itself and all that it uses."""
    by_id = {item.id: item for item in claims}
    known: dict[str, Status] = {}

    def standing(key: str) -> Status:
        if key not in known:
            parts: Iterator[Status] = (standing(used) for used in by_id[key].uses)
            known[key] = min([statuses[key], *parts])
        return known[key]

    return {key: standing(key) for key in by_id}
