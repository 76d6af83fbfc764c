"""Shared-attention models whose two halves of a path meet in the middle, exactly.

Coordinates are pairs (word u of k heads, place i), 0 <= i <= s, where L = 2k or L = 2k + 1.

    masks     mask(l, h) keeps the coordinates whose word has h as its digit l
    middle    middle(h) joins (u, i) to (v, j) where i + j = h, whatever u and v
    even L    s = 0 (middle(0) is all ones); R^{L/2,h} = mask(L/2 - 1, h) middle(0)
    odd L     R^{k,h} = middle(h) (layers from 0); s = max(d1, d2) with d1 + d2 = H - 1
    E, U      E_(u,i) = f_i prod_{l<k} w^{l,u_l},  U_(v,j) = g_j prod_{l<k} w^{L-k+l,v_l}

with f = g = 1 for even L. For odd L the middle weights are the coefficients of f g, which are
polynomials of degrees at most d1 and d2.

Source: Fixed Universal Transformers, Section 4; the construction is ours.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

from constructions.universal.instances import seeded
from lowerbounds.shared_attention import weight_tensor
from verify.errors import SizeError
from verify.rational import Matrix

Word = tuple[int, ...]
Coordinate = tuple[Word, int]
Polynomial = tuple[Fraction, ...]
"""Coefficients from the constant one on; (0,) is zero."""
Weights = tuple[tuple[Fraction, ...], ...]
"""w^{l,h}, indexed [layer][head] from 0."""


def require_sizes(heads: object, layers: object) -> None:
    """Refuse sizes that are not whole numbers from 1 on.

    Raises:
        SizeError: H or L is below 1 or no int.
    """
    for name, value in (("H", heads), ("L", layers)):
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise SizeError(
                f"a shared-attention model needs {name} to be an int of at least 1, got "
                f"{value!r}; choose H, L >= 1"
            )


# --- rules -----------------------------------------------------------------------------------


def middle_degrees(heads: int) -> tuple[int, int]:
    """(d1, d2) with d1 + d2 = H - 1, as close as they can be with one of them even."""
    larger = heads // 2 + (heads % 4 == 3)  # noqa: PLR2004 - both halves of H - 1 are odd there
    return larger, heads - 1 - larger


def all_coordinates(heads: int, length: int, last: int) -> tuple[Coordinate, ...]:
    """Words of the given length in lexical order, each with the places 0..last."""
    words = itertools.product(range(heads), repeat=length)
    return tuple((word, place) for word in words for place in range(last + 1))


def joined(before: Coordinate, after: Coordinate, head: int) -> bool:
    """Whether the middle layer's head joins two coordinates: their places add up to it."""
    return before[1] + after[1] == head


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """The three rules of the construction; each mutant replaces one."""

    degrees: Callable[[int], tuple[int, int]] = middle_degrees
    coordinates: Callable[[int, int, int], tuple[Coordinate, ...]] = all_coordinates
    joins: Callable[[Coordinate, Coordinate, int], bool] = joined


MEETING = Rules()


# --- the model -------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Meeting:
    """The fixed parameters for H heads and L layers.

    values R^{l,h}: (m, m); embedding E: (1, m); readout U: (m, 1)

    Raises:
        SizeError: H or L is below 1 or no int.
    """

    heads: int
    layers: int
    rules: Rules = field(default=MEETING)

    def __post_init__(self) -> None:
        """Refuse sizes below 1."""
        require_sizes(self.heads, self.layers)

    @property
    def half(self) -> int:
        """k, the layers before the meeting; as many follow it."""
        return self.layers // 2

    @property
    def odd(self) -> bool:
        """Whether a layer stands between the halves."""
        return self.layers % 2 == 1

    @property
    def degrees(self) -> tuple[int, int]:
        """(d1, d2); (0, 0) for even L."""
        return self.rules.degrees(self.heads) if self.odd else (0, 0)

    @property
    def last(self) -> int:
        """s, the last place of a word."""
        return max(self.degrees)

    @cached_property
    def coordinates(self) -> tuple[Coordinate, ...]:
        """All coordinates, word by word."""
        return self.rules.coordinates(self.heads, self.half, self.last)

    @property
    def width(self) -> int:
        """The embedding dimension m."""
        return len(self.coordinates)

    def mask(self, digit: int, head: int) -> Matrix:
        """Keeps the coordinates whose word has the head at the digit."""
        kept = [int(word[digit] == head) for word, _ in self.coordinates]
        return Matrix.identity(self.width).select_columns(
            [place if keeps else -1 for place, keeps in enumerate(kept)]
        )

    def middle(self, head: int) -> Matrix:
        """Joins the two halves of a path."""
        rows = [
            [int(self.rules.joins(before, after, head)) for after in self.coordinates]
            for before in self.coordinates
        ]
        return Matrix.from_rows(rows)

    @cached_property
    def values(self) -> tuple[tuple[Matrix, ...], ...]:
        """R^{l,h}, indexed [layer][head] from 0; no target's weights enter."""
        heads = range(self.heads)
        masks = [tuple(self.mask(digit, h) for h in heads) for digit in range(self.half)]
        if self.odd:
            return (*masks, tuple(self.middle(h) for h in heads), *masks)
        joining = self.middle(0)
        return (*masks[:-1], tuple(mask @ joining for mask in masks[-1]), *masks)

    def embedding(self, weights: Weights, factor: Polynomial) -> Matrix:
        """E for the target's weights and the factor f; (1,) for even L."""
        return Matrix(1, self.width, self._entries(weights[: self.half], factor))

    def readout(self, weights: Weights, factor: Polynomial) -> Matrix:
        """U for the target's weights and the factor g; (1,) for even L."""
        return Matrix(self.width, 1, self._entries(weights[self.layers - self.half :], factor))

    def _entries(self, weights: Weights, factor: Polynomial) -> list[Fraction]:
        words = itertools.product(range(self.heads), repeat=self.half)
        products = dict(zip(words, weight_tensor(weights), strict=True))
        return [coefficient(factor, i) * products[word] for word, i in self.coordinates]

    def responses(self, embedding: Matrix, readout: Matrix) -> list[Fraction]:
        """E R_p U for every path p, in lexical order."""
        rows = [embedding]
        for layer in self.values:
            rows = [row @ value for row in rows for value in layer]
        return [(row @ readout)[0, 0] for row in rows]


# --- targets ---------------------------------------------------------------------------------


def coefficient(polynomial: Polynomial, power: int) -> Fraction:
    """The coefficient of a power; 0 where there is none."""
    return polynomial[power] if 0 <= power < len(polynomial) else Fraction(0)


def multiplied(factors: Sequence[Polynomial]) -> Polynomial:
    """The product of polynomials; (1,) of none."""
    product: Polynomial = (Fraction(1),)
    for factor in factors:
        powers = range(len(product) + len(factor) - 1)
        product = tuple(
            sum((product[i] * coefficient(factor, n - i) for i in range(len(product))), Fraction(0))
            for n in powers
        )
    return product


@dataclass(frozen=True, slots=True, kw_only=True)
class Factors:
    """A polynomial as a constant times real factors of degrees 1 and 2."""

    scale: Fraction
    linear: tuple[Polynomial, ...]
    quadratic: tuple[Polynomial, ...]

    def split(self, most: int) -> tuple[Polynomial, Polynomial]:
        """Two polynomials whose product it is; the first has a degree of at most `most`.

        As many quadratic factors as fit, then as many linear ones as fit.
        """
        pairs = min(len(self.quadratic), most // 2)
        singles = min(len(self.linear), most - 2 * pairs)
        return (
            multiplied(((self.scale,), *self.quadratic[:pairs], *self.linear[:singles])),
            multiplied((*self.quadratic[pairs:], *self.linear[singles:])),
        )


def drawn_factors(linear: int, quadratic: int, seed: int) -> Factors:
    """A constant (0 at times), factors x + a, and (x + a)^2 + c, c > 0, without real roots."""
    source = seeded(seed)

    def number(least: int) -> Fraction:
        return Fraction(source.randint(least, 3), source.randint(1, 3))

    def without_roots() -> Polynomial:
        shift = number(-3)
        return shift * shift + number(1), 2 * shift, Fraction(1)

    return Factors(
        scale=number(-3),
        linear=tuple((number(-3), Fraction(1)) for _ in range(linear)),
        quadratic=tuple(without_roots() for _ in range(quadratic)),
    )


def drawn_weights(heads: int, layers: int, seed: int) -> Weights:
    """Weights p/q other than 0, |p| <= 3 and q <= 3."""
    source = seeded(seed)
    return tuple(
        tuple(
            Fraction(source.choice((-3, -2, -1, 1, 2, 3)), source.randint(1, 3))
            for _ in range(heads)
        )
        for _ in range(layers)
    )
