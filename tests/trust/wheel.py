"""Build a wheel, install it into an empty environment, and use it outside the repository.

    python tests/trust/wheel.py                               # without PyTorch
    python tests/trust/wheel.py --extra numeric
    python tests/trust/wheel.py --python python3.13

`new`, `verify` and `recheck` run as a user would run them. Without the extra, checks in floating
point must be UNKNOWN and name it, and nothing else may differ.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NAME = "trial"
EXTRA = "numeric"


def say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def run(words: list[object], cwd: Path, *statuses: int) -> str:
    """The output of a command that must end with one of the statuses, by default 0."""
    done = subprocess.run(
        [*map(str, words)], cwd=cwd, capture_output=True, text=True, check=False, timeout=1800
    )
    if done.returncode not in (statuses or (0,)):
        shown = f"{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
        sys.exit(f"{words}: must end with {statuses or 0}, got {done.returncode}:\n{shown}")
    return done.stdout


def built(place: Path) -> Path:
    """The wheel, which carries no tests and no output."""
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    run([*pip, "wheel", "--quiet", "--no-deps", "-w", place, "."], ROOT)
    (wheel,) = place.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    if stray := [name for name in names if name.startswith(("tests/", "docs/", "reports/out/"))]:
        sys.exit(f"{wheel}: must carry no tests and no output, got {stray[:5]}")
    say(f"{wheel.name}: {len(names)} files, {wheel.stat().st_size >> 10} KiB, no tests, no output")
    return wheel


def installed(wheel: Path, python: str, extra: str | None, place: Path) -> Path:
    """The folder of commands of a new environment with nothing but the wheel and its needs."""
    run([python, "-m", "venv", place], ROOT)
    needs = f"{wheel}[{extra}]" if extra else str(wheel)
    pip = [place / "bin" / "python", "-m", "pip", "--disable-pip-version-check", "install"]
    run([*pip, "--quiet", "-c", ROOT / "constraints.txt", needs], ROOT)
    return place / "bin"


def reached(out: Path) -> dict[str, tuple[str, str]]:
    """Standing and expectation of every claim of a run."""
    record = json.loads((out / "record.json").read_text())
    return {claim["id"]: (claim["standing"], claim["expected"]) for claim in record["claims"]}


def used(commands: Path, place: Path, extra: str | None) -> None:
    """Write a package of claims, settle it and one of ours, and recheck what came of it."""
    certiformer, out = commands / "certiformer", place / "out"
    run([certiformer, "new", NAME], place)
    status = 0 if extra == EXTRA else 3
    words = run([certiformer, "verify", NAME, "universal.tree.*", "--out", out], place, status)
    short = {key: found for key, found in reached(out).items() if found[0] != found[1]}
    if extra == EXTRA and short:
        sys.exit(f"every claim must stand as expected, got {short}")
    if extra != EXTRA:
        if not short or {standing for standing, _ in short.values()} != {"UNKNOWN"}:
            sys.exit(f"without {EXTRA} only checks in floating point may be UNKNOWN, got {short}")
        if f"certiformer[{EXTRA}]" not in words:
            sys.exit(f"what is UNKNOWN must name the extra {EXTRA}, got:\n{words}")
    say(f"verify: {len(reached(out))} claims, not as expected: {', '.join(short) or 'none'}")
    say(f"recheck: {run([certiformer, 'recheck', out], place).splitlines()[-1]}")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--extra", choices=[EXTRA])
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="wheel-") as name:
        place = Path(name)
        wheel = built(place / "dist")
        commands = installed(wheel, arguments.python, arguments.extra, place / "environment")
        say(run([commands / "python", "--version"], place).strip())
        used(commands, place, arguments.extra)


if __name__ == "__main__":
    main()
