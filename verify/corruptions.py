"""Ways to break one field of a certificate, whatever its kind.

A certificate is worth what its checkers notice. Every place of a JSON value is broken once per
way that its type allows; places that differ in list indices alone count as one, and the first and
the last of them stand for all.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, cast

from verify.verdicts import Json

Path = tuple[str | int, ...]

_EXACT = re.compile(r"-?\d+(/\d+)?")
_REPEATED = re.compile(r"((?:\.\w+(?:\[\])*)+?)\1+")
NOVEL = "comment"
"""A field that no certificate has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Corruption:
    """A value with one field broken: where, how, and what became of the whole."""

    place: str
    change: str
    value: Json


def corruptions(value: Json, only: Set[str] | None = None) -> Iterator[Corruption]:
    """The value with each of its kinds of places broken in each way, at its first and last place.

    `only` names the kinds of places to break, as `patterns` lists them. Every corruption differs
    from the value.
    """
    chosen: dict[str, list[Path]] = {}
    for path, _ in _places(value, ()):
        if only is not None and _pattern(path) not in only:
            continue
        alike = chosen.setdefault(_pattern(path), [])
        alike[1:] = [path] if alike else []
        alike[:1] = alike[:1] or [path]
    for pattern, paths in chosen.items():
        for path in paths:
            for change, broken in _broken(_at(value, path)):
                yield Corruption(place=pattern, change=change, value=_with(value, path, broken))


def _places(value: Json, path: Path) -> Iterator[tuple[Path, Json]]:
    yield path, value
    if isinstance(value, Mapping):
        for key, part in cast("Mapping[str, Json]", value).items():
            yield from _places(part, (*path, key))
    elif isinstance(value, list):
        for index, part in enumerate(cast("list[Json]", value)):
            yield from _places(part, (*path, index))


def _pattern(path: Path) -> str:
    """Names and brackets; what repeats at once, as in trees, counts once."""
    text = "".join("[]" if isinstance(step, int) else f".{step}" for step in path) or "."
    return _REPEATED.sub(r"\1", text)


def _at(value: Json, path: Path) -> Json:
    for step in path:
        value = value[step]
    return value


def _with(value: Json, path: Path, broken: Json) -> Json:
    """A copy of the value that shares all but the way to the broken place."""
    if not path:
        return broken
    copy: Any = value.copy()
    copy[path[0]] = _with(value[path[0]], path[1:], broken)
    return copy


def _broken(value: Json) -> Iterator[tuple[str, Json]]:
    if isinstance(value, bool):
        yield "turned", not value
    elif isinstance(value, int):
        yield "one more", value + 1
        yield "another type", str(value)
    elif value is None:
        yield "something", 1
    elif isinstance(value, str):
        yield from _broken_text(value)
    elif isinstance(value, list):
        yield from _broken_list(cast("list[Json]", value))
    else:
        fields = cast("Mapping[str, Json]", value)
        yield "a field more", {**fields, NOVEL: 1}
        for name in fields:
            yield f"without {name}", {key: part for key, part in fields.items() if key != name}


def _broken_text(value: str) -> Iterator[tuple[str, Json]]:
    if _EXACT.fullmatch(value):
        yield "one more", str(Fraction(value) + 1)
    elif value:
        yield "its first letter changed", _next(value[0]) + value[1:]
    yield "longer", value + "x"


def _next(letter: str) -> str:
    return "b" if letter == "a" else "a"


def _broken_list(value: Sequence[Json]) -> Iterator[tuple[str, Json]]:
    if value:
        yield "its last dropped", value[:-1]
        yield "its last twice", [*value, value[-1]]
    if len(value) > 1 and value[0] != value[-1]:
        yield "first and last exchanged", [value[-1], *value[1:-1], value[0]]
    if not value:
        yield "something", [1]


def patterns(value: Json) -> set[str]:
    """The kinds of places of a value."""
    return {_pattern(path) for path, _ in _places(value, ())}
