"""Random machines for the tests of this folder."""

from collections.abc import Callable, Mapping

import pytest
from hypothesis import strategies as st

from constructions.machines import random_machines, random_queues
from constructions.machines.definitions import QueueMachine, TuringMachine
from constructions.machines.formats.machine_file import MachineFile

TuringCase = tuple[TuringMachine, tuple[str, ...]]
QueueCase = tuple[QueueMachine[str], tuple[str, ...]]


def _queue_files() -> st.SearchStrategy[MachineFile]:
    """Tables of one to four running states with inputs of at most six symbols."""
    return random_queues.queue_tables(states=(1, 4)).flatmap(
        lambda table: random_machines.words(table.alphabet, longest=6).map(
            lambda word: MachineFile(machine=table, word=word)
        )
    )


def _names_its_symbols(case: TuringCase) -> bool:
    """Whether some rule reads or writes each symbol, and the start has a rule."""
    machine = case[0]
    named = {machine.blank}
    for (_, symbol), rule in machine.rules.items():
        named |= {symbol, rule.write}
    return named == {*machine.alphabet} and bool(machine.rows[machine.start])


@pytest.fixture(scope="session")
def turing_cases() -> st.SearchStrategy[TuringCase]:
    """Random Turing machines with inputs, stay moves and missing rules among them."""
    return random_machines.turing_cases()


@pytest.fixture(scope="session")
def queue_cases() -> st.SearchStrategy[QueueCase]:
    """Random queue machines with inputs."""
    return _queue_files().map(lambda given: (given.machine.machine(), given.word))


@pytest.fixture(scope="session")
def queue_files() -> st.SearchStrategy[MachineFile]:
    """Random tables of queue machines with inputs."""
    return _queue_files()


@pytest.fixture(scope="session")
def named_cases() -> st.SearchStrategy[TuringCase]:
    """Random Turing machines whose rules name every symbol, as files without alphabets need."""
    return random_machines.turing_cases().filter(_names_its_symbols)


@pytest.fixture(scope="session")
def moving_cases() -> st.SearchStrategy[TuringCase]:
    """The same without stay moves."""
    return random_machines.turing_cases(moves=(-1, 1)).filter(_names_its_symbols)


@pytest.fixture(scope="session")
def table_of() -> Callable[..., tuple[object, ...]]:
    """What a machine does, under other names: start, blank, alphabet, and each state's rules."""

    def table(
        machine: TuringMachine,
        states: Mapping[str, str] | None = None,
        symbols: Mapping[str, str] | None = None,
    ) -> tuple[object, ...]:
        state = dict(zip(machine.states, machine.states, strict=True)) | dict(states or {})
        cell = dict(zip(machine.alphabet, machine.alphabet, strict=True)) | dict(symbols or {})
        rows = {
            state[name]: {
                cell[symbol]: (cell[write], move, state[target])
                for symbol, (write, move, target) in row.items()
            }
            for name, row in machine.rows.items()
            if row
        }
        alphabet = {cell[symbol] for symbol in machine.alphabet}
        return state[machine.start], cell[machine.blank], alphabet, rows

    return table


@pytest.fixture(scope="session")
def stays() -> Callable[[TuringMachine], bool]:
    """Whether a Turing machine has a stay move."""
    return lambda machine: any(rule.move == 0 for rule in machine.rules.values())
