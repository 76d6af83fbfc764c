"""What certificates of draws and encodings cost, against peers in the same run.

    python tests/benchmarks/draws.py [--large] [--out FOLDER]

`--large` also certifies one dense draw at m = 5,000 in a process of its own and prints its peak
memory; it takes some minutes. The figure of cost against m goes to FOLDER.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import time
from fractions import Fraction
from pathlib import Path
from typing import Any

from flint import fmpq, fmpq_mat, nmod_mat

sys.path.insert(0, str(Path(__file__).parent))
from run import SEED, best, flint_blocks, say, size_of

from constructions.universal.definitions import TransformerSize
from constructions.universal.drawn import DrawnModel
from constructions.universal.draws import Block, Draw
from constructions.universal.instances import random_target
from constructions.universal.ranks import SMALL_PRIME, rank_of
from constructions.universal.tree import LAYOUT

WIDTHS = (16, 32, 64, 128, 256, 512, 1024)
"""m of the family H = L = 2, d = d_in = m / 16."""
SLOWEST = {"DomainMatrix": 64, "Fraction": 64}
"""Largest m at which the slow peers are run."""


def of_width(m: int) -> DrawnModel:
    """H = L = 2, d = d_in = m / 16, in float32."""
    size = size_of(2, 2, m // 16, m // 16)
    return DrawnModel(size=size, draw=Draw(distribution="uniform32", seed=SEED, width=m))


def certify(model: DrawnModel) -> None:
    """Ours: residues, P_0, its left inverse."""
    if rank_of(model).rank != model.size.probe_width:
        raise SystemExit(f"the draw lacks rank at {model.as_json()}")


def drawn_entries(model: DrawnModel) -> list[Any]:
    """The draw's matrices in their order, as integers in NumPy arrays."""
    size, m, stream = model.size, model.width, model.draw.stream()
    blocks = [stream.take(m, size.token_width).integers]
    for _ in range(size.layers):
        blocks += [stream.take(m, size.head_width).integers for _ in range(2 * size.heads)]
        blocks += [stream.take(m, m).integers for _ in range(size.heads)]
    return blocks


def bare_flint(model: DrawnModel) -> None:
    """The peer: load every matrix, multiply the probes, invert, with nothing but FLINT."""
    size, m = model.size, model.width
    readout, *others = (
        nmod_mat(a.shape[0], a.shape[1], a.ravel().tolist(), SMALL_PRIME)
        for a in drawn_entries(model)
    )
    probes = readout
    for layer in range(size.layers):
        mine = others[3 * size.heads * layer : 3 * size.heads * (layer + 1)]
        readers, values = mine[: 2 * size.heads], mine[2 * size.heads :]
        parts = [*readers, *(value * probes for value in values)]
        columns = [row for part in parts for row in part.transpose().tolist()]
        flat = [entry for row in columns for entry in row]
        probes = nmod_mat(len(columns), m, flat, SMALL_PRIME).transpose()
    probes.inv()


def exact_probes(model: DrawnModel) -> list[list[Fraction]]:
    """P_0 as exact rationals."""
    return [list(row) for row in model.probe(Block.matrix).rows()]


def domain_rank(model: DrawnModel) -> None:
    """The peer: SymPy's DomainMatrix over the rationals."""
    from sympy import QQ
    from sympy.polys.matrices import DomainMatrix

    rows = [[QQ(x.numerator, x.denominator) for x in row] for row in exact_probes(model)]
    if DomainMatrix(rows, (len(rows), len(rows[0])), QQ).rank() != len(rows[0]):
        raise SystemExit("DomainMatrix finds another rank")


def fraction_rank(model: DrawnModel) -> None:
    """The peer: elimination by Fractions."""
    rows, rank = exact_probes(model), 0
    for column in range(len(rows[0])):
        pivot = next((i for i in range(rank, len(rows)) if rows[i][column]), None)
        if pivot is None:
            continue
        rows[rank], rows[pivot] = rows[pivot], rows[rank]
        for i in range(rank + 1, len(rows)):
            factor = rows[i][column] / rows[rank][column]
            if factor:
                rows[i] = [x - factor * y for x, y in zip(rows[i], rows[rank], strict=True)]
        rank += 1
    if rank != len(rows[0]):
        raise SystemExit("elimination finds another rank")


def bench_draws() -> dict[str, list[tuple[int, float]]]:
    """Seconds against m, ours and the peers'."""
    say("certificate of a float32 draw (load, P_0 modulo a prime, left inverse), H = L = 2")
    costs: dict[str, list[tuple[int, float]]] = {
        name: [] for name in ("certificate", "bare FLINT", "DomainMatrix", "Fraction")
    }
    peers = {"bare FLINT": bare_flint, "DomainMatrix": domain_rank, "Fraction": fraction_rank}
    domain_rank(of_width(WIDTHS[0]))  # SymPy's import is not what is measured
    for m in WIDTHS:
        model, rounds = of_width(m), 3 if m < 512 else 1
        ours = best(lambda model=model: certify(model), rounds)
        costs["certificate"].append((m, ours))
        said = [f"{ours:.4f} s"]
        for name, peer in peers.items():
            if m > SLOWEST.get(name, WIDTHS[-1]):
                continue
            seconds = best(
                lambda peer=peer, model=model: peer(model), 1 if name in SLOWEST else rounds
            )
            costs[name].append((m, seconds))
            said.append(f"{name} {seconds:.4f} s, ratio {ours / seconds:.2g}")
        say(f"  m = {m}: {'; '.join(said)}" + ("; goal 3 against bare FLINT" if m == 1024 else ""))
    return costs


def bench_encoding() -> None:
    """E of the tree against the same products in bare FLINT."""
    say("encoding: E of the tree against the same block products in bare FLINT, goal 3")
    for sizes in ((2, 6, 4, 8), (2, 8, 4, 8), (2, 10, 4, 8), (3, 5, 8, 16), (4, 3, 24, 4)):
        target = random_target(size_of(*sizes), SEED)
        width = target.size.probe_width
        ours = best(lambda target=target, width=width: LAYOUT.write(target, width))
        bare = best(lambda target=target: flint_blocks(target))
        say(f"  {sizes}: m = {width}, {ours:.4f} s; bare {bare:.4f} s, ratio {ours / bare:.2f}")
    from constructions.universal.drawn import random_model
    from constructions.universal.probes import coefficients, probe
    from constructions.universal.solving import exact_embedding

    for sizes in ((2, 2, 2, 4), (2, 2, 4, 4), (2, 3, 2, 2)):
        size = size_of(*sizes)
        target, model = random_target(size, SEED), random_model(size, SEED)
        content = coefficients(target, 0).rows()
        ours = best(lambda model=model, target=target: exact_embedding(model, target))

        def bare_solve(model: Any = model, content: Any = content) -> None:
            rows = probe(model, 0).dense().transposed.rows()
            left = [fmpq(x.numerator, x.denominator) for row in rows for x in row]
            right = [fmpq(x.numerator, x.denominator) for row in content for x in row]
            side, columns = len(rows), len(content[0])
            fmpq_mat(side, side, left).solve(fmpq_mat(side, columns, right))

        bare = best(bare_solve)
        say(
            f"  generic {sizes}: m = {size.probe_width}, {ours:.4f} s; FLINT's exact solver "
            f"{bare:.4f} s, ratio {ours / bare:.2f}"
        )


def plot(costs: dict[str, list[tuple[int, float]]], folder: Path) -> None:
    """Cost against m, both logarithmic."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7, 4.5), layout="constrained")
    for (name, points), marker in zip(costs.items(), "os^d", strict=True):
        axes.loglog(*zip(*points, strict=True), marker=marker, label=name)
    axes.set_xlabel("embedding dimension m = number of probes (H = L = 2, d = d_in = m/16)")
    axes.set_ylabel("seconds (one core)")
    axes.set_xticks(WIDTHS, [str(m) for m in WIDTHS])
    axes.minorticks_off()
    axes.grid(alpha=0.3)
    axes.legend(title="full column rank of one float32 draw by")
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "draws.svg"
    figure.savefig(path)
    figure.savefig(path.with_suffix(".png"), dpi=120)
    say(f"  {path}")


LARGE = TransformerSize(heads=2, layers=2, head_width=400, token_width=50)
"""s_0 = 5,000."""


def certify_large() -> None:
    """One dense draw at m = 5,000, certified; seconds and peak memory."""
    draw = Draw(distribution="uniform32", seed=SEED, width=LARGE.probe_width)
    model, started = DrawnModel(size=LARGE, draw=draw), time.perf_counter()
    certify(model)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1 << 20)
    say(
        f"certificate of a dense draw at m = {model.width}: "
        f"{time.perf_counter() - started:.0f} s, peak memory {peak:.2f} GB, goal 4 GB"
    )


def main() -> None:
    """Print everything; `--only-large` is what `--large` starts in a fresh process."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--only-large", action="store_true")
    parser.add_argument("--out", type=Path, default=Path("reports/out/bench"))
    asked = parser.parse_args()
    if asked.only_large:
        certify_large()
        return
    plot(bench_draws(), asked.out)
    bench_encoding()
    if asked.large:
        subprocess.run([sys.executable, __file__, "--only-large"], check=True)


if __name__ == "__main__":
    main()
