"""The transformer as tensors: token by token what the map G says, in every form and dtype."""

import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from constructions.machines.corpus import CHAMPIONS
from constructions.machines.definitions import MachineError
from constructions.machines.descriptions import described_machine, description
from constructions.machines.formats import bbchallenge, files
from constructions.machines.relu_machine import machine_network
from constructions.machines.tensors import (
    DTYPES,
    FORMS,
    MOST_ENTRIES,
    Source,
    compiled,
    largest_window,
)
from constructions.machines.textbook import ADDITION, INCREMENT, TEXTBOOK
from constructions.machines.torch_model import Generator, generated, torch_module
from constructions.machines.transformer_files import model_bytes, read_model
from constructions.machines.window import SlidingWindowRun
from constructions.tensor_files import Tensor, file_bytes, read_file
from verify.errors import MachineFormatError, UsageError, WeightsError

EXAMPLES = Path(__file__).parents[3] / "examples" / "machines"
BEAVER = bbchallenge.read("1RB1LB_1LA1RZ")
DOUBLING = files.read_file(EXAMPLES / "doubling.queue.yaml", "doubling.queue.yaml")
SOURCES = {
    "beaver": (Source(machine=BEAVER), ()),
    "beaver of three": (Source(machine=bbchallenge.read("1RB1RZ_1LB0RC_1LC1LA")), ()),
    "increment": (Source(machine=INCREMENT.machine), tuple("101")),
    "addition": (Source(machine=ADDITION.machine), tuple("1+1")),
    "doubling": (Source(machine=DOUBLING.machine), DOUBLING.word),
}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", sorted(SOURCES))
def test_the_tensors_generate_what_g_says(name, form, dtype):
    source, word = SOURCES[name]
    model = compiled(source, min(20, largest_window(dtype)), dtype, form)
    made, run = Generator(model, word), SlidingWindowRun(source.graph.transformer, word)
    assert made.model.dtype == dtype
    while not made.halted and made.tokens < 60:
        assert made.step() == run.step()
    assert made.halted == run.halted
    assert [made.token(number) for number in made.context] == list(run.context)


FITTING = {
    **{book.machine.name: (book.machine, book.words()[-1][0]) for book in TEXTBOOK},
    **{text: (bbchallenge.read(text), ()) for text, _, _ in CHAMPIONS},
}


@pytest.mark.parametrize("name", sorted(FITTING))
def test_both_forms_agree_on_every_machine_that_fits(name):
    machine, word = FITTING[name]
    source = Source(machine=machine)
    made = [Generator(compiled(source, 40, "float32", "block"), word)]
    if source.entries <= MOST_ENTRIES:
        made.append(Generator(compiled(source, 40, "float32", "dense"), word))
    else:
        assert name == "1RB2LA1RA1RA_1LB1LA3RB1RZ"
    run = SlidingWindowRun(source.graph.transformer, word)
    while not run.halted and run.tokens < 30:
        token = run.step()
        assert [one.step() for one in made] == [token] * len(made)
    assert {one.halted for one in made} == {run.halted}


def test_dense_tensors_are_the_papers():
    source, _ = SOURCES["beaver"]
    tensors = {
        name: t.reals() for name, t in compiled(source, 9, "float32", "dense").tensors.items()
    }
    network = machine_network(source.graph, 9)
    vocabulary = network.vocabulary
    size, width = len(vocabulary.displayed), vocabulary.width
    assert tensors["embedding"].shape == (2 * size * len(vocabulary.labels), width)
    for number, token in enumerate(vocabulary.tokens):
        assert tensors["embedding"][number].tolist() == [int(x) for x in vocabulary.embed(token)]
    assert not tensors["query"].any()
    assert not tensors["key"].any()
    assert tensors["value"].tolist() == [list(map(int, r)) for r in vocabulary.value_matrix()]
    for i, layer in enumerate(network.network.hidden):
        vector = np.arange(layer.inputs, dtype=float)
        exact = layer.apply([int(x) for x in vector])
        assert (
            tensors[f"hidden.{i}.weight"] @ vector + tensors[f"hidden.{i}.bias"]
        ).tolist() == exact


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
def test_parities_are_right_up_to_the_longest_window(dtype):
    source, _ = SOURCES["beaver"]
    window = min(largest_window(dtype), 4096)
    module = torch_module(compiled(source, window, dtype, "block"))
    symbols, labels = len(source.displayed), len(source.graph.labels)
    draw = random.Random(3)  # noqa: S311 - contexts of a test
    for _ in range(200):
        size = draw.choice((window, window, draw.randint(0, window)))
        weights = [draw.random() ** 4 for _ in range(symbols - 1)]
        shown = draw.choices(range(symbols - 1), weights, k=size)
        shown.insert(draw.randint(0, size), symbols - 1)
        counts = [shown.count(symbol) % 2 for symbol in range(symbols - 1)]
        assert module.features([place * 2 * labels for place in shown]).tolist() == [*counts, 1]


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_window_that_is_too_long_for_the_dtype_is_refused(dtype):
    source, _ = SOURCES["beaver"]
    with pytest.raises(UsageError, match=f"in {dtype}, got {largest_window(dtype) + 1}; beyond it"):
        compiled(source, largest_window(dtype) + 1, dtype, "block")


@pytest.mark.parametrize("form", FORMS)
def test_a_longer_context_is_an_error_and_never_a_token(form):
    source, _ = SOURCES["increment"]
    model = compiled(source, 3, "float32", form)
    assert [token.displayed for token in generated(model, ("1",))]
    with pytest.raises(MachineError, match="compiled for windows of 3, got 5; compile it with"):
        Generator(model, tuple("1011")).step()
    module = torch_module(model)
    with pytest.raises(MachineError, match="at most 4 tokens"):
        module([0] * 5)


def test_a_run_that_halted_gives_no_more_tokens():
    source, word = SOURCES["beaver"]
    made = Generator(compiled(source, 9, "float32", "block"), word)
    while not made.halted:
        made.step()
    with pytest.raises(MachineError, match="it ended after 26 tokens"):
        made.step()


def test_tensors_without_a_winner_are_an_error():
    source, word = SOURCES["beaver"]
    model = compiled(source, 9, "float32", "dense")
    blank = Tensor.of_reals(np.zeros(model.tensors["embedding"].shape), "float32")
    with pytest.raises(MachineError, match="got two that score"):
        Generator(replace(model, tensors={**model.tensors, "embedding": blank}), word).step()


def test_modules_hold_nothing_but_the_files_tensors():
    model = compiled(SOURCES["beaver"][0], 9, "float16", "dense")
    state = torch_module(model).state_dict()
    assert {name.replace(".", "_") for name in model.tensors} == set(state)
    assert all(torch.equal(t, t.half().to(t.dtype)) for t in state.values())


@pytest.mark.parametrize(
    ("window", "dtype", "form", "said"),
    [
        (9, "float8", "dense", "--dtype must be one of float64, float32, bfloat16, float16"),
        (9, "float32", "sparse", "--form must be one of dense, block, got sparse"),
        (0, "float32", "dense", "--window must be from 1 to"),
        (5000, "float16", "dense", "--window must be from 1 to .* in float16, got 5000"),
    ],
)
def test_impossible_transformers_are_refused(window, dtype, form, said):
    with pytest.raises(UsageError, match=said):
        compiled(SOURCES["beaver"][0], window, dtype, form)


# --- files -----------------------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", ["beaver", "doubling"])
def test_a_model_is_read_as_it_was_written(name, form, tmp_path):
    source, _ = SOURCES[name]
    model = compiled(source, 7, "bfloat16", form)
    path = tmp_path / "model.safetensors"
    path.write_bytes(model_bytes(model))
    found = read_model(path)
    assert (found.window, found.dtype, found.form) == (model.window, model.dtype, model.form)
    for one, other in ((found.tensors, model.tensors), (model.tensors, found.tensors)):
        for key, tensor in one.items():
            assert (tensor.code, tensor.shape) == (other[key].code, other[key].shape)
            assert tensor.data == other[key].data
    assert found.source.graph.labels == source.graph.labels
    assert model_bytes(found) == path.read_bytes()


def test_files_that_are_no_model_are_refused(tmp_path):
    path = tmp_path / "model.safetensors"
    model = compiled(SOURCES["beaver"][0], 9, "float32", "block")
    path.write_bytes(model_bytes(model))
    metadata = read_file(path).metadata
    config = metadata["config"]
    fewer = {name: tensor for name, tensor in model.tensors.items() if name != "row.token"}
    longer = Tensor.of_reals(np.zeros(99), "float32")
    for tensors, text, kind, said in (
        (model.tensors, None, WeightsError, "must be what `certiformer compile` writes"),
        (model.tensors, "[]", WeightsError, "must be what `certiformer compile` writes"),
        (model.tensors, config.replace('"float32"', '"float8"'), WeightsError, "compile` writes"),
        (model.tensors, config.replace('"window": 9', '"window": -9'), WeightsError, "--window"),
        (model.tensors, config.replace('["A", "0"', '["Q", "0"'), MachineFormatError, "its kind"),
        (model.tensors, config.replace('"1RB', '"2RB'), None, ""),
        (model.tensors, config.replace("N(start A", "N(begin A"), WeightsError, "labels must be"),
        (fewer, config, WeightsError, r"tensor 'row.token' must be I64 of shape .*, got none"),
        ({**model.tensors, "x": longer}, config, WeightsError, "tensor 'x' must be none, got F32"),
    ):
        path.write_bytes(file_bytes(tensors, {} if text is None else {"config": text}))
        if kind is None:
            assert read_model(path).source.machine.name.startswith("2RB")
            continue
        with pytest.raises(kind, match=said):
            read_model(path)


def test_descriptions_of_machines_are_read_back():
    for source, _ in SOURCES.values():
        found = described_machine(description(source.machine), "model")
        assert found == source.machine
    with pytest.raises(MachineFormatError, match="must have the fields of its kind"):
        described_machine({"kind": "queue"}, "model")
    with pytest.raises(MachineFormatError, match="must have the fields of its kind"):
        described_machine([], "model")
