"""What things cost, as ratios against peers in the same run; `make bench` prints it.

Each case is run three times and the best time is kept (the slow peers once).
"""

from __future__ import annotations

import gc
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from flint import fmpq, fmpq_mat

from constructions.universal.definitions import Target, TransformerSize
from constructions.universal.instances import random_target
from constructions.universal.probes import coefficients, probe
from constructions.universal.tree import LAYOUT
from verify.claims import Setting
from verify.engines import Engine, computing_by
from verify.loading import claims_in
from verify.run import settle
from verify.verdicts import Status

SEED = 1


def best(function: Callable[[], object], rounds: int = 3) -> float:
    """Seconds of the fastest round."""
    times: list[float] = []
    for _ in range(rounds):
        gc.collect()
        started = time.perf_counter()
        function()
        times.append(time.perf_counter() - started)
    return min(times)


def peak_megabytes() -> float:
    """The most memory this process has held so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def say(text: str) -> None:
    """One line on standard output, at once."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


# --- the tree, checked exactly -----------------------------------------------------------------


def size_of(heads: int, layers: int, head_width: int, token_width: int) -> TransformerSize:
    """Sizes in the paper's order (H, L, d, d_in)."""
    return TransformerSize(
        heads=heads, layers=layers, head_width=head_width, token_width=token_width
    )


def check_tree(target: Target) -> None:
    """Fixed parameters, P_0 from index maps, E along the tree, C_0 backwards, E P_0 = C_0."""
    size = target.size
    model = LAYOUT.build(size, size.probe_width)
    embedding = LAYOUT.write(target, size.probe_width)
    sources = probe(model, 0).selection()
    if sources is None or embedding.select_rows(sources.tolist()) != coefficients(target, 0):
        raise SystemExit(f"the tree fails at {size}")


def flint_blocks(target: Target) -> None:
    """The peer: nothing but FLINT's products of the blocks of E, each prefix formed once."""
    size = target.size

    def raw(matrix: object) -> fmpq_mat:
        rows = matrix.rows()  # type: ignore[attr-defined]
        entries = [fmpq(x.numerator, x.denominator) for row in rows for x in row]
        return fmpq_mat(len(rows), len(rows[0]), entries)

    values = [[raw(v) for v in layer] for layer in target.values]
    outputs = [[raw(o) for o in layer] for layer in target.outputs]
    reads = [
        [raw(m) for pair in zip(q, k, strict=True) for m in pair]
        for q, k in zip(target.queries, target.keys, strict=True)
    ]
    unit = [[int(i == j) for j in range(size.token_width)] for i in range(size.token_width)]
    prefixes = [fmpq_mat(size.token_width, size.token_width, [x for row in unit for x in row])]
    for layer in range(size.layers):
        mixes = [v * o for v, o in zip(values[layer], outputs[layer], strict=True)]
        for prefix in prefixes:
            for matrix in reads[layer]:
                prefix * matrix
        prefixes = [prefix * mix for prefix in prefixes for mix in mixes]


def sympy_script(target: Target) -> None:
    """The peer: the same check as a plain SymPy script would write it, path by path."""
    import itertools

    import sympy

    size, places = target.size, {}

    def plain(matrix: object) -> sympy.Matrix:
        return sympy.Matrix(
            [[sympy.Rational(x.numerator, x.denominator) for x in row] for row in matrix.rows()]
        )  # type: ignore[attr-defined]

    model = LAYOUT.build(size, size.probe_width)
    m = size.probe_width
    mixes = [[plain(target.mix(t, h)) for h in range(size.heads)] for t in range(size.layers)]
    blocks: list[sympy.Matrix] = []
    for depth in range(size.layers + 1):
        for path in itertools.product(range(size.heads), repeat=depth):
            product = sympy.eye(size.token_width)
            for layer, head in enumerate(path):
                product = product * mixes[layer][head]
            if depth == size.layers:
                places[path] = [product]
            else:
                places[path] = [
                    product * plain(part[depth][head])
                    for head in range(size.heads)
                    for part in (target.queries, target.keys)
                ]
            blocks += places[path]
    embedding = sympy.Matrix.hstack(*blocks)
    for path, wanted in places.items():
        masked = embedding
        for layer, head in enumerate(path):
            rows = model.values[layer][head].rows
            mask = sympy.SparseMatrix(m, m, {(i, i): 1 for i in range(m) if rows[i] == i})
            masked = sympy.SparseMatrix(masked) * mask
        depth = len(path)
        readers = (
            [model.readout]
            if depth == size.layers
            else [
                part[depth][head]
                for head in range(size.heads)
                for part in (model.queries, model.keys)
            ]
        )
        for reader, block in zip(readers, wanted, strict=True):
            ones = {(int(i), int(j)): 1 for i, j in zip(reader.rows, reader.columns, strict=True)}
            got = sympy.SparseMatrix(masked) * sympy.SparseMatrix(m, reader.width, ones)
            if sympy.Matrix(got) != block:
                raise SystemExit(f"the tree fails along {path}")


def bench_tree() -> None:
    """The tree against its peers, and its two goals."""
    say("tree, checked exactly (fixed parameters, P_0, E, C_0, E P_0 = C_0)")
    for sizes, goal in (((2, 5, 4, 8), None), ((2, 6, 4, 8), 0.1), ((2, 12, 4, 8), 4.0)):
        target = random_target(size_of(*sizes), SEED)
        ours = best(lambda target=target: check_tree(target))
        bare = best(lambda target=target: flint_blocks(target))
        wanted = f", goal {goal:g} s" if goal else ""
        say(
            f"  {sizes}: {target.size.probe_width} coordinates {ours:.3f} s{wanted}; "
            f"bare FLINT block products {bare:.3f} s, ratio {ours / bare:.1f}; "
            f"peak memory {peak_megabytes():.0f} MB"
        )
        if sizes == (2, 5, 4, 8):
            with computing_by(Engine.SECOND):
                again = best(lambda target=target: check_tree(target), rounds=1)
            say(f"  {sizes}: second engine {again:.2f} s, {again / ours:.0f} times the first")
            peer = best(lambda target=target: sympy_script(target), rounds=1)
            say(f"  {sizes}: plain SymPy script {peer:.2f} s, {peer / ours:.0f} times ours")


# --- fuzzing ----------------------------------------------------------------------------------


def bench_fuzz(examples: int = 20_000) -> None:
    """End-to-end examples a second on all cores, beside bare Hypothesis drawing the same."""
    claim = next(c for c in claims_in("constructions.universal") if c.id == "universal.end_to_end")
    jobs = os.cpu_count() or 1
    with ThreadPoolExecutor(jobs) as executor:
        started = time.perf_counter()
        (outcome,) = settle([claim], executor, Setting(examples=examples))
        seconds = time.perf_counter() - started
    if outcome.verdict.status is not Status.SAMPLED:
        raise SystemExit(f"universal.end_to_end: {outcome.verdict.evidence}")
    tried = outcome.verdict.instances
    say(
        f"universal.end_to_end: {tried} examples in {seconds:.1f} s on {jobs} cores, "
        f"{tried / seconds:.0f} a second, goal 500"
    )


def bench_verify() -> None:
    """The whole of `certiformer verify`, per profile."""
    import tempfile

    for profile, goal in (("quick", 10), ("standard", 60)):
        with tempfile.TemporaryDirectory() as folder:
            started = time.perf_counter()
            subprocess.run(
                [
                    sys.executable,
                    "-m",
                    "reports.cli",
                    "verify",
                    "--profile",
                    profile,
                    "--out",
                    folder,
                ],
                check=True,
                capture_output=True,
            )
            seconds = time.perf_counter() - started
        say(f"certiformer verify --profile {profile}: {seconds:.1f} s, goal {goal} s")


if __name__ == "__main__":
    bench_tree()
    bench_fuzz()
    bench_verify()
