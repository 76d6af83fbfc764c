"""What enclosed determinants of path vectors cost, beside plain interval arithmetic in Python.

    python tests/benchmarks/lower_bounds.py

All sides start from the same exact target and inputs, at the same precision, and all must show
that 0 is left out. Beside them stands our own second engine.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import mpmath

sys.path.insert(0, str(Path(__file__).parent))
from run import best, say

from lowerbounds.softmax_paths import BITS, CHOICE, PathCase, determinant
from verify.engines import Engine, computing_by

SIZES = ((2, 3), (3, 2), (2, 4), (3, 3), (2, 5))


def ours(case: PathCase) -> None:
    """Over Arb's balls, from the target on."""
    determinant.cache_clear()
    lower, upper = determinant(case, CHOICE, BITS)
    if lower <= 0 <= upper:
        raise SystemExit(f"{case}: our ball contains 0")


def second(case: PathCase) -> None:
    """Ours again, by the second engine."""
    with computing_by(Engine.SECOND):
        ours(case)


def interval_rows(case: PathCase, tokens: Any) -> list[list[Any]]:
    """The peer's path vectors: the definitions, entry by entry, in mpmath's intervals."""
    iv = mpmath.iv

    def exact(number: Any) -> Any:
        return iv.mpf(number.numerator) / number.denominator

    def attention(logit: Any, stream: list[Any]) -> list[list[Any]]:
        rows = [[iv.exp(logit * x * y) for y in stream] for x in stream]
        return [[entry / sum(row) for entry in row] for row in rows]

    def attended(heads: list[list[Any]], vector: list[Any]) -> list[Any]:
        return [sum(a * v for a, v in zip(row, vector, strict=True)) for row in heads]

    stream = [exact(token) for token in tokens]
    vectors, logits = [stream], [exact(logit) for logit in CHOICE.logits(case.heads)]
    for weights in case.weights:
        heads = [attention(logit, stream) for logit in logits]
        vectors = [attended(head, vector) for head in heads for vector in vectors]
        moved = [attended(head, stream) for head in heads]
        stream = [
            sum(exact(w) * x for w, x in zip(weights, column, strict=True))
            for column in zip(*moved, strict=True)
        ]
    return [list(row) for row in zip(*vectors, strict=True)]


def intervals(case: PathCase) -> None:
    """The peer: elimination in mpmath's intervals."""
    mpmath.iv.prec = BITS
    rows = [row for tokens in case.inputs(CHOICE) for row in interval_rows(case, tokens)]
    rows, value = rows[: case.paths], mpmath.iv.mpf(1)
    while rows:
        rows.sort(key=lambda row: abs(row[0].mid), reverse=True)
        (pivot, *others), *below = rows
        value *= pivot
        rows = [
            [x - first / pivot * y for x, y in zip(rest, others, strict=True)]
            for first, *rest in below
        ]
    if 0 in value:
        raise SystemExit(f"{case}: the peer's interval contains 0")


def main() -> None:
    """A line for each size."""
    say(f"determinant of path vectors at {BITS} bits: balls against mpmath's intervals")
    for heads, layers in SIZES:
        case = PathCase(heads=heads, layers=layers)
        balls = best(lambda case=case: ours(case))
        again = best(lambda case=case: second(case), rounds=1)
        peer = best(lambda case=case: intervals(case), rounds=1)
        say(
            f"  H = {heads}, L = {layers}: {case.paths} paths, {len(case.inputs(CHOICE))} inputs, "
            f"{balls:.4f} s; intervals {peer:.3f} s, ratio {balls / peer:.4f}; "
            f"second engine {again:.3f} s, {again / balls:.0f} times the first"
        )


if __name__ == "__main__":
    main()
