"""The layers of a target, collected from tensors under the names of common small GPT code.

    nn.Linear      weight (out, in), as minGPT, nanoGPT and Llama hold it: x W^T
    Conv1D         weight (in, out), as GPT-2 holds it: x W; told by the packed tensor's shape
    packed         queries, keys and values in this order, (3 H d, d_in) or (d_in, 3 H d)
    heads          consecutive blocks of d coordinates, or numbered tensors, one for each

Source: Fixed Universal Transformers, Section 2 and Section 3.3.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from constructions.tensor_files import Tensor, TensorFile
from constructions.universal.gpt_names import ATTENTION_ROLES, GATED_ROLES, Named, Role, listed
from constructions.universal.weights import ATTENTION, GATED, finite_reals
from verify.errors import WeightsError

Reals = NDArray[np.float64]

_MATRIX = 2
"""Dimensions of a weight."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """A file under other names, and what each of its tensors is."""

    file: TensorFile
    found: tuple[Named, ...]

    def of(self, *roles: Role) -> tuple[Named, ...]:
        """Those of the roles."""
        return tuple(one for one in self.found if one.role in roles)

    def tensor(self, one: Named) -> Tensor:
        """The tensor of a name."""
        return self.file.tensors[one.name]

    @property
    def layers(self) -> tuple[Named, ...]:
        """Those that a target has too."""
        return self.of(*ATTENTION_ROLES, *GATED_ROLES)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Block:
    """The tensors of a block by role; those of numbered heads in their order."""

    number: int
    heads: int
    parts: Mapping[Role, Sequence[Named]]
    given: Given

    def only(self, role: Role) -> tuple[Named, Tensor]:
        """The one tensor of a role."""
        found = self.parts.get(role, ())
        if len(found) != 1:
            said = listed(found) or "none"
            raise WeightsError(
                f"block {self.number} must have one tensor for its {role.value}, got {said}; "
                "a target has one attention a block, with all its projections"
            )
        return found[0], self.given.tensor(found[0])

    def reals(self, one: Named, shape: tuple[int, ...], what: str) -> Reals:
        tensor = self.given.tensor(one)
        if tensor.shape != shape:
            raise WeightsError(f"{one.shown} must have shape {what}, got {list(tensor.shape)}")
        return finite_reals(one.shown, tensor)


def collected(given: Given, reasons: list[str]) -> dict[str, Tensor]:
    """The suite's tensors of all blocks; what is wrong with any is added to the reasons."""
    layers = list[dict[str, Reals]]()
    for block in _blocks(given, _heads(given, reasons), reasons):
        try:
            layers.append(_layer(block))
        except WeightsError as error:
            reasons.append(str(error))
    shapes = {tuple((name, part.shape) for name, part in layer.items()) for layer in layers}
    if len(shapes) > 1:
        reasons.append(
            "blocks must be alike, got different widths, or some gated and some not; a target's "
            "layers have the same shapes"
        )
    if reasons:
        return {}
    dtypes = {given.tensor(one).dtype for one in given.layers}
    dtype = dtypes.pop() if len(dtypes) == 1 else "float64"
    return {
        name: Tensor.of_reals(np.stack([layer[name] for layer in layers]), dtype)
        for name in layers[0]
    }


def _blocks(given: Given, heads: int, reasons: list[str]) -> Iterator[_Block]:
    found = given.layers
    numbers = sorted({one.block or 0 for one in found})
    mixed = len({one.block is None for one in found}) > 1
    if mixed or numbers != list(range(len(numbers))) or not numbers:
        reasons.append(
            f"blocks must be numbered 0, 1, 2, .. without a gap, got {numbers}"
            f"{' and tensors without a number' if mixed else ''}; save the whole model"
        )
        return
    for number in numbers:
        parts = dict[Role, list[Named]]()
        for one in sorted(found, key=lambda one: (one.head or 0, one.name)):
            if (one.block or 0) == number:
                parts.setdefault(one.role, []).append(one)
        yield _Block(number=number, heads=heads, parts=parts, given=given)


def _heads(given: Given, reasons: list[str]) -> int:
    """How many heads there are, as the names or metadata say; 1 beside a reason."""
    counted = {one.head for one in given.of(Role.QUERY, Role.KEY, Role.VALUE)} - {None}
    said = given.file.metadata.get("heads", "")
    if counted:
        return len(counted)
    if said.isascii() and said.isdigit() and 0 < int(said) < 1 << 20:
        return int(said)
    got = f"got {said!r}" if said else "got nothing"
    reasons.append(f"the number of heads, which no name tells, must be said, {got}; use --heads")
    return 1


def _layer(block: _Block) -> dict[str, Reals]:
    """A block's W_Q, W_K, W_V (H, d_in, d), W_O (H, d, d_in) and, if gated, W_g, W_u, W_d."""
    packed = Role.PACKED in block.parts
    queries, keys, values, output = _packed(block) if packed else _separate(block)
    (tokens, inner), heads = queries.shape, block.heads
    if inner % heads:
        raise WeightsError(
            f"the {heads} heads of block {block.number} must share its width evenly, got {inner}; "
            "correct --heads"
        )

    def split(matrix: Reals) -> Reals:
        return matrix.reshape(tokens, heads, inner // heads).transpose(1, 0, 2)

    attention = (split(queries), split(keys), split(values))
    layer = dict(zip(ATTENTION, attention, strict=False))
    layer["W_O"] = output.reshape(heads, inner // heads, tokens)
    if any(role in block.parts for role in GATED_ROLES):
        layer |= zip(GATED, _gated(block, tokens), strict=True)
    return layer


def _packed(block: _Block) -> Iterable[Reals]:
    """Queries, keys, values and the output projection, each (in, out)."""
    if mixed := [one for role in ATTENTION_ROLES[1:4] for one in block.parts.get(role, ())]:
        raise WeightsError(
            f"block {block.number} must hold queries, keys and values packed or apart, got "
            f"{listed(mixed)} too; a target has one attention a block"
        )
    one, tensor = block.only(Role.PACKED)
    width = min(tensor.shape, default=0)
    linear = tensor.shape == (3 * width, width)
    shape = (3 * width, width) if linear else (width, 3 * width)
    whole = block.reals(
        one, shape, "[3 C, C] or, as Conv1D, [C, 3 C] (as many key and value heads)"
    )
    output, _ = block.only(Role.OUTPUT)
    last = block.reals(output, (width, width), f"[{width}, {width}]")
    queries, keys, values = np.split(whole.T if linear else whole, 3, axis=1)
    return queries, keys, values, last.T if linear else last


def _separate(block: _Block) -> Iterable[Reals]:
    """The same of separate nn.Linear layers, those of numbered heads side by side."""
    joined = [_joined(block, role) for role in (Role.QUERY, Role.KEY, Role.VALUE)]
    if len({part.shape for part in joined}) > 1:
        shapes = ", ".join(str(list(part.T.shape)) for part in joined)
        raise WeightsError(
            f"block {block.number} must have queries, keys and values of one shape, got {shapes}; "
            "a target has as many key and value heads as query heads, so repeat shared ones "
            "before saving"
        )
    tokens, inner = joined[0].shape
    output, _ = block.only(Role.OUTPUT)
    last = block.reals(output, (tokens, inner), f"[{tokens}, {inner}]")
    return *joined, last.T


def _joined(block: _Block, role: Role) -> Reals:
    found = block.parts.get(role, ())
    heads = [one.head for one in found]
    if None in heads or not heads:
        found = [block.only(role)[0]]
    elif heads != list(range(block.heads)):
        raise WeightsError(
            f"block {block.number} must hold the {role.value} of heads 0 to {block.heads - 1}, got "
            f"{heads}; save the whole model"
        )
    shapes = [block.given.tensor(one).shape for one in found]
    if len(shapes[0]) != _MATRIX or len(set(shapes)) > 1:
        raise WeightsError(
            f"{listed(found)} must have one shape [out, in], got {[list(s) for s in shapes]}"
        )
    return np.hstack([block.reals(one, shapes[0], "[out, in]").T for one in found])


def _gated(block: _Block, tokens: int) -> tuple[Reals, Reals, Reals]:
    """W_g, W_u (d_in, r) and W_d (r, d_in) of nn.Linear layers."""
    (gate, first), (up, _), (down, _) = map(block.only, GATED_ROLES)
    neurons = first.shape[0] if first.shape else 0
    into, out = f"[r, {tokens}]", f"[{tokens}, {neurons}]"
    return (
        block.reals(gate, (neurons, tokens), into).T,
        block.reals(up, (neurons, tokens), into).T,
        block.reals(down, (tokens, neurons), out).T,
    )
