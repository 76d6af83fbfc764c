"""What is settled is found again by what it was computed from, and by nothing else."""

from __future__ import annotations

import json
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from textwrap import dedent

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from verify.claims import Claim, Setting, Source
from verify.errors import LedgerError
from verify.ledger import KEPT, LEDGER, Entry, Ledger
from verify.verdicts import Status, Verdict, broken, unknown

QUICK = Setting(profile="quick")
HELD = Verdict(
    status=Status.BOUNDED,
    evidence={"checked": 9, "bound": "n < 9"},
    trusts=("library:flint",),
    instances=9,
    certificate={"kind": "exhaustive", "instances": [1, 2]},
    notes={"seen": [0.5, None]},
)
WRITER = """
import sys
from pathlib import Path
from verify.claims import Claim, Setting, Source
from verify.ledger import Ledger
from verify.verdicts import Status, Verdict

claim = Claim(id="mine.one", source=Source("paper", "1"), statement="s", latex="s", scope="s",
              uses=(), expected=Status.PROVED, build=list, module="mine", path=None)
ledger = Ledger(Path(sys.argv[1]))


def keep(seed, size=1):
    entry = ledger.entry(claim, 0, "witness", Setting(seed=seed))
    verdict = Verdict(status=Status.PROVED, evidence={"seed": seed}, instances=1,
                      notes={"noise": Random(seed).randbytes(size).hex()})
    ledger.keep(entry, verdict, 1.0)
    return entry


from random import Random
"""


def stated(path: str | None = None, id: str = "mine.one") -> Claim:
    return Claim(
        id=id,
        source=Source("paper", "1"),
        statement="It holds.",
        latex="n",
        scope="n < 9",
        uses=(),
        expected=Status.BOUNDED,
        build=list,
        module="mine",
        path=path,
    )


def place(ledger: Ledger, claim: Claim | None = None, setting: Setting = QUICK) -> Entry:
    return ledger.entry(claim or stated(), 0, "exhaustive", setting)


def rows(path: Path, columns: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(f"SELECT {columns} FROM shards ORDER BY rowid").fetchall()  # noqa: S608


def change(path: Path, statement: str, *values: object) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(statement, values)


def writer(body: str, path: Path) -> list[str]:
    return [sys.executable, "-c", WRITER + dedent(body), str(path)]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / LEDGER


@pytest.fixture
def ledger_at(path: Path) -> Iterator[Callable[..., Ledger]]:
    """Open the test's ledger, as often as it is asked for."""
    opened: list[Ledger] = []

    def open_it(**how: object) -> Ledger:
        opened.append(Ledger(path, **how))  # type: ignore[arg-type]
        return opened[-1]

    yield open_it
    for ledger in opened:
        ledger.close()


Opens = Callable[..., Ledger]


# --- what is found ---------------------------------------------------------------------------

jsons = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(st.characters()), inner, max_size=3)
    ),
    max_leaves=8,
)
objects = st.dictionaries(st.text(max_size=4), jsons, max_size=3)
kept_verdicts = st.builds(
    Verdict,
    status=st.sampled_from(sorted(KEPT)),
    evidence=objects,
    trusts=st.lists(st.text(max_size=9), max_size=3).map(tuple),
    instances=st.integers(0),
    certificate=st.none() | objects,
    notes=objects,
)
kept_seeds = st.integers(0, 1 << 70)


def test_what_is_written_is_read_back_in_its_order(ledger_at: Opens) -> None:
    ledger, again = ledger_at(), ledger_at()

    @settings(max_examples=40)
    @given(kept_verdicts, st.floats(0, 1e9), kept_seeds)
    def both_agree(verdict: Verdict, seconds: float, seed: int) -> None:
        ledger.keep(place(ledger, setting=Setting(seed=seed)), verdict, seconds)
        found = again.find(place(again, setting=Setting(seed=seed)))
        assert found is not None
        assert json.dumps(found.verdict.as_json()) == json.dumps(verdict.as_json())
        assert found.seconds == seconds

    both_agree()
    assert ledger.notes == again.notes == []


@pytest.mark.parametrize("verdict", [unknown("gave up"), broken("crashed")])
def test_unknown_and_broken_are_not_kept(ledger_at: Opens, path: Path, verdict: Verdict) -> None:
    ledger = ledger_at()
    ledger.keep(place(ledger), verdict, 1.0)
    assert ledger.find(place(ledger)) is None
    assert rows(path, "*") == []


@pytest.mark.parametrize("status", sorted(KEPT))
def test_what_is_settled_is_kept(ledger_at: Opens, path: Path, status: Status) -> None:
    ledger = ledger_at()
    ledger.keep(place(ledger), replace(HELD, status=status), 1.5)
    found = ledger.find(place(ledger))
    assert found is not None
    assert (found.verdict.status, found.seconds) == (status, 1.5)
    columns = "claim, place, method, shard, shards, profile, seed, status, seconds, obsolete"
    assert rows(path, columns) == [
        ("mine.one", 0, "exhaustive", 0, 1, "quick", "0", status.name, 1.5, 0)
    ]


@pytest.mark.parametrize(
    "setting",
    [
        Setting(profile="standard"),
        Setting(profile="quick", seed=1),
        Setting(profile="quick", shard=1),
        Setting(profile="quick", shards=2),
        Setting(profile="quick", examples=5),
    ],
)
def test_another_setting_is_not_found(ledger_at: Opens, setting: Setting) -> None:
    ledger = ledger_at()
    ledger.keep(place(ledger), HELD, 1.0)
    assert ledger.find(place(ledger, setting=setting)) is None


def test_another_claim_check_or_method_is_not_found(ledger_at: Opens) -> None:
    ledger = ledger_at()
    ledger.keep(place(ledger), HELD, 1.0)
    assert ledger.find(place(ledger, stated(id="mine.two"))) is None
    assert ledger.find(ledger.entry(stated(), 1, "exhaustive", QUICK)) is None
    assert ledger.find(ledger.entry(stated(), 0, "witness", QUICK)) is None
    assert ledger.find(place(ledger)) is not None


# --- what becomes obsolete -------------------------------------------------------------------


def copies(tmp_path: Path, **texts: str) -> dict[str, Claim]:
    """The claim as it is stated in files of these contents."""
    for name, text in texts.items():
        (tmp_path / f"{name}.py").write_text(text, encoding="utf-8")
    return {name: stated(str(tmp_path / f"{name}.py")) for name in texts}


def test_a_changed_file_is_not_found_and_what_it_said_is_obsolete(
    ledger_at: Opens, path: Path, tmp_path: Path
) -> None:
    ledger = ledger_at()
    files = copies(tmp_path, old="n = 1", new="n = 2", copied="n = 1")
    ledger.keep(place(ledger, files["old"]), HELD, 1.0)
    other = stated(str(files["new"].path), "mine.two")
    ledger.keep(place(ledger, other), HELD, 2.0)
    assert ledger.find(place(ledger, files["new"])) is None
    assert rows(path, "seconds, obsolete") == [(1.0, 0), (2.0, 0)]

    ledger = ledger_at()
    ledger.keep(place(ledger, files["new"]), HELD, 3.0)
    assert rows(path, "seconds, obsolete") == [(1.0, 1), (2.0, 0), (3.0, 0)]

    ledger = ledger_at()
    assert ledger.find(place(ledger, files["copied"])) is not None
    assert rows(path, "seconds, obsolete") == [(1.0, 0), (2.0, 0), (3.0, 1)]


def test_another_version_of_a_library_is_not_found(
    ledger_at: Opens, path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = ledger_at()
    ledger.keep(place(ledger), HELD, 1.0)
    metadata = tmp_path / "sympy-0.0.1.dist-info" / "METADATA"
    metadata.parent.mkdir()
    metadata.write_text("Metadata-Version: 2.1\nName: sympy\nVersion: 0.0.1\n", encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    ledger = ledger_at()
    assert ledger.find(place(ledger)) is None
    ledger.keep(place(ledger), HELD, 2.0)
    assert rows(path, "seconds, obsolete") == [(1.0, 1), (2.0, 0)]
    assert '"sympy":"0.0.1"' in str(rows(path, "versions")[1])


def test_obsolete_rows_are_deleted_when_there_is_no_room(
    ledger_at: Opens, path: Path, tmp_path: Path
) -> None:
    files = copies(tmp_path, old="n = 1", new="n = 2")
    ledger = ledger_at(room=1)
    ledger.keep(place(ledger, files["old"]), HELD, 1.0)
    assert rows(path, "seconds") == [(1.0,)]
    ledger = ledger_at(room=1)
    ledger.keep(place(ledger, files["new"]), HELD, 2.0)
    assert rows(path, "seconds") == [(2.0,)]


def test_what_is_settled_while_a_source_changes_is_not_kept(
    ledger_at: Opens, path: Path, tmp_path: Path
) -> None:
    claim = copies(tmp_path, mine="n = 1")["mine"]
    ledger = ledger_at()
    entry = place(ledger, claim)
    (tmp_path / "mine.py").write_text("n = 22", encoding="utf-8")
    ledger.keep(entry, HELD, 1.0)
    ledger.keep(entry, HELD, 1.0)
    assert rows(path, "*") == []
    assert ledger.notes == [
        f"{path}: sources must not change during a run, got other files in {claim.path}; what was "
        "settled since is not kept, verify again"
    ]


def test_a_fresh_ledger_forgets_what_is_looked_up(ledger_at: Opens, path: Path) -> None:
    ledger = ledger_at()
    ledger.keep(place(ledger), HELD, 1.0)
    ledger.keep(place(ledger, stated(id="mine.two")), HELD, 2.0)
    fresh = ledger_at(fresh=True)
    assert fresh.find(place(fresh)) is None
    assert rows(path, "seconds") == [(2.0,)]
    fresh.keep(place(fresh), HELD, 3.0)
    assert rows(path, "seconds") == [(2.0,), (3.0,)]


# --- files that are not what they should be --------------------------------------------------


@pytest.mark.parametrize("column", ["value", "digest"])
@pytest.mark.parametrize("at", [0.0, 0.5, 1.0])
def test_a_flipped_byte_is_noticed_and_the_row_dropped(
    ledger_at: Opens, path: Path, column: str, at: float
) -> None:
    ledger = ledger_at()
    ledger.keep(place(ledger), HELD, 1.0)
    ((stored,),) = rows(path, column)
    flipped = bytearray(stored)  # type: ignore[arg-type]
    flipped[int(at * (len(flipped) - 1))] ^= 1
    change(path, f"UPDATE shards SET {column} = ?", bytes(flipped))  # noqa: S608
    assert ledger.find(place(ledger)) is None
    assert rows(path, "*") == []
    assert ledger.notes == [
        f"{path}: a row must hold the bytes that its hash is of, got others for mine.one, "
        "check 0, shard 0; it is dropped and the shard is settled again"
    ]


def test_what_was_moved_under_another_key_is_noticed(ledger_at: Opens, path: Path) -> None:
    ledger = ledger_at()
    ledger.keep(place(ledger), HELD, 1.0)
    ledger.keep(place(ledger, setting=Setting(seed=1)), HELD, 1.0)
    ((first,), (second,)) = rows(path, "key")
    change(path, "DELETE FROM shards WHERE key = ?", first)
    change(path, "UPDATE shards SET key = ? WHERE key = ?", first, second)
    assert ledger.find(place(ledger)) is None
    assert len(ledger.notes) == 1


@pytest.mark.parametrize("column", ["value", "digest", "seconds"])
def test_a_row_of_other_types_is_dropped(ledger_at: Opens, path: Path, column: str) -> None:
    ledger = ledger_at()
    ledger.keep(place(ledger), HELD, 1.0)
    change(path, f"UPDATE shards SET {column} = 'text'")  # noqa: S608
    assert ledger.find(place(ledger)) is None
    assert rows(path, "*") == []


def test_what_is_no_database_is_moved_aside_without_a_journal(ledger_at: Opens, path: Path) -> None:
    journal = path.with_name(f"{LEDGER}-journal")
    for number in (1, 2):
        path.write_bytes(b"no database " * 400)
        journal.write_bytes(b"no journal")
        ledger = ledger_at()
        aside = path.with_name(f"{LEDGER}.corrupt-{number}")
        assert aside.read_bytes() == b"no database " * 400
        assert not journal.exists()
        assert ledger.notes == [
            f"{path}: must be a whole SQLite file, got 'file is not a database'; it is now "
            f"{aside.name}, and a new one is begun"
        ]
        ledger.keep(place(ledger), HELD, 1.0)
        assert ledger.find(place(ledger)) is not None
        ledger.close()


@pytest.mark.parametrize("left", [20, 200, 4096, 4097, 0.5, 0.99])
def test_a_truncated_file_is_moved_aside(ledger_at: Opens, path: Path, left: float) -> None:
    ledger = ledger_at()
    noise = "".join(map(str, range(9_000)))
    for seed in range(3):
        entry = place(ledger, setting=Setting(seed=seed))
        ledger.keep(entry, replace(HELD, notes={"noise": noise}), 1.0)
    ledger.close()
    whole = path.read_bytes()
    path.write_bytes(whole[: int(left * len(whole)) if left < 1 else int(left)])
    ledger = ledger_at()
    assert len(ledger.notes) == 1
    assert f"{LEDGER}.corrupt-1" in ledger.notes[0]
    assert ledger.find(place(ledger, setting=Setting(seed=0))) is None
    ledger.keep(place(ledger), HELD, 1.0)
    assert ledger.find(place(ledger)) is not None


def test_an_empty_file_is_a_new_ledger(ledger_at: Opens, path: Path) -> None:
    path.touch()
    ledger = ledger_at()
    ledger.keep(place(ledger), HELD, 1.0)
    assert ledger.find(place(ledger)) is not None
    assert ledger.notes == []


@pytest.mark.parametrize(
    ("statement", "got"),
    [
        ("PRAGMA user_version = 2", "one of version 2"),
        ("PRAGMA application_id = 7", "one of application 0x7"),
        ("PRAGMA application_id = 0", "one of application 0x0"),
    ],
)
def test_what_others_wrote_is_refused_and_left_alone(
    ledger_at: Opens, path: Path, statement: str, got: str
) -> None:
    ledger_at().close()
    change(path, statement)
    before = path.read_bytes()
    with pytest.raises(LedgerError) as refused:
        Ledger(path)
    assert str(refused.value) == (
        f"{path}: must be a ledger of certiformer in version 1, got {got}; move it away, choose "
        "another folder with --out, or use the version that wrote it"
    )
    assert [entry.name for entry in path.parent.iterdir()] == [LEDGER]
    assert path.read_bytes() == before


def test_an_older_version_is_moved_aside(ledger_at: Opens, path: Path) -> None:
    ledger_at().close()
    change(path, "PRAGMA user_version = 0")
    ledger = ledger_at()
    assert ledger.notes == [
        f"{path}: must have version 1, got the older version 0; it is now {LEDGER}.old-1, and a "
        "new one is begun"
    ]
    assert path.with_name(f"{LEDGER}.old-1").is_file()


def test_a_place_that_cannot_be_opened_is_said_once_and_costs_nothing(tmp_path: Path) -> None:
    with closing(Ledger(tmp_path / "absent" / LEDGER)) as ledger:
        assert ledger.find(place(ledger)) is None
        ledger.keep(place(ledger), HELD, 1.0)
        assert len(ledger.notes) == 1
        assert "unable to open database file; the run goes on without it" in ledger.notes[0]


def test_a_table_that_is_gone_is_said_once_and_costs_nothing(ledger_at: Opens, path: Path) -> None:
    ledger = ledger_at()
    change(path, "DROP TABLE shards")
    assert ledger.find(place(ledger)) is None
    ledger.keep(place(ledger), HELD, 1.0)
    assert ledger.find(place(ledger)) is None
    assert len(ledger.notes) == 1
    assert "no such table: shards; the run goes on without it" in ledger.notes[0]


# --- processes -------------------------------------------------------------------------------


def test_two_processes_at_once_lose_nothing(ledger_at: Opens, path: Path) -> None:
    body = """
    for seed in range(30):
        entry = keep(int(sys.argv[2]) + seed, 30_000)
        assert ledger.find(entry) is not None
    assert ledger.notes == [], ledger.notes
    """
    both = [
        subprocess.Popen([*writer(body, path), first], stderr=subprocess.PIPE, text=True)
        for first in ("0", "15")
    ]
    for process in both:
        _, complaints = process.communicate(timeout=120)
        assert process.returncode == 0, complaints
    assert sorted(int(str(seed)) for (seed,) in rows(path, "seed")) == [*range(45)]
    ledger = ledger_at()
    for seed in range(45):
        found = ledger.find(ledger.entry(stated(), 0, "witness", Setting(seed=seed)))
        assert found is not None
        assert found.verdict.evidence == {"seed": seed}
    assert ledger.notes == []


@pytest.mark.parametrize("finished", [1, 6])
def test_a_process_killed_while_it_writes_leaves_every_finished_row(
    ledger_at: Opens, path: Path, finished: int
) -> None:
    body = """
    for seed in range(1000):
        keep(seed, 1_000_000)
        print(seed, flush=True)
    """
    with subprocess.Popen(writer(body, path), stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        told = [int(process.stdout.readline()) for _ in range(finished)]
        process.kill()
        told += [int(line) for line in process.stdout]
    assert process.returncode == -signal.SIGKILL
    ledger = ledger_at()
    for seed in told:
        found = ledger.find(ledger.entry(stated(), 0, "witness", Setting(seed=seed)))
        assert found is not None
        assert found.verdict.evidence == {"seed": seed}
    assert ledger.notes == []
    assert finished <= len(rows(path, "seed")) <= len(told) + 1


def test_a_full_disk_is_said_once_and_what_was_written_stays(ledger_at: Opens, path: Path) -> None:
    body = """
    import resource
    import signal

    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    kept = keep(0, 1000)
    resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, resource.RLIM_INFINITY))
    for seed in range(1, 4):
        assert ledger.find(keep(seed, 1_000_000)) is None
    (note,) = ledger.notes
    assert "the run goes on without it" in note, note
    print(note)
    """
    done = subprocess.run(
        writer(body, path), capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "disk" in done.stdout
    ledger = ledger_at()
    assert [seed for (seed,) in rows(path, "seed")] == ["0"]
    assert ledger.find(ledger.entry(stated(), 0, "witness", Setting(seed=0))) is not None
    assert ledger.notes == []
