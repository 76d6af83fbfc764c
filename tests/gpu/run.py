"""Rounding errors on a device, against references that a CPU computed beforehand.

    python tests/gpu/run.py prepare --out FILE [--size toy|full] [--seed S]
    python tests/gpu/run.py measure FILE --out JSON [--device cuda|cpu]

`prepare` needs the whole suite: it writes targets, inputs, universal models, the exact E rounded to
float64, and the enclosures of the exact outputs, as one .npz file. `measure` needs PyTorch and
numpy alone: it runs target, sparse and random simulation in every format, compares, and writes
what `certiformer report` draws. Exit status 1 if a stated or derived bound was exceeded.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

SCHEMA = "certiformer/gpu/1"
Array = NDArray[Any]
SIDES = ("target", "sparse", "random")
SIZES: dict[str, tuple[tuple[tuple[int, int, int, int], int, int], ...]] = {
    "toy": (((2, 2, 2, 2), 2, 1), ((2, 1, 4, 3), 2, 1)),
    "full": (
        ((2, 2, 4, 4), 120, 12),
        ((2, 2, 8, 8), 24, 2),
        ((2, 2, 16, 16), 5, 1),
        ((4, 2, 24, 4), 1, 0),
    ),
}
"""(H, L, d, d_in), how many draws, and for how many of them a-priori bounds are derived."""
TOKENS = 16


# --- prepare: exact, on a CPU ----------------------------------------------------------------


def prepare(size: str, seed: int) -> dict[str, Array]:
    """Every array of every group of instances, by name; `about` is their description as JSON."""
    arrays: dict[str, Array] = {}
    groups: list[dict[str, Any]] = []
    for number, (dimensions, draws, derived) in enumerate(SIZES[size]):
        about, found = _group(dimensions, range(seed, seed + draws), derived)
        groups.append(about)
        arrays |= {f"{number}.{name}": array for name, array in found.items()}
    about = {"schema": SCHEMA, "size": size, "groups": groups}
    return {"about": np.array(json.dumps(about)), **arrays}


def _group(
    dimensions: tuple[int, int, int, int], seeds: range, derived: int
) -> tuple[dict[str, Any], dict[str, Array]]:
    from constructions.universal import rounded_runs
    from constructions.universal.definitions import TransformerSize

    heads, layers, head_width, token_width = dimensions
    size = TransformerSize(
        heads=heads, layers=layers, head_width=head_width, token_width=token_width
    )
    drawn = rounded_runs.RoundedCase(size=size, tokens=TOKENS, mask="causal")
    sparse = rounded_runs.RoundedCase(size=size, tokens=TOKENS, mask="causal", layout="tree")
    rows: list[dict[str, Array]] = []
    instances: list[dict[str, Any]] = []
    for seed in seeds:
        asked = rounded_runs.question(drawn, seed)
        answers = {"sparse": rounded_runs.answer(sparse, seed)}
        answers["random"] = rounded_runs.answer(drawn, seed)
        rows.append(_arrays(asked, answers))
        instances.append(
            {
                "scale": asked.scale,
                "condition": answers["random"].condition,
                "bounds": _bounds(asked, answers) if seed - seeds.start < derived else {},
            }
        )
    found = {name: np.stack([row[name] for row in rows]) for name in rows[0]}
    fixed = rounded_runs.answer(sparse, seeds.start).model
    found |= {f"sparse.{name}": array.astype(np.uint8) for name, array in _parameters(fixed)}
    return {"dimensions": dimensions, "instances": instances}, found


def _arrays(asked: Any, answers: Mapping[str, Any]) -> dict[str, Array]:
    """One instance: target, inputs, draw, both E, and the exact output as hi + lo +- radius."""
    middle, lost, radius = _enclosure(asked.exact)
    target = {
        f"target.{name}": np.array(
            [[_floats(matrix) for matrix in layer] for layer in getattr(asked.target, name)]
        )
        for name in ("queries", "keys", "values", "outputs")
    }
    drawn = {f"random.{name}": array for name, array in _parameters(answers["random"].model)}
    embeddings = {f"{side}.embedding": _floats(a.embedding) for side, a in answers.items()}
    return {
        **{name: array.astype(np.float32) for name, array in {**target, **drawn}.items()},
        **embeddings,
        "inputs": _floats(asked.inputs).astype(np.float32),
        "exact": middle,
        "exact_rest": lost,
        "radius": np.array(radius),
    }


def _parameters(model: Any) -> Iterator[tuple[str, Array]]:
    for name in ("queries", "keys", "values"):
        layers = getattr(model, name)
        yield name, np.array([[_floats(part.dense()) for part in layer] for layer in layers])
    yield "readout", _floats(model.readout.dense())


def _floats(matrix: Any) -> Array:
    rows, denominator = matrix.integers()
    return np.array([[x / denominator for x in row] for row in rows], dtype=np.float64)


def _enclosure(balls: Any) -> tuple[Array, Array, float]:
    """Midpoints as sums of two float64, and one radius that covers what is left."""
    places = list(itertools.product(range(balls.height), range(balls.width)))
    ends = [balls[place] for place in places]
    middles = [(low + high) / 2 for low, high in ends]
    first = [float(x) for x in middles]
    rest = [float(x - type(x)(y)) for x, y in zip(middles, first, strict=True)]
    radius = max(float((high - low) / 2) for low, high in ends)
    shape = (balls.height, balls.width)
    return np.array(first).reshape(shape), np.array(rest).reshape(shape), radius


def _bounds(asked: Any, answers: Mapping[str, Any]) -> dict[str, dict[str, float]]:
    """The largest a-priori bound of any entry per format and side, where there is one."""
    from constructions.universal import rounded_runs
    from constructions.universal.error_bounds import Bounded
    from constructions.universal.floats import FORMATS
    from verify.errors import PrecisionError

    def entries(kind: Any) -> Callable[[Any], Bounded]:
        return lambda matrix: Bounded.of(matrix, kind, rounded_runs.BITS)

    found: dict[str, dict[str, float]] = {name: {} for name in FORMATS}
    for (name, kind), side in itertools.product(FORMATS.items(), SIDES):
        try:
            bounded = (
                rounded_runs.target_output(asked, entries(kind))
                if side == "target"
                else rounded_runs.universal_output(asked, answers[side], entries(kind))
            )
        except PrecisionError:
            continue
        found[name][side] = float(bounded.error.magnitude_upper())
    return found


# --- measure: PyTorch and numpy alone --------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """How a format's numbers are stored, its unit roundoff, and whether products use tf32."""

    stored: str
    unit: float
    tf32: bool = False


FORMATS = {
    "float64": Format(stored="float64", unit=2.0**-53),
    "float32": Format(stored="float32", unit=2.0**-24),
    "tf32": Format(stored="float32", unit=2.0**-11, tf32=True),
    "bfloat16": Format(stored="bfloat16", unit=2.0**-8),
    "float16": Format(stored="float16", unit=2.0**-11),
}


def measure(path: Path, device: str) -> dict[str, Any]:
    """The points of both figures, and how many runs exceeded which bound."""
    import torch

    with np.load(path, allow_pickle=False) as stored:
        arrays = {name: stored[name] for name in stored.files}
    about = json.loads(str(arrays["about"]))
    if about["schema"] != SCHEMA:
        raise SystemExit(f"{path}: must have the schema {SCHEMA}, got {about['schema']}")
    cuda = device == "cuda"
    points: list[dict[str, Any]] = []
    exceeded = {"sparse": 0, "random": 0, "a-priori": 0}
    for name, format in FORMATS.items():
        if format.tf32 and not cuda:
            continue
        _set_products(torch, format.tf32)
        for number, group in enumerate(about["groups"]):
            chosen = {
                key.partition(".")[2]: array
                for key, array in arrays.items()
                if key.startswith(f"{number}.")
            }
            for index, instance in enumerate(group["instances"]):
                errors = _errors(torch, chosen, index, format, device)
                bounds = instance["bounds"].get(name, {})
                points += _points(name, instance, errors, bounds)
                _count(exceeded, format, instance, errors, bounds)
    _set_products(torch, allow_tf32=False)
    return {
        "schema": SCHEMA,
        "device": torch.cuda.get_device_name() if cuda else "cpu",
        "torch": torch.__version__,
        "size": about["size"],
        "exceeded": exceeded,
        "points": points,
    }


def _set_products(torch: Any, allow_tf32: bool) -> None:
    """Sums of products in float32; factors cut to tf32 only where that is the format."""
    torch.backends.cuda.matmul.allow_tf32 = allow_tf32
    torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction = False
    torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction = False


def _errors(
    torch: Any, arrays: Mapping[str, Array], index: int, format: Format, device: str
) -> dict[str, float]:
    """The largest error of any entry per side, the reference's radius included."""
    kind = getattr(torch, format.stored)

    def put(array: Array) -> Any:
        return torch.from_numpy(array.astype(np.float64)).to(kind).to(device)

    inputs = put(arrays["inputs"][index])
    given = {name: put(array[index]) for name, array in arrays.items() if name[:6] == "target"}
    values = list(zip(*(given[f"target.{name}"] for name in ("values", "outputs")), strict=True))
    outputs = {
        "target": _forward(
            torch,
            inputs,
            given["target.queries"],
            given["target.keys"],
            [list(zip(*layer, strict=True)) for layer in values],
        )
    }
    for side in ("sparse", "random"):
        fixed = {
            name: put(arrays[f"{side}.{name}"][() if side == "sparse" else index])
            for name in ("queries", "keys", "values", "readout")
        }
        stream = inputs @ put(arrays[f"{side}.embedding"][index])
        chains = [[(value,) for value in layer] for layer in fixed["values"]]
        end = _forward(torch, stream, fixed["queries"], fixed["keys"], chains)
        outputs[side] = end @ fixed["readout"]
    exact, rest = arrays["exact"][index], arrays["exact_rest"][index]
    radius = float(arrays["radius"][index])
    return {side: _error(output, exact, rest, radius) for side, output in outputs.items()}


def _forward(
    torch: Any, stream: Any, queries: Any, keys: Any, chains: Sequence[Sequence[Sequence[Any]]]
) -> Any:
    """X^L from X^0 under a causal mask; `chains` are a head's value factors, applied in turn."""
    length, width = len(stream), queries.shape[-1]
    blocked = torch.ones(length, length, dtype=torch.bool, device=stream.device).triu(1)
    for layer, factors in enumerate(chains):
        heads: list[Any] = []
        for head, chain in enumerate(factors):
            logits = (stream @ queries[layer, head]) @ (stream @ keys[layer, head]).T
            wide = logits if logits.dtype is torch.float64 else logits.float()
            wide = (wide / math.sqrt(width)).masked_fill(blocked, -math.inf)
            weights = (wide - wide.amax(dim=1, keepdim=True)).exp()
            shares = (weights / weights.sum(dim=1, keepdim=True)).to(logits.dtype)
            moved = stream
            for factor in chain:
                moved = moved @ factor
            heads.append(shares @ moved)
        stream = sum(heads[1:], start=heads[0])
    return stream


def _error(output: Any, exact: Array, rest: Array, radius: float) -> float:
    computed: Array = output.double().cpu().numpy()
    if not np.isfinite(computed).all():
        return math.inf
    return float(np.abs((computed - exact) - rest).max()) + radius


def _points(
    name: str,
    instance: Mapping[str, Any],
    errors: Mapping[str, float],
    bounds: Mapping[str, float],
) -> list[dict[str, Any]]:
    """What the report draws; a run that overflowed has no point."""
    scale = instance["scale"]
    return [
        {
            "format": name,
            "side": side,
            "error": error / scale,
            "bound": bounds[side] / scale if side in bounds else None,
            "condition": instance["condition"] if side == "random" else None,
        }
        for side, error in errors.items()
        if math.isfinite(error)
    ]


def _count(
    exceeded: dict[str, int],
    format: Format,
    instance: Mapping[str, Any],
    errors: Mapping[str, float],
    bounds: Mapping[str, float],
) -> None:
    scale, unit = instance["scale"], format.unit
    stated = {
        "sparse": 4 * errors["target"] + 8 * unit * scale,
        "random": 10 * instance["condition"] * unit * max(1.0, scale),
    }
    for side, bound in stated.items():
        exceeded[side] += not errors[side] <= bound
    exceeded["a-priori"] += any(not errors[side] <= bound for side, bound in bounds.items())


# --- command line ----------------------------------------------------------------------------


def main(words: Sequence[str] | None = None) -> int:
    """Run one of the two commands."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    first = commands.add_parser("prepare", help="references, on a CPU")
    first.add_argument("--size", choices=sorted(SIZES), default="full")
    first.add_argument("--seed", type=int, default=0)
    second = commands.add_parser("measure", help="runs, on a device")
    second.add_argument("file", type=Path)
    second.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    for command in (first, second):
        command.add_argument("--out", type=Path, required=True)
    asked = parser.parse_args(words)
    asked.out.parent.mkdir(parents=True, exist_ok=True)
    if asked.command == "prepare":
        arrays = prepare(asked.size, asked.seed)
        with asked.out.open("wb") as stream:
            np.savez_compressed(stream, allow_pickle=False, **arrays)
        return 0
    measured = measure(asked.file, asked.device)
    asked.out.write_text(json.dumps(measured, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    runs = len(measured["points"])
    sys.stdout.write(f"{measured['device']}: {runs} runs; exceeded {measured['exceeded']}\n")
    return 1 if any(measured["exceeded"].values()) else 0


if __name__ == "__main__":
    sys.exit(main())
