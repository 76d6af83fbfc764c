"""Reading certificates: one exact JSON value, every field of which must be looked at."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

LARGEST_BYTES = 256 << 20


class UnreadableError(Exception):
    """The file is missing or is not one JSON value."""


class Fields(dict[str, Any]):
    """A JSON object that knows which of its fields were not read yet.

    A field that no definition reads has no meaning, so a certificate must not have it.
    """

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        """All fields unread; a name that comes twice is refused."""
        super().__init__(pairs)
        if len(self) != len(pairs):
            raise UnreadableError("an object names a field twice")
        self.unread = {name for name, _ in pairs}

    def __getitem__(self, name: str) -> Any:
        """A field, now read."""
        self.unread.discard(name)
        return super().__getitem__(name)

    def get(self, name: str, default: Any = None) -> Any:
        """A field, now read, if it is there."""
        self.unread.discard(name)
        return super().get(name, default)

    def __iter__(self) -> Iterator[str]:
        """The names, all of them read."""
        self.unread.clear()
        return super().__iter__()

    def items(self) -> Any:
        """Names and values, all of them read."""
        self.unread.clear()
        return super().items()

    def values(self) -> Any:
        """The values, all of them read."""
        self.unread.clear()
        return super().values()

    def __eq__(self, other: object) -> bool:
        """Compared as a whole, which reads everything in it."""
        for part in (self, other):
            read_whole(part)
        return super().__eq__(other)

    __hash__ = None  # type: ignore[assignment]  # as of any dictionary


def objects_in(value: Any) -> Iterator[Fields]:
    """All objects of a JSON value, at any depth; nothing counts as read by this."""
    waiting = [value]
    while waiting:
        part = waiting.pop()
        if isinstance(part, Fields):
            yield part
            waiting += super(Fields, part).values()
        elif isinstance(part, list):
            waiting += [x for x in cast("list[Any]", part) if isinstance(x, dict | list)]


def read_whole(value: Any) -> None:
    """Count everything in a value as read."""
    for part in objects_in(value):
        part.unread.clear()


def unread(value: Any) -> list[str]:
    """The names of fields that nothing has read."""
    return sorted({name for part in objects_in(value) for name in part.unread})


def read_bytes(path: Path) -> bytes:
    """A file's bytes, if it is there and not absurdly large."""
    try:
        if path.stat().st_size > LARGEST_BYTES:
            raise UnreadableError(f"has more than {LARGEST_BYTES} bytes")
        return path.read_bytes()
    except OSError as error:
        raise UnreadableError(f"cannot be read: {error.strerror}") from error


def value_of(data: bytes, pairs: Callable[[list[tuple[str, Any]]], Any] = Fields) -> Any:
    """The one JSON value of a text without floats, NaN or fields named twice."""
    try:
        return json.loads(
            data, object_pairs_hook=pairs, parse_float=_refuse, parse_constant=_refuse
        )
    except (ValueError, RecursionError) as error:
        raise UnreadableError(f"is not one JSON value: {error}") from error


def _refuse(text: str) -> Any:
    raise UnreadableError(f"{text} is not an exact number")


def canonical(value: Any) -> bytes:
    """The one text of a value: sorted names, no spaces, ASCII; to write it is not to read it."""
    before = [(part, set(part.unread)) for part in objects_in(value)]
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    for part, names in before:
        part.unread = names
    return text.encode("ascii") + b"\n"


def fields_of(value: Any) -> dict[str, Any]:
    """A JSON object's fields; none for any other value."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}
