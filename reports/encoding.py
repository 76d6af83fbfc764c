"""A target file encoded into a universal model, and the folder that `encode` leaves.

    embedding.safetensors    E in the asked dtype
    universal.safetensors    the fixed parameters
    report.txt               what the terminal showed
    record.json, run.json, certificates/, index.html, junit.xml    as `verify` writes them

Everything is computed before anything is written, so a failure leaves the folder as it was.
"""

from __future__ import annotations

import datetime
import shlex
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from constructions.universal.embedding_error import Deviation, deviation
from constructions.universal.encoding import (
    CONSTRUCTIONS,
    Deficit,
    Encoding,
    encode,
    encoding_claim,
)
from constructions.universal.gpt_files import read_weights
from constructions.universal.model_files import embedding_file, model_file
from constructions.universal.weights import DTYPES
from reports import output, record
from reports.encoding_text import data_of, figures, lines_of
from reports.environment import Circumstances
from reports.folder import FILES, Tell, silent, write_run
from reports.running import Run
from reports.selection import Selection
from reports.terminal import REFUTED
from reports.text import shortfalls
from verify.claims import Setting
from verify.errors import PrecisionError, UsageError
from verify.run import Outcome
from verify.verdicts import Json
from verify.worker import Limits

EMBEDDING, MODEL, REPORT = "embedding.safetensors", "universal.safetensors", "report.txt"
TOKENS = 6
"""Rows of the random inputs on which errors are bounded and measured."""
LARGEST_BYTES = 64 << 20
"""Larger certificates would take `recheck` too long."""
ANOTHER_SEED = "that refutes full rank of this draw, not its universality; take another --seed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """The command's arguments; `said` stands in for the target's metadata, or overrules it."""

    target: Path
    construction: str
    width: int | None
    seed: int
    dtype: str
    dense: bool
    inputs: int
    out: Path
    said: Mapping[str, str] = field(default_factory=dict[str, str])

    def command(self, width: int) -> str:
        """The command that does it again, wherever the files lie."""
        words = ["certiformer", "encode", self.target.name, "--construction", self.construction]
        words += ["--m", str(width), "--seed", str(self.seed), "--dtype", self.dtype]
        words += ["--inputs", str(self.inputs), *(["--dense"] if self.dense else [])]
        for key, value in sorted(self.said.items()):
            words += ["--metadata", f"{key}={value}"]
        return shlex.join([*words, "--out", "DIR"])


def said_of(words: Iterable[str], heads: int | None) -> dict[str, str]:
    """Metadata from words KEY=VALUE, and the number of heads.

    Raises:
        UsageError: a word without "=", or a key that comes twice.
    """
    said = {} if heads is None else {"heads": str(heads)}
    for word in words:
        key, sign, value = word.partition("=")
        if not sign or key in said:
            raise UsageError(
                f"--metadata must be KEY=VALUE, each key once, got {word!r}; write, for instance, "
                "--metadata residual=false"
            )
        said[key] = value
    return said


@dataclass(frozen=True, slots=True, kw_only=True)
class Encoded:
    """What to show, in lines or as data, the exit status, and what writes the folder, if at all."""

    lines: list[str]
    data: dict[str, Json]
    status: int
    write: Callable[[], None] | None = None


def encode_file(asked: Asked, tell: Tell = silent) -> Encoded:
    """Encode the target, all but the writing; `tell` hears what is being done.

    A draw that lacks rank, or an E that does not solve its equations, is refuted, and nothing is
    to be written.

    Raises:
        UsageError: the target or the arguments are not what they must be.
    """
    began = Beginning(clock=time.monotonic(), date=datetime.datetime.now(datetime.UTC))
    tell(f"encoding {asked.target.name} by {asked.construction}")
    encoded = _encoded(asked)
    if isinstance(encoded, Deficit):
        return _failed([f"REFUTED: {encoded.text}", ANOTHER_SEED], REFUTED)
    tell(f"bounding and measuring errors on {asked.inputs} inputs")
    errors = _errors(encoded, asked)
    tell("settling the claim of this embedding")
    outcome = _settled(encoded, errors, asked.seed, began)
    recorded = record.build(_selection(outcome), Setting(seed=asked.seed), [outcome])
    if (status := record.exit_status(recorded.record)) != 0:
        return _failed(list(shortfalls(recorded.record)), status)
    _require_readable(recorded)
    lines = list(lines_of(asked.target.name, encoded, recorded, errors))
    files = {
        EMBEDDING: embedding_file(encoded),
        MODEL: model_file(encoded, asked.dense),
        REPORT: "\n".join([*lines, ""]).encode(),
    }
    extended = {**recorded.record, "command": asked.command(encoded.width)}
    repeatable = replace(recorded, record=extended)
    held = isinstance(errors, str) or errors.held
    return Encoded(
        lines=lines,
        data={**data_of(encoded, recorded, errors), "folder": str(asked.out)},
        status=0 if held else REFUTED,
        write=lambda: _write(asked.out, files, repeatable, outcome, began),
    )


def _failed(lines: list[str], status: int) -> Encoded:
    return Encoded(lines=lines, data={"reasons": list(lines)}, status=status)


@dataclass(frozen=True, slots=True, kw_only=True)
class Beginning:
    """When the command began: by a clock that only runs forward, and by the calendar."""

    clock: float
    date: datetime.datetime

    @property
    def seconds(self) -> float:
        """Since then."""
        return time.monotonic() - self.clock


def _encoded(asked: Asked) -> Encoding | Deficit:
    construction = CONSTRUCTIONS.get(asked.construction)
    if construction is None:
        raise UsageError(
            f"--construction must be one of {', '.join(CONSTRUCTIONS)}, got "
            f"{asked.construction!r}; choose one"
        )
    if asked.dtype not in DTYPES:
        raise UsageError(
            f"--dtype must be one of {', '.join(DTYPES)}, got {asked.dtype!r}; choose one"
        )
    stored = read_weights(asked.target, asked.said)
    return encode(stored, construction, asked.width, asked.seed, asked.dtype)


def _require_readable(recorded: record.Recorded) -> None:
    """Refuse a certificate that `recheck` would not read."""
    largest = max(map(len, recorded.certificates.values()), default=0)
    if largest > LARGEST_BYTES:
        raise UsageError(
            f"--construction: the certificate must have at most {LARGEST_BYTES} bytes, got "
            f"{largest}; choose a smaller m, or a construction that is not drawn"
        )


def _errors(encoded: Encoding, asked: Asked) -> Deviation | str:
    """The bounds, or why there are none."""
    try:
        return deviation(encoded, asked.inputs, TOKENS, asked.seed)
    except PrecisionError as error:
        return str(error)


def _settled(encoded: Encoding, errors: Deviation | str, seed: int, began: Beginning) -> Outcome:
    """The outcome of the one check of the one claim; figures go beside the record."""
    claim, setting = encoding_claim(encoded), Setting(seed=seed)
    (check,) = claim.checks()
    verdict = check.method.settle(setting)
    return Outcome(
        claim=claim,
        check=0,
        covers=check.covers,
        method=check.method.name,
        scope=check.method.scope(setting),
        verdict=replace(verdict, notes={**verdict.notes, "errors": figures(errors)}),
        seconds=began.seconds,
    )


def _selection(outcome: Outcome) -> Selection:
    claim = outcome.claim
    return Selection(
        selectors=(), chosen=(claim,), claims=(claim,), files={}, findings=(), coverage=()
    )


def _write(
    folder: Path,
    files: Mapping[str, bytes],
    recorded: record.Recorded,
    outcome: Outcome,
    began: Beginning,
) -> None:
    """Write the folder.

    Raises:
        OutputError: it cannot be written.
    """
    output.require_writable(folder, (*FILES, *files))
    for name, data in files.items():
        output.write(folder / name, data)
    run = Run(outcomes=(outcome,), interrupted=False, seconds=began.seconds)
    started = began.date.isoformat(timespec="seconds")
    write_run(folder, recorded, run, Circumstances(started=started, jobs=1, limits=Limits()))
