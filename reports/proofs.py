"""Proofs that cvc5 writes of a run's goals, kept beside it: artefacts, which nothing here checks.

Proofs are in cvc5's format CPC, one compressed file per certificate, `proofs/<sha256>.cpc.gz`,
goals in their order. No verdict depends on them.
"""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from reports import output
from verify.verdicts import Json

PROOFS = "proofs"
SECONDS = 600.0
"""Per certificate."""
PROVE = """
import json, sys
from verify.methods.smt import cvc5_proof
for script in json.load(sys.stdin):
    print(json.dumps(cvc5_proof(script)), flush=True)
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """How many goals have a proof of cvc5's, of how many, and the bytes of all files."""

    proved: int
    goals: int
    bytes: int


def keep(folder: Path, certificates: Mapping[str, bytes], jobs: int) -> Kept:
    """Write the proofs of all goals of the certificates; files of earlier runs go.

    Raises:
        OutputError: a file cannot be written.
    """
    place = folder / PROOFS
    place.mkdir(exist_ok=True)
    asked = {name: goals for name, data in certificates.items() if (goals := _goals(data))}
    for path in place.iterdir():
        if path.name.partition(".")[0] not in asked:
            path.unlink()
    proved = size = 0
    with ThreadPoolExecutor(jobs) as executor:
        for name, proofs in zip(asked, executor.map(_proofs, asked.values()), strict=True):
            data = gzip.compress("\n".join(_listed(asked[name], proofs)).encode(), mtime=0)
            output.write(place / f"{name}.cpc.gz", data)
            proved, size = proved + sum(proof is not None for proof in proofs), size + len(data)
    return Kept(proved=proved, goals=sum(map(len, asked.values())), bytes=size)


def _goals(certificate: bytes) -> list[dict[str, Json]]:
    body = json.loads(certificate)
    return body["content"]["goals"] if body["kind"] == "smt" else []


def _proofs(goals: list[dict[str, Json]]) -> list[str | None]:
    """A proof per goal; None where cvc5 gave none within its limits, or ended."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    text = json.dumps([goal["smtlib"] for goal in goals])
    try:
        done = subprocess.run(
            [sys.executable, "-c", PROVE],
            input=text,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
            env=environment,
        )
    except subprocess.TimeoutExpired:
        return [None] * len(goals)
    found: list[str | None] = [json.loads(line) for line in done.stdout.splitlines()[: len(goals)]]
    return found + [None] * (len(goals) - len(found))


def _listed(goals: list[dict[str, Json]], proofs: list[str | None]) -> Iterator[str]:
    for goal, proof in zip(goals, proofs, strict=True):
        yield f"; goal: {goal['name']}"
        yield "; no proof was found within the limits" if proof is None else proof
