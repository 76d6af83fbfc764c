"""What the tensors of common small GPT code are, by their names.

    packed     c_attn, in_proj (nn.MultiheadAttention)
    separate   q_proj, query, wq, W_query; keys and values likewise
    output     c_proj, out_proj, o_proj, wo, proj
    gated      gate_proj, up_proj, down_proj; w1, w3, w2

Blocks are numbered as in `transformer.h.0`, `blocks.0` or `layers.0`, heads as in `heads.0`; what
has no number is in the one block.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum


class Role(StrEnum):
    """What a tensor is in the model that its name belongs to."""

    PACKED = "queries, keys and values packed"
    QUERY = "queries"
    KEY = "keys"
    VALUE = "values"
    OUTPUT = "output projection"
    GATE = "gate"
    UP = "up projection"
    DOWN = "down projection"
    BIAS = "bias"
    NORM = "normalisation"
    MLP = "MLP that is not gated"
    POSITIONS = "positions inside attention"
    EMBEDDING = "embedding or readout"
    MASK = "mask"
    FILL = "what masked logits are set to"
    UNKNOWN = "unknown"


ATTENTION_ROLES = (Role.PACKED, Role.QUERY, Role.KEY, Role.VALUE, Role.OUTPUT)
GATED_ROLES = (Role.GATE, Role.UP, Role.DOWN)
MULTIHEAD = "in_proj"
"""The packed tensor of PyTorch's nn.MultiheadAttention."""
_LINEAR = {
    **dict.fromkeys(("c_attn", MULTIHEAD), Role.PACKED),
    **dict.fromkeys(("q_proj", "query", "wq", "W_query"), Role.QUERY),
    **dict.fromkeys(("k_proj", "key", "wk", "W_key"), Role.KEY),
    **dict.fromkeys(("v_proj", "value", "wv", "W_value"), Role.VALUE),
    **dict.fromkeys(("c_proj", "out_proj", "o_proj", "wo", "proj"), Role.OUTPUT),
}
_GATED = {
    **dict.fromkeys(("gate_proj", "w1"), Role.GATE),
    **dict.fromkeys(("up_proj", "w3"), Role.UP),
    **dict.fromkeys(("down_proj", "w2"), Role.DOWN),
}
_MLP = {"mlp", "ffwd", "ffn", "feed_forward", "feedforward", "ff"}
_TWO_LAYERS = {"c_fc", "fc1", "fc2", "linear1", "linear2"}
_NORM = re.compile(r"ln|ln_?[a-z0-9]|ln_\w+|\w*norm\w*")
_POSITIONS = {"rotary_emb", "inv_freq", "freqs_cis", "alibi", "slopes", "relative_attention_bias"}
_EMBEDDINGS = set(
    "wte wpe tok_emb pos_emb token_emb position_emb tok_embeddings embed_tokens embed_positions "
    "embed token_embedding position_embedding token_embedding_table position_embedding_table "
    "lm_head head out_head output unembed".split()
)
_MASKS = {"tril", "mask", "causal_mask", "attn_mask", "bias"}
_BIAS_MASK_DIMENSIONS = 4
"""minGPT, nanoGPT and GPT-2 call their mask of shape [1, 1, T, T] a bias."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """A tensor by its name: its role, and the numbers of its block and head where it has any.

    `pattern` is the name with those numbers as stars; `module` is the layer that holds the tensor.
    """

    name: str
    pattern: str
    module: str
    role: Role
    block: int | None
    head: int | None

    @property
    def shown(self) -> str:
        """The name, safe to print."""
        return ascii(self.name)[1:-1]

    @property
    def shown_pattern(self) -> str:
        """The pattern, safe to print."""
        return ascii(self.pattern)[1:-1]


def named(name: str, shape: tuple[int, ...]) -> Named:
    """What a tensor of this name and shape is."""
    parts = re.sub(r"\bin_proj_(weight|bias)$", r"in_proj.\1", name).split(".")
    block, head = _block_place(parts), _head_place(parts)
    starred = [
        "*" if place in (block, head) else part for place, part in enumerate(name.split("."))
    ]
    return Named(
        name=name,
        pattern=".".join(starred),
        module=parts[-2] if len(parts) > 1 else "",
        role=_role(parts, shape, inside=block is not None),
        block=None if block is None else int(parts[block]),
        head=None if head is None else int(parts[head]),
    )


def _number(part: str) -> bool:
    return re.fullmatch(r"[0-9]{1,6}", part) is not None


def _block_place(parts: list[str]) -> int | None:
    """Where the block's number stands: not a head's, nor that of a layer of an MLP."""
    for place, part in enumerate(parts):
        before = parts[:place]
        if part in _MLP or before[-1:] == ["heads"]:
            return None
        if _number(part):
            return place
    return None


def _head_place(parts: list[str]) -> int | None:
    places = (i for i in range(1, len(parts)) if parts[i - 1] == "heads" and _number(parts[i]))
    return next(places, None)


def _role(parts: list[str], shape: tuple[int, ...], *, inside: bool) -> Role:
    kind, module = parts[-1], parts[-2] if len(parts) > 1 else ""
    if any(map(_NORM.fullmatch, parts)):
        return Role.NORM
    if _POSITIONS.intersection(parts):
        return Role.POSITIONS
    if kind == "masked_bias":
        return Role.FILL
    if _is_mask(kind, shape):
        return Role.MASK
    if not inside and _EMBEDDINGS.intersection(parts):
        return Role.EMBEDDING
    in_mlp = bool(_MLP.intersection(parts))
    role = _GATED.get(module, Role.MLP if in_mlp or module in _TWO_LAYERS else None)
    role = role or _LINEAR.get(module, Role.UNKNOWN)
    if role in (Role.MLP, Role.UNKNOWN) or kind == "weight":
        return role
    return Role.BIAS if kind == "bias" else Role.UNKNOWN


def _is_mask(kind: str, shape: tuple[int, ...]) -> bool:
    square = len(shape) > 1 and shape[-1] == shape[-2] and set(shape[:-2]) <= {1}
    return kind in _MASKS and square and (kind != "bias" or len(shape) == _BIAS_MASK_DIMENSIONS)


def listed(found: Iterable[Named]) -> str:
    """Their names, those of all blocks and heads once, with a star for the number."""
    return ", ".join(dict.fromkeys(one.shown_pattern for one in found))
