"""Two engines for all that is computed, and instances that both of them decide.

    engine   exact matrices                    enclosures
    FIRST    FLINT's rationals                 FLINT's Arb
    SECOND   fractions of Python's library     mpmath's interval arithmetic

A method decides the first `DECIDED_TWICE` instances of each of its shards by both, so that a wrong
result of one is noticed; beyond them the first engine decides, and `recheck.py` rechecks. What the
first decides without a matrix gains nothing from a second pass and is not run again.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache, update_wrapper
from typing import Generic, ParamSpec, Protocol, TypeVar

from verify.errors import DisagreementError, PrecisionError

DECIDED_TWICE = 3
"""Instances of a shard that both engines decide, its first ones."""


class Engine(Enum):
    """Who computes; the value is what errors call it."""

    FIRST = "FLINT"
    SECOND = "fractions and mpmath"


@dataclass(slots=True)
class Work:
    """What one engine is asked to do: how many operations on matrices it did so far."""

    engine: Engine
    operations: int = 0


_WORK: ContextVar[Work | None] = ContextVar("work", default=None)
_UNCOUNTED = Work(Engine.FIRST)


def work() -> Work:
    """Whose turn it is, and its count, to which every operation on a matrix adds one."""
    return _WORK.get() or _UNCOUNTED


@contextmanager
def computing_by(engine: Engine) -> Generator[Work, None, None]:
    """Everything inside is computed by the engine; matrices of the other one are converted."""
    counted = Work(engine)
    token = _WORK.set(counted)
    try:
        yield counted
    finally:
        _WORK.reset(token)


P = ParamSpec("P")
R = TypeVar("R")


class Remembered(Generic[P, R]):
    """A function with a memory of its last results for each engine: none takes the other's.

    A recalled result counts as the operations that it took, so that no count depends on what the
    process did before.
    """

    def __init__(self, function: Callable[P, R], most: int) -> None:
        """Remember nothing yet."""

        def counted(*arguments: P.args, **named: P.kwargs) -> tuple[R, int]:
            before = work().operations
            return function(*arguments, **named), work().operations - before

        update_wrapper(self, function)
        self._by_first, self._by_second = (lru_cache(maxsize=most)(counted) for _ in Engine)

    def __call__(self, *arguments: P.args, **named: P.kwargs) -> R:
        """The result, computed by the engine at work now or earlier."""
        turn = work()
        before = turn.operations
        memory = self._by_first if turn.engine is Engine.FIRST else self._by_second
        result, operations = memory(*arguments, **named)
        turn.operations = before + operations
        return result

    def cache_clear(self) -> None:
        """Forget every result."""
        self._by_first.cache_clear()
        self._by_second.cache_clear()


def remembered(most: int) -> Callable[[Callable[P, R]], Remembered[P, R]]:
    """As `functools.lru_cache`, for functions that compute with matrices."""
    return lambda function: Remembered(function, most)


class Answer(Protocol):
    """What an instance comes to if it is not that the statement holds."""

    @property
    def text(self) -> str:
        """What was required and what came."""
        ...


T = TypeVar("T", bound=Answer)


@dataclass(frozen=True, slots=True)
class _Raised:
    """An engine's answer where the obligation raised an error."""

    text: str


def decided(
    decide: Callable[[], T | None], exhibit: Callable[[], object], before: int = 0
) -> tuple[T | None, bool]:
    """The first engine's answer on an instance, and whether the second one gave the same.

    The second is not asked if the first had nothing to compute, nor after `before` instances of
    the shard if these are enough.

    Raises:
        DisagreementError: the engines give different answers.
    """
    if before >= DECIDED_TWICE:
        return decide(), False
    with computing_by(Engine.FIRST) as first:
        answer = decide()
    return answer, bool(first.operations) and confirmed(answer, decide, exhibit)


def confirmed(
    answer: Answer | None, decide: Callable[[], Answer | None], exhibit: Callable[[], object]
) -> bool:
    """Whether the second engine computes anything, and comes to the first one's answer.

    Answers agree if both are None, which says that the statement holds, or neither is; an error
    is an answer, but for a PrecisionError, which leaves the instance open. `exhibit` shows it.

    Raises:
        DisagreementError: the second engine gives a different answer.
    """
    with computing_by(Engine.SECOND) as second:
        try:
            other = decide()
        except PrecisionError:
            return False
        except MemoryError:
            raise
        except Exception as error:  # what the first engine's numbers did not raise, these did
            other = _Raised(f"{type(error).__name__}: {error}")
    if (answer is None) is not (other is None):
        raise DisagreementError(
            f"both engines must come to the same on instance {exhibit()}, got from "
            f"{Engine.FIRST.value}: {_said(answer)}; from {Engine.SECOND.value}: {_said(other)}; "
            "one of them computes wrongly, so compare their steps on this instance"
        )
    return bool(second.operations)


def _said(answer: Answer | None) -> str:
    return "it holds" if answer is None else answer.text
