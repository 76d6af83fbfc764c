"""The minimal transformer: one head in the plane, and the rule that it is to follow.

    e_i = E[x_i] + P[i]                       token and position, vectors of R^2
    a_i = sum_{j <= i} softmax(<e_i W_Q, e_j W_K> / sqrt 2) e_j W_V
    y_i = e_i + a_i,   z_i = y_i + relu(y_i W_1 + b_1) W_2 + b_2,   logits_i = z_i U + c

Tokens 0 to 10 are numbers, token 11 is the operator `+`. The rule: behind a `+` comes the even
number that stood last. A window is a sequence of 2 to T tokens that ends in `+` and holds an even
number; the model is right on it if the logit of that number is greater than all others.

Source: Fully Interpretable Minimal Transformers, Table 1 and Figure 1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from verify.errors import SizeError, WeightsError

Reals = NDArray[np.float64]
Window = tuple[int, ...]

PAPER = "minimal-transformers"
NUMBERS = 11
PLUS = NUMBERS
VOCABULARY = NUMBERS + 1
WIDTH = 2
HIDDEN = 32
CONTEXT = 8
SHORTEST = 2
"""A window has at least an even number and a `+`."""
EVENS = tuple(range(0, NUMBERS, 2))
NOT_EVEN = tuple(token for token in range(VOCABULARY) if token not in EVENS)
LENGTHS = range(SHORTEST, CONTEXT + 1)
LONGEST_CONTEXT = 1 << 12


def shapes(context: int = CONTEXT, hidden: int = HIDDEN) -> dict[str, tuple[int, ...]]:
    """The shape of every tensor: rows are what is read, columns what is written."""
    return {
        "E": (VOCABULARY, WIDTH),
        "P": (context, WIDTH),
        "W_Q": (WIDTH, WIDTH),
        "W_K": (WIDTH, WIDTH),
        "W_V": (WIDTH, WIDTH),
        "W_1": (WIDTH, hidden),
        "b_1": (hidden,),
        "W_2": (hidden, WIDTH),
        "b_2": (WIDTH,),
        "U": (WIDTH, VOCABULARY),
        "c": (VOCABULARY,),
    }


def token_name(token: int) -> str:
    """The number itself, or `+`."""
    return "+" if token == PLUS else str(token)


def window_text(window: Sequence[int]) -> str:
    """A window as the paper writes it: `4 1 + 4 6 9 5 +`."""
    return " ".join(map(token_name, window))


def last_even(window: Sequence[int]) -> int | None:
    """The even number that stands last in a window, which the rule requires next."""
    return next((token for token in reversed(window) if token in EVENS), None)


def required_token(window: Sequence[int]) -> int:
    """The last even number of a window that holds one.

    Raises:
        SizeError: it holds none.
    """
    required = last_even(window)
    if required is None:
        raise SizeError(
            f"a window must hold an even number, got {window_text(window)}; the rule says nothing "
            "of it"
        )
    return required


def window_count(length: int) -> int:
    """Windows of a length: 12^(n-1) sequences before the `+`, less the 6^(n-1) without evens."""
    return VOCABULARY ** (length - 1) - len(NOT_EVEN) ** (length - 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """The windows of a length whose last even number is `even`, at `place`.

    Before it any token may stand, behind it any that is not even; the last is `+`.
    """

    length: int
    place: int
    even: int

    def allowed(self) -> tuple[tuple[int, ...], ...]:
        """The tokens that may stand at each position."""
        before = (tuple(range(VOCABULARY)),) * self.place
        behind = (NOT_EVEN,) * (self.length - self.place - 2)
        return (*before, (self.even,), *behind, (PLUS,))

    def size(self) -> int:
        """How many windows it holds."""
        return VOCABULARY**self.place * len(NOT_EVEN) ** (self.length - self.place - 2)


def groups(length: int) -> tuple[Group, ...]:
    """All groups of a length, which together hold each of its windows once."""
    return tuple(
        Group(length=length, place=place, even=even)
        for place in range(length - 1)
        for even in EVENS
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class Model:
    """The weights of a minimal transformer, each a float64, by the names of `shapes`.

    Raises:
        WeightsError: missing, extra or misshapen tensors, or an entry that is not finite.
    """

    tensors: Mapping[str, Reals]

    def __post_init__(self) -> None:
        """Check the tensors and make them read-only."""
        found = {name: np.array(part, dtype=np.float64) for name, part in self.tensors.items()}
        _require_names(found, shapes())
        context, hidden = _sizes(found)
        for name, shape in shapes(context, hidden).items():
            _require_tensor(name, found[name], shape)
            found[name].flags.writeable = False
        object.__setattr__(self, "tensors", MappingProxyType(found))

    @property
    def context(self) -> int:
        """T, the longest window."""
        return len(self.tensors["P"])

    @property
    def hidden(self) -> int:
        """Neurons of the feed-forward layer."""
        return len(self.tensors["b_1"])

    @property
    def parameters(self) -> int:
        """How many numbers the tensors hold."""
        return sum(tensor.size for tensor in self.tensors.values())

    def exact(self, name: str) -> list[list[Fraction]]:
        """A tensor's entries as they are; a vector is one row."""
        return [[Fraction(float(x)) for x in row] for row in np.atleast_2d(self.tensors[name])]

    @cached_property
    def embedded(self) -> tuple[tuple[tuple[Fraction, ...], ...], ...]:
        """[position][token]: E[token] + P[position], exactly."""
        tokens, positions = self.exact("E"), self.exact("P")
        return tuple(
            tuple(tuple(x + y for x, y in zip(row, place, strict=True)) for row in tokens)
            for place in positions
        )

    def _through(self, name: str) -> tuple[tuple[tuple[Fraction, ...], ...], ...]:
        columns = tuple(zip(*self.exact(name), strict=True))
        return tuple(
            tuple(tuple(_dot(vector, column) for column in columns) for vector in at)
            for at in self.embedded
        )

    @cached_property
    def queries(self) -> tuple[tuple[tuple[Fraction, ...], ...], ...]:
        """[position][token]: e W_Q."""
        return self._through("W_Q")

    @cached_property
    def keys(self) -> tuple[tuple[tuple[Fraction, ...], ...], ...]:
        """[position][token]: e W_K."""
        return self._through("W_K")

    @cached_property
    def values(self) -> tuple[tuple[tuple[Fraction, ...], ...], ...]:
        """[position][token]: e W_V."""
        return self._through("W_V")

    def scores(self, length: int) -> tuple[tuple[Fraction, ...], ...]:
        """[position][token]: <q, k> for the `+` at the end of a window, before the 1/sqrt 2."""
        query = self.queries[length - 1][PLUS]
        return tuple(tuple(_dot(query, key) for key in at) for at in self.keys[:length])

    def window(self, tokens: Sequence[int]) -> Window:
        """The tokens as a window.

        Raises:
            SizeError: too short, too long, not tokens, no `+` at the end or no even number.
        """
        window = tuple(tokens)
        if not SHORTEST <= len(window) <= self.context:
            raise SizeError(
                f"a window must have {SHORTEST} to {self.context} tokens, got {len(window)}; the "
                "upper end is the model's context"
            )
        if any(token not in range(VOCABULARY) for token in window):
            raise SizeError(f"tokens must be 0 to {PLUS}, got {window}; {PLUS} stands for +")
        if window[-1] != PLUS:
            raise SizeError(
                f"a window must end in +, got {window_text(window)}; the rule says nothing of it"
            )
        required_token(window)
        return window


def _dot(left: Sequence[Fraction], right: Sequence[Fraction]) -> Fraction:
    return sum((x * y for x, y in zip(left, right, strict=True)), Fraction(0))


def _require_names(found: Mapping[str, Reals], required: Mapping[str, object]) -> None:
    missing, extra = sorted(required.keys() - found.keys()), sorted(found.keys() - required.keys())
    if missing or extra:
        raise WeightsError(
            f"a minimal transformer must have the tensors {', '.join(required)}; got "
            f"{', '.join(missing) or 'none'} missing and {', '.join(extra) or 'none'} extra; "
            "rename or leave them out"
        )


def _sizes(found: Mapping[str, Reals]) -> tuple[int, int]:
    """Context and hidden width, as the position table and the first bias have them."""
    for name, axes in (("P", 2), ("b_1", 1)):
        if found[name].ndim != axes or not len(found[name]):
            raise WeightsError(
                f"tensor {name} must have {axes} axes and at least one row, got shape "
                f"{found[name].shape}; check which model the file is of"
            )
    context = len(found["P"])
    if not SHORTEST <= context <= LONGEST_CONTEXT:
        raise WeightsError(
            f"the context must be {SHORTEST} to {LONGEST_CONTEXT}, got {context} positions in P; a "
            "window has at least a number and a +"
        )
    return context, len(found["b_1"])


def _require_tensor(name: str, tensor: Reals, shape: tuple[int, ...]) -> None:
    if tensor.shape != shape:
        raise WeightsError(
            f"tensor {name} must have shape {shape}, got {tensor.shape}; the vocabulary is 0 to "
            "10 and +, the width 2, and context and hidden width must agree everywhere"
        )
    if not np.isfinite(tensor).all():
        where = tuple(int(index) for index in np.argwhere(~np.isfinite(tensor))[0])
        raise WeightsError(
            f"tensor {name} must be finite, got {tensor[where]} at {where}; train it again"
        )
