"""A package of claims for one's own paper, from templates: one worked claim of each kind.

The package is built in a hidden folder beside its place and renamed when it is whole, so that a
half-written one never stands there.
"""

from __future__ import annotations

import keyword
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

from reports.selection import our_claims
from verify.errors import OutputError, UsageError

TEMPLATES = Path(__file__).parent / "templates" / "package"
WEIGHTS = "weights/target.safetensors"
FILES = {
    "README.md": "what each file is, and what to change first",
    "__init__.py": "the package in ten lines",
    "construction.py": "the weights, the forward pass and a strategy of instances",
    "score.py": "an exact identity: PROVED",
    "winner.py": "for all words, by induction and two SMT solvers: PROVED",
    "short_words.py": "every short word, in exact rationals: BOUNDED",
    "long_words.py": "a search among long words: SAMPLED",
    "softmax.py": "enclosures with a margin: BOUNDED",
    "width.py": "a lower bound: PROVED",
    "rounded.py": "floating-point runs against a bound: SAMPLED",
    "mutants.py": "each claim with one thing broken",
    "target.py": "writes the weight file from the construction",
    WEIGHTS: "the head's weights, for certiformer encode",
    "tests/test_claims.py": "property tests beside the claims",
    "pyproject.toml": "tells pytest that the claims are tests",
    ".github/workflows/verify.yml": "all of this on every push",
}
"""Every file of a package, and what it is; all but the weights have a template of their name."""
_NAME = re.compile(r"[a-z][a-z0-9_]*")


def create(name: str, parent: Path) -> Path:
    """Write the package `name` into the folder `parent`; its place.

    Raises:
        UsageError: a name that is no lower-case identifier, or that another module or paper has.
        OutputError: something stands in its place, or the folder cannot be written.
    """
    place = parent / name
    _require_name(name)
    if os.path.lexists(place):
        raise OutputError(
            f"{place}: must be free, got something that exists; choose another name or another "
            "folder with --out"
        )
    _require_unused(name)
    with _unfinished(parent) as folder:
        package = folder / name
        for file in FILES:
            if file != WEIGHTS:
                _write(package / file, _filled(file, name))
        subprocess.run(
            [sys.executable, "-B", "-m", f"{name}.target"],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            check=True,
        )
        package.rename(place)
    return place


def lines(place: Path) -> Iterator[str]:
    """What was written where, and what to run next."""
    width = max(map(len, FILES))
    yield f"wrote {place}"
    yield from (f"  {file:{width}}  {what}" for file, what in FILES.items())
    folder, out = shlex.quote(str(place)), shlex.quote(str(place / "out"))
    yield from (
        "",
        "next:",
        f"  certiformer verify {folder} --out {out}",
        f"  certiformer mutate {folder} --out {out}",
        f"  pytest {folder}",
    )


def _require_name(name: str) -> None:
    if not _NAME.fullmatch(name) or keyword.iskeyword(name):
        raise UsageError(
            f"new {ascii(name)[1:-1]}: a name must be a lower-case Python identifier that is no "
            f"keyword, got {name!a}; take one such as previous_token"
        )


def _require_unused(name: str) -> None:
    """Refuse a name under which Python, or a reader of claim ids, already knows something else."""
    taken = ""
    if name in sys.stdlib_module_names:
        taken = "a module of Python's library"
    elif (spec := find_spec(name)) is not None and spec.origin is not None:
        taken = f"an installed module, {spec.origin}"
    elif any(item.id.startswith(f"{name}.") for item in our_claims()):
        taken = "the beginning of claim ids that come with certiformer"
    if taken:
        raise UsageError(
            f"new {name}: a name must be free, got {taken}; take another, such as {name}_paper"
        )


@contextmanager
def _unfinished(parent: Path) -> Generator[Path, None, None]:
    """A hidden folder in `parent`, removed at the end with all that is left in it."""
    try:
        folder = Path(tempfile.mkdtemp(prefix=".unfinished-", dir=parent))
    except OSError as error:
        raise _unwritable(parent, error) from error
    try:
        yield folder
    except OSError as error:
        raise _unwritable(parent, error) from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _filled(file: str, name: str) -> str:
    text = (TEMPLATES / f"{Path(file).name}.tmpl").read_text(encoding="utf-8")
    return text.replace("{{name}}", name).replace("{{paper}}", name.replace("_", "-"))


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def _unwritable(place: Path, error: OSError) -> OutputError:
    return OutputError(
        f"{place}: must be a folder that can be written, got {error.strerror or error}; make it "
        "or choose another with --out"
    )
