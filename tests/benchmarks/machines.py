"""What checked runs of machines cost, against peers in the same run.

    python tests/benchmarks/machines.py [--long]

`--long` also runs BB(2,4) to its end, some minutes at billions of tokens.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from numba import njit

sys.path.insert(0, str(Path(__file__).parent))
from run import best, peak_megabytes, say

from constructions.machines.compiled import kernel
from constructions.machines.compiled.comparisons import report
from constructions.machines.compiled.lockstep import NO_LIMIT, Lockstep, turing_lockstep
from constructions.machines.compiled.run import run_levels
from constructions.machines.formats.bbchallenge import read
from constructions.machines.levels import LEVELS
from constructions.machines.simulate import run_levels as run_plainly
from constructions.machines.tensors import Source, compiled
from constructions.machines.torch_model import Generator

FIVE = read("1RB1LC_1RC1RB_1RD0LE_1LA1LD_1RZ0LA", "benchmark")
TWO_FOUR = read("1RB2LA1RA1RA_1LB1LA3RB1RZ", "benchmark")
RULES = 150_000


@njit
def bare_loop(
    following: Any, first: Any, second: Any, queue: Any, state: int, symbols: int, steps: int
) -> int:
    """The peer: a queue machine and nothing else, its queue in a ring."""
    ring, end = queue.shape[0] - 1, 1
    for front in range(steps):
        row = state * symbols + queue[front & ring]
        queue[end & ring] = first[row]
        end += 1
        if second[row] >= 0:
            queue[end & ring] = second[row]
            end += 1
        state = following[row]
    return state


def finished(levels: tuple[str, ...], rules: int) -> Lockstep[Any]:
    """A run to so many rules at some levels, which must agree."""
    run = turing_lockstep(FIVE, (), levels)
    run.advance(rules, NO_LIMIT)
    if run.difference:
        raise SystemExit(run.difference)
    return run


def bench_bare() -> None:
    """Checked tokens a second against a bare compiled queue loop and the dense torch module."""
    done = finished(LEVELS, RULES)
    steps, symbols = int(done.registers[kernel.STEPS]), len(done.machine.alphabet)
    rows = done.queue_table.rows.reshape(-1, kernel.WIDTH)
    word, following = rows[:, kernel.Q_WORD], rows[:, kernel.Q_NEXT].copy()
    first = (word & kernel.BYTE).astype(np.uint8)
    second = ((word >> 8 & kernel.BYTE) - 1).astype(np.int8)
    room = len(done.queue)

    def loop(most: int = steps) -> int:
        return bare_loop(following, first, second, np.zeros(room, np.uint8), 0, symbols, most)

    loop(10)
    bare = min(best(loop, rounds=1) for _ in range(5))
    checked = min(best(lambda: finished(LEVELS, RULES), rounds=1) for _ in range(5))
    rate = done.tokens / checked
    say(
        f"BB(5) to {RULES:,} rules: {done.tokens:,} tokens checked at four levels in "
        f"{checked:.2f} s, {rate / 1e6:.1f} million a second"
    )
    say(
        f"  bare compiled queue loop: {steps / bare / 1e6:.0f} million steps a second; ratio "
        f"{rate / (steps / bare):.2f}, goal 0.2"
    )
    source = Source(machine=FIVE)
    for form in ("dense", "block"):
        model = compiled(source, 64, "float32", form)
        made = Generator(model, ())
        made.step()
        started = time.perf_counter()
        while made.tokens < 400:
            made.step()
        slow = 399 / (time.perf_counter() - started)
        goal = ", goal 10,000" if form == "dense" else ""
        say(f"  torch module, {form}: {slow:.0f} tokens a second, ratio {rate / slow:,.0f}{goal}")


def bench_plain() -> None:
    """The compiled loop against the plain semantics in Python."""
    plain = best(lambda: run_plainly(FIVE, (), 3_000), rounds=1)
    fast = best(lambda: run_levels(FIVE, (), 3_000))
    say(f"BB(5) to 3,000 rules: plain Python {plain:.2f} s, {plain / fast:.0f} times compiled")


def bench_memory() -> None:
    """Memory after a run, and after one of a hundred times the tokens."""
    small = finished(LEVELS, 20_000)
    before = peak_megabytes()
    large = finished(LEVELS, 200_000)
    say(
        f"peak memory after {small.tokens:,} tokens {before:.0f} MB, after {large.tokens:,} "
        f"{peak_megabytes():.0f} MB"
    )


def bench_long(machine: Any, name: str, rules: int, levels: tuple[str, ...]) -> None:
    """One long run, with what it came to."""
    run = turing_lockstep(machine, (), levels)
    started = time.perf_counter()
    run.advance(rules, NO_LIMIT)
    seconds = time.perf_counter() - started
    found = report(run)
    if not found.agree:
        raise SystemExit(found.disagreement)
    say(
        f"{name}: {found.steps:,} rules, halted {found.halted}, "
        f"{run.registers[kernel.STEPS]:,} queue steps, {run.tokens:,} tokens, "
        f"S = {run.registers[kernel.MAX_WINDOW]:,} in "
        f"{seconds:.1f} s, {run.tokens / seconds / 1e6:.1f} million tokens a second; levels "
        f"{', '.join(levels)}"
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--long", action="store_true")
    asked = parser.parse_args()
    finished(LEVELS, 100)
    bench_bare()
    bench_plain()
    bench_memory()
    bench_long(FIVE, "BB(5)", 1_000_000, LEVELS)
    if asked.long:
        bench_long(TWO_FOUR, "BB(2,4)", NO_LIMIT, LEVELS)
