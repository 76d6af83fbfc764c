"""Reproducible random parameters, read as exact numbers: integers times one power of two.

    uniform32, uniform64    what `torch.empty(..).uniform_(-a, a, generator=g)` gives on a CPU,
                            a = 1/sqrt(m), which is PyTorch's default initialisation
    gaussian                independent standard normal entries from counted random bits

Nothing here needs PyTorch. Only integer arithmetic and what IEEE 754 rounds correctly (sums,
products, quotients, roots) is used, so a draw is the same on every machine, and `recheck.py`
draws it again in plain Python.

PyTorch computes x (b - a) + a, with x = k 2^-digits from Mersenne Twister words, by one fused
multiply-add. With b = -a its one rounding is that of a (2x - 1): the integer is a product of two
integers, rounded to `digits` bits. On a processor without fused multiply-add (on x86, without
AVX2) PyTorch rounds twice and itself draws other numbers, unless m is a power of 4.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any, Literal, Protocol, get_args

import numpy as np
from numpy.random import MT19937, Philox
from numpy.typing import NDArray

from verify.errors import SizeError
from verify.rational import Matrix
from verify.verdicts import Json

Distribution = Literal["uniform32", "uniform64", "gaussian"]
Words = NDArray[np.uint64]
Reals = NDArray[np.float64]

SEEDS = 1 << 32
"""Seeds run below this: of a larger one PyTorch uses the lowest 32 bits."""
GAUSSIAN_EXPONENT = -32
"""Normal entries are multiples of 2^-32."""
WORD = 2.0**63
"""Larger integers than int64 holds are kept as Python's own."""
MANTISSA = 53
"""Bits of a float64's significand."""
MAX_EXPONENT = 1024
"""Exponents of float64s lie below it."""
SMALL_PRIMES = 1 << 31
"""Residues below it multiply within int64."""
STRIP = 1 << 20
"""Entries that are made at a time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Draw:
    """A distribution, a seed, and the m whose 1/sqrt(m) bounds uniform entries.

    Normal entries are not scaled.

    Raises:
        SizeError: m below 1, a seed outside 0..2^32 - 1, or a distribution of another name.
    """

    distribution: Distribution
    seed: int
    width: int

    def __post_init__(self) -> None:
        """Refuse what no draw is made of."""
        if self.distribution not in get_args(Distribution):
            raise SizeError(
                f"Draw.distribution must be one of {', '.join(get_args(Distribution))}, "
                f"got {self.distribution!r}"
            )
        if self.width < 1:
            raise SizeError(f"Draw.width must be at least 1, got {self.width}")
        if not 0 <= self.seed < SEEDS:
            raise SizeError(f"Draw.seed must be from 0 to 2^32 - 1, got {self.seed}")

    def stream(self) -> Stream:
        """The draw's numbers from the first on."""
        return Stream(_gaussian(self) if self.distribution == "gaussian" else _uniform(self))

    def as_json(self) -> dict[str, Json]:
        """The draw as certificates name it."""
        return {"distribution": self.distribution, "seed": self.seed, "width": self.width}


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A drawn matrix: whole numbers times 2^exponent.

    wholes of shape (height, width): whole numbers that are exactly float64s; those of uniform64
    can need more than 63 bits as integers, unless m is such as a power of 4.
    """

    wholes: Reals
    exponent: int

    @property
    def integers(self) -> NDArray[Any]:
        """The whole numbers, as int64 or, where one does not fit, as Python's own."""
        if float(np.abs(self.wholes).max(initial=0.0)) < WORD:
            return self.wholes.astype(np.int64)
        flat = np.array([int(whole) for whole in self.wholes.ravel().tolist()], dtype=object)
        return flat.reshape(self.wholes.shape)

    def residues(self, prime: int) -> NDArray[Any]:
        """The whole numbers modulo a prime, from 0 to prime - 1."""
        if prime > SMALL_PRIMES:
            return self.integers % prime
        mantissas, exponents = np.frexp(self.wholes)
        digits = (mantissas * 2.0**MANTISSA).astype(np.int64) % prime
        return digits * _powers(prime)[exponents] % prime

    def matrix(self) -> Matrix:
        """The same as an exact matrix."""
        height, width = self.wholes.shape
        whole = Matrix(height, width, [int(entry) for entry in self.wholes.ravel().tolist()])
        return whole.scaled(Fraction(2) ** self.exponent)


@cache
def _powers(prime: int) -> NDArray[np.int64]:
    """2^(e - 53) modulo a prime, for the exponents e of whole numbers."""
    return np.array([pow(2, e, prime) for e in range(-MANTISSA, MAX_EXPONENT - MANTISSA)])


class Stream:
    """A draw's numbers in their one order; every block takes the next ones, row by row."""

    def __init__(self, law: _Law) -> None:
        """Start at the law's first number."""
        self._law = law

    def take(self, height: int, width: int) -> Block:
        """The next height * width numbers as a block of shape (height, width)."""
        count = height * width
        wholes = np.empty(count, dtype=np.float64)
        for start in range(0, count, STRIP):
            wholes[start : start + STRIP] = self._law.wholes(min(STRIP, count - start))
        return Block(wholes=wholes.reshape(height, width), exponent=self._law.exponent)


class _Law(Protocol):
    """How a distribution's numbers come about: whole numbers times 2^exponent."""

    @property
    def exponent(self) -> int: ...

    def wholes(self, count: int) -> Reals:
        """The next whole numbers, each exactly a float64."""
        ...


# --- uniform ---------------------------------------------------------------------------------


def twister(seed: int) -> MT19937:
    """The Mersenne Twister as PyTorch seeds it, by the linear recurrence of its authors.

    Source: M. Matsumoto, T. Nishimura, Mersenne Twister (revised initialisation), 2002.
    """
    key = [seed]
    for place in range(1, 624):
        key.append((1812433253 * (key[-1] ^ key[-1] >> 30) + place) % (1 << 32))
    generator = MT19937()
    generator.state = {
        "bit_generator": "MT19937",
        "state": {"key": np.array(key, dtype=np.uint32), "pos": len(key)},
    }
    return generator


@dataclass(frozen=True, slots=True, kw_only=True)
class _Uniform:
    """a (2x - 1) rounded to the kind's digits, where a = odd 2^scale and x = k 2^-digits."""

    words: MT19937
    kind: type[np.float32 | np.float64]
    odd: int
    scale: int

    @property
    def digits(self) -> int:
        return int(np.finfo(self.kind).nmant) + 1

    @property
    def exponent(self) -> int:
        return self.scale - (self.digits - 1)

    def wholes(self, count: int) -> Reals:
        """The lowest `digits` bits of one word, or of two with the higher one first."""
        each = 1 if self.kind is np.float32 else 2
        words: Words = self.words.random_raw(count * each).reshape(count, each)
        joined = words[:, 0] if each == 1 else words[:, 0] << np.uint64(32) | words[:, 1]
        half = 1 << (self.digits - 1)
        centred = (joined & np.uint64(2 * half - 1)).astype(np.int64) - half
        return (centred.astype(np.float64) * self.odd).astype(self.kind).astype(np.float64)


def _uniform(draw: Draw) -> _Uniform:
    kind = np.float32 if draw.distribution == "uniform32" else np.float64
    odd, parts = float(kind(1 / math.sqrt(draw.width))).as_integer_ratio()
    return _Uniform(words=twister(draw.seed), kind=kind, odd=odd, scale=1 - parts.bit_length())


# --- normal ----------------------------------------------------------------------------------

CENTRAL, CENTRAL_SQUARE, FAR_SHIFT, FAR_END = 0.425, 0.180625, 1.6, 5.0
MIDDLE = (
    (2509.0809287301226727, 33430.575583588128105, 67265.770927008700853, 45921.953931549871457,
     13731.693765509461125, 1971.5909503065514427, 133.14166789178437745, 3.387132872796366608),
    (5226.495278852854561, 28729.085735721942674, 39307.89580009271061, 21213.794301586595867,
     5394.1960214247511077, 687.1870074920579083, 42.313330701600911252, 1.0),
)  # fmt: skip
FAR = (
    (7.7454501427834140764e-4, 0.0227238449892691845833, 0.24178072517745061177,
     1.27045825245236838258, 3.64784832476320460504, 5.7694972214606914055,
     4.6303378461565452959, 1.42343711074968357734),
    (1.05075007164441684324e-9, 5.475938084995344946e-4, 0.0151986665636164571966,
     0.14810397642748007459, 0.68976733498510000455, 1.6763848301838038494,
     2.05319162663775882187, 1.0),
)  # fmt: skip
FURTHEST = (
    (2.01033439929228813265e-7, 2.71155556874348757815e-5, 0.0012426609473880784386,
     0.026532189526576123093, 0.29656057182850489123, 1.7848265399172913358,
     5.4637849111641143699, 6.6579046435011037772),
    (2.04426310338993978564e-15, 1.4215117583164458887e-7, 1.8463183175100546818e-5,
     7.868691311456132591e-4, 0.0148753612908506148525, 0.13692988092273580531,
     0.59983220655588793769, 1.0),
)  # fmt: skip
"""Numerators and denominators of algorithm AS 241, highest power first.

Source: M. J. Wichura, The percentage points of the normal distribution, Applied Statistics 37,
1988, algorithm AS 241 (PPND16).
"""
LOG_2, LOG_3_4 = 0.6931471805599453, -0.2876820724517809
ARTANH = tuple(1 / (2 * power + 1) for power in range(12, -1, -1))
"""Coefficients of artanh(z)/z in z^2, highest first; enough for |z| <= 1/5."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Gaussian:
    """Multiples of 2^-32 nearest to normal quantiles at (k + 1/2)/2^53."""

    words: Philox
    exponent: int = GAUSSIAN_EXPONENT

    def wholes(self, count: int) -> Reals:
        """The highest 53 bits of each word."""
        raw: Words = self.words.random_raw(count)
        return np.rint(quantiles((raw >> np.uint64(11)).astype(np.int64)) * 2.0**-self.exponent)


def _gaussian(draw: Draw) -> _Gaussian:
    key = np.array([draw.seed, 0], dtype=np.uint64)
    return _Gaussian(words=Philox(key=key, counter=0))


def quantiles(places: NDArray[np.int64]) -> Reals:
    """Normal quantiles at (k + 1/2)/2^53 for integers 0 <= k < 2^53, to about 15 digits.

    The distance from 1/2 is formed exactly, so both tails are equally fine. The logarithm is a
    series of our own: that of a library may differ from machine to machine in its last bit.
    """
    offset = ((2 * places + 1) - (1 << 53)).astype(np.float64) * 2.0**-54
    square = CENTRAL_SQUARE - offset * offset
    middle = offset * _polynomial(MIDDLE[0], square) / _polynomial(MIDDLE[1], square)
    root = np.sqrt(_minus_log(0.5 - np.abs(offset)))
    size = _quotient(FAR, root - FAR_SHIFT)
    furthest = root > FAR_END
    size[furthest] = _quotient(FURTHEST, root[furthest] - FAR_END)
    return np.where(np.abs(offset) <= CENTRAL, middle, np.copysign(size, offset))


def _minus_log(positive: Reals) -> Reals:
    """-log x: with x = m 2^e and z = (m - 3/4)/(m + 3/4), log m = log 3/4 + 2 artanh z."""
    mantissa, power = np.frexp(positive)
    z = (mantissa - 0.75) / (mantissa + 0.75)
    return -(power * LOG_2 + (LOG_3_4 + 2 * z * _polynomial(ARTANH, z * z)))


def _quotient(parts: Sequence[Sequence[float]], argument: Reals) -> Reals:
    above, below = parts
    return _polynomial(above, argument) / _polynomial(below, argument)


def _polynomial(coefficients: Sequence[float], argument: Reals) -> Reals:
    value = np.full_like(argument, coefficients[0])
    for coefficient in coefficients[1:]:
        value = value * argument + coefficient
    return value
