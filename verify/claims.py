"""Claims as values: one statement of a paper, what it rests on, and the checks that settle it."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

from verify import display
from verify.containment import contained
from verify.errors import ClaimError
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

    @property
    def part(self) -> str:
        """What of the claim it checks, in words."""
        return "the statement" if self.covers else "a lemma or instances"


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

    `module` says where a worker finds the claim again; `path` is set for a file that is not an
    importable module. A claim that is stated wrongly has a `fault`, and its checks cannot be
    built: it comes out BROKEN, and what stands beside it is settled.
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
    fault: str = ""

    def checks(self) -> tuple[Check, ...]:
        """The checks, built anew; building is cheap and loads no heavy library.

        Raises:
            ClaimError: the claim is stated wrongly, or no check covers its statement.
        """
        if self.fault:
            raise ClaimError(self.fault)
        with contained():
            checks = tuple(self.build())
        if not any(check.covers for check in checks):
            raise ClaimError(
                f"claim {self.id} must have a check that covers its statement, got "
                f"{len(checks)} that only support it; mark one with covers(...)"
            )
        return checks

    def _repr_html_(self) -> str:
        """The claim in a notebook; its checks with their scopes under the standard profile."""
        return display.shown(
            display.fields(
                [
                    ("claim", display.code(self.id)),
                    ("source", f"{self.source.paper}, {self.source.where}"),
                    ("statement", self.statement),
                    ("formula", display.code(self.latex)),
                    ("scope", self.scope),
                    ("expected", display.badge(self.expected.name)),
                    ("uses", ", ".join(self.uses)),
                    ("checks", self._checks_html()),
                ]
            )
        )

    def _checks_html(self) -> display.Piece:
        try:
            checks = self.checks()
            rows = [
                (
                    str(index),
                    check.method.name,
                    check.part,
                    check.method.scope(Setting()),
                    f"at most {check.method.ceiling.name}",
                )
                for index, check in enumerate(checks)
            ]
        except Exception as error:  # a user's code may raise anything, and a display must not
            return f"cannot be built: {type(error).__name__}: {error}"
        return display.table(("", "method", "checks", "scope", "status"), rows)


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

    Without a docstring the claim has a fault.

    Raises:
        ClaimError: an id that is not dotted lower-case words.
    """
    if not _CLAIM_ID.fullmatch(id):
        raise ClaimError(
            f"claim id must be dotted lower-case words such as 'paper.theorem', got {id!r}"
        )

    def decorate(build: Callable[[], Iterable[Check]]) -> Claim:
        statement = inspect.cleandoc(build.__doc__ or "").strip()
        name = getattr(build, "__name__", "?")
        fault = f"claim {id} ({name}) must have a docstring, which is its statement; got none"
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
            fault="" if statement else fault,
        )

    return decorate


def _path_of(module: str) -> str | None:
    loaded = sys.modules.get(module.partition(".")[0])  # a folder's modules are its own
    return getattr(loaded, "__certiformer_path__", None)
