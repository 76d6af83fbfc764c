"""From selectors to claims: an id, a glob over ids, or a Python file or package folder."""

from __future__ import annotations

import contextlib
import difflib
import importlib.util
import os
import sys
from collections.abc import Generator, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from types import ModuleType

from verify.claims import Claim
from verify.coverage import Coverage, coverage_in
from verify.dependencies import with_dependencies
from verify.errors import CertiformerError, ClaimFileError, SelectorError
from verify.findings import Finding, findings_in
from verify.loading import add_claim, claims_in, load_file

OURS = ("constructions", "lowerbounds")
"""The packages whose claims need no path."""

CLOSE_MATCHES = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """The claims that selectors name, and all that these rest on.

    `files` gives the selector of each claim that came from a file or folder of the user's;
    `findings` are those that rest on selected claims alone, `coverage` those of all papers of which
    claims were loaded: ours only where a selector or a use asks for them.
    """

    selectors: tuple[str, ...]
    chosen: tuple[Claim, ...]
    claims: tuple[Claim, ...]
    files: dict[str, str]
    findings: tuple[Finding, ...]
    coverage: tuple[Coverage, ...]


def select(selectors: Sequence[str]) -> Selection:
    """The selection that the selectors name; none at all selects every claim of ours.

    Raises:
        SelectorError: a selector matches nothing.
        ClaimFileError: a file with claims cannot be imported.
        ClaimError: a claim's id is not dotted lower-case words.
    """
    with stdout_to_stderr():
        return _selection(tuple(selectors))


def _selection(selectors: tuple[str, ...]) -> Selection:
    known: dict[str, Claim] = {}
    files: dict[str, str] = {}
    named: dict[str, list[Claim]] = {}
    modules: list[str | ModuleType] = []
    for selector in sorted(filter(is_path, set(selectors))):
        module = module_of_ours(selector)
        named[selector] = _claims_at(selector, module)
        if module is None:
            modules.append(load_file(selector))
        for item in named[selector]:
            add_claim(known, item)
            if module is None:
                files.setdefault(item.id, selector)
    if len(modules) < len(set(selectors)) or not selectors or _unstated(known):
        modules += OURS  # importing them takes a second, which a file that does without is spared
        for item in our_claims():
            add_claim(known, item)
    chosen: dict[str, Claim] = {}
    for selector in selectors or ("*",):
        found = named[selector] if selector in named else _matching(selector, known)
        chosen |= {item.id: known[item.id] for item in found}
    claims = tuple(with_dependencies(chosen.values(), known))
    return Selection(
        selectors=selectors,
        chosen=tuple(chosen[key] for key in sorted(chosen)),
        claims=claims,
        files=files,
        findings=_findings(modules, {item.id for item in claims}),
        coverage=tuple(item for module in modules for item in coverage_in(module)),
    )


def _findings(modules: Iterable[str | ModuleType], ids: Set[str]) -> tuple[Finding, ...]:
    found = [item for module in modules for item in findings_in(module) if item.stands(ids)]
    return tuple(sorted(found, key=lambda item: item.id))


def our_claims() -> list[Claim]:
    """Every claim of the packages that come with the suite."""
    return [item for package in OURS for item in claims_in(package)]


def is_path(selector: str) -> bool:
    """Whether a selector names a place on disk rather than claim ids."""
    separators = {os.sep, os.altsep or os.sep}
    if selector.endswith(".py") or any(mark in selector for mark in separators):
        return True
    return (Path(selector) / "__init__.py").is_file()


def _unstated(known: dict[str, Claim]) -> bool:
    return any(used not in known for item in known.values() for used in item.uses)


def _claims_at(selector: str, module: str | None) -> list[Claim]:
    """The claims of a file or package folder of the user's, or of a module of ours."""
    try:
        found = claims_in(module if module is not None else load_file(selector))
    except CertiformerError:
        raise
    except (Exception, SystemExit) as error:
        raise ClaimFileError(
            f"{selector}: must import without an error, got {type(error).__name__}: {error}; "
            "run it with python to see the traceback"
        ) from error
    if not found:
        raise SelectorError(
            f"{selector}: a file with claims must state at least one, got none; "
            "decorate a documented function with @claim"
        )
    return found


def module_of_ours(selector: str) -> str | None:
    """The module of ours that a path leads to, if it does; it must not be imported twice."""
    place = Path(selector).resolve()
    for package in OURS:
        spec = importlib.util.find_spec(package)
        for folder in (spec.submodule_search_locations or ()) if spec else ():
            root = Path(folder).resolve()
            if place.exists() and place.is_relative_to(root):
                parts = place.with_suffix("").relative_to(root).parts
                return ".".join((package, *(part for part in parts if part != "__init__")))
    return None


def _matching(selector: str, known: Mapping[str, Claim]) -> list[Claim]:
    found = [item for item in known.values() if fnmatchcase(item.id, selector)]
    if not found and selector != "*":
        raise SelectorError(_no_match(selector, known))
    return found


def _no_match(selector: str, known: Iterable[str]) -> str:
    ids = sorted(known)
    close = difflib.get_close_matches(selector, ids, n=CLOSE_MATCHES, cutoff=0.5)
    if not close and (part := selector.strip("*")):
        close = [key for key in ids if part in key][:CLOSE_MATCHES]
    if selector and Path(selector).is_dir():
        remedy = "the folder of this name is no package: put an __init__.py into it"
    elif selector and Path(selector).is_file():
        remedy = "the file of this name is no Python file: its name must end in .py"
    elif close:
        remedy = f"did you mean {' or '.join(close)}?"
    else:
        remedy = "`certiformer list` shows every id"
    return (
        f"selector {selector!r} must be a claim id, a glob over ids, or the path of a Python file "
        f"or package, got one that matches no claim; {remedy}"
    )


@contextlib.contextmanager
def stdout_to_stderr() -> Generator[None, None, None]:
    """Send what claims print while they are imported or built to stderr: stdout is for results."""
    sys.stdout.flush()
    with contextlib.redirect_stdout(sys.stderr), contextlib.ExitStack() as stack:
        try:
            kept = os.dup(1)
            os.dup2(2, 1)
        except OSError:  # a closed descriptor: there is nothing to keep clean
            pass
        else:
            stack.callback(os.close, kept)
            stack.callback(os.dup2, kept, 1)
        yield
