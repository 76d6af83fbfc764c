"""Random draws, entry by entry, and the rank of their probe matrix modulo a prime."""

from __future__ import annotations

import itertools
import math
import operator
import random
import sys
from array import array
from base64 import b85decode, b85encode
from collections.abc import Callable, Iterator
from hashlib import sha256
from typing import Any

from verify.definitions.plain import require
from verify.definitions.reading import canonical
from verify.definitions.universal import Sizes

LEAST_PRIME = 1 << 30
AS_241 = (
    (
        (2509.0809287301226727, 33430.575583588128105, 67265.770927008700853,
         45921.953931549871457, 13731.693765509461125, 1971.5909503065514427,
         133.14166789178437745, 3.387132872796366608),
        (5226.495278852854561, 28729.085735721942674, 39307.89580009271061,
         21213.794301586595867, 5394.1960214247511077, 687.1870074920579083,
         42.313330701600911252, 1.0),
    ),
    (
        (7.7454501427834140764e-4, 0.0227238449892691845833, 0.24178072517745061177,
         1.27045825245236838258, 3.64784832476320460504, 5.7694972214606914055,
         4.6303378461565452959, 1.42343711074968357734),
        (1.05075007164441684324e-9, 5.475938084995344946e-4, 0.0151986665636164571966,
         0.14810397642748007459, 0.68976733498510000455, 1.6763848301838038494,
         2.05319162663775882187, 1.0),
    ),
    (
        (2.01033439929228813265e-7, 2.71155556874348757815e-5, 0.0012426609473880784386,
         0.026532189526576123093, 0.29656057182850489123, 1.7848265399172913358,
         5.4637849111641143699, 6.6579046435011037772),
        (2.04426310338993978564e-15, 1.4215117583164458887e-7, 1.8463183175100546818e-5,
         7.868691311456132591e-4, 0.0148753612908506148525, 0.13692988092273580531,
         0.59983220655588793769, 1.0),
    ),
)  # fmt: skip
"""M. J. Wichura's rational functions for normal quantiles: near 1/2, in the tails, far out."""
ARTANH = tuple(1 / (2 * power + 1) for power in range(12, -1, -1))
DRAWN_DIGITS = {"uniform32": 24, "uniform64": 53}


def is_prime(number: Any) -> bool:
    """Whether a number is a prime of about four bytes, by trial division."""
    if type(number) is not int or not LEAST_PRIME <= number < 1 << 32:
        return False
    return all(number % factor for factor in range(2, math.isqrt(number) + 1))


Whole = list[list[int]]


def times(matrix: Whole, vector: list[int], prime: int) -> list[int]:
    """A matrix times a vector, modulo a prime."""
    return [sum(map(operator.mul, row, vector)) % prime for row in matrix]


def drawn_probe_times(exhibit: Any, vector: list[int], prime: int) -> list[int]:
    """P_0 v modulo a prime for an attention-only draw, layer by layer as they are drawn.

    v has a part per read, and per head a part that P_1 is applied to, and so on downwards.
    """
    sizes, m, tied = Sizes.of(exhibit["size"]), exhibit["draw"]["width"], exhibit["tied"]
    require(type(tied) is bool, "a draw is tied or not")
    require(not sizes.neurons and not sizes.residual, "draws are rechecked for attention only")
    entries, _ = drawn_integers(exhibit["draw"])
    heads, d, widths = sizes.heads, sizes.head_width, sizes.widths()

    def take(columns: int) -> Whole:
        return [list(itertools.islice(entries, columns)) for _ in range(m)]

    parts = [[vector]]
    for inner in widths[1:]:
        starts = [2 * heads * d + h * inner for h in range(heads)]
        parts.append([v[start : start + inner] for v in parts[-1] for start in starts])
    readout = take(sizes.token_width)
    current = [times(readout, v, prime) for v in parts[-1]]
    maps: list[Whole] = []
    for layer in reversed(range(sizes.layers)):
        if not maps or not tied:
            maps = [*(take(d) for _ in range(2 * heads)), *(take(m) for _ in range(heads))]
        below: Whole = []
        for number, v in enumerate(parts[layer]):
            pieces = [v[k * d : (k + 1) * d] for k in range(2 * heads)]
            pieces += current[number * heads : (number + 1) * heads]
            moved = [times(part, piece, prime) for part, piece in zip(maps, pieces, strict=True)]
            below.append([sum(row) % prime for row in zip(*moved, strict=True)])
        current = below
    return current[0]


def vector_of(exhibit: Any, length: int, prime: int) -> list[int]:
    """Residues that nobody could choose: hashes of the certificate and a counter."""
    seed = sha256(canonical(exhibit)).digest()
    hashes = (sha256(seed + k.to_bytes(4, "little")).digest() for k in range(length))
    return [int.from_bytes(digest[:16], "little") % prime for digest in hashes]


def check_draw_rank(exhibit: Any) -> None:
    """The left inverse G of a drawn P_0 modulo a prime, by Freivalds: G (P_0 v) = v for a v that
    is derived from the certificate; a wrong one passes with probability at most 1/prime.
    """  # noqa: D205 - one statement, in one sentence
    prime: int = exhibit["prime"]
    rows: list[int] = exhibit["rows"]
    width, m = Sizes.of(exhibit["size"]).widths()[0], exhibit["draw"]["width"]
    require(is_prime(prime), "the modulus is no prime from 2^30 to 2^32")
    require(len(rows) == len(set(rows)) == width, "as many rows as columns are needed")
    require(all(type(row) is int and 0 <= row < m for row in rows), "a row is out of range")
    data = b85decode(exhibit["inverse"])
    require(b85encode(data).decode() == exhibit["inverse"], "the left inverse is written otherwise")
    numbers = array("I", data)
    if sys.byteorder == "big":
        numbers.byteswap()
    require(len(numbers) == width * width, "the left inverse has another size")
    whole = drawn_probe_times(exhibit, vector_of(exhibit, width, prime), prime)
    chosen = [whole[row] for row in rows]
    entries = numbers.tolist()
    back = times([entries[k * width : (k + 1) * width] for k in range(width)], chosen, prime)
    require(
        back == vector_of(exhibit, width, prime), "the left inverse times P_0 is not the identity"
    )


def drawn_integers(draw: Any) -> tuple[Iterator[int], int]:
    """A draw's entries in their one order, each an integer times 2^exponent, and the exponent."""
    require(set(draw) == {"distribution", "seed", "width"}, "a draw has other fields")
    seed, width = draw["seed"], draw["width"]
    require(type(seed) is int and 0 <= seed < 1 << 32, "a seed is not a whole number of 32 bits")
    require(type(width) is int and width >= 1, "m is not a whole number from 1 on")
    if draw["distribution"] == "gaussian":
        return (round(quantile(word >> 11) * 2.0**32) for word in philox(seed)), -32
    digits = DRAWN_DIGITS.get(draw["distribution"])
    require(digits, f"the distribution {draw['distribution']!r} is unknown")
    return uniform_integers(seed, width, digits or 0)


def uniform_integers(seed: int, width: int, digits: int) -> tuple[Iterator[int], int]:
    """PyTorch's a (2x - 1), a = 1/sqrt(m), rounded once to so many digits, x = k 2^-digits."""
    words, half = twister(seed), 1 << (digits - 1)
    code = "f" if digits == DRAWN_DIGITS["uniform32"] else "d"
    odd, parts = array(code, [1 / math.sqrt(width)])[0].as_integer_ratio()

    def numbers() -> Iterator[int]:
        """A word each, or two with the higher one first."""
        while True:
            yield words(32) if code == "f" else words(32) << 32 | words(32)

    def entries() -> Iterator[int]:
        mask, source = 2 * half - 1, numbers()
        while True:
            exact = [odd * ((x & mask) - half) for x in itertools.islice(source, 4096)]
            yield from map(int, array(code, exact))  # the array rounds to its kind of float

    return entries(), 1 - parts.bit_length() - (digits - 1)


def twister(seed: int) -> Callable[[int], int]:
    """The Mersenne Twister in the state that PyTorch's seed sets, asked for 32 bits at a time."""
    state = [seed]
    for place in range(1, 624):
        state.append((1812433253 * (state[-1] ^ state[-1] >> 30) + place) % (1 << 32))
    source = random.Random()  # noqa: S311 - a stated draw is repeated, nothing is secret
    source.setstate((3, (*state, len(state)), None))
    return source.getrandbits


def philox(seed: int) -> Iterator[int]:
    """Words of Philox4x64-10 under the key (seed, 0), blocks counted from 1."""
    mask = (1 << 64) - 1
    keys = [
        (seed + 0x9E3779B97F4A7C15 * step & mask, 0xBB67AE8584CAA73B * step & mask)
        for step in range(10)
    ]
    for block in itertools.count(1):
        a, b, c, d = block, 0, 0, 0
        for key, other in keys:
            left, right = 0xD2E7470EE14C6C93 * a, 0xCA5A826395121157 * c
            a, b = right >> 64 ^ b ^ key, right & mask
            c, d = left >> 64 ^ d ^ other, left & mask
        yield from (a, b, c, d)


def quantile(place: int) -> float:
    """The normal quantile at (place + 1/2)/2^53, from operations that round alike everywhere."""
    offset = (2 * place + 1 - (1 << 53)) * 2.0**-54
    if abs(offset) <= 0.425:  # noqa: PLR2004 - where the first function ends
        above, below = (horner(part, 0.180625 - offset * offset) for part in AS_241[0])
        return offset * above / below
    mantissa, power = math.frexp(0.5 - abs(offset))
    z = (mantissa - 0.75) / (mantissa + 0.75)
    log_2, log_3_4 = 0.6931471805599453, -0.2876820724517809
    root = math.sqrt(-(power * log_2 + (log_3_4 + 2 * z * horner(ARTANH, z * z))))
    parts, shift = (AS_241[1], 1.6) if root <= 5 else (AS_241[2], 5.0)  # noqa: PLR2004 - the same
    above, below = (horner(part, root - shift) for part in parts)
    return math.copysign(above / below, offset)


def horner(coefficients: tuple[float, ...], argument: float) -> float:
    """A polynomial's value, coefficients from the highest power on."""
    value = 0.0
    for coefficient in coefficients:
        value = value * argument + coefficient
    return value
