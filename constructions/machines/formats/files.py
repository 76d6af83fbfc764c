"""Files of machines: which format a name stands for, and how much of a file is read.

    name ends in                  format
    .queue.yaml, .queue.yml       queue machine
    .yaml, .yml                   turingmachine.io
    .jff                          JFLAP
    .bb.txt                       bbchallenge
    .txt, .tm and any other       bbchallenge if its only line is such a text, else Morphett

The same endings choose the format that is written; `.txt` and `.tm` are then Morphett's.
"""

import re
import stat
from collections.abc import Callable, Iterable
from pathlib import Path

from constructions.machines.definitions import TuringMachine
from constructions.machines.formats import bbchallenge, jflap, morphett, queue_yaml
from constructions.machines.formats import turingmachine_io as tmio
from constructions.machines.formats.machine_file import MachineFile, QueueTable
from verify.errors import MachineFormatError

MOST_BYTES = 4 << 20
QUEUE = queue_yaml.SUFFIXES
TURINGMACHINE_IO = (".yaml", ".yml")
JFLAP = (".jff",)
BBCHALLENGE = (".bb.txt",)
MORPHETT = (".txt", ".tm")
SUFFIXES = (*QUEUE, *TURINGMACHINE_IO, *JFLAP, *BBCHALLENGE, *MORPHETT)
_BBCHALLENGE_LINE = re.compile(r"\s*[-0-9][-LR][-A-Z][-0-9A-Z_]*( .*)?\s*")


def read_file(path: Path, source_name: str, extra_symbols: Iterable[str] = ()) -> MachineFile:
    """The machine in a file, and its input if the file has one.

    The symbols of another input are `extra_symbols`; only a format without an alphabet of its own
    takes them.

    Raises:
        MachineFormatError: the file cannot be read, or does not follow its format.
    """
    text = content(path, source_name)
    name = path.name.lower()
    if name.endswith(QUEUE):
        return queue_yaml.read(text, source_name)
    if name.endswith(TURINGMACHINE_IO):
        return tmio.read(text, source_name)
    if name.endswith(JFLAP):
        return MachineFile(machine=jflap.read(text, source_name))
    if name.endswith(BBCHALLENGE) or _BBCHALLENGE_LINE.fullmatch(text):
        return MachineFile(machine=bbchallenge.read(text, source_name))
    return MachineFile(machine=morphett.read(text, source_name, extra_symbols))


def written(given: MachineFile, file_name: str) -> str:
    """The text of a machine in the format that a file's name stands for.

    An input is written where the format has a place for it.

    Raises:
        MachineFormatError: no format has this ending, or the format cannot write the machine.
    """
    name = file_name.lower()
    if not name.endswith(SUFFIXES):
        raise MachineFormatError(
            f"{file_name}: a machine's file must end in one of {', '.join(SUFFIXES)}, got "
            "another name; choose one of these"
        )
    machine, is_queue = given.machine, name.endswith(QUEUE)
    if isinstance(machine, QueueTable):
        if is_queue:
            return queue_yaml.write(machine, given.word)
        raise _other_kind(file_name, "queue machine", f"end in {QUEUE[0]}")
    if is_queue:
        raise _other_kind(file_name, "Turing machine", f"not end in {QUEUE[0]}")
    if name.endswith(TURINGMACHINE_IO):
        return tmio.write(machine, given.word)
    writers: tuple[tuple[tuple[str, ...], Callable[[TuringMachine], str]], ...] = (
        (JFLAP, jflap.write),
        (BBCHALLENGE, lambda kept: bbchallenge.write(bbchallenge.renamed(kept)) + "\n"),
        (MORPHETT, morphett.write),
    )
    return next(write for endings, write in writers if name.endswith(endings))(machine)


def content(path: Path, source_name: str) -> str:
    """The text of a regular file of at most 4 MiB, which is looked at before it is opened.

    Raises:
        MachineFormatError: another kind of file, a larger one, or no text.
    """
    try:
        found = path.stat()
        if not stat.S_ISREG(found.st_mode):
            raise MachineFormatError(
                f"{source_name}: must be a regular file, got a folder, a pipe or a device; "
                "save the machine in a file"
            )
        _require_small(found.st_size, source_name)
        with path.open("rb") as stream:
            data = stream.read(MOST_BYTES + 1)
    except OSError as error:
        raise MachineFormatError(
            f"{source_name}: must be a readable file, got {error.strerror or error}; check the path"
        ) from error
    _require_small(len(data), source_name)
    try:
        text = data.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        raise _no_text(data, error.start, source_name) from error
    if "\0" in text:
        raise _no_text(data, data.index(0), source_name)
    return text


def _require_small(size: int, source_name: str) -> None:
    if size > MOST_BYTES:
        raise MachineFormatError(
            f"{source_name}: a machine's file may have at most {MOST_BYTES >> 20} MiB, got at "
            f"least {size:,} bytes; name a file that describes a machine"
        )


def _no_text(data: bytes, place: int, source_name: str) -> MachineFormatError:
    line = data.count(b"\n", 0, place) + 1
    return MachineFormatError(
        f"{source_name}:{line}: must be UTF-8 text, got byte {data[place]:#04x} at {place}; "
        "save it as text"
    )


def _other_kind(file_name: str, kind: str, ending: str) -> MachineFormatError:
    return MachineFormatError(
        f"{file_name}: a file of a {kind} must {ending}, got another name; rename it"
    )
