"""Weights under other people's names compute what their modules compute, or are refused."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from safetensors.torch import load_file, save_file

from constructions.universal.ball_runs import MASKS, enclosed_target, softmax_of
from constructions.universal.definitions import TransformerSize, run_target
from constructions.universal.gates import GATES
from constructions.universal.gpt_files import read_weights
from constructions.universal.gpt_names import Role, named
from constructions.universal.instances import random_target
from constructions.universal.nonlinearities import causal_mask, linear_attention
from constructions.universal.weights import StoredTarget, write_target
from reports.cli import invoke
from verify.balls import Balls
from verify.errors import WeightsError
from verify.rational import Matrix

torch = pytest.importorskip("torch")
nn = torch.nn

TOKENS, WIDTH, HEADS, BLOCKS, NEURONS = 5, 6, 3, 2, 4
SOFT = "soft"
"""Attention by softmax; else by a quarter of each logit, which exact numbers can follow."""


# --- modules as they are commonly written ----------------------------------------------------


class Conv1D(nn.Module):
    """GPT-2's linear layer, whose weight is (in, out)."""

    def __init__(self, out: int, into: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(into, out))
        self.bias = nn.Parameter(torch.zeros(out))

    def forward(self, x: Any) -> Any:
        return x @ self.weight + self.bias


class Attention(nn.Module):
    """What all of them do with queries, keys and values, once these are at hand."""

    heads = HEADS
    attend = SOFT

    def mixed(self, q: Any, k: Any, v: Any) -> Any:
        tokens, inner = q.shape
        q, k, v = (
            x.view(tokens, self.heads, inner // self.heads).transpose(0, 1) for x in (q, k, v)
        )
        logits = q @ k.transpose(-2, -1)
        kept = torch.tril(torch.ones(tokens, tokens)) == 1
        if self.attend == SOFT:
            scaled = logits / math.sqrt(inner // self.heads)
            weights = scaled.masked_fill(~kept, -math.inf).softmax(-1)
        else:
            weights = (logits / 4).masked_fill(~kept, 0)
        return (weights @ v).transpose(0, 1).reshape(tokens, inner)


class Packed(Attention):
    """minGPT and nanoGPT: nn.Linear(C, 3 C) and a mask called bias."""

    def __init__(self) -> None:
        super().__init__()
        self.c_attn = nn.Linear(WIDTH, 3 * WIDTH, bias=False)
        self.c_proj = nn.Linear(WIDTH, WIDTH, bias=False)
        self.register_buffer("bias", torch.tril(torch.ones(8, 8)).view(1, 1, 8, 8))

    def forward(self, x: Any) -> Any:
        return self.c_proj(self.mixed(*self.c_attn(x).split(WIDTH, dim=-1)))


class PackedConv(Packed):
    """GPT-2: the same with Conv1D, biases, and what masked logits are set to."""

    def __init__(self) -> None:
        super().__init__()
        self.c_attn = Conv1D(3 * WIDTH, WIDTH)
        self.c_proj = Conv1D(WIDTH, WIDTH)
        self.register_buffer(
            "bias", torch.tril(torch.ones(8, 8, dtype=torch.bool)).view(1, 1, 8, 8)
        )
        self.register_buffer("masked_bias", torch.tensor(-1e4))


class Separate(Attention):
    """Llama without rotary positions: heads narrower than the stream would have them."""

    inner = 2 * HEADS
    names = ("q_proj", "k_proj", "v_proj", "o_proj")

    def __init__(self) -> None:
        super().__init__()
        for name in self.names[:3]:
            setattr(self, name, nn.Linear(WIDTH, self.inner, bias=False))
        setattr(self, self.names[3], nn.Linear(self.inner, WIDTH, bias=False))

    def forward(self, x: Any) -> Any:
        q, k, v = (getattr(self, name)(x) for name in self.names[:3])
        return getattr(self, self.names[3])(self.mixed(q, k, v))


class Older(Separate):
    """The names of the first minGPT."""

    inner = 4 * HEADS
    names = ("query", "key", "value", "proj")


class Head(Attention):
    """One head of a lecture's code."""

    heads = 1

    def __init__(self, width: int) -> None:
        super().__init__()
        self.key = nn.Linear(WIDTH, width, bias=False)
        self.query = nn.Linear(WIDTH, width, bias=False)
        self.value = nn.Linear(WIDTH, width, bias=False)
        self.register_buffer("tril", torch.tril(torch.ones(8, 8)))

    def forward(self, x: Any) -> Any:
        return self.mixed(self.query(x), self.key(x), self.value(x))


class NumberedHeads(nn.Module):
    """A lecture's heads, one module each."""

    def __init__(self) -> None:
        super().__init__()
        self.heads = nn.ModuleList([Head(2) for _ in range(HEADS)])
        self.proj = nn.Linear(2 * HEADS, WIDTH)

    def forward(self, x: Any) -> Any:
        return self.proj(torch.cat([head(x) for head in self.heads], dim=-1))


class Gated(nn.Module):
    """Llama's MLP."""

    def __init__(self) -> None:
        super().__init__()
        self.gate_proj = nn.Linear(WIDTH, NEURONS, bias=False)
        self.up_proj = nn.Linear(WIDTH, NEURONS, bias=False)
        self.down_proj = nn.Linear(NEURONS, WIDTH, bias=False)

    def forward(self, x: Any) -> Any:
        return self.down_proj(nn.functional.silu(self.gate_proj(x)) * self.up_proj(x))


class Block(nn.Module):
    """Residual attention, and a residual gated MLP if there is one."""

    def __init__(self, attention: Callable[[], Any], gated: bool) -> None:
        super().__init__()
        self.attn = attention()
        if gated:
            self.mlp = Gated()

    def forward(self, x: Any) -> Any:
        x = x + self.attn(x)
        return x + self.mlp(x) if hasattr(self, "mlp") else x


class Model(nn.Module):
    """Embeddings, blocks and a readout, the blocks alone being the target."""

    def __init__(self, attention: Callable[[], Any], gated: bool = False) -> None:
        super().__init__()
        self.transformer = nn.ModuleDict(
            {
                "wte": nn.Embedding(11, WIDTH),
                "wpe": nn.Embedding(8, WIDTH),
                "h": nn.ModuleList([Block(attention, gated) for _ in range(BLOCKS)]),
            }
        )
        self.lm_head = nn.Linear(WIDTH, 11, bias=False)

    def forward(self, x: Any) -> Any:
        for block in self.transformer["h"]:
            x = block(x)
        return x


KINDS: dict[str, Callable[[], Any]] = {
    "packed": lambda: Model(Packed),
    "packed and gated": lambda: Model(Packed, gated=True),
    "packed as Conv1D": lambda: Model(PackedConv),
    "separate and gated": lambda: Model(Separate, gated=True),
    "separate under older names": lambda: Model(Older),
    "numbered heads": lambda: Model(NumberedHeads),
    "one layer without a number": Packed,
}


def filled(module: Any, seed: int = 1) -> Any:
    """The module in float64, its weights small whole numbers and its biases zero."""
    source = torch.Generator().manual_seed(seed)
    module = module.double()
    for name, part in module.named_parameters():
        entries = torch.randint(-2, 3, part.shape, generator=source).double()
        part.data = torch.zeros_like(part) if name.endswith("bias") else entries
    return module


def some_inputs(seed: int = 2) -> Any:
    source = torch.Generator().manual_seed(seed)
    return torch.randint(-2, 3, (TOKENS, WIDTH), generator=source).double() / 4


def exact(part: Any) -> Matrix:
    return Matrix.from_rows([[Fraction(x) for x in row] for row in part.tolist()])


def saved(module: Any, path: Path) -> Path:
    tensors = {name: part.contiguous() for name, part in module.state_dict().items()}
    if path.suffix == ".safetensors":
        save_file(tensors, path)
    else:
        torch.save(tensors, path)
    return path


def enclosed(stored: StoredTarget, inputs: Any) -> Balls:
    normalise = softmax_of(MASKS[stored.mask](TOKENS), stored.shrink)
    activate = GATES[stored.activation].enclosed
    return enclosed_target(stored.target, exact(inputs), 256, normalise, activate)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("ending", [".pt", ".safetensors"])
def test_the_target_computes_what_the_module_computes(
    kind: str, ending: str, tmp_path: Path
) -> None:
    module, inputs = filled(KINDS[kind]()), some_inputs()
    stored = read_weights(saved(module, tmp_path / f"model{ending}"), {"heads": str(HEADS)})
    with torch.no_grad():
        theirs = Balls.of(exact(module(inputs)), 256)
    ours = enclosed(stored, inputs)
    assert ours.magnitude_upper() > 1
    assert ours.distance_upper(theirs) < ours.magnitude_upper() / 10**9
    assert stored.target.size.heads == HEADS
    assert stored.target.size.residual == (kind != "one layer without a number")


@pytest.mark.parametrize("kind", [kind for kind in KINDS if "gated" not in kind])
def test_the_exact_forward_pass_is_the_module_s_to_the_last_digit(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whole numbers and quarters, and attention linear in the logits: float64 rounds nothing."""
    monkeypatch.setattr(Attention, "attend", "linear")
    module, inputs = filled(KINDS[kind]()), some_inputs()
    target = read_weights(saved(module, tmp_path / "model.pt"), {"heads": str(HEADS)}).target
    with torch.no_grad():
        theirs = exact(module(inputs))
    ours = run_target(target, exact(inputs), linear_attention(causal_mask(TOKENS))).output
    assert ours == theirs
    assert any(entry != 0 for row in ours.rows() for entry in row)


@pytest.mark.parametrize("causal", [True, False])
def test_multihead_attention_of_pytorch_is_read_with_the_mask_that_is_said(
    causal: bool, tmp_path: Path
) -> None:
    module, inputs = filled(nn.MultiheadAttention(WIDTH, HEADS)), some_inputs()
    path = saved(module, tmp_path / "model.pt")
    said = {"heads": str(HEADS), "mask": "causal" if causal else "full"}
    stored = read_weights(path, said)
    mask = torch.triu(torch.ones(TOKENS, TOKENS), 1) == 1 if causal else None
    with torch.no_grad():
        theirs, _ = module(inputs, inputs, inputs, attn_mask=mask)
    ours = enclosed(stored, inputs)
    assert ours.distance_upper(Balls.of(exact(theirs), 256)) < ours.magnitude_upper() / 10**9
    with pytest.raises(WeightsError, match="told its mask when it is called; say mask=causal"):
        read_weights(path, {"heads": str(HEADS)})


def test_what_is_left_out_and_what_is_assumed_is_said(tmp_path: Path) -> None:
    path = saved(filled(Model(PackedConv, gated=True)), tmp_path / "model.pt")
    stored = read_weights(path, {"heads": "3", "logit_scale": "1/8"})
    assert set(stored.left_out) == {
        "transformer.wte.weight [11, 6]: embedding, positions at the input, or readout",
        "transformer.wpe.weight [8, 6]: embedding, positions at the input, or readout",
        "lm_head.weight [11, 6]: embedding, positions at the input, or readout",
        "transformer.h.*.attn.bias [1, 1, 8, 8]: the causal mask",
        "transformer.h.*.attn.masked_bias []: what masked logits are set to",
        "transformer.h.*.attn.c_attn.bias [18]: a bias that is zero",
        "transformer.h.*.attn.c_proj.bias [6]: a bias that is zero",
    }
    assert stored.assumed == (
        "mask causal",
        "residual true",
        "activation silu",
        "no positions inside attention, rotary ones having no weights",
    )
    assert (stored.shrink, stored.activation, stored.mask) == (64, "silu", "causal")


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16"])
def test_entries_are_read_exactly_and_keep_their_dtype(dtype: str, tmp_path: Path) -> None:
    module = Packed().to(getattr(torch, dtype))
    stored = read_weights(saved(module, tmp_path / "model.pt"), {"heads": "3"})
    assert set(stored.dtypes.values()) == {dtype}
    width = WIDTH // HEADS
    expected = exact(module.c_attn.weight.detach().double()[width : 2 * width].T)
    assert stored.target.queries[0][1] == expected


# --- checkpoints of training scripts ---------------------------------------------------------


def test_a_training_script_s_checkpoint_tells_its_heads(tmp_path: Path) -> None:
    module = filled(Model(Packed))
    compiled = {f"_orig_mod.{name}": part for name, part in module.state_dict().items()}
    torch.save(
        {"model": compiled, "model_args": {"n_head": 2}, "iter_num": 5}, tmp_path / "ckpt.pt"
    )
    plain = read_weights(saved(module, tmp_path / "model.pt"), {"heads": "2"})
    assert read_weights(tmp_path / "ckpt.pt").target == plain.target


def test_the_suite_s_own_names_are_read_from_both_kinds_of_file(tmp_path: Path) -> None:
    size = TransformerSize(heads=2, layers=2, head_width=2, token_width=2)
    write_target(tmp_path / "target.safetensors", random_target(size, 1), "float64")
    torch.save(load_file(tmp_path / "target.safetensors"), tmp_path / "target.pt")
    first = read_weights(tmp_path / "target.safetensors")
    assert (first.left_out, first.assumed) == ((), ())
    assert read_weights(tmp_path / "target.pt").target == first.target
    with pytest.raises(WeightsError, match="heads must be 2, as its tensors say, got '3'"):
        read_weights(tmp_path / "target.pt", {"heads": "3"})


# --- what is refused -------------------------------------------------------------------------


def gpt(**changes: Any) -> dict[str, Any]:
    """The state_dict of an attention-only model with some tensors changed, added or (None) gone."""
    found = dict(filled(Model(Packed)).state_dict())
    found |= {name.replace("__", "."): part for name, part in changes.items()}
    return {name: part for name, part in found.items() if part is not None}


def refused(tensors: dict[str, Any], path: Path, **said: str) -> str:
    torch.save(tensors, path / "model.pt")
    with pytest.raises(WeightsError) as caught:
        read_weights(path / "model.pt", {"heads": "3", **said})
    assert str(caught.value).startswith(f"{path / 'model.pt'}: ")
    return str(caught.value)


def test_every_reason_is_named_at_once(tmp_path: Path) -> None:
    layer = nn.TransformerEncoderLayer(WIDTH, HEADS, dim_feedforward=8)
    torch.save(
        nn.TransformerEncoder(layer, 2, enable_nested_tensor=False).state_dict(), tmp_path / "m"
    )
    with pytest.raises(WeightsError) as caught:
        read_weights(tmp_path / "m")
    text = str(caught.value)
    assert "(1) layers.*.norm1.bias, layers.*.norm1.weight, layers.*.norm2.bias" in text
    assert "no fixed model with LayerNorm is universal" in text
    assert "(2) layers.*.linear1.bias, layers.*.linear1.weight" in text
    assert "of MLPs only gated ones" in text
    assert "told its mask when it is called" in text
    assert "may be residual or not" in text
    assert "the number of heads, which no name tells, must be said, got nothing" in text


def ones(*shape: int) -> Any:
    return torch.ones(*shape, dtype=torch.float64)


FIRST, SECOND = "transformer__h__0__attn__", "transformer__h__1__attn__"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({f"{FIRST}c_attn__bias": ones(18)}, "h.*.attn.c_attn.bias: biases that are not zero"),
        ({"transformer__ln_f__weight": ones(6)}, "transformer.ln_f.weight: normalisation is in no"),
        ({"transformer__h__0__q_norm__weight": ones(2)}, "h.*.q_norm.weight: normalisation"),
        ({"transformer__h__0__mlp__c_fc__weight": ones(24, 6)}, "c_fc.weight: of MLPs only gated"),
        ({f"{FIRST}rotary_emb__inv_freq": ones(1)}, "positions inside attention change"),
        ({f"{FIRST}gain": ones(3)}, "h.*.attn.gain: no target has tensors of these names"),
        ({f"{FIRST}bias": ones(1, 1, 8, 8)}, "attn.bias: a mask that is not causal"),
        ({f"{FIRST}c_proj__weight": None}, "must have one tensor for its output projection"),
        ({f"{FIRST}c_attn__weight": ones(10, 6)}, "c_attn.weight must have shape [3 C, C] or, as"),
        ({f"{FIRST}c_proj__weight": ones(6, 5)}, "must have shape [6, 6], got [6, 5]"),
        ({f"{FIRST}q_proj__weight": ones(6, 6)}, "must hold queries, keys and values packed or ap"),
        ({f"{FIRST}cross__c_proj__weight": ones(6, 6)}, "its output projection, got"),
        ({f"{SECOND}c_attn__weight": None, f"{SECOND}c_proj__weight": None,
          "transformer__h__2__attn__c_proj__weight": ones(6, 6)}, "without a gap, got [0, 2]"),
        ({"c_attn__weight": ones(18, 6)}, "and tensors without a number; save the whole model"),
        ({f"{FIRST}c_attn__weight": torch.full((18, 6), math.nan)}, "must have finite entries"),
        ({f"{FIRST}c_attn__weight": torch.ones(18, 6, dtype=torch.int64)}, "have dtype float64"),
        ({"transformer__h__0__mlp__gate_proj__weight": ones(4, 6)}, "tensor for its up projection"),
        ({"transformer__h__0__mlp__w1__weight": ones(4, 6), "transformer__h__0__mlp__w3__weight":
          ones(4, 6), "transformer__h__0__mlp__w2__weight": ones(6, 4)}, "blocks must be alike"),
    ],
)  # fmt: skip
def test_what_no_target_has_is_refused_with_the_reason(
    changes: dict[str, Any], words: str, tmp_path: Path
) -> None:
    assert words in refused(gpt(**changes), tmp_path)


def test_a_causal_mask_contradicts_another_that_is_said(tmp_path: Path) -> None:
    assert "a causal mask, where metadata says another" in refused(gpt(), tmp_path, mask="full")


@pytest.mark.parametrize(
    "mask",
    [
        torch.triu(ones(8, 8), 1),
        torch.triu(ones(8, 8), 1) == 1,
        torch.triu(torch.full((8, 8), -math.inf), 1),
        torch.tril(torch.ones(1, 1, 8, 8, dtype=torch.uint8)),
    ],
)
def test_causal_masks_are_known_however_they_are_written(mask: Any, tmp_path: Path) -> None:
    torch.save(gpt(transformer__h__0__attn__mask=mask), tmp_path / "model.pt")
    read = read_weights(tmp_path / "model.pt", {"heads": "3"})
    shape = list(mask.shape)
    assert f"transformer.h.*.attn.mask {shape}: the causal mask" in read.left_out


def test_shared_key_heads_are_refused(tmp_path: Path) -> None:
    module = filled(Separate())
    tensors = {**module.state_dict(), "k_proj.weight": ones(2, 6), "v_proj.weight": ones(2, 6)}
    text = refused(tensors, tmp_path)
    assert "one shape, got [6, 6], [2, 6], [2, 6]; a target has as many key and value heads" in text


@pytest.mark.parametrize("heads", ["0", "-1", "4", "three"])
def test_heads_must_be_a_number_that_divides_the_width(heads: str, tmp_path: Path) -> None:
    text = refused(gpt(), tmp_path, heads=heads)
    even = f"the {heads} heads of block 0 must share its width evenly, got 6; correct --heads"
    assert even in text if heads == "4" else f"must be said, got {heads!r}; use --heads" in text


def test_blocks_with_different_numbers_of_heads_are_refused(tmp_path: Path) -> None:
    tensors = dict(filled(Model(NumberedHeads)).state_dict())
    for name in ("key", "query", "value"):
        del tensors[f"transformer.h.1.attn.heads.2.{name}.weight"]
    assert "block 1 must hold the queries of heads 0 to 2, got [0, 1]" in refused(tensors, tmp_path)


def test_unknown_metadata_and_unknown_names_are_refused(tmp_path: Path) -> None:
    assert "metadata must be one of heads, logit_scale" in refused(gpt(), tmp_path, head="3")
    text = refused({"weight": ones(3, 3)}, tmp_path)
    assert "must hold W_Q, W_K, W_V, W_O, got none called" in text


@pytest.mark.parametrize(
    ("name", "shape", "role", "block", "head"),
    [
        ("transformer.h.11.attn.c_attn.weight", (18, 6), Role.PACKED, 11, None),
        ("layers.0.self_attn.in_proj_bias", (18,), Role.BIAS, 0, None),
        ("blocks.1.sa.heads.3.query.weight", (2, 6), Role.QUERY, 1, 3),
        ("sa_heads.heads.0.tril", (8, 8), Role.MASK, None, 0),
        ("ffwd.net.0.weight", (24, 6), Role.MLP, None, None),
        ("trf_blocks.4.ff.layers.2.bias", (6,), Role.MLP, 4, None),
        ("model.layers.2.mlp.down_proj.weight", (6, 4), Role.DOWN, 2, None),
        ("layers.2.feed_forward.w3.weight", (4, 6), Role.UP, 2, None),
        ("model.layers.2.input_layernorm.weight", (6,), Role.NORM, 2, None),
        ("pos_emb", (1, 8, 6), Role.EMBEDDING, None, None),
        ("0.attn.c_proj.bias", (6,), Role.BIAS, 0, None),
        ("attn.bias_k", (1, 1, 6), Role.UNKNOWN, None, None),
        ("", (), Role.UNKNOWN, None, None),
    ],
)
def test_names_tell_what_a_tensor_is(
    name: str, shape: tuple[int, ...], role: Role, block: int | None, head: int | None
) -> None:
    found = named(name, shape)
    assert (found.role, found.block, found.head) == (role, block, head)


# --- the command -----------------------------------------------------------------------------


def test_a_state_dict_is_encoded_and_the_report_says_how_it_was_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    module = filled(Packed())
    path = saved(module, tmp_path / "model.pt")
    words = ["encode", str(path), "--construction", "tree", "--out", str(tmp_path / "out")]
    assert invoke([*words, "--heads", "3", "--metadata", "logit_scale=1/4", "--inputs", "1"]) == 0
    shown = capsys.readouterr().out
    assert "model.pt: H = 3, L = 1, d = 2, d_in = 6, attention only; float64" in shown
    assert "softmax of logits times 1/4, causal mask" in shown
    assert "residual false; --metadata overrules it" in shown
    assert "bias [1, 1, 8, 8]: the causal mask" in shown
    record = (tmp_path / "out" / "record.json").read_text()
    assert "--metadata heads=3 --metadata logit_scale=1/4" in record
    assert invoke(words) == 2
    assert "the number of heads, which no name tells" in capsys.readouterr().err
    assert invoke([*words, "--metadata", "residual"]) == 2
    assert "--metadata must be KEY=VALUE, each key once, got 'residual'" in capsys.readouterr().err
