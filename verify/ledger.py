"""Settled shards in one SQLite file, found again by all that their verdicts depend on.

A row's key is the SHA-256 of its claim's sources, its place (claim, check, method, setting) and
the libraries' versions; no path, no time and no number of jobs. Each row is one transaction, so a
run that is killed leaves whole rows, and a second process waits for the first. A fault of the
file costs what the file holds and never a verdict: the run goes on, and `notes` says why.
"""

from __future__ import annotations

import json
import sqlite3
import threading
import zlib
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from verify.certificates import canonical
from verify.claims import Claim, Setting
from verify.ledger_file import opened
from verify.sources import fingerprint, stamp, suite, versions
from verify.verdicts import Status, Verdict

LEDGER = "ledger.sqlite"
KEPT = frozenset({Status.REFUTED, Status.SAMPLED, Status.BOUNDED, Status.PROVED})
"""What is settled for good; UNKNOWN and BROKEN may come out better in the next run."""
ROOM = 2 << 30
"""Bytes of rows beyond which the obsolete ones are deleted."""
FAULTS = (sqlite3.Error, OSError, MemoryError, OverflowError)
INSERT = """INSERT OR REPLACE INTO shards
    (key, claim, place, method, shard, shards, profile, seed, fingerprint, versions, status,
     seconds, digest, value) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"""
MARK = """UPDATE shards SET obsolete = (fingerprint <> :fingerprint OR versions <> :versions)
    WHERE claim = :claim
    AND obsolete <> (fingerprint <> :fingerprint OR versions <> :versions)"""
SIZE = """SELECT (page_count - freelist_count) * page_size
    FROM pragma_page_count, pragma_freelist_count, pragma_page_size"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One shard's place in the ledger, as its sources were before it was settled."""

    key: str
    claim: Claim
    check: int
    method: str
    setting: Setting
    fingerprint: str
    stamp: tuple[tuple[str, int, int], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """A shard's verdict, and the seconds that it took when it was settled."""

    verdict: Verdict
    seconds: float


class _ClosedError(Exception):
    """The ledger is not in use, or no more."""


class Ledger:
    """One file of settled shards; may be used from any thread.

    `notes` says in one line each what went wrong with the file.
    """

    def __init__(self, path: Path, *, fresh: bool = False, room: int = ROOM) -> None:
        """Open the file or make it; with `fresh` every shard that is looked up is forgotten.

        Raises:
            LedgerError: it was written by another program or a newer version.
        """
        self.notes: list[str] = []
        self._path = path
        self._fresh = fresh
        self._room = room
        self._versions = canonical(versions()).decode().strip()
        self._read: dict[str | None, tuple[str, tuple[tuple[str, int, int], ...]]] = {}
        self._marked: set[str] = set()
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        with self._sparing_the_run():
            self._connection = opened(path, self._say)

    def entry(self, claim: Claim, check: int, method: str, setting: Setting) -> Entry:
        """The place of one shard, to be asked for before it is settled."""
        if claim.path not in self._read:
            suite.cache_clear()  # what this process read of the suite earlier may be old
            seen = stamp(claim)  # first, so that what changes while it is read shows later
            self._read[claim.path] = fingerprint(claim), seen
        sources, seen = self._read[claim.path]
        identity = {
            "sources": sources,
            "versions": self._versions,
            "claim": claim.id,
            "check": check,
            "method": method,
            "setting": asdict(setting),
        }
        return Entry(
            key=sha256(canonical(identity)).hexdigest(),
            claim=claim,
            check=check,
            method=method,
            setting=setting,
            fingerprint=sources,
            stamp=seen,
        )

    def find(self, entry: Entry) -> Settled | None:
        """What the shard came to, if it is known; a row that is not whole is dropped."""
        found: Settled | None = None
        with self._sparing_the_run():
            if self._fresh:
                self._drop(entry)
                return None
            with self._using() as connection:
                select = "SELECT seconds, digest, value FROM shards WHERE key = ?"
                row = connection.execute(select, (entry.key,)).fetchone()
            if row is None:
                return None
            found = _unpacked(entry.key, *row)
            if found is None:
                self._drop(entry)
                self._say(
                    f"{self._path}: a row must hold the bytes that its hash is of, got others for "
                    f"{entry.claim.id}, check {entry.check}, shard {entry.setting.shard}; it is "
                    "dropped and the shard is settled again"
                )
            else:
                with self._using() as connection:
                    self._mark(connection, entry)
        return found

    def keep(self, entry: Entry, verdict: Verdict, seconds: float) -> None:
        """Write down what the shard came to, unless that is UNKNOWN or BROKEN.

        Nothing is written if a source has changed since the entry was made: which of the two
        settled the shard is not known.
        """
        if verdict.status not in KEPT or self._connection is None:
            return
        with self._sparing_the_run():
            if stamp(entry.claim) != entry.stamp:
                self._say(
                    f"{self._path}: sources must not change during a run, got other files in "
                    f"{entry.claim.path or 'the suite'}; what was settled since is not kept, "
                    "verify again"
                )
                return
            row = self._row(entry, verdict, seconds)
            with self._using() as connection:
                connection.execute("BEGIN IMMEDIATE")
                connection.execute(INSERT, row)
                self._mark(connection, entry)
                if connection.execute(SIZE).fetchone()[0] > self._room:
                    connection.execute("DELETE FROM shards WHERE obsolete")

    def close(self) -> None:
        """Use the file no more."""
        with self._lock:
            connection, self._connection = self._connection, None
            if connection is not None:
                connection.close()

    def _row(self, entry: Entry, verdict: Verdict, seconds: float) -> tuple[Any, ...]:
        # keys stay in their order, so that what is read back is what a worker answered
        data = json.dumps(verdict.as_json(), separators=(",", ":")).encode("ascii")
        setting = entry.setting
        return (
            *(entry.key, entry.claim.id, entry.check, entry.method, setting.shard, setting.shards),
            *(setting.profile, str(setting.seed), entry.fingerprint, self._versions),
            *(verdict.status.name, seconds, _digest(entry.key, seconds, data)),
            zlib.compress(data, 1),
        )

    def _drop(self, entry: Entry) -> None:
        with self._using() as connection:
            connection.execute("DELETE FROM shards WHERE key = ?", (entry.key,))

    def _mark(self, connection: sqlite3.Connection, entry: Entry) -> None:
        """Once per claim: rows of other sources or versions are obsolete, the present are not."""
        if entry.claim.id not in self._marked:
            present = {
                "claim": entry.claim.id,
                "fingerprint": entry.fingerprint,
                "versions": self._versions,
            }
            connection.execute(MARK, present)
            self._marked.add(entry.claim.id)

    @contextmanager
    def _using(self) -> Generator[sqlite3.Connection, None, None]:
        """The connection, for one thread; what the block began is committed or undone."""
        with self._lock:
            if self._connection is None:
                raise _ClosedError
            with self._connection:
                yield self._connection

    @contextmanager
    def _sparing_the_run(self) -> Generator[None, None, None]:
        """A fault of the file ends the use of it."""
        try:
            yield
        except _ClosedError:
            pass  # said when it was closed, if that was for a fault
        except FAULTS as error:
            self._say(
                f"{self._path}: must be a file that verdicts can be kept in, got "
                f"{type(error).__name__}: {error}; the run goes on without it, make room or "
                "remove the file and verify again"
            )
            with suppress(sqlite3.Error):
                self.close()

    def _say(self, note: str) -> None:
        if note not in self.notes:
            self.notes.append(note)


def _digest(key: str, seconds: float, data: bytes) -> bytes:
    """Hash of a row's content, which also binds it to its place."""
    return sha256(b"\n".join([key.encode(), repr(seconds).encode(), data])).digest()


def _unpacked(key: str, seconds: Any, digest: Any, value: Any) -> Settled | None:
    """The row's content, or None if it is not what was written."""
    try:
        data = zlib.decompress(value)
        if _digest(key, seconds, data) != digest:
            return None
        return Settled(verdict=Verdict.from_json(json.loads(data)), seconds=seconds)
    except (zlib.error, TypeError, ValueError, LookupError):
        return None
