"""Exact matrices and polynomials, and how a certificate is refused."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

LARGEST_EXPONENT = 100
Rows = list[list[Fraction]]


class RejectedError(Exception):
    """The certificate does not show what it should."""


def require(condition: object, text: str) -> None:
    """Reject with the text unless the condition holds."""
    if not condition:
        raise RejectedError(text)


def rows_of(texts: Any) -> Rows:
    """A matrix of exact numbers, all rows of one length."""
    rows = [[Fraction(x) for x in row] for row in texts]
    require(all(len(row) == len(rows[0]) for row in rows), "a matrix has ragged rows")
    return rows


def product(left: Rows, right: Rows) -> Rows:
    """Matrix product; zeros of the right factor, of which sparse models are full, are skipped."""
    require(not left or len(left[0]) == len(right), "matrices do not fit for a product")
    columns = [[(k, y) for k, y in enumerate(column) if y] for column in zip(*right, strict=True)]
    return [
        [sum((row[k] * y for k, y in column), Fraction(0)) for column in columns] for row in left
    ]


def dot(xs: Sequence[Fraction], ys: Sequence[Fraction]) -> Fraction:
    """Sum of products, term by term; both sides are as long."""
    require(len(xs) == len(ys), "a row does not fit its column")
    return sum((x * y for x, y in zip(xs, ys, strict=True)), Fraction(0))


def total(matrices: list[Rows]) -> Rows:
    """Matrix sum."""
    return [
        [sum(xs, Fraction(0)) for xs in zip(*rows, strict=True)]
        for rows in zip(*matrices, strict=True)
    ]


def transposed(matrix: Rows) -> Rows:
    """Rows and columns exchanged."""
    return [list(column) for column in zip(*matrix, strict=True)]


Polynomial = dict[tuple[str, ...], Fraction]


PARTS = {"symbol": 2, "number": 2, "^": 3}


def expand(tree: Any, commutative: bool) -> Polynomial:
    """The polynomial that an expression tree stands for."""
    head = tree[0]
    require(len(tree) == PARTS.get(head, len(tree)), f"{head!r} has another number of parts")
    if head == "symbol":
        return {(str(tree[1]),): Fraction(1)}
    if head == "number":
        return {(): Fraction(tree[1])}
    if head == "^":
        fits = isinstance(tree[2], int) and 0 < tree[2] <= LARGEST_EXPONENT
        require(fits, "an exponent is out of range")
        return expand(["*", *[tree[1]] * tree[2]], commutative)
    require(head in ("+", "*"), f"unknown operation {head!r}")
    result: Polynomial = {} if head == "+" else {(): Fraction(1)}
    for part in (expand(part, commutative) for part in tree[1:]):
        if head == "+":
            for word, value in part.items():
                result[word] = result.get(word, Fraction(0)) + value
            continue
        grown: Polynomial = {}
        for (u, x), (v, y) in itertools.product(result.items(), part.items()):
            word = tuple(sorted(u + v)) if commutative else u + v
            grown[word] = grown.get(word, Fraction(0)) + x * y
        result = grown
    return result


def without_zeros(polynomial: Polynomial) -> Polynomial:
    """The terms that are there."""
    return {word: value for word, value in polynomial.items() if value}


def check_equation(exhibit: Any) -> None:
    """Both sides of an equation have one value at a point."""
    left, right = (
        sum(
            (
                math.prod((Fraction(exhibit["point"][name]) for name in word), start=factor)
                for word, factor in expand(exhibit[side], True).items()
            ),
            Fraction(0),
        )
        for side in ("left", "right")
    )
    require(left == right, f"the left side is {left}, the right one {right}")
