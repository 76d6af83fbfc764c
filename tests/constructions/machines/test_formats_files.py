"""Which format a file has, and how much of it is read."""

import os

import pytest

from constructions.machines.definitions import TuringMachine
from constructions.machines.formats import bbchallenge, files, morphett
from constructions.machines.formats.machine_file import MachineFile, QueueTable
from verify.errors import MachineFormatError

BEAVER = "1RB1LB_1LA1RZ"
MOST = 4 << 20


@pytest.fixture
def put(tmp_path):
    def write(name, data):
        path = tmp_path / name
        path.write_bytes(data if isinstance(data, bytes) else data.encode())
        return path

    return write


def read(path, extra=()):
    return files.read_file(path, path.name, extra)


def refusal(path):
    with pytest.raises(MachineFormatError) as caught:
        read(path)
    return str(caught.value)


@pytest.mark.parametrize("name", ["a.txt", "a.tm", "a", "a.bb.txt", "a.TXT", "a.other"])
@pytest.mark.parametrize("text", [BEAVER, f"\n {BEAVER} Halt 6 4\n\n"])
def test_a_single_line_that_looks_so_is_bbchallenge_text(put, name, text):
    assert read(put(name, text)).machine == bbchallenge.read(BEAVER)


@pytest.mark.parametrize("name", ["a.txt", "a.tm", "a"])
@pytest.mark.parametrize(
    "text", ["0 _ 1 r halt", "\ufeff0 _ 1 r 0\r\n0 1 1 r halt\r\n", "* * 1 r *"]
)
def test_other_text_is_morphetts(put, name, text):
    expected = morphett.read(text.removeprefix("\ufeff"), name)
    assert read(put(name, text)).machine == expected


def test_extra_symbols_reach_the_format_that_needs_them(put):
    assert read(put("a.txt", "0 * 1 r halt"), "x").machine.alphabet == ("_", "1", "x")
    assert read(put("b.txt", BEAVER), "x").machine.alphabet == ("0", "1")


def test_the_ending_chooses_the_format(put, tmp_path):
    given = MachineFile(machine=bbchallenge.read(BEAVER))
    for name in ("a.yaml", "a.YML", "a.jff", "a.bb.txt", "a.txt", "a.tm"):
        again = read(put(name, files.written(given, name))).machine
        assert isinstance(again, TuringMachine)
    queue = MachineFile(
        machine=QueueTable(
            name="q", alphabet=("a",), blank="a", front="a", start="h", halt="h", rules={}
        ),
        word=("a",),
    )
    for name in ("a.queue.yaml", "A.Queue.yml"):
        assert read(put(name, files.written(queue, name))) == queue
    with pytest.raises(MachineFormatError) as caught:
        files.written(queue, "a.yaml")
    assert str(caught.value) == (
        "a.yaml: a file of a queue machine must end in .queue.yaml, got another name; rename it"
    )
    with pytest.raises(MachineFormatError) as caught:
        files.written(given, "a.queue.yaml")
    assert str(caught.value) == (
        "a.queue.yaml: a file of a Turing machine must not end in .queue.yaml, got another name; "
        "rename it"
    )
    with pytest.raises(MachineFormatError) as caught:
        files.written(given, "a.xml")
    assert str(caught.value) == (
        "a.xml: a machine's file must end in one of .queue.yaml, .queue.yml, .yaml, .yml, .jff, "
        ".bb.txt, .txt, .tm, got another name; choose one of these"
    )


def test_a_broken_bbchallenge_text_is_called_so(put):
    assert "row B must have 2 transitions" in refusal(put("a.txt", "\n1RB1LB_1LA"))
    assert refusal(put("b.bb.txt", "0 1 1 r 0")).startswith("b.bb.txt:1: behind the machine")


def test_larger_files_are_refused_unread(put, monkeypatch):
    path = put("a.yaml", "")
    os.truncate(path, 100 << 20)
    monkeypatch.setattr(type(path), "open", lambda *_: pytest.fail("the file was opened"))
    assert refusal(path) == (
        "a.yaml: a machine's file may have at most 4 MiB, got at least 104,857,600 bytes; name a "
        "file that describes a machine"
    )


def test_a_file_of_the_largest_size_is_read(put):
    rule = b"0 _ 1 r halt\n"
    assert read(put("a.txt", rule + b";" * (MOST - len(rule)))).machine.states == ("0", "halt")
    assert "at least 4,194,305 bytes" in refusal(put("a.txt", rule + b";" * (MOST + 1 - len(rule))))


def test_what_is_no_regular_file_is_refused_unopened(tmp_path):
    os.mkfifo(tmp_path / "pipe.yaml")
    (tmp_path / "folder.jff").mkdir()
    for name in ("pipe.yaml", "folder.jff"):
        assert refusal(tmp_path / name) == (
            f"{name}: must be a regular file, got a folder, a pipe or a device; save the machine "
            "in a file"
        )
    assert refusal(tmp_path / "none.txt") == (
        "none.txt: must be a readable file, got No such file or directory; check the path"
    )


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"0 1 1 r 0\n0 \xff 1 r 0", "2: must be UTF-8 text, got byte 0xff at 12; save it as text"),
        (b"0 1\0", "1: must be UTF-8 text, got byte 0x00 at 3; save it as text"),
        (b"\x7fELF\x02\x01\x01\x00", "1: must be UTF-8 text, got byte 0x00 at 7; save it as text"),
    ],
)
@pytest.mark.parametrize("name", ["a.txt", "a.yaml", "a.queue.yaml", "a.jff"])
def test_binary_files_are_refused(put, data, message, name):
    assert refusal(put(name, data)) == f"{name}:{message}"
