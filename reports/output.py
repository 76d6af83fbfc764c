"""Files of a run, written atomically: a reader sees the old file or the new one, never a part."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from verify.errors import OutputError

CERTIFICATES = "certificates"
DRAWINGS = "figures"
_PREFIX = ".unfinished-"
_CERTIFICATE = re.compile(r"[0-9a-f]{64}\.json")


def require_writable(folder: Path, names: tuple[str, ...]) -> None:
    """Make the folder and its certificates' folder, and try a file in each.

    Raises:
        OutputError: a file cannot be created there, or a name is taken by a folder.
    """
    for place in (folder, folder / CERTIFICATES):
        try:
            place.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(dir=place, prefix=_PREFIX):
                pass
        except OSError as error:
            raise _unwritable(place, error) from error
    for name in names:
        if (folder / name).is_dir():
            raise OutputError(
                f"{folder / name}: must be a file or free, got a folder; remove it or choose "
                "another folder with --out"
            )


def require_place(path: Path) -> None:
    """Require that a file can be put there, before long work on what it is to hold.

    Raises:
        OutputError: its folder is not there, or a folder has its name.
    """
    if path.is_dir() or not path.parent.is_dir():
        came = "a folder" if path.is_dir() else "no folder to put it into"
        raise OutputError(
            f"{path}: must be a file in a folder that exists, got {came}; name another"
        )


def write(path: Path, data: bytes) -> None:
    """Put the bytes in place of whatever the file held.

    Raises:
        OutputError: the file cannot be written.
    """
    with replacing(path) as stream:
        stream.write(data)


@contextmanager
def replacing(path: Path) -> Generator[IO[bytes], None, None]:
    """A stream whose bytes become the file when the block ends without an error.

    Raises:
        OutputError: the file cannot be written.
    """
    if path.is_dir():
        raise OutputError(f"{path}: must be a file, got a folder; choose another name")
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=_PREFIX)
    except OSError as error:
        raise _unwritable(path, error) from error
    try:
        with os.fdopen(handle, "wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        os.chmod(name, 0o666 & ~_umask())
        os.replace(name, path)
    except OSError as error:
        raise _unwritable(path, error) from error
    finally:
        with suppress(OSError):
            os.unlink(name)


def write_drawings(folder: Path, drawings: Mapping[str, bytes]) -> None:
    """Put a run's drawings, named NAME.svg, in place of those of an earlier one.

    Raises:
        OutputError: a file or its folder cannot be written.
    """
    place = folder / DRAWINGS
    try:
        if drawings:
            place.mkdir(exist_ok=True)
        for path in place.glob("*.svg"):
            if path.stem not in drawings:
                path.unlink()
    except OSError as error:
        raise _unwritable(place, error) from error
    for name, data in sorted(drawings.items()):
        write(place / f"{name}.svg", data)


def write_certificates(folder: Path, certificates: Mapping[str, bytes]) -> None:
    """Add the certificates to those of an earlier run, which `drop_stale` removes afterwards."""
    for name, data in sorted(certificates.items()):
        path = folder / CERTIFICATES / f"{name}.json"
        if not path.is_file() or path.read_bytes() != data:
            write(path, data)


def drop_stale(folder: Path, certificates: Mapping[str, bytes]) -> None:
    """Remove certificates that the record beside them no longer names, and unfinished files."""
    kept = {f"{name}.json" for name in certificates}
    for path in (folder / CERTIFICATES).iterdir():
        old = _CERTIFICATE.fullmatch(path.name) and path.name not in kept
        if old or path.name.startswith(_PREFIX):
            with suppress(OSError):
                path.unlink()


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _unwritable(place: Path, error: OSError) -> OutputError:
    return OutputError(
        f"{place}: must be writable, got {error.strerror or error}; "
        "choose another place or free this one"
    )
