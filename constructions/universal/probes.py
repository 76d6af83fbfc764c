"""The one lemma that carries every construction: probes and their coefficients.

    P_L = U,  P_{l-1} = [{R_Q^{l,h}, R_K^{l,h}}_h, {R_V^{l,h} P_l}_h]       (m, s_{l-1})
    C_L = I,  C_{l-1} = [{W_Q^{l,h}, W_K^{l,h}}_h, {M^{l,h} C_l}_h]         (d_in, s_{l-1})

If E P_0 = C_0, then X~^l P_l = X^l C_l for all l, all attention matrices agree, and the output
is T(X). The coefficients may use any factors F_Q, F_K with F_Q F_K^T = W_Q W_K^T in place of W_Q
and W_K: only the logits matter.

Source: Fixed Universal Transformers, Appendix A; Lemma E.1 without the MLP.
"""

from __future__ import annotations

from constructions.universal.definitions import ColumnMap, Ones, Pass, Target, Universal, beside
from verify.rational import Matrix


def probe(universal: Universal, layer: int) -> Ones:
    """P_l as index map, composed backwards from the readout; P_0 for layer 0."""
    current = universal.readout
    for above in range(universal.size.layers - 1, layer - 1, -1):
        current = probe_below(
            universal.queries[above], universal.keys[above], universal.values[above], current
        )
    return current


def probe_below(
    queries: tuple[Ones, ...], keys: tuple[Ones, ...], values: tuple[ColumnMap, ...], above: Ones
) -> Ones:
    """P_{l-1} from P_l and the maps of layer l."""
    reads = [matrix for pair in zip(queries, keys, strict=True) for matrix in pair]
    return beside([*reads, *(above.after(value) for value in values)])


def coefficients(target: Target, layer: int) -> Matrix:
    """C_l transposed, shape (s_l, d_in), by the backward recursion."""
    current = Matrix.identity(target.size.token_width)
    for above in range(target.size.layers - 1, layer - 1, -1):
        reads = [
            matrix.transposed
            for pair in zip(target.queries[above], target.keys[above], strict=True)
            for matrix in pair
        ]
        mixed = [current @ target.mix(above, head).transposed for head in range(target.size.heads)]
        current = Matrix.stack([*reads, *mixed])
    return current


def probe_columns(embedding: Matrix, probes: Ones) -> Matrix | None:
    """(E P_0)^T from E^T of shape (m, d_in), if P_0 selects distinct coordinates; else None."""
    sources = probes.selection()
    return None if sources is None else embedding.select_rows(sources.tolist())


def invariant_holds(universal: Universal, target: Target, ours: Pass, theirs: Pass) -> int | None:
    """The first layer l at which X~^l P_l = X^l C_l fails, or None if it holds at all."""
    for layer in range(universal.size.layers + 1):
        left = probe(universal, layer).read(ours.streams[layer])
        right = theirs.streams[layer] @ coefficients(target, layer).transposed
        if left != right:
            return layer
    return None
