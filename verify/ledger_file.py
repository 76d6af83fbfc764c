"""The ledger's file on disk: made, recognised as ours, or moved aside."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from itertools import count
from pathlib import Path

from verify.errors import LedgerError

APPLICATION = 0x43465452
"""SQLite's application_id of a ledger: "CFTR"."""
VERSION = 1
PATIENCE_SECONDS = 60.0
"""How long one process waits while another one writes."""
SCHEMA = """CREATE TABLE shards (
    key TEXT PRIMARY KEY,
    claim TEXT NOT NULL, place INTEGER NOT NULL, method TEXT NOT NULL,
    shard INTEGER NOT NULL, shards INTEGER NOT NULL, profile TEXT NOT NULL, seed TEXT NOT NULL,
    fingerprint TEXT NOT NULL, versions TEXT NOT NULL,
    status TEXT NOT NULL, seconds REAL NOT NULL, obsolete INTEGER NOT NULL DEFAULT 0,
    digest BLOB NOT NULL, value BLOB NOT NULL
)"""  # the value comes last: SQLite reads through it to reach any column behind it


def opened(path: Path, say: Callable[[str], None]) -> sqlite3.Connection:
    """A connection to a ledger of this version, made if there is none.

    A file that is damaged or of an older version is moved aside, which is said. The connection
    commits each statement by itself and may be used by any thread, one at a time.

    Raises:
        LedgerError: the file was written by another program or a newer version.
        sqlite3.OperationalError: it is locked, unreadable, or there is no room for it.
        OSError: it cannot be moved aside.
    """
    connection = _connected(path)
    try:
        unfit = _unfit(path, connection)
        if unfit is None:
            _create(connection)
            return connection
    except BaseException:
        connection.close()
        raise
    connection.close()
    reason, word = unfit
    aside = _moved_aside(path, word)
    say(f"{path}: {reason}; it is now {aside.name}, and a new one is begun")
    return opened(path, say)


def _connected(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(
        path, timeout=PATIENCE_SECONDS, isolation_level=None, check_same_thread=False
    )


def _unfit(path: Path, connection: sqlite3.Connection) -> tuple[str, str] | None:
    """Why the file cannot be used, and what to call it then; None if it can.

    Raises:
        LedgerError: it was written by another program or a newer version.
    """
    try:
        application, version, tables = connection.execute(
            "SELECT application_id, user_version, (SELECT count(*) FROM sqlite_master) "
            "FROM pragma_application_id, pragma_user_version"
        ).fetchone()
        if (application, version, tables) == (0, 0, 0):
            return None
        if application != APPLICATION:
            raise _foreign(path, f"one of application {application:#x}")
        if version > VERSION:
            raise _foreign(path, f"one of version {version}")
        if version < VERSION:
            return f"must have version {VERSION}, got the older version {version}", "old"
        found = str(connection.execute("PRAGMA quick_check(1)").fetchone()[0])
    except sqlite3.OperationalError:  # locked, unreadable or full: nothing is wrong with the file
        raise
    except sqlite3.DatabaseError as error:
        found = str(error)
    return None if found == "ok" else (f"must be a whole SQLite file, got {found!r}", "corrupt")


def _foreign(path: Path, got: str) -> LedgerError:
    return LedgerError(
        f"{path}: must be a ledger of certiformer in version {VERSION}, got {got}; "
        "move it away, choose another folder with --out, or use the version that wrote it"
    )


def _create(connection: sqlite3.Connection) -> None:
    """Make the table unless it is there."""
    with connection:
        connection.execute("BEGIN IMMEDIATE")  # of two processes the second finds the table
        if not connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            connection.execute(SCHEMA)
            connection.execute(f"PRAGMA application_id = {APPLICATION}")
            connection.execute(f"PRAGMA user_version = {VERSION}")


def _moved_aside(path: Path, word: str) -> Path:
    names = (path.with_name(f"{path.name}.{word}-{number}") for number in count(1))
    aside = next(name for name in names if not name.exists())
    return path.rename(aside)
