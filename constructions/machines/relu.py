"""The MLP of Theorem 9 as a ReLU network with exact weights; the paper posits a map G only.

With x = c y, y = 1/m and counts c <= 2^K, the parity of c takes K + 1 hidden layers:

    level k = K-1..1    x <- |x - 2^k y| = relu(x - 2^k y) + relu(2^k y - x)
                        keeps the parity of c and takes [0, 2^(k+1) y] into [0, 2^k y]
    level 0             w = |x - y|: 0 if c is odd, y if c is even
    read                t = y - 2 w is y or -y; bit = relu(2 s t) - relu(2 s t - 1)

The bit is exactly 1 or 0 since 2 s y >= 2 for s >= m. The whole MLP carries h^(1/2) besides, which
is never negative, and has one layer more, whose neurons are conjunctions of features 0 and 1:

    refresh     relu(e_r - present)                                        present = relu(s A(#))
    other       relu(e_r + present + sum of p_i or 1 - p_i - (terms - 1))   - relu(s A(#) - 1)

    network     hidden layers   their widths                                  output
    parity      K + 1           2n + 1 (K times), 2n                          n bits
    machine     K + 2           2n + D (K times), 2n + 2 + D, rows + D        emb(G(h)) - h

n = |Sigma|. Entries may be given times a unit: with h^(1/2) times m all numbers are integers.

Source: Sliding-Window Transformers Without Positional Encodings, Section 5 and Appendix A, "The MLP
layer".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from constructions.machines.definitions import MachineError

Number = int | Fraction
Sparse = tuple[tuple[int, Number], ...]
"""A linear form: (column, weight) of each entry that it reads."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AffineLayer:
    """An affine map with sparse rows: row i is the sum of weight times entry, plus bias[i].

        entries     inputs
        answer      len(rows)

    Raises:
        MachineError: as many biases as rows are required, and columns below `inputs`.
    """

    inputs: int
    rows: tuple[Sparse, ...]
    bias: tuple[Number, ...]
    columns: tuple[tuple[tuple[int, Number], ...], ...] = field(
        init=False, repr=False, compare=False
    )

    def __post_init__(self) -> None:
        """Check and index the rows by column, so that zero entries cost nothing."""
        columns: list[list[tuple[int, Number]]] = [[] for _ in range(self.inputs)]
        for place, row in enumerate(self.rows):
            for column, weight in row:
                if not 0 <= column < self.inputs:
                    raise MachineError(
                        f"AffineLayer.rows[{place}] must read columns below {self.inputs}, "
                        f"got {column}; give the layer its input width"
                    )
                columns[column].append((place, weight))
        if len(self.bias) != len(self.rows):
            raise MachineError(
                f"AffineLayer.bias must have an entry for each of {len(self.rows)} rows, "
                f"got {len(self.bias)}; write 0 where there is none"
            )
        object.__setattr__(self, "columns", tuple(map(tuple, columns)))

    def apply(self, entries: Sequence[Number], unit: int = 1) -> list[Number]:
        """The map's value; with all entries given times `unit` so is the answer.

        Raises:
            MachineError: another number of entries than `inputs`.
        """
        if len(entries) != self.inputs:
            raise MachineError(
                f"AffineLayer.apply: {self.inputs} entries are required, got {len(entries)}; "
                "pass the whole vector"
            )
        values = [bias * unit for bias in self.bias]
        for entry, column in zip(entries, self.columns, strict=True):
            if entry:
                for place, weight in column:
                    values[place] += weight * entry
        return values


@dataclass(frozen=True, slots=True, kw_only=True)
class ReluNetwork:
    """Hidden layers, each an affine map followed by relu, and an affine output.

    Raises:
        MachineError: a layer reads another width than the one before it has.
    """

    hidden: tuple[AffineLayer, ...]
    output: AffineLayer

    def __post_init__(self) -> None:
        """Check that the layers fit."""
        layers = (*self.hidden, self.output)
        for place in range(1, len(layers)):
            came, required = layers[place].inputs, len(layers[place - 1].rows)
            if came != required:
                raise MachineError(
                    f"ReluNetwork: layer {place} must read {required} neurons, got {came}; "
                    "give each layer the width of the one before it"
                )

    @property
    def depth(self) -> int:
        """The number of hidden layers."""
        return len(self.hidden)

    @property
    def widths(self) -> tuple[int, ...]:
        """The neurons of each hidden layer."""
        return tuple(len(layer.rows) for layer in self.hidden)

    def activations(self, entries: Sequence[Number], unit: int = 1) -> Iterator[list[Number]]:
        """The neurons' values, layer by layer."""
        values: Sequence[Number] = entries
        for layer in self.hidden:
            values = [value if value > 0 else 0 for value in layer.apply(values, unit)]
            yield values

    def run(self, entries: Sequence[Number], unit: int = 1) -> tuple[Number, ...]:
        """The output; with all entries given times `unit` so is the answer."""
        last = [entries, *self.activations(entries, unit)][-1]
        return tuple(self.output.apply(last, unit))


def linear(forms: Iterable[Sparse], inputs: int) -> AffineLayer:
    """The layer of these linear forms, without bias."""
    rows = tuple(forms)
    return AffineLayer(inputs=inputs, rows=rows, bias=(0,) * len(rows))


def scaled(form: Sparse, factor: int) -> Sparse:
    """The form times a number."""
    return tuple((column, factor * weight) for column, weight in form)


# --- parities --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowSize:
    """What the weights depend on: S, the length of the longest window of plain symbols.

    The context holds one marker more, so counts are at most S and m at most S + 1.

    Raises:
        MachineError: a negative length.
    """

    longest: int

    def __post_init__(self) -> None:
        """Check the length."""
        if self.longest < 0:
            raise MachineError(
                f"WindowSize.longest must be at least 0, got {self.longest}; pass the largest S"
            )

    @property
    def bits(self) -> int:
        """K, the least K >= 1 with S <= 2^K."""
        return max(1, (self.longest - 1).bit_length())

    @property
    def scale(self) -> int:
        """The least power of two s >= S + 1."""
        return 1 << self.longest.bit_length()


def fold_layers(
    symbols: Sequence[int], marker: int, carried: Sequence[int], inputs: int, bits: int
) -> tuple[AffineLayer, ...]:
    """The layers of levels K-1..0: of each symbol two neurons, then the carried columns.

    `symbols`, `marker` and `carried` are columns of the input; the marker is among the carried.
    """
    sums: list[Sparse] = [((column, 1),) for column in symbols]
    kept, mass, width = list(carried), marker, inputs
    layers: list[AffineLayer] = []
    for level in reversed(range(bits)):
        shifted: list[Sparse] = [(*form, (mass, -(1 << level))) for form in sums]
        pairs = [part for form in shifted for part in (form, scaled(form, -1))]
        layers.append(linear((*pairs, *(((column, 1),) for column in kept)), width))
        sums = [((2 * place, 1), (2 * place + 1, 1)) for place in range(len(symbols))]
        kept = [len(pairs) + place for place in range(len(carried))]
        mass, width = kept[carried.index(marker)], len(pairs) + len(kept)
    return tuple(layers)


def read_forms(symbols: int, mass: int, scale: int) -> tuple[Sparse, ...]:
    """2 s t of each symbol, where t = y - 2 w and w is the sum of its two neurons.

    `mass` is the column of y.
    """
    return tuple(
        ((mass, 2 * scale), (2 * place, -4 * scale), (2 * place + 1, -4 * scale))
        for place in range(symbols)
    )


def steps(forms: Iterable[Sparse], carried: Iterable[int], inputs: int) -> AffineLayer:
    """Of each form z the neurons z and z - 1, whose relus differ by 1 once z >= 1; then the rest.

    The difference is 0 for z <= 0, and never below 0 or above 1.
    """
    pairs = [form for form in forms for _ in (0, 1)]
    rest: list[Sparse] = [((column, 1),) for column in carried]
    return AffineLayer(
        inputs=inputs,
        rows=(*pairs, *rest),
        bias=(*(-(place % 2) for place in range(len(pairs))), *(0 for _ in rest)),
    )


def step_of(place: int) -> Sparse:
    """The difference of the two neurons of form number `place`."""
    return ((2 * place, 1), (2 * place + 1, -1))


def parity_network(symbols: int, bits: int, scale: int) -> ReluNetwork:
    """From (c_1 y, .., c_n y, y) the parities of the counts, each exactly 0 or 1.

        input n + 1, output n, hidden layers K + 1 of widths 2n + 1 (K times) and 2n

    Exact for counts c <= 2^K and y = 1/m with 1 <= m <= s.

    Source: Section 5, "The MLP layer" (the bits p_i).
    """
    folds = fold_layers(range(symbols), symbols, (symbols,), symbols + 1, bits)
    width = 2 * symbols + 1
    read = steps(read_forms(symbols, width - 1, scale), (), width)
    bit_forms = (step_of(place) for place in range(symbols))
    return ReluNetwork(hidden=(*folds, read), output=linear(bit_forms, 2 * symbols))
