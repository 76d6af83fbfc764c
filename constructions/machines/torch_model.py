"""The transformer of Theorem 9 as a PyTorch module: what Section 3.2 says, token by token.

    h_j = emb(v_j), a = sum of softmax(<Q h, K h_j>) V h_j, h^(1/2) = a + h, h^1 = MLP(h^(1/2)) +
    h^(1/2) at the newest token; the next token is the argmax of <emb(v), h^1> over the vocabulary

All is stored in the model's dtype. Sums of products and softmax run in the next wider one and are
rounded once; `machines.precision.frontier` says up to which window parities are right then.

Source: Sliding-Window Transformers Without Positional Encodings, Sections 3.2 and 5.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from importlib import import_module
from typing import Any

from constructions.machines.definitions import MachineError, Token, Word
from constructions.machines.tensors import WindowModel
from constructions.machines.window import WindowLabel, WindowToken
from constructions.tensor_files import CODES, PLACES

_WIDER = {"float64": "float64", "float32": "float64", "bfloat16": "float32", "float16": "float32"}
_MARGIN = 0.5
"""Scores are whole numbers if the arithmetic holds, so the best leads by 1."""


class Generator:
    """A module with the context that it has generated so far; `step` takes one token further."""

    def __init__(self, model: WindowModel, word: Word, device: str = "cpu") -> None:
        """Stand behind the prompt."""
        self.model = model
        self.module = torch_module(model, device)
        transformer = model.source.graph.transformer
        self._shown = {symbol: place for place, symbol in enumerate(transformer.displayed)}
        self._labels = {label: place for place, label in enumerate(model.source.graph.labels)}
        self.context = [self.number(token) for token in transformer.prompt(word)]
        self.tokens = 0

    def number(self, token: WindowToken[Any]) -> int:
        """A token's place in the vocabulary: displayed symbol, label, update bit."""
        shown, label = self._shown[token.displayed], self._labels[token.label]
        return (shown * len(self._labels) + label) * 2 + token.update

    def token(self, number: int) -> WindowToken[Any]:
        """The token at a place of the vocabulary."""
        rest, update = divmod(number, 2)
        shown, label = divmod(rest, len(self._labels))
        source = self.model.source
        return Token(
            displayed=source.displayed[shown], label=source.graph.labels[label], update=update
        )

    @property
    def newest(self) -> WindowLabel[Any]:
        """The label of the newest token."""
        return self.token(self.context[-1]).label

    @property
    def halted(self) -> bool:
        """Whether the newest label is N(q) with q halting."""
        return self.model.source.graph.transformer.is_final(self.newest)

    def step(self) -> WindowToken[Any]:
        """Generates one token and slides the context.

        Raises:
            MachineError: the run has ended, a context that is too long, or no token that leads.
        """
        if self.halted:
            raise MachineError(
                f"Generator.step: the run must go on, but it ended after {self.tokens} tokens; "
                "test `halted` before a step"
            )
        number = int(self.module(self.context))
        self.context.append(number)
        if not number % 2:
            del self.context[0]
        self.tokens += 1
        return self.token(number)


def generated(model: WindowModel, word: Word, device: str = "cpu") -> Iterator[WindowToken[Any]]:
    """The tokens of a run, until it halts."""
    run = Generator(model, word, device)
    while not run.halted:
        yield run.step()


def torch_module(model: WindowModel, device: str = "cpu") -> Any:
    """The module of a model: called with a context, a list of token numbers, it gives the next.

    Raises:
        MachineError: when called with a context that is longer than the model was built for.
    """
    dense, block = _classes()
    return (dense if model.form == "dense" else block)(model).to(device).eval()


@lru_cache(maxsize=1)
def _classes() -> tuple[Any, Any]:
    """The two modules; a function, so that torch is loaded only where one is made."""
    torch: Any = import_module("torch")

    class Window(torch.nn.Module):
        """What the two forms share: buffers, the wide dtype, the length of contexts."""

        def __init__(self, model: WindowModel) -> None:
            torch.nn.Module.__init__(self)
            self.model = model
            self.stored = getattr(torch, model.dtype)
            self.wide = getattr(torch, _WIDER[model.dtype])
            self.sizes = (len(model.source.displayed), len(model.source.graph.labels))
            for name, tensor in model.tensors.items():
                kept = torch.int64 if tensor.code == PLACES else self.wide
                entries = torch.frombuffer(
                    bytearray(tensor.data), dtype=getattr(torch, CODES[tensor.code][0])
                )
                self.register_buffer(_key(name), entries.reshape(tensor.shape).to(kept))
            self.depth = sum(name.startswith("hidden.") for name in model.tensors) // 2

        def of(self, name: str) -> Any:
            """A tensor of the file; reals are held in the wide dtype, which changes none."""
            return getattr(self, _key(name))

        def affine(self, name: str, entries: Any) -> Any:
            """A layer's value: summed in the wide dtype, rounded once."""
            weight, bias = self.of(f"{name}.weight"), self.of(f"{name}.bias")
            return (weight @ entries.to(self.wide) + bias).to(self.stored)

        def relu_layers(self, entries: Any) -> Any:
            """All hidden layers."""
            for layer in range(self.depth):
                entries = torch.relu(self.affine(f"hidden.{layer}", entries))
            return entries

        def numbers(self, context: Sequence[int]) -> Any:
            """The context as a tensor, once it is short enough."""
            most = self.model.longest_context
            if len(context) > most:
                raise MachineError(
                    f"the transformer of {self.model.source.machine.name}: a context must have at "
                    f"most {most} tokens, since it was compiled for windows of "
                    f"{self.model.window}, got {len(context)}; compile it with a larger --window"
                )
            return torch.tensor(context, device=self.of("hidden.0.weight").device)

        def best(self, scores: Any) -> int:
            """The place of the highest score, which must lead by half a match."""
            high = torch.topk(scores, 2)
            if not float(high.values[0] - high.values[1]) >= _MARGIN:
                raise MachineError(
                    f"the transformer of {self.model.source.machine.name}: one token must score "
                    f"highest, got two that score {float(high.values[0])} and "
                    f"{float(high.values[1])}; the tensors are not those that were compiled"
                )
            return int(high.indices[0])

    class Dense(Window):
        """Matrices throughout."""

        def forward(self, context: Sequence[int]) -> int:
            """The next token's number."""
            hidden = self.of("embedding")[self.numbers(context)]
            query = (self.of("query") @ hidden[-1]).to(self.stored).to(self.wide)
            keys = (hidden @ self.of("key").T).to(self.stored).to(self.wide)
            shares = torch.softmax(keys @ query, dim=0).to(self.stored).to(self.wide)
            values = (hidden @ self.of("value").T).to(self.stored).to(self.wide)
            middle = (shares @ values).to(self.stored) + hidden[-1].to(self.stored)
            last = self.affine("output", self.relu_layers(middle)) + middle
            return self.best(self.of("embedding") @ last.to(self.wide))

    class Block(Window):
        """Places in place of one-hot blocks: the same numbers, without the zeros."""

        def __init__(self, model: WindowModel) -> None:
            Window.__init__(self, model)
            order = torch.argsort(self.of("row.label"), stable=True)
            sizes = torch.bincount(self.of("row.label"), minlength=self.sizes[1])
            self.rows = torch.split(order, sizes.tolist())

        def forward(self, context: Sequence[int]) -> int:
            """The next token's number."""
            symbols, labels = self.sizes
            features = self.features(context)
            rows = self.rows[context[-1] // 2 % labels]
            emitted = self.conjunctions(rows, features).to(self.wide)
            places = self.of("row.token")[rows]
            number = 0
            for block, size in enumerate((symbols, labels, 2)):
                scores = emitted.new_zeros(size).index_add(0, places[:, block], emitted)
                number = number * size + self.best(scores)
            return number

        def features(self, context: Sequence[int]) -> Any:
            """The parities of the displayed counts, and whether the marker is there: shape (N,)."""
            (symbols, labels), tokens = self.sizes, self.numbers(context)
            logits = torch.zeros(len(tokens), dtype=self.wide, device=tokens.device)
            shares = torch.softmax(logits, dim=0).to(self.stored).to(self.wide)
            shown = torch.div(tokens, 2 * labels, rounding_mode="floor")
            mean = shares.new_zeros(symbols).index_add(0, shown, shares)
            neurons = self.relu_layers(mean.to(self.stored)).to(self.wide)
            return neurons[0::2] - neurons[1::2]

        def conjunctions(self, rows: Any, features: Any) -> Any:
            """relu(1 - present), or relu(1 + present + sum of p or 1 - p - (terms - 1))."""
            present, asked = self.of("row.present")[rows], self.of("row.parity")[rows]
            bits, mark = features[:-1], features[-1]
            terms = torch.where(asked == 1, bits, 1 - bits) - 1
            held = mark + torch.where(asked >= 0, terms, torch.zeros_like(terms)).sum(dim=1)
            return torch.relu(torch.where(present == 1, held, 1 - mark).to(self.stored))

    return Dense, Block


def _key(name: str) -> str:
    """A buffer's name may have no dots."""
    return name.replace(".", "_")
