"""Claims as tests: what `certiformer_pytest` does once it is asked for claims.

A claim passes if it stands where it is expected to, with all that it uses. Checks run in processes
of their own, as for `certiformer verify`; each claim is settled once.
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from reports.selection import Selection
    from verify.claims import Claim, Setting
    from verify.run import Outcome

NAME = "certiformer"


def collect_claims(config: pytest.Config) -> None:
    """Collect the claims of the files that are asked for; what an option names always is."""
    named = [config.invocation_params.dir / path for path in _option(config, "--certiformer")]
    for path in named:
        if not path.exists():
            raise pytest.UsageError(f"--certiformer {path}: must exist, got no such path")
        if not any(_holds(config.invocation_params.dir / _file(a), path) for a in config.args):
            config.args.append(str(path))
    places = {path.resolve() for path in [*config.getini(NAME), *named]}
    config.pluginmanager.register(Collector(config, sorted(places)), f"{NAME}-claims")


def _option(config: pytest.Config, name: str) -> Any:
    return config.getoption(name)


def _file(argument: str) -> str:
    return argument.partition("::")[0]


def _holds(one: Path, other: Path) -> bool:
    """Whether collecting the first path comes upon the second, or upon a part of it."""
    one, other = one.resolve(), other.resolve()
    return other.is_relative_to(one) or one.is_relative_to(other)


class Collector:
    """Turns the files that state claims into tests."""

    def __init__(self, config: pytest.Config, places: Sequence[Path]) -> None:
        """Load nothing yet."""
        self._places = places
        self._desk = Desk(config)
        self._tests: list[str] = config.getini("python_files")

    @pytest.hookimpl(wrapper=True)
    def pytest_collect_file(
        self, file_path: Path, parent: pytest.Collector
    ) -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
        """Claims beside what else a file holds; pytest imports it itself only if it is named so.

        Otherwise a file that is named in the command line would run twice, once unguarded.
        """
        others = yield
        place = self._place(file_path.resolve())
        if place is None:
            return others
        found: ClaimsFile = _node(ClaimsFile, parent, path=file_path)
        found.place, found.desk = place, self._desk
        named_so = any(file_path.match(pattern) for pattern in self._tests)
        return [found, *(one for one in others if named_so or type(one) is not pytest.Module)]

    def _place(self, file: Path) -> Path | None:
        """The place asked for that a file of claims belongs to."""
        if file.suffix != ".py":
            return None
        known = (place for place in self._places if file == place or _is_module_of(file, place))
        return next(known, None)


def _is_module_of(file: Path, package: Path) -> bool:
    """Whether every folder from the package down to the file is a package."""
    folders = [folder for folder in file.parents if folder.is_relative_to(package)]
    return bool(folders) and all((folder / "__init__.py").is_file() for folder in folders)


def _node(kind: Any, parent: pytest.Collector, **named: object) -> Any:
    """A node of pytest's, which has a constructor of its own."""
    return kind.from_parent(parent, **named)


class ClaimsFile(pytest.File):
    """A file whose claims are tests."""

    place: Path
    desk: Desk

    def collect(self) -> Iterable[ClaimTest]:
        """A test for each claim that this file states, in the order of their ids."""
        from verify.errors import UsageError

        if self.place in self.desk.failed:
            return  # it was said at the first file of the package
        try:
            selection = self.desk.selection(self.place)
        except UsageError as error:
            self.desk.failed.add(self.place)
            raise self.CollectError(f"{error}{_culprit(error, self.place)}") from None
        for claim in selection.chosen:
            stated = sys.modules[claim.module].__file__
            if stated is not None and Path(stated).resolve() == self.path.resolve():
                test: ClaimTest = _node(ClaimTest, self, name=claim.id)
                test.claim = claim
                yield test


def _culprit(error: Exception, place: Path) -> str:
    """The line of the user's own that broke the import, if one did."""
    cause = error.__cause__
    if isinstance(cause, SyntaxError) and cause.filename:
        return f" ({cause.filename}:{cause.lineno})"
    frames = [*traceback.extract_tb(cause.__traceback__)] if cause else []
    own = [frame for frame in frames if Path(frame.filename).resolve().is_relative_to(place)]
    return f" ({own[-1].filename}:{own[-1].lineno})" if own else ""


class ClaimTest(pytest.Item):
    """A claim that must stand where it is expected to."""

    claim: Claim
    parent: ClaimsFile

    def runtest(self) -> None:
        """Settle what of the claim, and of all that it uses, is not settled yet."""
        said = list(self.parent.desk.shortfalls(self.claim, self.parent.place))
        if said:
            raise ShortfallError("\n".join(said))

    def repr_failure(
        self, excinfo: pytest.ExceptionInfo[BaseException], style: object = None
    ) -> str:
        """What stands in the way, without a traceback of ours."""
        if isinstance(excinfo.value, ShortfallError):
            return str(excinfo.value)
        return str(super().repr_failure(excinfo))

    def reportinfo(self) -> tuple[Path, None, str]:
        """The file that states it, and the words over its failure."""
        return self.path, None, f"claim {self.name}"


class ShortfallError(Exception):
    """A claim that does not stand where it is expected to."""


def _key(claim: Claim) -> tuple[str, str]:
    """What tells claims apart: files that are not verified together may use one id."""
    return claim.module, claim.id


@dataclass(slots=True)
class Desk:
    """What a session knows: selections by their place, and the outcomes of settled claims."""

    config: pytest.Config
    failed: set[Path] = field(default_factory=set[Path])
    _selections: dict[Path, Selection] = field(default_factory=dict[Path, "Selection"])
    _outcomes: dict[tuple[str, str], list[Outcome]] = field(
        default_factory=dict[tuple[str, str], "list[Outcome]"]
    )

    def selection(self, place: Path) -> Selection:
        """The claims of a file or package.

        Raises:
            UsageError: it cannot be loaded, or states a claim wrongly.
        """
        from reports.selection import select

        if place not in self._selections:
            self._selections[place] = select([str(place)])
        return self._selections[place]

    def shortfalls(self, claim: Claim, place: Path) -> Iterator[str]:
        """Why the claim does not stand where it is expected to; nothing if it does."""
        from dataclasses import replace

        from reports import record, text
        from reports.explanation import command_of
        from verify.dependencies import with_dependencies
        from verify.verdicts import Status

        selection = self.selection(place)
        needed = with_dependencies([claim], {item.id: item for item in selection.claims})
        setting = self._setting()
        self._settle([item for item in needed if _key(item) not in self._outcomes], setting)
        outcomes = [outcome for item in needed for outcome in self._outcomes[_key(item)]]
        part = replace(selection, chosen=(claim,), claims=tuple(needed), findings=(), coverage=())
        recorded = record.build(part, setting, outcomes).record
        row = next(row for row in recorded["claims"] if row["id"] == claim.id)
        if record.outcome_of(row) == "ok":
            return
        yield f"{claim.id}: {row['standing']}, {claim.expected.name} is expected"
        yield f"  {text.printable(claim.statement)}"
        yield from text.shortfalls(recorded)
        for outcome in outcomes:
            if outcome.verdict.status is Status.REFUTED:
                yield from text.counterexample(outcome)
        path = os.path.relpath(place, self.config.invocation_params.dir)
        yield f"reproduce: {command_of(recorded, [path])}"

    def _settle(self, claims: Sequence[Claim], setting: Setting) -> None:
        from reports.progress import PlainProgress
        from reports.running import run_checks
        from verify.worker import Limits

        run = run_checks(claims, setting, Limits(), self._jobs(), PlainProgress())
        if run.interrupted:
            raise KeyboardInterrupt
        for item in claims:
            self._outcomes[_key(item)] = [one for one in run.outcomes if one.claim.id == item.id]

    def _setting(self) -> Setting:
        from verify.claims import Setting

        return Setting(profile=_option(self.config, "--certiformer-profile"))

    def _jobs(self) -> int:
        """A share of the cores: pytest-xdist may have started several processes."""
        processes: int = getattr(self.config, "workerinput", {}).get("workercount", 1)
        return max(1, (os.cpu_count() or 1) // processes)
