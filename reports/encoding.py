"""A target file encoded into a universal model, and the folder that `encode` leaves.

    embedding.safetensors    E in the asked dtype
    universal.safetensors    the fixed parameters
    report.txt               what the terminal showed
    record.json, run.json, certificates/, index.html, junit.xml    as `verify` writes them

Everything is computed before anything is written, so a failure leaves the folder as it was.
"""

from __future__ import annotations

import datetime
import math
import shlex
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from pathlib import Path

from constructions.universal.embedding_error import Deviation, deviation
from constructions.universal.encoding import (
    CONSTRUCTIONS,
    Deficit,
    Encoding,
    encode,
    encoding_claim,
)
from constructions.universal.model_files import embedding_file, model_file
from constructions.universal.weights import DTYPES, StoredTarget, read_target
from reports import output, record
from reports.environment import Circumstances
from reports.folder import FILES, write_run
from reports.running import Run
from reports.selection import Selection
from reports.text import columns, printable, shortfalls
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
REFUTED = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """The command's arguments."""

    target: Path
    construction: str
    width: int | None
    seed: int
    dtype: str
    dense: bool
    inputs: int
    out: Path

    def command(self, width: int) -> str:
        """The command that does it again, wherever the files lie."""
        words = ["certiformer", "encode", self.target.name, "--construction", self.construction]
        words += ["--m", str(width), "--seed", str(self.seed), "--dtype", self.dtype]
        words += ["--inputs", str(self.inputs), *(["--dense"] if self.dense else [])]
        return shlex.join([*words, "--out", "DIR"])


@dataclass(frozen=True, slots=True, kw_only=True)
class Encoded:
    """What to show, the exit status, and what writes the folder, if anything is to be written."""

    lines: list[str]
    status: int
    write: Callable[[], None] | None = None


def encode_file(asked: Asked) -> Encoded:
    """Encode the target, all but the writing.

    A draw that lacks rank, or an E that does not solve its equations, is refuted, and nothing is
    to be written.

    Raises:
        UsageError: the target or the arguments are not what they must be.
    """
    began = Beginning(clock=time.monotonic(), date=datetime.datetime.now(datetime.UTC))
    encoded = _encoded(asked)
    if isinstance(encoded, Deficit):
        lines = [
            f"REFUTED: {encoded.text}",
            "that refutes full rank of this draw, not its universality; take another --seed",
        ]
        return Encoded(lines=lines, status=REFUTED)
    errors = _errors(encoded, asked)
    outcome = _settled(encoded, errors, asked.seed, began)
    recorded = record.build(_selection(outcome), Setting(seed=asked.seed), [outcome])
    if (status := record.exit_status(recorded.record)) != 0:
        return Encoded(lines=list(shortfalls(recorded.record)), status=status)
    _require_readable(recorded)
    lines = list(_lines(asked, encoded, recorded, errors))
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
        status=0 if held else REFUTED,
        write=lambda: _write(asked.out, files, repeatable, outcome, began),
    )


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
            f"--construction must be one of {', '.join(CONSTRUCTIONS)}, got {asked.construction!r}"
        )
    if asked.dtype not in DTYPES:
        raise UsageError(f"--dtype must be one of {', '.join(DTYPES)}, got {asked.dtype!r}")
    stored = read_target(asked.target)
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
        verdict=replace(verdict, notes={**verdict.notes, "errors": _figures(errors)}),
        seconds=began.seconds,
    )


def _selection(outcome: Outcome) -> Selection:
    claim = outcome.claim
    return Selection(
        selectors=(), chosen=(claim,), claims=(claim,), files={}, findings=(), coverage=()
    )


def _figures(errors: Deviation | str) -> Json:
    """Errors as raw figures for run.json."""
    if isinstance(errors, str):
        return {"reason": errors}

    def raw(value: Fraction | float | None) -> Json:
        return None if value is None else float(value)

    return {
        "inputs": errors.inputs,
        "tokens": errors.tokens,
        "bits": errors.bits,
        "scale": raw(errors.scale),
        "rounding": raw(errors.rounding),
        "running": raw(errors.running),
        "bound": raw(errors.bound),
        "measured": raw(errors.measured),
        "reason": errors.reason,
    }


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


# --- what is shown ---------------------------------------------------------------------------


def _lines(
    asked: Asked, encoded: Encoding, recorded: record.Recorded, errors: Deviation | str
) -> Iterator[str]:
    (claim,) = recorded.record["claims"]
    (check,) = claim["checks"]
    yield from columns(_target_rows(asked, encoded.stored))
    yield from ["", *columns([("construction", "least m", ""), *_widths(encoded)]), ""]
    size = encoded.size
    rows = [
        ("embedding", f"E of shape ({size.token_width}, {encoded.width}) in {encoded.dtype}"),
        ("claim", f"{claim['id']} {claim['status']}: E P_0 = C_0 exactly"),
        ("certificate", str(check["certificate"])),
    ]
    yield from columns([*rows, *_error_rows(errors)])


def _target_rows(asked: Asked, stored: StoredTarget) -> list[tuple[str, str]]:
    size = stored.target.size
    sizes = f"H = {size.heads}, L = {size.layers}, d = {size.head_width}, d_in = {size.token_width}"
    blocks = f", r = {size.neurons} ({stored.activation})" if size.gated else ", attention only"
    carried = ", residual" if size.residual else ""
    dtypes = ", ".join(sorted(set(stored.dtypes.values())))
    return [
        ("target", printable(f"{asked.target.name}: {sizes}{blocks}{carried}; {dtypes}")),
        ("attention", f"softmax of logits times {stored.logit_scale}, {stored.mask} mask"),
    ]


def _widths(encoded: Encoding) -> Iterator[tuple[str, str, str]]:
    """How wide each construction is for the target, and which one was asked for."""
    for name, construction in CONSTRUCTIONS.items():
        if (refused := construction.refusal(encoded.size)) is not None:
            yield name, "-", refused
            continue
        least = construction.least_width(encoded.size)
        chosen = f"chosen, m = {encoded.width}" if name == encoded.construction.name else ""
        yield name, f"{least:,}", chosen


def _error_rows(errors: Deviation | str) -> Iterator[tuple[str, str]]:
    if isinstance(errors, str):
        yield "errors", f"not bounded: {errors}"
        return
    over = f"{errors.inputs} random inputs of {errors.tokens} tokens, outputs up to"
    yield "outputs", f"{over} {ceiling(errors.scale)}, enclosed with {errors.bits} bits"
    yield "error of the rounded E", f"at most {ceiling(errors.rounding)} in exact arithmetic"
    if errors.bound is None:
        yield "error bound of a run", f"none: {errors.reason}"
    else:
        yield (
            "error bound of a run",
            f"{ceiling(errors.bound)} in this dtype, rounding of E included",
        )
    if errors.measured is None:
        yield "measured error", "skipped: PyTorch is not installed"
    else:
        within = "within the bound" if errors.held else "BEYOND THE BOUND"
        verdict = "" if errors.bound is None else f", {within}"
        yield "measured error", f"{ceiling(errors.measured)}{verdict}"


def ceiling(value: Fraction | float) -> str:
    """A number from 0 on, rounded up to three digits."""
    if math.isinf(value):
        return "infinite"
    exact, upwards = Fraction(value), Context(prec=3, rounding=ROUND_CEILING)
    return f"{upwards.divide(Decimal(exact.numerator), Decimal(exact.denominator)):g}"
