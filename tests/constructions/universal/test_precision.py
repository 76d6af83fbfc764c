"""Formats, derived error bounds, and the two claims about finite precision."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from constructions.universal import precision, rounded_runs
from constructions.universal.definitions import TransformerSize
from constructions.universal.drawn import DrawnModel
from constructions.universal.draws import Draw
from constructions.universal.error_bounds import Bounded, product_error
from constructions.universal.floats import (
    FORMATS,
    Floats,
    errors,
    largest_error,
    two_factor_layers,
)
from constructions.universal.nonlinearities import causal_mask, full_mask
from constructions.universal.probes import coefficients, probe
from constructions.universal.refinement import refined_embedding
from constructions.universal.rounded_runs import (
    Answer,
    RoundedCase,
    answer,
    drawn_model,
    eight_bits,
    fits_float16,
    gaussian_matrix,
    question,
    target_output,
    universal_output,
)
from constructions.universal.solving import solve_probes
from verify.balls import Balls
from verify.claims import Setting
from verify.errors import PrecisionError
from verify.methods.floating import Trial
from verify.rational import Matrix
from verify.verdicts import Status

QUICK = Setting(profile="quick")
SIZE = TransformerSize(heads=2, layers=2, head_width=2, token_width=3)
DRAWN = RoundedCase(size=SIZE, tokens=4, mask="causal")
TREE = replace(DRAWN, layout="tree")
ON_CPU = [name for name in FORMATS if name != "tf32"]
numbers = st.integers(-255, 255).map(lambda k: Fraction(k, 64))


def matrices(height: int, width: int) -> st.SearchStrategy[Matrix]:
    entries = st.lists(numbers, min_size=height * width, max_size=height * width)
    return entries.map(lambda listed: Matrix(height, width, listed))


def share(computed: Floats, bounded: Bounded) -> float:
    return precision.share_of_bound(computed, bounded)


# --- formats ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ON_CPU)
def test_a_format_is_what_pytorch_says_it_is(name: str) -> None:
    import torch

    format, info = FORMATS[name], torch.finfo(getattr(torch, name))
    assert info.eps == 2 * format.stored_unit == 2 * format.unit
    assert info.smallest_normal == Fraction(2) ** (format.least + format.digits - 1)
    assert Fraction(info.max) == Fraction(2) ** format.most * (1 - format.stored_unit)
    assert format.overflow <= Fraction(2) ** format.most


def test_tf32_promises_eleven_digits_of_the_factors() -> None:
    assert FORMATS["tf32"].unit == Fraction(1, 2**11)
    assert FORMATS["tf32"].stored_unit == Fraction(1, 2**24)


def test_entries_are_rounded_to_the_nearest() -> None:
    third = Matrix(1, 2, [Fraction(1, 3), Fraction(-(2**70) - 1, 2**70)])
    rounded = Floats.of(third, FORMATS["bfloat16"]).exact()
    assert rounded == Matrix(1, 2, [Fraction(171, 512), -1])


def test_selecting_columns_repeats_and_blanks_them() -> None:
    stream = Floats.of(Matrix.from_rows([[1, 2], [3, 4]]), FORMATS["float32"])
    chosen = stream.select_columns([1, -1, 0, 1]).exact()
    assert chosen == Matrix.from_rows([[2, 0, 1, 2], [4, 0, 3, 4]])


def test_softmax_over_a_mask_is_pytorchs() -> None:
    import torch

    logits = torch.tensor([[0.5, 3.0, -1.0], [2.0, 0.0, 9.0], [1.0, 1.0, 1.0]])
    mask = torch.tensor(causal_mask(3))
    theirs = torch.softmax((logits / 2).masked_fill(~mask, -math.inf), dim=1)
    ours = Floats(tensor=logits).softmax(causal_mask(3), 4).tensor
    assert torch.allclose(ours, theirs, rtol=1e-6, atol=0)
    assert ours[0].tolist() == [1.0, 0.0, 0.0]


def test_what_overflowed_has_no_exact_value_and_an_infinite_error() -> None:
    large = Floats.of(Matrix(1, 1, [300]), FORMATS["float16"])
    assert (large @ large).exact() is None
    assert largest_error(large @ large, Balls.of(Matrix(1, 1, [90000]), 64)) == math.inf
    assert errors(large @ large, Balls.of(Matrix(1, 1, [90000]), 64)) is None


def test_a_target_computes_its_values_in_two_steps() -> None:
    import torch

    asked = question(DRAWN, 0)

    def entries(matrix: Matrix) -> Floats:
        return Floats.of(matrix, FORMATS["bfloat16"])

    stream, (first, _) = entries(asked.inputs), two_factor_layers(asked.target, entries)
    value, output = (getattr(asked.target, name)[0][1] for name in ("values", "outputs"))
    found = first.values[1].read(stream).tensor
    assert torch.equal(found, (stream.tensor @ entries(value).tensor) @ entries(output).tensor)
    assert not torch.equal(found, stream.tensor @ entries(value @ output).tensor)


# --- derived bounds --------------------------------------------------------------------------


@pytest.mark.parametrize("name", ON_CPU)
@settings(max_examples=15)
@given(left=matrices(2, 5), right=matrices(5, 3), more=matrices(2, 3))
def test_products_and_sums_keep_their_bounds(
    name: str, left: Matrix, right: Matrix, more: Matrix
) -> None:
    format = FORMATS[name]
    computed: Any = [Floats.of(m, format) for m in (left, right, more)]
    bounded: Any = [Bounded.of(m, format, 128) for m in (left, right, more)]
    first, second = (a @ b + c for a, b, c in (computed, bounded))
    assert second.exact.contains(left @ right + more)
    assert share(first, second) <= 1
    twice = first @ first.transposed, second @ second.transposed
    assert share(*twice) <= 1


@pytest.mark.parametrize("name", ON_CPU)
@settings(max_examples=15)
@given(factors=matrices(3, 4), shrink=st.sampled_from([1, 2, 4]))
def test_softmax_keeps_its_bound(name: str, factors: Matrix, shrink: int) -> None:
    computed, bounded = (
        (m @ m.transposed).softmax(mask, shrink)
        for m, mask in (
            (Floats.of(factors, FORMATS[name]), full_mask(3)),
            (Bounded.of(factors, FORMATS[name], 128), full_mask(3)),
        )
    )
    assert share(computed, bounded) <= 1


def test_a_product_has_the_textbook_bound() -> None:
    one = Bounded.of(Matrix(1, 1, [1]), FORMATS["float32"], 128)
    row = Bounded.of(Matrix(1, 3, [1, 1, 1]), FORMATS["float32"], 128)
    unit = Fraction(1, 2**24)
    gamma = 3 * unit / (1 - 3 * unit)
    assert product_error(FORMATS["float32"], 3) == gamma
    assert product_error(FORMATS["bfloat16"], 3) == (1 + gamma) * (1 + Fraction(1, 256)) - 1
    assert product_error(FORMATS["tf32"], 3) == (1 + Fraction(1, 1024)) ** 2 * (1 + gamma) - 1
    assert one.error.magnitude_upper() == 0
    found = (row @ row.transposed).error.magnitude_upper()
    assert 3 * gamma <= found <= 3 * gamma * (1 + Fraction(1, 10**9))


def test_parameters_lose_exactly_what_rounding_takes() -> None:
    third = Matrix(1, 1, [Fraction(1, 3)])
    lost = Bounded.of(third, FORMATS["bfloat16"], 128).error.magnitude_upper()
    assert abs(lost - (Fraction(171, 512) - Fraction(1, 3))) < Fraction(1, 10**30)


def test_bounds_are_refused_where_numbers_might_overflow() -> None:
    large = Matrix(1, 1, [300])
    half = Bounded.of(large, FORMATS["float16"], 64)
    with pytest.raises(
        PrecisionError, match=r"below 6.55e\+04, where float16 overflows, got up to"
    ):
        half @ half
    with pytest.raises(PrecisionError, match="must be finite in float16, got one that overflows"):
        Bounded.of(Matrix(1, 1, [70000]), FORMATS["float16"], 64)


def test_an_error_without_a_bound_is_never_within_it() -> None:
    exact = Bounded.of(Matrix(1, 1, [1]), FORMATS["float32"], 64)
    wrong = Floats.of(Matrix(1, 1, [Fraction(3, 2)]), FORMATS["float32"])
    assert share(wrong, exact) == math.inf
    assert share(Floats.of(Matrix(1, 1, [1]), FORMATS["float32"]), exact) == 0


# --- instances -------------------------------------------------------------------------------


@pytest.mark.parametrize("distribution", ["uniform32", "gaussian"])
@pytest.mark.parametrize("name", ON_CPU)
def test_every_format_holds_targets_inputs_and_draws_exactly(name: str, distribution: Any) -> None:
    asked, model = question(DRAWN, 3), drawn_model(replace(DRAWN, distribution=distribution), 3)
    listed = [asked.inputs, *(m for layer in asked.target.queries for m in layer)]
    listed += [part.dense() for part in model.parts()]
    for matrix in listed:
        assert Floats.of(matrix, FORMATS[name]).exact() == matrix


def test_a_tied_draw_shares_its_layers() -> None:
    assert drawn_model(replace(DRAWN, tied=True), 1).tied
    assert not drawn_model(DRAWN, 1).tied


def test_all_models_of_a_seed_answer_one_question() -> None:
    assert question(DRAWN, 5).target == question(TREE, 5).target
    assert question(DRAWN, 5).target != question(DRAWN, 6).target


@pytest.mark.parametrize("case", [DRAWN, TREE, replace(DRAWN, distribution="gaussian")])
def test_the_exact_embedding_makes_both_enclosures_agree(case: RoundedCase) -> None:
    asked, given_model = question(case, 2), answer(case, 2)

    def entries(matrix: Matrix) -> Bounded:
        return Bounded.of(matrix, FORMATS["float64"], 160)

    ours = universal_output(asked, given_model, entries).exact
    assert ours.agreeing_decimals(asked.exact) >= 30
    assert target_output(asked, entries).exact.agreeing_decimals(asked.exact) >= 30


def test_gaussian_entries_stay_on_their_grid() -> None:
    import random

    found = gaussian_matrix(random.Random(0), 50, 50, 3.0).rows()  # noqa: S311 - repeatable
    assert max(abs(x) for row in found for x in row) == Fraction(255, 64)
    assert all((64 * x).denominator == 1 for row in found for x in row)


def test_a_gaussian_draw_of_unit_variance_can_overflow_float16_in_three_layers() -> None:
    size = TransformerSize(heads=2, layers=3, head_width=4, token_width=4)
    case = RoundedCase(size=size, tokens=6, mask="full", distribution="gaussian")
    seed = 1360359581
    draw = Draw(distribution="gaussian", seed=seed, width=size.probe_width)
    asked = question(case, seed)
    model = DrawnModel(size=size, draw=draw).model(eight_bits)
    solved = solve_probes(probe(model, 0).matrix, coefficients(asked.target, 0))
    assert solved is not None
    assert not fits_float16(asked, model, solved.transposed)
    given_model = Answer(model=model, embedding=solved.transposed, condition=1.0)
    found = {
        name: universal_output(asked, given_model, lambda m, f=format: Floats.of(m, f)).exact()
        for name, format in FORMATS.items()
    }
    assert found["float16"] is None
    assert found["bfloat16"] is not None


def test_a_draw_that_float16_cannot_hold_is_replaced_by_the_next(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    first = answer(DRAWN, 40)
    answers = iter([False, True])
    monkeypatch.setattr(rounded_runs, "fits_float16", lambda *_: next(answers))
    answer.cache_clear()
    second = answer(DRAWN, 40)
    answer.cache_clear()
    assert first.condition != second.condition
    assert drawn_model(DRAWN, 41).readout.matrix == second.model.readout.matrix


def test_without_a_draw_that_fits_the_error_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rounded_runs, "fits_float16", lambda *_: False)
    answer.cache_clear()
    with pytest.raises(PrecisionError, match="20 draws from seed 7 on must hold one whose streams"):
        answer(DRAWN, 7)


# --- solving in floating point ---------------------------------------------------------------


@pytest.mark.parametrize("name", ON_CPU)
def test_a_refined_embedding_is_the_exact_one_to_a_few_units(name: str) -> None:
    asked, drawn = question(DRAWN, 4), answer(DRAWN, 4)
    probes, content = probe(drawn.model, 0).matrix, coefficients(asked.target, 0)
    solved, steps = refined_embedding(probes, content, FORMATS[name])
    largest = max(abs(x) for row in drawn.embedding.rows() for x in row)
    off = max(abs(x) for row in (solved.transposed - drawn.embedding).rows() for x in row)
    assert off <= 4 * FORMATS[name].unit * largest
    assert 0 <= steps <= 4
    assert Floats.of(solved, FORMATS[name]).exact() == solved


def test_refinement_repairs_what_the_factors_lost() -> None:
    hilbert = Matrix(5, 5, [Fraction(1, i + j + 1) for i in range(5) for j in range(5)])
    content = hilbert.transposed @ Matrix(5, 1, [1, -2, 3, -4, 5])
    solved, steps = refined_embedding(hilbert, content, FORMATS["float32"])
    assert steps >= 1
    assert solved == Matrix(5, 1, [1, -2, 3, -4, 5])


def test_a_singular_system_has_no_floating_solution() -> None:
    with pytest.raises(PrecisionError, match="E must be finite in float64, got an entry that is"):
        refined_embedding(Matrix(2, 2, [1, 1, 1, 1]), Matrix(2, 1, [1, 2]), FORMATS["float64"])


# --- claims ----------------------------------------------------------------------------------


@pytest.mark.parametrize("checks", [precision.sparse_checks, precision.generic_checks])
def test_stated_and_derived_bounds_hold_in_the_quick_profile(checks: Any) -> None:
    stated, *others = checks()
    assert stated.covers
    assert not any(check.covers for check in others)
    for check in (stated, *others):
        verdict = check.method.settle(QUICK)
        assert verdict.status is Status.SAMPLED
        assert verdict.trusts == precision.LIBRARIES
        assert set(verdict.evidence["held"]) >= {f"{name} on cpu" for name in precision.SOLVED}


def test_the_notes_hold_what_the_figures_need() -> None:
    stated, solved, derived = (c.method.settle(QUICK) for c in precision.generic_checks())
    for _, _, details in solved.notes["measured"]["float64 on cpu"]["figures"]:
        assert details["steps"] >= 0
    for _, _, details in stated.notes["measured"]["float32 on cpu"]["figures"]:
        assert details["condition"] > 1
        assert details["scale"] >= 1
    for error, taken, details in derived.notes["measured"]["float32 on cpu"]["figures"]:
        assert error == taken < 1
        assert details["simulation"] <= details["simulation bound"]
        assert details["target"] <= details["target bound"]


def test_in_half_precision_the_random_bound_says_nothing_at_these_sizes() -> None:
    stated, *_ = precision.generic_checks()
    measured = stated.method.settle(QUICK).notes["measured"]
    for name in ("bfloat16", "float16"):
        for _, _, details in measured[f"{name} on cpu"]["figures"]:
            assert 10 * details["condition"] * FORMATS[name].unit > 1
    for _, _, details in measured["float32 on cpu"]["figures"]:
        assert 10 * details["condition"] * FORMATS["float32"].unit < 1


def test_a_wrong_embedding_breaks_the_stated_bound_only_where_it_shows() -> None:
    rules = precision.Rules(stored=lambda exact: exact.scaled(1 + Fraction(1, 10**9)))
    trial = Trial(case=TREE, seed=0, dtype="float64", device="cpu")
    assert not precision.sparse_error(rules)(trial).holds
    assert precision.sparse_error(rules)(replace(trial, dtype="float32")).holds
