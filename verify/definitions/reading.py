"""Reading certificates: one exact JSON value, every field of which must be looked at."""

from __future__ import annotations

import json
from collections.abc import Iterator
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


class Entries(list[Any]):
    """A JSON list of lists or objects that knows which of them were not read yet."""

    def __init__(self, parts: list[Any]) -> None:
        """All entries unread."""
        super().__init__(parts)
        self.unread = set(range(len(parts)))

    def __getitem__(self, place: Any) -> Any:
        """An entry, or a slice of them, now read."""
        every = range(len(self))
        self.unread -= set(every[place]) if type(place) is slice else {every[place]}
        return super().__getitem__(place)

    def __iter__(self) -> Iterator[Any]:
        """The entries, all of them read."""
        self.unread.clear()
        return super().__iter__()

    def __reversed__(self) -> Iterator[Any]:
        """The entries from the last on, all of them read."""
        self.unread.clear()
        return super().__reversed__()

    def __eq__(self, other: object) -> bool:
        """Compared as a whole, which reads everything in it."""
        for part in (self, other):
            read_whole(part)
        return super().__eq__(other)

    __hash__ = None  # type: ignore[assignment]  # as of any list


def tracked(value: Any) -> Any:
    """The value with its lists of lists or objects as `Entries`."""
    if isinstance(value, Fields):
        for name, part in super(Fields, value).items():
            super(Fields, value).__setitem__(name, tracked(part))
        return value
    if isinstance(value, list):
        parts = cast("list[Any]", value)
        nested = any(isinstance(part, list | dict) for part in parts)
        return Entries([tracked(part) for part in parts]) if nested else parts
    return value


def objects_in(value: Any) -> Iterator[Fields | Entries]:
    """All objects and tracked lists of a value, at any depth; this does not count as reading."""
    waiting = [value]
    while waiting:
        part = waiting.pop()
        if isinstance(part, Fields):
            yield part
            waiting += super(Fields, part).values()
        elif isinstance(part, Entries):
            yield part
            waiting += super(Entries, part).__iter__()


def read_whole(value: Any) -> None:
    """Count everything in a value as read."""
    for part in objects_in(value):
        part.unread.clear()


def unread(value: Any) -> list[str]:
    """The names of fields and the places of entries that nothing has read."""
    names: set[str] = set()
    for part in objects_in(value):
        names |= {name if isinstance(name, str) else f"entry {name}" for name in part.unread}
    return sorted(names)


def read_bytes(path: Path) -> bytes:
    """A file's bytes, if it is there and not absurdly large."""
    try:
        if path.stat().st_size > LARGEST_BYTES:
            raise UnreadableError(f"has more than {LARGEST_BYTES} bytes")
        return path.read_bytes()
    except OSError as error:
        raise UnreadableError(f"cannot be read: {error.strerror}") from error


def value_of(data: bytes) -> Any:
    """The one JSON value of a text without floats, NaN or fields named twice; nothing is read."""
    try:
        return tracked(
            json.loads(data, object_pairs_hook=Fields, parse_float=_refuse, parse_constant=_refuse)
        )
    except (ValueError, RecursionError) as error:
        raise UnreadableError(f"is not one JSON value: {error}") from error


def _refuse(text: str) -> Any:
    raise UnreadableError(f"{text} is not an exact number")


def canonical(value: Any) -> bytes:
    """The one text of a value: sorted names, no spaces, ASCII; to write it is not to read it."""
    before: list[tuple[Any, set[Any]]] = [(part, set(part.unread)) for part in objects_in(value)]
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    for part, left in before:
        part.unread = left
    return text.encode("ascii") + b"\n"


def fields_of(value: Any) -> dict[str, Any]:
    """A JSON object's fields; none for any other value."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}
