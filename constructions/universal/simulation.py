"""The definition of universality, fuzzed: T(X) = UTF(X, E), exactly, end to end.

Sizes, weights, inputs, mask, normaliser, construction and embedding dimension are all drawn. The
normalisers are rational stand-ins for softmax; the proofs hold for any.

Source: Fixed Universal Transformers, Section 2.2 (definition of universality).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from typing import Any

from constructions.universal import folded, looped, routed, shift, tree
from constructions.universal.comparisons import Simulation, full_exhibit
from constructions.universal.definitions import (
    Target,
    TransformerSize,
    Universal,
    run_target,
    run_universal,
)
from constructions.universal.instances import sizes, target_of
from constructions.universal.layouts import Layout
from constructions.universal.nonlinearities import ACTIVATIONS, NORMALISERS, causal_mask, full_mask
from constructions.universal.sums import PAPER
from verify.claims import Check, Source, claim, covers
from verify.counterexamples import Counterexample
from verify.methods.sampled import Sampled
from verify.rational import Exact, Matrix
from verify.verdicts import Json, Status

Mask = tuple[tuple[bool, ...], ...]

LAYOUTS: tuple[Layout, ...] = (
    tree.LAYOUT,
    looped.LAYOUT,
    shift.LAYOUT,
    folded.LAYOUT,
    folded.TIED_LAYOUT,
    routed.LAYOUT,
)

ENTRIES: tuple[Exact, ...] = (0, 1, -1, 2, Fraction(1, 2), -2, Fraction(-1, 2), 3)
"""What a drawn byte stands for, simplest first, modulo their number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EndToEnd:
    """Everything that one end-to-end comparison depends on.

    `data` holds a byte per entry of X and of the target's weights at the largest sizes, so that
    an entry keeps its byte when a size shrinks.
    """

    layout: str
    size: TransformerSize
    spare: int
    length: int
    normaliser: str
    activation: str
    mask: Mask
    data: bytes

    def entries(self) -> list[Exact]:
        """The entries of X, of the W_Q, W_K, W_V, W_O, and of the W_g, W_u, W_d, in that order."""
        wanted = places(self.size, self.length)
        return [ENTRIES[self.data[-1 - place] % len(ENTRIES)] for place in wanted]

    def as_json(self) -> dict[str, Json]:
        """The instance exactly, as a counterexample prints it."""
        return {
            "construction": self.layout,
            "size": self.size.as_json(),
            "spare": self.spare,
            "tokens": self.length,
            "normaliser": self.normaliser,
            "activation": self.activation,
            "mask": [[int(ok) for ok in row] for row in self.mask],
            "entries": [str(entry) for entry in self.entries()],
        }


LARGEST = TransformerSize(heads=3, layers=3, head_width=2, token_width=2, neurons=2)
MOST_TOKENS = 6


@cache
def places(size: TransformerSize, length: int) -> tuple[int, ...]:
    """Where the bytes of X and of the weights stand, from the end on."""
    most, heads, wide = LARGEST, LARGEST.heads, LARGEST.token_width
    inputs = [i * wide + j for i in range(length) for j in range(size.token_width)]
    tokens, widths, neurons = map(range, (size.token_width, size.head_width, size.neurons))
    tall, flat = list(itertools.product(tokens, widths)), list(itertools.product(widths, tokens))
    attention = [
        ((((kind * most.layers + layer) * heads + head) * wide) + i) * most.head_width + j
        for kind, entries in enumerate((tall, tall, tall, flat))
        for layer in range(size.layers)
        for head in range(size.heads)
        for i, j in entries
    ]
    into, out = list(itertools.product(tokens, neurons)), list(itertools.product(neurons, tokens))
    blocks = [
        (((kind * most.layers + layer) * wide) + i) * most.neurons + j
        for kind, entries in enumerate((into, into, out))
        for layer in range(size.layers)
        for i, j in entries
    ]
    first = MOST_TOKENS * wide
    last = first + 4 * most.layers * heads * wide * most.head_width
    return (*inputs, *(first + place for place in attention), *(last + place for place in blocks))


def unpack(case: EndToEnd) -> tuple[Matrix, Target]:
    """Inputs and target from the drawn bytes."""
    size, entries = case.size, iter(case.entries())

    def take(height: int, width: int) -> Matrix:
        return Matrix(height, width, itertools.islice(entries, height * width))

    inputs = take(case.length, size.token_width)
    return inputs, target_of(size, take)


def assembled(case: EndToEnd, layout: Layout, model: Universal) -> Simulation:
    """Target, universal model, E and inputs of an instance."""
    inputs, target = unpack(case)
    return Simulation(
        universal=model,
        target=target,
        factored=layout.factored(target),
        embedding=layout.write(target, model.width).transposed,
        inputs=inputs,
        normalise=NORMALISERS[case.normaliser](case.mask),
        activate=ACTIVATIONS[case.activation],
    )


def output_differs(layouts: Sequence[Layout]) -> Callable[[EndToEnd], Counterexample | None]:
    """The obligation that the universal model's output is the target's."""
    by_name = {layout.name: layout for layout in layouts}
    models: dict[tuple[str, TransformerSize, int], Universal] = {}

    def model_of(case: EndToEnd) -> Universal:
        key = (case.layout, case.size, case.spare)
        if key not in models:
            layout = by_name[case.layout]
            models[key] = layout.build(case.size, layout.least_width(case.size) + case.spare)
        return models[key]

    def holds(case: EndToEnd) -> Counterexample | None:
        chosen = assembled(case, by_name[case.layout], model_of(case))
        theirs = run_target(chosen.target, chosen.inputs, chosen.normalise, chosen.activate).output
        ours = run_universal(
            chosen.universal, chosen.embedding, chosen.inputs, chosen.normalise, chosen.activate
        ).output
        if ours == theirs:
            return None
        return Counterexample(
            text=f"T(X) = {theirs} but UTF(X, E) = {ours}", instance=case.as_json()
        )

    return holds


_HEADS = _LAYERS = (1, 2, 2, 3)
_PLAN_BYTES = 9 + 5
"""Nine choices and 40 bits for a mask of up to 6 x 6."""


def _drawn_size(layout: Layout, plan: Sequence[int]) -> TransformerSize:
    """A size that the layout serves, from six bytes; gated blocks keep to two heads and layers."""
    heads, layers = _HEADS[plan[0] % len(_HEADS)], _LAYERS[plan[1] % len(_LAYERS)]
    head_width, token_width = 1 + plan[2] % 2, 1 + plan[3] % 2
    neurons = plan[4] % (LARGEST.neurons + 1) if layout.blocks else 0
    return TransformerSize(
        heads=1 if layout.single_head else min(heads, 2) if neurons else heads,
        layers=min(layers, 2) if neurons else layers,
        head_width=max(head_width, token_width) if layout.wide_heads else head_width,
        token_width=token_width,
        neurons=neurons,
        residual=bool(plan[5] % 2) and layout.blocks,
    )


def instances(layouts: Sequence[Layout], below: EndToEnd | None = None) -> Any:
    """Hypothesis strategy for EndToEnd instances, or for those of the sizes of `below`.

    One draw of bytes makes an instance (what to build, then the entries): drawing is most of a
    search's cost, and bytes shrink one by one. The entries that stay keep their bytes when a size
    shrinks, so an instance that fails still fails.
    """
    from hypothesis import strategies as st

    names: Mapping[str, Layout] = {layout.name: layout for layout in layouts}
    variants = list(itertools.product(sorted(names), NORMALISERS, (0, 1)))
    total = _PLAN_BYTES + len(places(LARGEST, MOST_TOKENS))
    activations = list(ACTIVATIONS)

    def instance(data: bytes) -> EndToEnd:
        plan, (length, variant, mask, *bits) = data[:6], data[6:_PLAN_BYTES]
        name, normaliser, spare = variants[int(variant) % len(variants)]
        size = below.size if below else _drawn_size(names[name], plan)
        tokens = below.length if below else 1 + length % MOST_TOKENS
        large = size.gated or size.layers > _SQUARED_LAYERS
        return EndToEnd(
            layout=name,
            size=size,
            spare=spare,
            length=tokens,
            normaliser=_SMALL[normaliser] if large else normaliser,
            activation=activations[plan[4] // 8 % len(activations)],
            mask=mask_of(mask, bytes(bits), tokens),
            data=data[_PLAN_BYTES:],
        )

    return st.binary(min_size=total, max_size=total).map(instance)


_SQUARED_LAYERS = 2
_SMALL = {"square": "scrambled", "scrambled": "scrambled", "linear": "linear"}
"""Squares double the length of every number in each layer, so larger models get small ones."""


def smaller(layouts: Sequence[Layout]) -> Callable[[EndToEnd], Iterator[Any]]:
    """Strategies of the instances of each smaller size, those with the fewest weights first."""
    by_name = {layout.name: layout for layout in layouts}

    def weights(size: TransformerSize) -> tuple[int, int]:
        entries = size.heads * size.head_width + size.neurons + size.residual
        return size.layers * size.token_width * entries, size.probe_width

    def strategies(case: EndToEnd) -> Iterator[Any]:
        layout = by_name[case.layout]
        kinds = list(itertools.product(range(case.size.neurons + 1), {False, case.size.residual}))
        smaller_sizes = [
            replace(size, neurons=neurons, residual=residual)
            for size in sizes(3, 3, 2, 2, single=layout.single_head)
            for neurons, residual in kinds
            if not (layout.wide_heads and size.head_width < size.token_width)
        ]
        for size in sorted(smaller_sizes, key=weights):
            for length in range(1, case.length + 1):
                if (weights(size), length) < (weights(case.size), case.length):
                    yield instances((layout,), replace(case, size=size, length=length))

    return strategies


def mask_of(kind: int, bits: bytes, length: int) -> Mask:
    """Causal, full or read off the bits, by the kind modulo 3."""
    if kind % 3 < len(_NAMED_MASKS):
        return _NAMED_MASKS[kind % 3](length)
    number = int.from_bytes(bits, "little")
    return tuple(
        tuple(bool(number >> (row * length + column) & 1) for column in range(length))
        for row in range(length)
    )


_NAMED_MASKS = (causal_mask, full_mask)


def exhibit(layouts: Sequence[Layout]) -> Callable[[EndToEnd], Json]:
    """Both models of an instance in full, for a second program to run."""
    by_name = {layout.name: layout for layout in layouts}

    def show(case: EndToEnd) -> Json:
        layout = by_name[case.layout]
        model = layout.build(case.size, layout.least_width(case.size) + case.spare)
        return full_exhibit(
            assembled(case, layout, model), case.mask, case.normaliser, case.activation
        )

    return show


def end_to_end_checks(layouts: Sequence[Layout] = LAYOUTS) -> tuple[Check, ...]:
    """A search over everything that the definition of universality leaves open."""
    return (
        covers(
            Sampled(
                holds=output_differs(layouts),
                strategy=lambda: instances(layouts),
                smaller=smaller(layouts),
                instances="tree, looped, shift, folded, sparse; H, L <= 3, d, d_in <= 2, n <= 6; "
                "residual and gated blocks of r <= 2 neurons (H, L <= 2); causal, full and "
                "arbitrary masks; three rational normalisers (squares for L <= 2 without neurons) "
                "and activations; m the least and one more",
                examples={"quick": 100, "standard": 1500, "deep": 500_000},
                rechecked_as="simulation",
                exhibit=exhibit(layouts),
            )
        ),
    )


@claim(
    id="universal.end_to_end",
    source=Source(PAPER, "Definition of universality, Section 2.2"),
    latex=r"\mathrm{UTF}^m_{H,L,d_{in},d}(X, E) = T(X)",
    scope="random sizes, weights, lengths and masks, with a rational normaliser",
    uses=("universal.probes.layer", "universal.gated.probe"),
    expected=Status.SAMPLED,
)
def the_universal_model_computes_every_target() -> tuple[Check, ...]:
    """T(X) equals UTF(X, E) exactly, for random sizes, weights, lengths and masks, with a
    rational normaliser.
    """  # noqa: D205 - one statement, in one sentence
    return end_to_end_checks()
