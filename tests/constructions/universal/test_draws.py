"""Draws are PyTorch's own, bit by bit, exact, and the rechecker draws the same."""

from __future__ import annotations

import itertools
import math
import os
import statistics
import subprocess
import sys
from fractions import Fraction
from typing import Any, get_args

import numpy as np
import pytest

from constructions.universal.draws import STRIP, Distribution, Draw, Stream, quantiles
from verify.definitions.draws import drawn_integers, quantile
from verify.definitions.plain import RejectedError
from verify.errors import SizeError
from verify.rational import Matrix

DISTRIBUTIONS: tuple[Distribution, ...] = get_args(Distribution)
SIZES = (1, 3, 7, 24, 64, 1000, 1024)


def stream(distribution: Distribution, seed: int = 0, width: int = 7) -> Stream:
    return Draw(distribution=distribution, seed=seed, width=width).stream()


def drawn_by_torch(kind: str, seed: int, width: int, count: int) -> Any:
    import torch

    bound = 1 / math.sqrt(width)
    generator = torch.Generator().manual_seed(seed)
    empty = torch.empty(count, dtype=getattr(torch, kind))
    return empty.uniform_(-bound, bound, generator=generator).numpy()


def require_drawn(ours: Any, theirs: Any, width: int) -> None:
    """Bit by bit PyTorch's, or as near as it comes on a processor without fused multiply-add."""
    import torch

    fused = torch.backends.cpu.get_cpu_capability() != "DEFAULT"
    if fused or width in {4**k for k in range(16)}:
        assert np.array_equal(ours, theirs)
    else:
        assert np.allclose(ours, theirs, rtol=0, atol=2.0**-24)


# --- uniform ---------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [0, 1, 2**31 + 5, 2**32 - 1])
@pytest.mark.parametrize("width", SIZES)
def test_uniform_float32_draws_are_torchs_bit_by_bit(width: int, seed: int) -> None:
    block = stream("uniform32", seed, width).take(1000, 1000)
    floats = np.ldexp(block.integers.astype(np.float64), block.exponent).ravel()
    require_drawn(floats, drawn_by_torch("float32", seed, width, 10**6), width)


@pytest.mark.parametrize("seed", [0, 2**32 - 1])
@pytest.mark.parametrize("width", SIZES)
def test_uniform_float64_draws_are_torchs_bit_by_bit(width: int, seed: int) -> None:
    block = stream("uniform64", seed, width).take(1000, 1000)
    floats = np.ldexp(block.integers.astype(np.float64), block.exponent).ravel()
    require_drawn(floats, drawn_by_torch("float64", seed, width, 10**6), width)


@pytest.mark.parametrize("width", [3, 64, 1000])
@pytest.mark.parametrize(
    ("distribution", "kind"), [("uniform32", "float32"), ("uniform64", "float64")]
)
def test_integers_times_the_power_of_two_are_the_floats_exactly(
    distribution: Distribution, kind: str, width: int
) -> None:
    block = stream(distribution, 5, width).take(1, 3000)
    unit = Fraction(2) ** block.exponent
    exact = [int(integer) * unit for integer in block.integers[0]]
    floats = np.array([float(x) for x in exact])
    assert exact == [Fraction(x) for x in floats.tolist()]
    require_drawn(floats, drawn_by_torch(kind, 5, width, 3000), width)


@pytest.mark.parametrize(("width", "same"), [(7, False), (64, True)])
def test_without_fused_arithmetic_torch_draws_other_numbers_unless_nothing_is_rounded(
    width: int, same: bool
) -> None:
    script = (
        "import torch, math\n"
        "for kind in (torch.float32, torch.float64):\n"
        "    g = torch.Generator().manual_seed(1)\n"
        f"    a = 1 / math.sqrt({width})\n"
        "    print(*torch.empty(50, dtype=kind).uniform_(-a, a, generator=g).tolist())"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "ATEN_CPU_CAPABILITY": "default"},
        capture_output=True,
        text=True,
        check=True,
    )
    for line, distribution in zip(done.stdout.splitlines(), DISTRIBUTIONS, strict=False):
        theirs = [float(x) for x in line.split()]
        block = stream(distribution, 1, width).take(1, 50)
        ours = [math.ldexp(float(x), block.exponent) for x in block.integers[0].tolist()]
        assert (theirs == ours) is same
        assert theirs == pytest.approx(ours, abs=2**-24)


@pytest.mark.parametrize("width", SIZES)
def test_a_linear_layers_default_weights_are_this_draw(width: int) -> None:
    import torch

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(11)
        weight = torch.nn.Linear(width, 9, bias=False).weight.detach().double().numpy()
    block = stream("uniform32", 11, width).take(9, width)
    floats = np.ldexp(block.integers.astype(np.float64), block.exponent)
    require_drawn(floats, weight, width)


# --- normal ----------------------------------------------------------------------------------


def library_quantile(place: int) -> float:
    """The standard library's quantile, by the half that floats hold exactly."""
    normal = statistics.NormalDist()
    if place < 1 << 52:
        return normal.inv_cdf((2 * place + 1) / (1 << 54))
    return -normal.inv_cdf(((1 << 54) - 2 * place - 1) / (1 << 54))


def test_quantiles_are_the_librarys_in_the_middle_and_far_out() -> None:
    first = [2**power + step for power in range(52) for step in (-1, 0, 1)]
    places = sorted({*first, *(2**53 - 1 - place for place in first)})
    ours = quantiles(np.array(places, dtype=np.int64)).tolist()
    assert ours == pytest.approx([library_quantile(place) for place in places], rel=1e-14)
    assert ours == [-x for x in reversed(ours)]
    assert ours == sorted(ours)


def test_normal_entries_are_the_librarys_quantiles_on_a_grid_of_2_to_minus_32() -> None:
    block = stream("gaussian", 3).take(100, 200)
    assert block.exponent == -32
    key = np.array([3, 0], dtype=np.uint64)
    words: Any = np.random.Philox(key=key, counter=0).random_raw(20_000)
    expected = [round(library_quantile(int(word) >> 11) * 2**32) for word in words]
    assert np.abs(block.integers.ravel() - np.array(expected)).max() <= 1


def test_normal_entries_have_mean_0_and_variance_1_at_every_m() -> None:
    entries = stream("gaussian", 8, 1024).take(500, 500).integers * 2.0**-32
    assert abs(entries.mean()) < 5 / 500
    assert abs(entries.var() - 1) < 5 * math.sqrt(2) / 500


# --- streams ---------------------------------------------------------------------------------


@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
def test_blocks_follow_one_another_in_one_stream(distribution: Distribution) -> None:
    source = stream(distribution, 4)
    parts = [source.take(*shape).integers.ravel() for shape in ((3, 5), (1, 1), (2, 7), (0, 3))]
    whole = stream(distribution, 4).take(1, 30).integers[0]
    assert np.array_equal(np.concatenate(parts), whole)
    assert not np.array_equal(stream(distribution, 5).take(1, 30).integers[0], whole)


@pytest.mark.parametrize("distribution", ["uniform32", "gaussian"])
def test_a_block_of_many_strips_is_the_stream(distribution: Distribution) -> None:
    whole = stream(distribution).take(1, STRIP + 3).integers[0]
    source = stream(distribution)
    pieces = [source.take(1, count).integers[0] for count in (STRIP - 2, 5)]
    assert np.array_equal(np.concatenate(pieces), whole)


@pytest.mark.parametrize("seed", [0, 2**32 - 1])
@pytest.mark.parametrize("width", [1, 7, 1024])
@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
def test_the_rechecker_draws_the_same(distribution: Distribution, width: int, seed: int) -> None:
    draw = Draw(distribution=distribution, seed=seed, width=width)
    block = draw.stream().take(50, 100)
    entries, exponent = drawn_integers(draw.as_json())
    assert exponent == block.exponent
    assert list(itertools.islice(entries, 5000)) == block.integers.ravel().tolist()


def test_the_rechecker_has_the_same_quantiles_in_every_piece() -> None:
    places = [2**power for power in range(53)] + [2**53 - 1 - 2**power for power in range(52)]
    ours = quantiles(np.array(places, dtype=np.int64)).tolist()
    assert [quantile(place) for place in places] == ours


@pytest.mark.parametrize(
    "change",
    [
        {"seed": -1},
        {"seed": 2**32},
        {"seed": True},
        {"width": 0},
        {"width": 1.5},
        {"distribution": "uniform16"},
        {"more": 1},
    ],
    ids=str,
)
def test_the_rechecker_refuses_what_is_no_draw(change: dict[str, Any]) -> None:
    draw = {"distribution": "uniform32", "seed": 0, "width": 1, **change}
    with pytest.raises(RejectedError):
        drawn_integers(draw)


def test_only_float64_draws_can_need_more_than_63_bits_and_say_so() -> None:
    kinds = {
        (name, width): stream(name, 0, width).take(2, 2).integers.dtype
        for name in DISTRIBUTIONS
        for width in (7, 64)
    }
    wide = {place for place, kind in kinds.items() if kind.hasobject}
    assert wide == {("uniform64", 7)}
    assert {str(kind) for place, kind in kinds.items() if place not in wide} == {"int64"}
    sizes = [abs(x) for x in stream("uniform64", 0, 7).take(1, 10).integers[0]]
    assert max(sizes) > 2**63


@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
def test_a_block_is_an_exact_matrix(distribution: Distribution) -> None:
    block = stream(distribution, 9).take(2, 3)
    unit = Fraction(2) ** block.exponent
    rows = [[int(integer) * unit for integer in row] for row in block.integers]
    assert block.matrix() == Matrix.from_rows(rows)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"width": 0}, "Draw.width must be at least 1, got 0"),
        ({"seed": -1}, "Draw.seed must be from 0 to 2^32 - 1, got -1"),
        ({"seed": 2**32}, "Draw.seed must be from 0 to 2^32 - 1, got 4294967296"),
        (
            {"distribution": "uniform16"},
            "Draw.distribution must be one of uniform32, uniform64, gaussian, got 'uniform16'",
        ),
    ],
)
def test_what_is_no_draw_is_refused(change: Any, message: str) -> None:
    with pytest.raises(SizeError) as error:
        Draw(**{"distribution": "gaussian", "seed": 0, "width": 1, **change})
    assert str(error.value) == message
