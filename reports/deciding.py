"""What `certiformer decide` says: every window decided, in a table or as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from reports.progress import StepProgress
from verify.errors import UsageError
from verify.verdicts import Json

if TYPE_CHECKING:
    from constructions.minimal.definitions import Model, Window


def decide_checkpoint(path: Path, asked: str | None) -> dict[str, Json]:
    """The decision of a checkpoint's windows, and its smallest counterexample replayed.

    Raises:
        WeightsError: no checkpoint of a minimal transformer.
        UsageError: lengths that cannot be read, or that the model does not have.
    """
    from constructions.minimal import decision
    from constructions.minimal.definitions import SHORTEST
    from constructions.minimal.files import read_checkpoint

    model = read_checkpoint(path).model
    every = range(SHORTEST, model.context + 1)
    lengths = every if asked is None else lengths_of(asked)
    if not lengths or lengths[0] not in every or lengths[-1] not in every:
        raise UsageError(
            f"--length must lie within {SHORTEST} to {model.context}, the model's context, got "
            f"{asked!r}; choose other lengths"
        )
    steps = StepProgress("lengths", len(lengths))
    try:
        found = decision.decide(model, lengths, steps)
    finally:
        steps.clear()
    smallest = decision.smallest_counterexample(found)
    return {
        **decision.as_json(model, found),
        "counterexample": None if smallest is None else _replayed(model, smallest),
    }


def lengths_of(text: str) -> range:
    """The lengths of `8` or `2..8`.

    Raises:
        UsageError: another text.
    """
    first, dots, last = text.partition("..")
    ends = [first, last] if dots else [first, first]
    if not all(end.isascii() and end.isdigit() and len(end) < len("10000") for end in ends):
        raise UsageError(
            f"--length must be a number or A..B with both ends, such as 8 or 2..8, got {text!r}"
        )
    return range(int(ends[0]), int(ends[1]) + 1)


def _replayed(model: Model, window: Window) -> dict[str, Json]:
    """The exact judgement of a window, and what torch predicts there if it is installed."""
    from constructions.minimal.definitions import required_token, token_name, window_text
    from constructions.minimal.exact import judge

    judged = judge(model, window)
    shown: dict[str, Json] = {
        "window": window_text(window),
        "required": token_name(required_token(window)),
        "rivals": [token_name(token) for token in judged.rivals],
        "torch": None,
    }
    if find_spec("torch") is not None:
        from constructions.minimal.torch_model import last_logits

        row = last_logits(model, [window])[0]
        shown["torch"] = token_name(int(row.argmax()))
    return shown


def lines_of(decided: Mapping[str, Any]) -> Iterator[str]:
    """The decision as a table, and what is wrong in sums."""
    yield f"{decided['parameters']} parameters"
    yield f"{'length':>6} {'windows':>14} {'right':>14} {'wrong':>14}  {'sets':>6}  decided by"
    for length, row in decided["lengths"].items():
        leaves = "-" if row["leaves"] is None else f"{row['leaves']:,}"
        yield (
            f"{length:>6} {row['windows']:>14,} {row['correct']:>14,} {row['wrong']:>14,}  "
            f"{leaves:>6}  {' and '.join(row['engines'])}"
        )
    for title, key in (
        ("required", "wrong_by_required"),
        ("distance", "wrong_by_distance"),
        ("instead", "wrong_by_rival"),
    ):
        sums = _sums(decided, key)
        if sums:
            shown = ", ".join(f"{name}: {count:,}" for name, count in sums.items())
            yield f"wrong by {title}: {shown}"
    example = decided["counterexample"]
    if example is None:
        yield "the rule holds on every window"
        return
    verb = "has" if len(example["rivals"]) == 1 else "have"
    torch = "" if example["torch"] is None else f"; torch predicts {example['torch']}"
    yield (
        f"smallest counterexample: {example['window']}, where {example['required']} is required "
        f"but {', '.join(example['rivals'])} {verb} a logit as great{torch}"
    )


def _sums(decided: Mapping[str, Any], key: str) -> dict[str, int]:
    found = Counter[str]()
    for row in decided["lengths"].values():
        found.update(cast("dict[str, int]", row[key] or {}))
    return {name: found[name] for name in found if found[name]}
