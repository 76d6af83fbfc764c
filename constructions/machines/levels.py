"""What a run of several levels found: one value of figures per level.

Source: Sliding-Window Transformers Without Positional Encodings, Theorems 6, 7, 9, Corollary 10.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from constructions.machines.definitions import MachineError, Word
from constructions.machines.runs import TuringRun

LEVELS = ("turing", "queue", "hist", "transformer")


@dataclass(frozen=True, slots=True, kw_only=True)
class TuringFigures:
    """Rules applied, cells not blank, distinct cells on which a rule was applied, trimmed tape."""

    steps: int
    nonblank: int
    cells: int
    tape: str


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueFigures:
    """Queue steps and the longest queue."""

    steps: int
    max_length: int


@dataclass(frozen=True, slots=True, kw_only=True)
class HistFigures:
    """HIST steps and the largest window."""

    steps: int
    max_window: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TransformerFigures:
    """Generated tokens, the longest context, markers generated anew."""

    tokens: int
    max_context: int
    refreshes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelsReport:
    """What a run of several levels found; a level that was not asked is None.

    `steps` counts Turing rules, or queue steps where the machine is a queue machine.
    """

    machine: str
    halted: bool
    steps: int
    turing: TuringFigures | None
    queue: QueueFigures | None
    hist: HistFigures | None
    transformer: TransformerFigures | None
    agree: bool
    disagreement: str

    def as_json(self) -> dict[str, object]:
        """The object that `run --json` prints: only the levels that were asked."""
        figures = {level: getattr(self, level) for level in LEVELS}
        return {
            "machine": self.machine,
            "halted": self.halted,
            "steps": self.steps,
            "levels": {level: asdict(value) for level, value in figures.items() if value},
            "agree": self.agree,
        }


def require_levels(levels: Sequence[str], known: Sequence[str]) -> frozenset[str]:
    """The asked levels as a set.

    Raises:
        MachineError: none, or one that is not known.
    """
    asked = frozenset(levels)
    if not asked or not asked <= frozenset(known):
        raise MachineError(
            f"levels must be some of {', '.join(known)}, got {', '.join(levels) or 'none'}; "
            "name at least one of these"
        )
    return asked


def tape_text(cells: Word, blank: str) -> str:
    """Cells as one text, the blank written `_`."""
    return "".join("_" if symbol == blank else symbol for symbol in cells)


def turing_figures(run: TuringRun) -> TuringFigures:
    """The figures of a Turing run."""
    return TuringFigures(
        steps=run.steps,
        nonblank=run.nonblank,
        cells=run.visited,
        tape=tape_text(run.trimmed, run.machine.blank),
    )
