"""Wrong versions of the lemma on probes, of sums over paths and of their equations."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from constructions.universal import (
    equations,
    lemma,
    routed,
    sums,
    tree,
    unrolling,
)
from constructions.universal.definitions import Target, TransformerSize
from constructions.universal.mutants.layouts import (
    changed,
    heads_swapped,
    keys_read_queries,
    where,
)
from verify.claims import Check
from verify.mutants import mutant
from verify.rational import Matrix


def other_logits(target: Target, seed: int) -> Target:
    """Factors of other logits: the keys are changed as the queries are."""
    right = lemma.refactored(target, seed)
    size = target.size
    doubled = tuple(tuple(key.scaled(2) for key in layer) for layer in right.keys)
    return replace(right, keys=doubled) if size.layers > 1 else right


@mutant(of="universal.probes.layer", breaks="rule", latex=r"F_Q F_K^T = 2 W_Q W_K^T")
def any_factors_will_do() -> tuple[Check, ...]:
    """The models agree if E is written from factors of other logits."""
    return lemma.lemma_checks(factors="true", factor=other_logits)


def reversed_path_sum(
    attention: Any, factors: Callable[[int, int], Matrix], inputs: Matrix, layers: int
) -> Matrix:
    """The sum over paths with the value factors of the last layer first."""
    return unrolling.path_sum(
        attention, lambda layer, head: factors(layers - 1 - layer, head), inputs, layers
    )


@mutant(
    of="universal.paths.unrolling",
    breaks="rule",
    name="reversed",
    latex=r"X^l = \sum A^{l,h_l} \cdots X^0 M^{l,h_l} \cdots M^{1,h_1}",
)
def streams_are_sums_with_factors_reversed() -> tuple[Check, ...]:
    """Streams are the sums over paths with the value factors in reverse."""
    return unrolling.unrolling_checks(
        "(= (right (snoc q h)) (mul (V (len q) h) (right q)))", total=reversed_path_sum
    )


def sum_without_a_head(
    attention: Any, factors: Callable[[int, int], Matrix], inputs: Matrix, layers: int
) -> Matrix:
    """The sum over the paths that never take the last of several heads."""
    fewer = tuple(layer[: max(1, len(layer) - 1)] for layer in attention)
    return unrolling.path_sum(fewer, factors, inputs, layers)


@mutant(
    of="universal.paths.unrolling",
    breaks="rule",
    name="skips_a_head",
    latex=r"X^l = \sum_{(h_1,\dots,h_l) \in [H-1]^l} \cdots",
)
def streams_are_sums_without_the_last_head() -> tuple[Check, ...]:
    """Streams are the sums over paths that skip the last head."""
    return unrolling.unrolling_checks(total=sum_without_a_head)


@mutant(
    of="universal.paths.identities",
    breaks="construction",
    latex=r"P_{l-1} = [\dots, \{R_V^{l,H+1-h} P_l\}_h]",
)
def columns_of_the_other_heads() -> tuple[Check, ...]:
    """The columns of P_0 are the printed products with the heads swapped."""
    return equations.equations_checks(changed(tree.LAYOUT, heads_swapped), swap=True)


def all_but_the_last(family: tuple[Matrix, ...]) -> Matrix:
    """A sum that drops its last member."""
    return sums.summed(family[:-1])


@mutant(of="universal.sums.laws", breaks="rule", latex=r"\sum_h f_h = f_1 + \dots + f_{H-1}")
def a_sum_may_skip_a_head() -> tuple[Check, ...]:
    """The sum over the heads may leave out the last one."""
    return sums.sums_checks("(partial f m)", all_but_the_last)


def one_head(size: TransformerSize) -> bool:
    """Whether H = 1."""
    return size.heads == 1


@mutant(of="universal.probes.layer", breaks="construction", name="one_head")
def one_head_may_ask_with_its_keys() -> tuple[Check, ...]:
    """Both models agree if a single head reads queries where keys are meant."""
    return lemma.lemma_checks(layout=changed(tree.LAYOUT, where(one_head, keys_read_queries)))


@mutant(of="universal.paths.identities", breaks="construction", name="one_head")
def one_head_may_print_queries_as_keys() -> tuple[Check, ...]:
    """The printed columns are right if a single head reads queries where keys are meant."""
    broken = changed(tree.LAYOUT, where(one_head, keys_read_queries))
    return equations.equations_checks(broken)


@mutant(of="universal.sums.laws", breaks="rule", name="code")
def the_code_may_skip_a_head() -> tuple[Check, ...]:
    """Sums as the code forms them may leave out the last member, whatever the theory says."""
    return sums.sums_checks(total=all_but_the_last)


@mutant(of="universal.probes.layer", breaks="construction", name="carried")
def one_head_may_ask_with_its_keys_where_streams_are_carried_on() -> tuple[Check, ...]:
    """Both models agree if a single head reads queries where keys are meant, streams carried on."""
    broken = changed(routed.LAYOUT, where(one_head, keys_read_queries))
    return lemma.lemma_checks(carried=broken)
