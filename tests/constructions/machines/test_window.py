"""Theorem 9: parity-HIST machines as sliding-window transformers."""

from dataclasses import replace
from fractions import Fraction
from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from constructions.machines.definitions import (
    MachineError,
    QueueMachine,
    Token,
    markers,
    sem,
    slide,
    tabulated,
)
from constructions.machines.matrices import MatrixTransformer, Vocabulary, labels_met
from constructions.machines.parity import parity_machine
from constructions.machines.runs import ParityHistRun, QueueRun
from constructions.machines.window import (
    ABSENT,
    Normal,
    Pending,
    SlidingWindowRun,
    final_queue,
    window_transformer,
)

LIMIT = 60


def small():
    """Three symbols, one- and two-symbol appends; halts after some steps."""
    table = {
        "p": {">": ("q", ("a",)), "a": ("q", ("a", ">")), "_": ("p", ("a",))},
        "q": {">": ("r", ("a", "_")), "a": ("p", ("_",)), "_": ("p", ("_",))},
        "r": {">": ("r", ("a",)), "a": ("halt", ("a", "_")), "_": ("q", (">",))},
    }
    return QueueMachine(
        name="small",
        alphabet=(">", "_", "a"),
        blank="_",
        front=">",
        start="p",
        halt="halt",
        rule=tabulated(table),
    )


def matrices(word, limit=LIMIT):
    transformer = window_transformer(parity_machine(small()))
    vocabulary = Vocabulary(
        displayed=transformer.displayed, labels=labels_met(transformer, word, limit)
    )
    return MatrixTransformer(transformer=transformer, vocabulary=vocabulary)


@settings(max_examples=200, deadline=None)
@given(data=st.data())
def test_contexts_follow_the_windows_within_the_bounds(queue_cases, data):
    source, word = data.draw(queue_cases)
    special = parity_machine(source)
    hist, queue = ParityHistRun(special, word), QueueRun(source, word)
    run = SlidingWindowRun(window_transformer(special), word)
    marker = run.transformer.marker
    while not hist.halted and hist.steps < LIMIT:
        before = run.tokens
        if not run.markers:
            assert sem(run.context, marker)[1:] == tuple(hist.window)
            run.step()
        assert sem(run.context, marker) == tuple(hist.window)
        assert run.markers == markers(run.context, marker) == 1
        assert run.context[-1].label == Normal(state=hist.state)
        hist.step()
        queue.step()
        shown = [run.step().displayed for _ in hist.appended]
        assert tuple(shown) == hist.appended
        assert run.tokens - before <= 3
        assert run.max_context <= hist.max_window + 1
        assert run.halted == hist.halted
        assert final_queue(source, run.transformer, run.context) == tuple(queue.queue)


@settings(max_examples=100, deadline=None)
@given(data=st.data())
def test_runs_use_the_histogram_and_the_newest_label_only(queue_cases, data):
    source, word = data.draw(queue_cases)
    transformer = window_transformer(parity_machine(source))
    run = SlidingWindowRun(transformer, word)
    context = transformer.prompt(word)
    while not run.halted and run.tokens < LIMIT:
        shown = [token.displayed for token in context]
        counts = [shown.count(symbol) for symbol in transformer.displayed]
        assert run.counts == counts
        token = transformer.next_token(context[-1].label, counts)
        context = slide(context, token)
        assert run.step() == token
        assert tuple(run.context) == context


def test_pending_labels_do_not_end_a_run():
    source = small()
    transformer = window_transformer(parity_machine(source))
    halting = replace(parity_machine(source).start, state="halt", first=False)
    assert not transformer.is_final(Pending(state=halting, symbol="a"))
    assert transformer.is_final(Normal(state=halting))


def test_the_map_is_defined_on_halting_labels_for_ever():
    transformer = window_transformer(parity_machine(small()))
    halting = Normal(state=replace(transformer.machine.start, state="halt", first=False))
    context = tuple(replace(token, label=halting) for token in transformer.prompt("aa_"))
    for _ in range(20):
        shown = [token.displayed for token in context]
        counts = [shown.count(symbol) for symbol in transformer.displayed]
        token = transformer.next_token(halting, counts)
        assert token.label == halting
        context = slide(context, token)
        assert len(context) == 4
        assert markers(context, "#") <= 1


def test_empty_input_is_a_lone_marker():
    run = SlidingWindowRun(window_transformer(parity_machine(small())))
    assert [token.displayed for token in run.context] == ["#"]
    assert run.step().displayed == "a"
    assert run.step().displayed == "#"
    assert run.refreshes == 1


def test_the_marker_is_new_to_the_alphabet():
    source = small()
    table = {"p": {"#": ("halt", ("#",))}}
    source = replace(source, alphabet=("#", "_"), front="#", rule=tabulated(table))
    assert window_transformer(parity_machine(source)).marker == "##"


@pytest.mark.parametrize("word", ["", "a", "_a>", "aa__a"])
def test_the_matrices_generate_the_same_tokens(word):
    exact = matrices(word)
    run = SlidingWindowRun(exact.transformer, word)
    kinds = set()
    while not run.halted and run.tokens < LIMIT:
        context = tuple(run.context)
        token = exact.next_token(context)
        kinds.add((type(token.label), token.displayed == "#"))
        assert token == run.step()
    assert kinds >= {(Normal, True), (Normal, False), (Pending, False)}


def test_attention_is_the_mean_of_displayed_symbols():
    exact = matrices("aa_")
    context = exact.transformer.prompt("aa_")
    size, middle = 4, exact.attend(context)
    assert middle[size : 2 * size] == (0, Fraction(1, 4), Fraction(1, 2), Fraction(1, 4))
    assert exact.counts(middle) == (0, 1, 2, 1)
    assert middle[:size] == (0, 0, 0, 1)
    assert len(middle) == exact.vocabulary.width == 2 * 4 + len(exact.vocabulary.labels) + 2
    assert len(exact.vocabulary.tokens) == 2 * 4 * len(exact.vocabulary.labels)


def test_the_next_token_ignores_the_order_of_older_tokens():
    exact = matrices("a_>")
    context = exact.transformer.prompt("a_>")
    tokens = {exact.next_token((*order, context[-1])) for order in permutations(context[:-1])}
    assert len(tokens) == 1


def test_two_markers_are_refused():
    exact = matrices("a")
    (first, second) = exact.transformer.prompt("a")
    with pytest.raises(MachineError, match="at most one marker, got 2"):
        exact.transformer.next_token(second.label, (0, 0, 1, 2))
    with pytest.raises(MachineError, match="must be integers, got 0, 0, 1/2, 1"):
        exact.next_token((first, second, second))


def test_labels_outside_the_vocabulary_are_refused():
    exact = matrices("a", limit=0)
    with pytest.raises(MachineError, match="must be in the vocabulary"):
        exact.next_token(exact.transformer.prompt("a"))


def test_ties_are_refused():
    exact = matrices("a")
    twice = replace(exact.vocabulary, displayed=(*exact.vocabulary.displayed, "?"))
    zero = replace(exact, vocabulary=twice)
    label = exact.vocabulary.labels[0]
    token = Token(displayed="?", label=label, update=0)
    assert zero.vocabulary.embed(token)
    doubled = replace(exact.vocabulary, labels=exact.vocabulary.labels * 2)
    with pytest.raises(MachineError, match="one token must score highest, got 2"):
        replace(exact, vocabulary=doubled).next_token(exact.transformer.prompt("a"))


def test_runs_end_at_normal_halting_labels():
    source = small()
    run = SlidingWindowRun(window_transformer(parity_machine(source)), "aa")
    while not run.halted:
        run.step()
    with pytest.raises(MachineError, match="it ended after"):
        run.step()
    pending = replace(run.context[-1], label=Pending(state=run.context[-1].label.state, symbol="a"))
    with pytest.raises(MachineError, match="the newest label must be N"):
        final_queue(source, run.transformer, (pending,))


def test_a_dropped_refresh_is_noticed():
    transformer = window_transformer(parity_machine(small()))

    def rule(label, seen):
        return transformer.rule(label, 0 if seen == ABSENT else seen)

    run = SlidingWindowRun(replace(transformer, rule=rule), "a")
    with pytest.raises(MachineError, match="must be a unit vector"):
        for _ in range(LIMIT):
            run.step()
