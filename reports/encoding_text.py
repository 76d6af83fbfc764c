"""What an encoding came to: for a terminal, for a script, and as figures for run.json."""

from __future__ import annotations

import math
from collections.abc import Iterator
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction

from constructions.universal.embedding_error import Deviation
from constructions.universal.encoding import CONSTRUCTIONS, Encoding
from constructions.universal.weights import StoredTarget
from reports.record import Recorded
from reports.tables import columns
from reports.text import printable
from verify.verdicts import Json


def lines_of(
    target: str, encoded: Encoding, recorded: Recorded, errors: Deviation | str
) -> Iterator[str]:
    """The target, how wide each construction is for it, what was made, and its errors.

    `errors` may be the reason why there are none.
    """
    (claim,) = recorded.record["claims"]
    (check,) = claim["checks"]
    yield from columns(_target_rows(target, encoded.stored))
    yield from ["", *columns([("construction", "least m", ""), *_widths(encoded)]), ""]
    size = encoded.size
    rows = [
        ("embedding", f"E of shape ({size.token_width}, {encoded.width}) in {encoded.dtype}"),
        ("claim", f"{claim['id']} {claim['status']}: E P_0 = C_0 exactly"),
        ("certificate", str(check["certificate"])),
    ]
    yield from columns([*rows, *_error_rows(errors)])


def _target_rows(target: str, stored: StoredTarget) -> list[tuple[str, str]]:
    size = stored.target.size
    sizes = f"H = {size.heads}, L = {size.layers}, d = {size.head_width}, d_in = {size.token_width}"
    blocks = f", r = {size.neurons} ({stored.activation})" if size.gated else ", attention only"
    carried = ", residual" if size.residual else ""
    dtypes = ", ".join(sorted(set(stored.dtypes.values())))
    return [
        ("target", printable(f"{target}: {sizes}{blocks}{carried}; {dtypes}")),
        ("attention", f"softmax of logits times {stored.logit_scale}, {stored.mask} mask"),
        *[("assumed", f"{what}; --metadata overrules it") for what in stored.assumed],
        *[("left out", what) for what in stored.left_out],
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


def data_of(encoded: Encoding, recorded: Recorded, errors: Deviation | str) -> dict[str, Json]:
    """What `encode --json` prints: sizes, widths, the claim with its certificate, and errors."""
    (claim,) = recorded.record["claims"]
    size = encoded.size
    least = {
        name: construction.least_width(size) if construction.refusal(size) is None else None
        for name, construction in CONSTRUCTIONS.items()
    }
    return {
        "construction": encoded.construction.name,
        "m": encoded.width,
        "least_m": least,
        "size": {
            "heads": size.heads,
            "layers": size.layers,
            "head_width": size.head_width,
            "token_width": size.token_width,
        },
        "dtype": encoded.dtype,
        "claim": claim["id"],
        "status": claim["status"],
        "certificate": claim["checks"][0]["certificate"],
        "errors": figures(errors),
    }


def figures(errors: Deviation | str) -> Json:
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
