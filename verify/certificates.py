"""Evidence as exact JSON, named by its own hash.

    {"schema": "certiformer/certificate/2", "kind", "claim", "statement", "construction", "inputs",
     "content"}

`statement`, `construction` and `inputs` are hashes: of the claim's words, of the sources that
settled it, and of what its check was given (profile, seed, place, method and scope). Numbers that
are not small integers are strings "p" or "p/q"; the file's name is the SHA-256 of
its bytes. `recheck.py` reads these files and nothing else of ours.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from hashlib import sha256
from typing import cast

from verify.errors import CertificateError
from verify.rational import Matrix
from verify.verdicts import Json

SCHEMA = "certiformer/certificate/2"


def canonical(value: Json) -> bytes:
    """The one JSON text of a value: sorted keys, no spaces, ASCII, a final newline."""
    _require_exact(value, "certificate")
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return text.encode("ascii") + b"\n"


def _require_exact(value: Json, where: str) -> None:
    if isinstance(value, float) and not math.isfinite(value):
        raise CertificateError(f"{where} must hold finite numbers, got {value!r}; write a string")
    if isinstance(value, float):
        raise CertificateError(f"{where} must hold exact numbers, got {value!r}; write 'p/q'")
    if isinstance(value, Mapping):
        for key, part in cast("Mapping[object, object]", value).items():
            if not isinstance(key, str):
                raise CertificateError(f"{where} must have string keys, got {key!r}")
            _require_exact(part, f"{where}.{key}")
    elif isinstance(value, list | tuple):
        for index, part in enumerate(cast("list[object]", value)):
            _require_exact(part, f"{where}[{index}]")


def number(value: int | Fraction) -> str:
    """Exact number as text: "p" or "p/q"."""
    return str(Fraction(value))


def matrix(value: Matrix) -> list[list[str]]:
    """Exact matrix as rows of texts."""
    return [[number(entry) for entry in row] for row in value.rows()]


@dataclass(frozen=True, slots=True, kw_only=True)
class Seal:
    """What a certificate belongs to: one check of one claim, under a profile and a seed."""

    claim: str
    statement: str
    construction: str
    check: int
    method: str
    scope: str
    profile: str
    seed: int

    def inputs(self) -> str:
        """Hash of what the check was given."""
        given = {
            "check": self.check,
            "method": self.method,
            "scope": self.scope,
            "profile": self.profile,
            "seed": self.seed,
        }
        return sha256(canonical(given)).hexdigest()


def sealed(seal: Seal, content: Mapping[str, Json]) -> tuple[str, bytes]:
    """Name and bytes of the certificate of one check; `content` names its own kind."""
    body = {
        "schema": SCHEMA,
        "kind": content["kind"],
        "claim": seal.claim,
        "statement": sha256(seal.statement.encode()).hexdigest(),
        "construction": seal.construction,
        "inputs": seal.inputs(),
        "content": {key: part for key, part in content.items() if key != "kind"},
    }
    data = canonical(body)
    return sha256(data).hexdigest(), data
