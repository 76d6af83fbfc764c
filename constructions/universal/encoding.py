"""A user's target written into a universal transformer: its embedding E, exactly, and the proof.

A construction fixes the universal model's parameters without a look at the target; E is then all
that the target needs. The certificate exhibits the target, the model (the places of its ones, or
the seed of its draw) and the exact E, and shows that E P_0 = C_0. By the probe lemma both outputs
agree then for every input, normaliser, mask and activation.

Source: Fixed Universal Transformers, Section 2.2, Section 3 and Appendix E.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from constructions.universal import folded, looped, routed, shift, tree
from constructions.universal.comparisons import entries_json, target_json
from constructions.universal.definitions import FixedModel, Target, TransformerSize, places_json
from constructions.universal.drawn import DrawnModel
from constructions.universal.draws import SEEDS, Block, Draw
from constructions.universal.floats import FORMATS
from constructions.universal.layouts import Layout
from constructions.universal.probes import Blocks, coefficients, probe
from constructions.universal.ranks import rank_of
from constructions.universal.rounding import rounded
from constructions.universal.solving import independent_rows, local_inverses, solve_probes
from constructions.universal.sums import PAPER
from constructions.universal.weights import StoredTarget
from verify.claims import Claim, Source, covers
from verify.counterexamples import Counterexample
from verify.errors import UsageError
from verify.methods.witness import Witness
from verify.rational import Matrix
from verify.verdicts import Json, Status

MOST_ENTRIES = 1 << 20
"""Entries of an E that is written exactly."""
MOST_DRAWN = 1 << 25
"""Entries of a drawn model, all held exactly."""


# --- constructions ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Solved:
    """A universal model and the exact E, shape (d_in, m), by which it simulates a target.

    `factored` is the target whose query and key maps E holds: its own, or other factors of the
    same logits. `inverses` are those of a drawn model's local blocks B_j; None for identities.
    """

    model: FixedModel[Any, Any]
    drawn: DrawnModel | None
    factored: Target
    embedding: Matrix
    inverses: Blocks | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Deficit:
    """Why a draw has no E for some target, in words."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Construction:
    """One way to fix a universal model's parameters; without a layout they are drawn.

    It serves attention-only targets, or gated and residual ones, or both.
    """

    name: str
    layout: Layout | None
    attention_only: bool = False
    other_blocks: bool = False

    def least_width(self, size: TransformerSize) -> int:
        """The smallest m."""
        return size.probe_width if self.layout is None else self.layout.least_width(size)

    def refusal(self, size: TransformerSize) -> str | None:
        """Why it does not serve targets of a size, or None."""
        others, layout = size.gated or size.residual, self.layout
        if others and not self.other_blocks:
            return "serves attention-only targets; use sparse or generic"
        if not others and not self.attention_only:
            return "serves gated and residual targets; use tree, which is as wide"
        if layout is not None and layout.single_head and size.heads > 1:
            return f"serves one head, not {size.heads}; use looped or tree"
        if layout is not None and layout.wide_heads and size.head_width < size.token_width:
            return f"serves d >= d_in = {size.token_width}, not {size.head_width}; use tree"
        return None

    def solve(self, target: Target, width: int, seed: int) -> Solved | Deficit:
        """The model in an embedding dimension of `width`, and E; the seed is that of a draw."""
        if self.layout is None:
            draw = Draw(distribution="uniform32", seed=seed, width=width)
            return solve_drawn(DrawnModel(size=target.size, draw=draw), target)
        return Solved(
            model=self.layout.build(target.size, width),
            drawn=None,
            factored=self.layout.factored(target),
            embedding=self.layout.write(target, width).transposed,
        )


def solve_drawn(drawn: DrawnModel, target: Target) -> Solved | Deficit:
    """E for a drawn model, solved exactly; a deficit says what lacks rank."""
    model = drawn.model(Block.matrix)
    inverses = local_inverses(model)
    if inverses is None:
        return Deficit(text="every local block B_j must be invertible, one is singular")
    found = smallest_solution(probe(model, 0).dense(), coefficients(target, 0, inverses))
    if found is None:
        return rank_deficit(drawn)
    return Solved(
        model=model,
        drawn=drawn,
        factored=target,
        embedding=found.transposed,
        inverses=inverses,
    )


def rank_deficit(drawn: DrawnModel) -> Deficit:
    """What a draw lacks whose probe equations have no solution."""
    rank, needed = rank_of(drawn).rank, drawn.size.probe_width
    return Deficit(text=f"P_0 must have full column rank {needed}, its rank is {rank}")


def smallest_solution(probes: Matrix, content: Matrix) -> Matrix | None:
    """E^T of shape (m, d_in) with P_0^T E^T = content, of least norm: P_0 (P_0^T P_0)^-1 content.

    An m above s_0 so conditions E better. None if P_0 has not full column rank.
    """
    if probes.height == probes.width:
        return solve_probes(probes, content)
    if independent_rows(probes) is None:
        return None
    return probes @ (probes.transposed @ probes).solve(content)


CONSTRUCTIONS: dict[str, Construction] = {
    construction.name: construction
    for construction in (
        Construction(name="tree", layout=tree.LAYOUT, attention_only=True),
        Construction(name="shift", layout=shift.LAYOUT, attention_only=True),
        Construction(name="looped", layout=looped.LAYOUT, attention_only=True),
        Construction(name="folded", layout=folded.LAYOUT, attention_only=True),
        Construction(name="sparse", layout=routed.LAYOUT, other_blocks=True),
        Construction(name="generic", layout=None, attention_only=True, other_blocks=True),
    )
}
"""Every construction by the name that the command line gives it; one line each."""


# --- encoding --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Encoding:
    """A target in a universal model: E exactly, and E rounded once to a dtype."""

    stored: StoredTarget
    construction: Construction
    width: int
    dtype: str
    solved: Solved
    rounded: Matrix

    @property
    def size(self) -> TransformerSize:
        """The target's sizes."""
        return self.stored.target.size


def encode(
    stored: StoredTarget, construction: Construction, width: int | None, seed: int, dtype: str
) -> Encoding | Deficit:
    """E of a construction for a target, in an embedding dimension of `width` or of the least one.

    Raises:
        UsageError: the construction does not serve such targets, m is too small or too large, the
            seed is no seed of a draw, or E overflows in the dtype.
    """
    m = _width(stored.target.size, construction, width)
    if not 0 <= seed < SEEDS:
        raise UsageError(f"--seed must be from 0 to {SEEDS - 1}, got {seed}")
    solved = construction.solve(stored.target, m, seed)
    if isinstance(solved, Deficit):
        return solved
    return Encoding(
        stored=stored,
        construction=construction,
        width=m,
        dtype=dtype,
        solved=solved,
        rounded=rounded(solved.embedding, FORMATS[dtype], "embedding E"),
    )


def _width(size: TransformerSize, construction: Construction, width: int | None) -> int:
    """The asked embedding dimension, or the least one, if it can be served."""
    name = construction.name
    if (refused := construction.refusal(size)) is not None:
        raise UsageError(f"--construction {name} must fit the target: it {refused}")
    least = construction.least_width(size)
    m = least if width is None else width
    if m < least:
        raise UsageError(
            f"--m must be at least {least} for {name} and this target, got {m}; raise it or leave "
            "it out"
        )
    maps = size.heads * size.layers + 3 * size.layers * size.neurons * size.gated
    entries, most = m * size.token_width, MOST_ENTRIES
    if construction.layout is None:
        entries, most = m * m * maps, MOST_DRAWN
    if entries > most:
        raise UsageError(
            f"--construction {name}: at most {most} exact entries can be held, got {entries} with "
            f"m = {m}; choose a smaller m, a smaller target or another construction"
        )
    return m


# --- certificate -----------------------------------------------------------------------------


def scales(encoding: Encoding) -> tuple[tuple[Matrix, ...], ...]:
    """alpha_j = W_d[j, :] C_l B_j^{-1}, shape (1, s_l), by layer and neuron."""
    target, inverses = encoding.solved.factored, encoding.solved.inverses
    layers: list[tuple[Matrix, ...]] = []
    for layer in range(target.size.layers if target.size.gated else 0):
        gammas = target.downs[layer] @ coefficients(target, layer + 1, inverses).transposed
        rows = [gammas.select_rows([j]) for j in range(target.size.neurons)]
        if inverses is not None:
            rows = [row @ inverse for row, inverse in zip(rows, inverses[layer], strict=True)]
        layers.append(tuple(rows))
    return tuple(layers)


def whole_json(matrix: Matrix) -> Json:
    """Rows of whole numbers over one denominator, in hexadecimal, which is read in linear time."""
    entries, over = matrix.integers()
    return {"over": hex(over), "rows": [[hex(entry) for entry in row] for row in entries]}


def exhibit(encoding: Encoding) -> Json:
    """Target, model, factors of the logits, scales and E: all that the certificate shows."""
    solved = encoding.solved
    factors = {
        name: [[entries_json(matrix) for matrix in layer] for layer in grid]
        for name, grid in (("queries", solved.factored.queries), ("keys", solved.factored.keys))
    }
    drawn = solved.drawn
    return {
        "target": target_json(encoding.stored.target),
        "model": places_json(solved.model) if drawn is None else drawn.as_json(),
        "factors": factors,
        "scales": [[whole_json(row) for row in layer] for layer in scales(encoding)],
        "embedding": whole_json(solved.embedding),
    }


def equations_fail(encoding: Encoding) -> Counterexample | None:
    """The obligation that the exact E solves E P_0 = C_0."""
    solved = encoding.solved
    found = probe(solved.model, 0).read(solved.embedding)
    if found == coefficients(solved.factored, 0, solved.inverses).transposed:
        return None
    return Counterexample(
        text=f"E P_0 must equal C_0; it does not ({encoding.construction.name})",
        instance={"size": encoding.size.as_json(), "width": encoding.width},
    )


def encoding_claim(encoding: Encoding) -> Claim:
    """The claim that the exhibited E makes the fixed model compute the target."""
    name, stored = encoding.construction.name, encoding.stored
    witness = Witness(
        find=lambda: encoding,
        holds=equations_fail,
        exhibit=exhibit,
        rechecked_as="encoding",
        instances=f"one target, m = {encoding.width}",
    )
    lemma = "universal.gated.probe" if encoding.size.gated else "universal.probes.layer"
    return Claim(
        id=f"encoding.{name}",
        source=Source(PAPER, "Definition of universality, Section 2.2; Section 3"),
        statement=f"The exhibited embedding solves E P_0 = C_0 exactly for the weights of SHA-256 "
        f"{stored.sha256} and the {name} model with m = {encoding.width}.",
        latex=r"E P_0 = C_0",
        scope=f"this target; by {lemma} both outputs agree then for every input, attention "
        "normaliser, mask and activation",
        uses=(),
        expected=Status.PROVED,
        build=lambda: (covers(witness),),
        module=__name__,
    )
