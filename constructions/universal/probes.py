"""The one lemma that carries every construction: probes and their coefficients.

    P_L = U,  P_{l-1} = [{R_Q^{l,h}, R_K^{l,h}}_h, {R_V^{l,h} Q_l}_h]       (m, s_{l-1})
    C_L = I,  C_{l-1} = [{W_Q^{l,h}, W_K^{l,h}}_h, {M^{l,h} D_l}_h]         (d_in, s_{l-1})

Q_l and D_l read the sum over heads. What they are is all that tells the kinds of blocks apart:

    attention only    Q_l = P_l                D_l = C_l
    gated             Q_l = [R_g, R_u]         D_l = [G^, U^]
    gated, residual   Q_l = [P_l, R_g, R_u]    D_l = [C_l, G^, U^]

and a residual path is one more branch with M = I and R_V = I; its columns come first.
Target neuron j is simulated by s_l universal ones: B_j = R_d[I_j, :] P_l,
alpha_j = W_d[j, :] C_l B_j^{-1}; column (j, i) of G^ is column j of W_g, that of U^ is alpha_j[i]
times column j of W_u.

If E P_0 = C_0 and every B_j is invertible, then X~^l P_l = X^l C_l for all l, all attention
matrices agree, and the output is T(X). The coefficients may use any factors F_Q, F_K with
F_Q F_K^T = W_Q W_K^T in place of W_Q and W_K: only the logits matter.

Source: Fixed Universal Transformers, Appendix A and Appendix E, Lemma E.1.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, Self, TypeVar

from constructions.universal.definitions import FixedModel, Layer, Pass, Target
from constructions.universal.maps import Ones
from verify.rational import Matrix


class Columns(Protocol):
    """What P_l is made of: blocks of columns that value maps act on from the left."""

    @classmethod
    def beside(cls, blocks: Any, /) -> Self:
        """Blocks of one height next to each other."""
        ...

    def after(self, value: Any, /) -> Self:
        """The product of a value map and this block."""
        ...


Probe = TypeVar("Probe", bound=Columns)


def probe(universal: FixedModel[Probe, Any], layer: int) -> Probe:
    """P_l, composed backwards from the readout; P_0 for layer 0."""
    current = universal.readout
    for above in range(universal.size.layers - 1, layer - 1, -1):
        current = probe_below(universal.layer(above), current)
    return current


def inner_probe(layer: Layer[Probe, Any], above: Probe) -> Probe:
    """Q_l, what reads the sum over heads, from P_l."""
    if layer.gated is None:
        return above
    gate, up, _ = layer.gated
    return type(above).beside([*([above] if layer.residual else []), gate, up])


def probe_below(layer: Layer[Probe, Any], above: Probe) -> Probe:
    """P_{l-1} from P_l and the maps of layer l."""
    pairs = zip(layer.queries, layer.keys, strict=True)
    inner = inner_probe(layer, above)
    carried = [inner] if layer.residual else []
    moved = [inner.after(value) for value in layer.values]
    return type(above).beside([*carried, *(part for pair in pairs for part in pair), *moved])


Blocks = Sequence[Sequence[Matrix]]
"""B_j^{-1} of each layer, by layer and neuron."""


def local_blocks(universal: FixedModel[Any, Any]) -> tuple[tuple[Matrix, ...], ...]:
    """B_j = R_d[I_j, :] P_l per layer and target neuron, each of shape (s_l, s_l)."""
    size = universal.size
    layers: list[tuple[Matrix, ...]] = []
    current = universal.readout
    for layer in range(size.layers - 1, -1, -1):
        width = size.probe_widths[layer + 1]
        if size.gated:
            product: Matrix = _down_after(universal.downs[layer], current)
            rows = range(size.neurons)
            layers.append(
                tuple(product.select_rows(range(j * width, (j + 1) * width)) for j in rows)
            )
        else:
            layers.append(())
        current = probe_below(universal.layer(layer), current)
    return tuple(reversed(layers))


def _down_after(down: Any, above: Any) -> Matrix:
    """R_d P_l; a P_l that selects coordinates picks columns of R_d."""
    if isinstance(above, Ones):
        return above.read(down.dense())
    return down.dense() @ above.dense()


def inverted(blocks: Blocks) -> Blocks:
    """B_j^{-1} for all layers and neurons.

    Raises:
        ShapeError: some B_j is singular.
    """
    return [[block.inverse() for block in layer] for layer in blocks]


def inner_coefficients(
    target: Target, layer: int, above: Matrix, inverses: Sequence[Matrix] | None = None
) -> Matrix:
    """D_l transposed from C_l transposed; the layer is counted from 0.

    `inverses` are B_j^{-1} of the layer; None stands for identities.
    """
    if not target.size.gated:
        return above
    width = above.height
    gammas = target.downs[layer] @ above.transposed  # (r, s_l): row j is W_d[j, :] C_l
    gates, ups = target.gates[layer].transposed, target.ups[layer].transposed
    branches: list[Matrix] = []
    for j in range(target.size.neurons):
        gamma = gammas.select_rows([j])
        alpha = gamma if inverses is None else gamma @ inverses[j]
        branches.append(alpha.transposed @ ups.select_rows([j]))  # (s_l, d_in)
    gate_rows = gates.select_rows([j for j in range(target.size.neurons) for _ in range(width)])
    carried = [above] if target.size.residual else []
    return Matrix.stack([*carried, gate_rows, *branches])


def coefficients(target: Target, layer: int, inverses: Blocks | None = None) -> Matrix:
    """C_l transposed, shape (s_l, d_in), by the backward recursion.

    `inverses` holds B_j^{-1} by layer and neuron, for gated blocks; None stands for identities.
    """
    current = Matrix.identity(target.size.token_width)
    for above in range(target.size.layers - 1, layer - 1, -1):
        inner = inner_coefficients(
            target, above, current, None if inverses is None else inverses[above]
        )
        reads = [
            matrix.transposed
            for pair in zip(target.queries[above], target.keys[above], strict=True)
            for matrix in pair
        ]
        carried = [inner] if target.size.residual else []
        mixed = [inner @ target.mix(above, head).transposed for head in range(target.size.heads)]
        current = Matrix.stack([*carried, *reads, *mixed])
    return current


def invariant_holds(
    universal: FixedModel[Any, Any],
    target: Target,
    ours: Pass[Matrix],
    theirs: Pass[Matrix],
    inverses: Blocks | None = None,
) -> int | None:
    """The first layer l at which X~^l P_l = X^l C_l fails, or None if it holds at all."""
    for layer in range(universal.size.layers + 1):
        left = probe(universal, layer).read(ours.streams[layer])
        right = theirs.streams[layer] @ coefficients(target, layer, inverses).transposed
        if left != right:
            return layer
    return None
