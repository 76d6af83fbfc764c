"""Tokens of two types: logistic series and the differences of path vectors."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

from verify.definitions.plain import Rows, dot, require, rows_of

PowerSeries = list[Fraction]
TYPE_ODDS = 2


def check_two_types(exhibit: Any) -> None:
    """Path vectors on tokens of two types, in a softmax whose logits are in units of ln 2."""
    types, start = exhibit["types"], Fraction(exhibit["start"])
    require(types == [0, 0, 1], "there must be two tokens of type 1 and one of type 2")
    paths = [([start * (1 - kind) for kind in types], start)]
    for scales, stream in zip(exhibit["scales"], exhibit["streams"], strict=True):
        require(len(stream) == 2, "a stream has a value per type")  # noqa: PLR2004
        tokens, step = [stream[kind] for kind in types], stream[0] - stream[1]
        longer = list[tuple[list[Fraction], Fraction]]()
        for (values, difference), scale in itertools.product(paths, scales):
            weights = [[Fraction(2) ** (scale * a * b) for b in tokens] for a in tokens]
            mixed = [dot(row, values) / sum(row) for row in weights]
            odds = [2 * Fraction(2) ** (scale * y * step) for y in stream]
            factor = odds[0] / (odds[0] + 1) - odds[1] / (odds[1] + 1)
            longer.append((mixed, difference * factor))
        paths = longer
    for values, difference in paths:
        require(values[0] - values[-1] == difference, "a difference is not the product of factors")
    require([str(d) for _, d in paths] == exhibit["differences"], "other differences")


def check_logistic_derivative(exhibit: Any) -> None:
    """A derivative of the logistic function at ln odds, as a polynomial in its value there."""
    odds, order = exhibit["odds"], exhibit["order"]
    require(odds == TYPE_ODDS, "the odds of the types must be 2")
    polynomial = [0, 1]
    for _ in range(order):
        slope = [i * a for i, a in enumerate(polynomial)][1:]
        polynomial = [a - b for a, b in zip([0, *slope, 0], [0, 0, *slope], strict=True)]
    value = sum((a * Fraction(odds, odds + 1) ** i for i, a in enumerate(polynomial)), Fraction(0))
    require(value == Fraction(exhibit["value"]) != 0, "another derivative, or it is 0")


def logistic_taylor(odds: int, length: int) -> PowerSeries:
    """Coefficients of sigma(x + ln odds), from sigma (1 + odds e^x) = odds e^x."""
    powers = [Fraction(odds, math.factorial(n)) for n in range(length)]
    found = PowerSeries()
    for n in range(length):
        mixed = sum((found[i] * powers[n - i] for i in range(n)), Fraction(0))
        found.append((powers[n] - mixed) / (1 + odds))
    return found


def check_difference(exhibit: Any) -> None:
    """A difference over consecutive heads has the order of the difference."""
    scales, series = exhibit["scales"], [Fraction(text) for text in exhibit["series"]]
    order, odds = len(scales) - 1, exhibit["odds"]
    require(odds == TYPE_ODDS, "the odds of the types must be 2")
    require(scales in (list(range(order + 1)), list(range(1, order + 2))), "other scales")
    for power, (value, a) in enumerate(zip(series, logistic_taylor(odds, order + 1), strict=True)):
        terms = ((-1) ** (order - i) * math.comb(order, i) * c**power for i, c in enumerate(scales))
        require(value == a * sum(terms), f"another coefficient of x^{power}")
        require((value != 0) == (power == order), f"a difference must begin at x^{order}")


def series_product(left: PowerSeries, right: PowerSeries) -> PowerSeries:
    """A product of power series, up to their common length."""
    result = [Fraction(0)] * len(left)
    for i, a in enumerate(left):
        for j, b in enumerate(right[: len(left) - i] if a else []):
            result[i + j] += a * b
    return result


def inserted_series(outer: PowerSeries, inner: PowerSeries) -> PowerSeries:
    """outer(inner) for an inner series without constant term, power by power."""
    require(inner[0] == 0, "a series with a constant term is inserted")
    power, result = [Fraction(int(i == 0)) for i in range(len(inner))], [Fraction(0)] * len(inner)
    for a in outer:
        if not any(power):
            break
        result = [x + a * y for x, y in zip(result, power, strict=True)]
        power = series_product(power, inner)
    return result


def path_differences(weights: Rows, length: int) -> list[PowerSeries]:
    """Type differences of all path vectors at scales 1..H, paths in lexicographic order."""
    taylor = logistic_taylor(TYPE_ODDS, length)
    start = [Fraction(int(i == 1)) for i in range(length)]
    types, found = [start, [Fraction(0)] * length], [start]
    for row in weights:
        delta = [a - b for a, b in zip(*types, strict=True)]
        heads = list[list[PowerSeries]]()
        for head in range(1, len(row) + 1):
            arguments = [[head * x for x in series_product(y, delta)] for y in types]
            heads.append([inserted_series(taylor, argument) for argument in arguments])
        factors = [[a - b for a, b in zip(*both, strict=True)] for both in heads]
        found = [series_product(a, b) for a, b in itertools.product(found, factors)]
        mixed = [
            [dot(row, column) for column in zip(*kind, strict=True)]
            for kind in zip(*heads, strict=True)
        ]
        parts = [series_product(delta, mixture) for mixture in mixed]
        types = [[sum(row) * b + x for b, x in zip(types[1], part, strict=True)] for part in parts]
    return found


def binomial_weights(heads: int) -> list[Fraction]:
    """(-1)^(H - h) C(H - 1, h - 1)."""
    return [Fraction((-1) ** (heads - 1 - i) * math.comb(heads - 1, i)) for i in range(heads)]


def series_length(heads: int, layers: int) -> int:
    """One more than 1 + 2 sum_l H (2 H - 1)^(l-1)."""
    return 2 + 2 * heads * sum((2 * heads - 1) ** layer for layer in range(layers))


def check_path_series(exhibit: Any) -> None:
    """Combinations of path vectors, by differences over the heads, have distinct orders."""
    weights, scales = [[Fraction(w) for w in row] for row in exhibit["weights"]], exhibit["scales"]
    heads, layers = len(scales), len(weights)
    require(scales == [str(h) for h in range(1, heads + 1)], "the scales must be 1..H")
    require(weights == [binomial_weights(heads)] * layers, "the weights must be signed binomials")
    require(exhibit["odds"] == TYPE_ODDS, "the odds of the types must be 2")
    paths = list(itertools.product(range(1, heads + 1), repeat=layers))
    series = dict(zip(paths, path_differences(weights, series_length(heads, layers)), strict=True))
    orders = list[int]()
    for digits in paths:
        total = [Fraction(0)] * series_length(heads, layers)
        for path in itertools.product(*(range(1, digit + 1) for digit in digits)):
            factors = [(-1) ** (k - h) * math.comb(k, h) for k, h in zip(digits, path, strict=True)]
            scaled = math.prod(factors)
            total = [x + scaled * y for x, y in zip(total, series[path], strict=True)]
        orders.append(next((i for i, a in enumerate(total) if a), -1))
    require(orders == exhibit["orders"], "other orders")
    require(-1 not in orders and len(set(orders)) == len(orders), "the orders must be distinct")


def rank_of(rows: Rows) -> int:
    """How many rows are no combination of those before them, by elimination."""
    reduced = list[tuple[int, list[Fraction]]]()
    for row in rows:
        rest = row
        for place, other in reduced:
            ratio = rest[place] / other[place]
            rest = [x - ratio * y for x, y in zip(rest, other, strict=True)] if ratio else rest
        place = next((i for i, x in enumerate(rest) if x), None)
        if place is not None:
            reduced.append((place, rest))
    return len(reduced)


def independent(rows: Rows) -> bool:
    """Whether no row is a combination of the others."""
    return rank_of(rows) == len(rows)


def check_targets_span(exhibit: Any) -> None:
    """Targets near the stated one: independent path vectors, and weight tensors that span."""
    heads, layers, shift = exhibit["heads"], exhibit["layers"], Fraction(exhibit["shift"])
    plain, shown = binomial_weights(heads), rows_of(exhibit["tensors"])
    chosen = list(itertools.product(range(heads), repeat=layers))
    require(len(shown) == len(chosen), "there must be H^L targets")
    for choice, tensor in zip(chosen, shown, strict=True):
        weights = [[w + shift * (h == q) for h, w in enumerate(plain)] for q in choice]
        products = [math.prod(part, start=Fraction(1)) for part in itertools.product(*weights)]
        require(tensor == products, "a tensor is not that of its target")
        differences = path_differences(weights, series_length(heads, layers))
        require(independent(differences), "a target has dependent path vectors")
    require(independent(shown), "the weight tensors do not span")
