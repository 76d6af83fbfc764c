"""Break every field of every kind of certificate once, and see who notices.

    python tests/trust/corruptions.py [DIR] [--jobs N]

DIR is a folder that `certiformer verify` wrote; without one a quick run is made. All hashes and
names are made to fit, so that only the content is wrong. The comparison with what the claims' code
states must notice every one; `recheck.py` by itself must notice every field of the kinds that it
decides, and what it lets through of them must be another true statement by its own definitions.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from reports.corruption import corrupted, decided, rechecked, shown_in, specimens, unnoticed


def say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="corruptions-") as place:
        folder = arguments.folder or Path(place) / "run"
        if arguments.folder is None:
            command = [sys.executable, "-m", "reports.cli", "verify", "--profile", "quick"]
            subprocess.run([*command, "--out", str(folder)], check=True)
        found = list(specimens(shown_in(folder)))
        broken = rechecked(corrupted(found), Path(place) / "broken", arguments.jobs)
    kinds = {(one.specimen.kind, one.specimen.definitions) for one in broken}
    fields = {
        (*kind, field)
        for one in found
        for kind in [(one.kind, one.definitions)]
        for field in one.fields
    }
    say(f"{len(broken)} corruptions of {len(fields)} fields of {len(kinds)} kinds of certificates")
    for outcome, count in Counter(one.outcome for one in broken).most_common():
        say(f"  recheck.py by itself: {outcome} {count}")
    same = [one for one in broken if not one.difference]
    say(f"  noticed by the comparison with the claim: {len(broken) - len(same)}")
    missed = sorted(unnoticed(broken))
    for kind, definitions, field in missed:
        say(f"  never noticed: {kind} {definitions} {field}")
    through = [one for one in broken if decided(one) and not one.refused]
    for (definitions, place, change), count in sorted(
        Counter((one.specimen.definitions, one.place, one.change) for one in through).items()
    ):
        say(f"  true all the same: {definitions} {place}: {change} ({count})")
    sys.exit(1 if missed or same else 0)


if __name__ == "__main__":
    main()
