"""Appendix A: the argmax over the vocabulary is G; Remark 3: G ignores the order of older tokens.

An embedding is one-hot in three blocks, so the score of a token against emb(G) is the number of
blocks in which the two agree: 3 for G itself and at most 2 for any other token.

Source: Sliding-Window Transformers Without Positional Encodings, Appendix A and Remark 3.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from constructions.machines.contexts import (
    Choose,
    Exact,
    context_range,
    decoding_fails,
    exact,
    hist_machine_number,
    next_exhibit,
    next_of,
    order_fails,
)
from constructions.machines.matrix_worlds import decoding_worlds
from constructions.machines.readings import Context, Meaning, graded, word_sorts, word_symbols
from constructions.machines.window import window_transformer
from constructions.machines.window_theory import few_markers
from constructions.machines.words import (
    PAPER,
    WORDS,
    context_definitions,
    count_definitions,
)
from verify.claims import Check, Source, claim, covers, supports
from verify.facts import ADJACENT_TRANSPOSITIONS, INDUCTION
from verify.methods.exhaustive import Exhaustive
from verify.methods.smt import Smt
from verify.smtlib import Axiom, Goal, Theory, World, induction
from verify.verdicts import Status

# --- decoding --------------------------------------------------------------------------------

_DECODING = """
(declare-const width Int) (declare-const n Int) (declare-const r Int)
(declare-fun place (Tok) Int) (declare-fun row (Tok) Int) (declare-fun update (Tok) Int)
(declare-fun emb (Tok Int) Real)
(declare-fun G (Ctx) Tok)
(declare-fun mid (Ctx Int) Real) (declare-fun mlp (Ctx Int) Real) (declare-fun h1 (Ctx Int) Real)
(declare-fun score (Tok Ctx Int) Real)
(declare-const k Int) (declare-const C Ctx) (declare-const v0 Tok)
(define-fun within ((j Int)) Bool (and (<= 0 j) (< j width)))
(define-fun one ((b Bool)) Real (ite b 1.0 0.0))
"""

HOT_RULE = "(or (= j (place v)) (= j (+ n n (row v))) (= j (+ n n r (update v))))"
"""Where emb(v) is 1; a mutant drops a block."""


def decoding_theory(hot_rule: str, worlds: Callable[[], Iterable[World]]) -> Theory:
    """Embeddings, the MLP's residual and the scores as sums over coordinates."""
    return Theory(
        name="decoding",
        declarations=WORDS + _DECODING,
        axioms=(
            Axiom(
                "sizes",
                "(and (<= 1 n) (<= 1 r) (= width (+ n n r 2)))",
                "D = 2N + |R| + 2",
            ),
            Axiom(
                "indices",
                """(forall ((v Tok)) (! (and (<= 0 (place v)) (< (place v) n) (<= 0 (row v))
                  (< (row v) r) (<= 0 (update v)) (< (update v) 2)) :pattern ((place v))))""",
                "each token has a displayed symbol, a label and an update bit",
            ),
            Axiom(
                "vocabulary",
                """(forall ((v Tok) (w Tok)) (! (=> (and (= (place v) (place w)) (= (row v) (row w))
                  (= (update v) (update w))) (= v w)) :pattern ((place v) (place w))))""",
                "and is determined by them",
            ),
            Axiom(
                "embedding",
                f"""(forall ((v Tok) (j Int)) (! (=> (within j) (= (emb v j) (one {hot_rule})))
                  :pattern ((emb v j))))""",
                "emb(v) = (e_tau, 0, e_r, e_(gamma + 1))",
            ),
            Axiom(
                "mlp",
                """(forall ((c Ctx) (j Int)) (! (=> (within j)
                  (= (mlp c j) (- (emb (G c) j) (mid c j)))) :pattern ((mlp c j))))""",
                "f_mlp(h) = emb(G(h)) - h",
            ),
            Axiom(
                "residual",
                """(forall ((c Ctx) (j Int)) (! (=> (within j)
                  (= (h1 c j) (+ (mlp c j) (mid c j)))) :pattern ((h1 c j))))""",
                "h^1 = f_mlp(h) + h",
            ),
            Axiom("no score", "(forall ((v Tok) (c Ctx)) (= (score v c 0) 0.0))", "an empty sum"),
            Axiom(
                "score",
                """(forall ((v Tok) (c Ctx) (j Int)) (! (=> (within j) (= (score v c (+ j 1))
                  (+ (score v c j) (* (emb v j) (h1 c j))))) :pattern ((score v c (+ j 1)))))""",
                "the score is the inner product of emb(v) and h^1, coordinate by coordinate",
            ),
        ),
        worlds=worlds,
    )


def _matches(k: str) -> str:
    return f"""(= (score v0 C {k}) (+
      (one (and (= (place v0) (place (G C))) (< (place v0) {k})))
      (one (and (= (row v0) (row (G C))) (< (+ n n (row v0)) {k})))
      (one (and (= (update v0) (update (G C))) (< (+ n n r (update v0)) {k})))))"""


def _decoded(j: str) -> str:
    return f"(= (h1 C {j}) (emb (G C) {j}))"


def _all_matches(token: str) -> str:
    return _matches("width").replace("v0", token)


def decoding_goals(theory: Theory) -> tuple[Goal, ...]:
    """h^1 = emb(G); the score counts agreeing blocks; so G alone scores 3."""
    return (
        Goal(
            name="h^1 is emb(G)",
            theory=theory,
            assumptions=("(within k)",),
            conclusion=_decoded("k"),
        ),
        *induction(
            name="a score counts the blocks that agree",
            theory=theory,
            invariant=_matches,
            base="0",
            step=("k", "(+ k 1)"),
            step_assumptions=("(within k)", _decoded("k")),
        ),
        Goal(
            name="the argmax is unique and equals G",
            theory=theory,
            role="conclusion",
            assumptions=(_all_matches("v0"), _all_matches("(G C)")),
            conclusion="""(and (= (score (G C) C width) 3.0)
              (=> (distinct v0 (G C)) (< (score v0 C width) (score (G C) C width))))""",
        ),
    )


def decoding_checks(hot_rule: str = HOT_RULE, make: Exact = exact) -> tuple[Check, ...]:
    """The for-all proof, and the argmax over the whole vocabulary on every short context."""
    return (
        covers(
            Smt(
                goals=lambda: decoding_goals(
                    decoding_theory(hot_rule, lambda: decoding_worlds(make))
                ),
                instances="all alphabets, label sets and contexts, whatever G is",
                leans_on=(INDUCTION,),
            )
        ),
        supports(
            Exhaustive(
                holds=decoding_fails(make),
                ranges=graded(
                    lambda length: context_range(length, marked=True, states=("p",)), 1, 2, 4
                ),
                rechecked_as="context",
                exhibit=next_exhibit,
                leans_on=(),
            )
        ),
    )


@claim(
    id="machines.window.decodes",
    source=Source(PAPER, "Appendix A"),
    latex=r"h^1_i = \mathsf{emb}(G(h^{0.5}_i)),\quad"
    r" \{G(h^{0.5}_i)\} = \arg\max_v \langle \mathsf{emb}(v), h^1_i \rangle",
    scope="all alphabets, label sets and contexts, whatever map G is",
    uses=("machines.window.histogram",),
    expected=Status.PROVED,
)
def the_argmax_is_unique_and_equals_g() -> tuple[Check, ...]:
    """The argmax over the vocabulary is unique and equals G."""
    return decoding_checks()


# --- order -----------------------------------------------------------------------------------

_ORDER = """
(declare-sort Counts 0)
(declare-fun hist (Ctx) Counts) (declare-fun at (Counts Disp) Int)
(declare-fun g (Lab Counts) Tok) (declare-fun G (Ctx) Tok)
(declare-fun join (Ctx Ctx) Ctx)
(declare-const y Tok) (declare-const z Tok)
(declare-const rest Ctx) (declare-const c0 Ctx) (declare-const t0 Tok)
"""
_ONE_WAY = "(join {c} (ccons y (ccons z rest)))"
_OTHER_WAY = "(join {c} (ccons z (ccons y rest)))"


def order_theory(worlds: Callable[[], Iterable[World]]) -> Theory:
    """G as a map of the newest label and the displayed counts; contexts joined from two parts."""
    return Theory(
        name="order",
        declarations=WORDS + _ORDER,
        axioms=(
            *context_definitions()[6:7],
            *count_definitions()[2:],
            Axiom("join nothing", "(forall ((c Ctx)) (= (join cnil c) c))", "() c"),
            Axiom(
                "join",
                """(forall ((t Tok) (b Ctx) (c Ctx)) (! (= (join (ccons t b) c)
                  (ccons t (join b c))) :pattern ((join (ccons t b) c))))""",
                "joining goes token by token",
            ),
            Axiom(
                "histogram",
                """(forall ((c Ctx) (d Disp)) (! (= (at (hist c) d) (ccount c d))
                  :pattern ((at (hist c) d))))""",
                "the histogram holds the displayed counts",
            ),
            Axiom(
                "extensional",
                """(forall ((a Counts) (b Counts)) (=> (forall ((d Disp)) (= (at a d) (at b d)))
                  (= a b)))""",
                "histograms with equal counts are equal",
            ),
            Axiom(
                "map",
                "(forall ((c Ctx)) (! (=> (distinct c cnil) (= (G c) (g (newest c) (hist c)))) "
                ":pattern ((G c))))",
                "G reads the newest label and the histogram",
            ),
        ),
        worlds=worlds,
    )


def _agree(prefix: str) -> str:
    one, other = _ONE_WAY.format(c=prefix), _OTHER_WAY.format(c=prefix)
    return f"""(and (distinct {one} cnil) (distinct {other} cnil)
      (= (newest {one}) (newest {other}))
      (forall ((d Disp)) (= (ccount {one} d) (ccount {other} d))))"""


def order_goals(theory: Theory) -> tuple[Goal, ...]:
    """Two neighbours change places behind any prefix; the newest token stays where it is."""
    last = "(distinct rest cnil)"
    return (
        *induction(
            name="a swap of neighbours keeps counts and newest label",
            theory=theory,
            invariant=_agree,
            base="cnil",
            step=("c0", "(ccons t0 c0)"),
            base_assumptions=(last,),
            step_assumptions=(last,),
        ),
        Goal(
            name="equal counts are the same histogram",
            theory=theory,
            assumptions=(last, _agree("c0")),
            conclusion=f"(= (hist {_ONE_WAY.format(c='c0')}) (hist {_OTHER_WAY.format(c='c0')}))",
        ),
        Goal(
            name="a swap of neighbours keeps the next token",
            theory=theory,
            role="conclusion",
            assumptions=(
                last,
                _agree("c0"),
                f"(= (hist {_ONE_WAY.format(c='c0')}) (hist {_OTHER_WAY.format(c='c0')}))",
            ),
            conclusion=f"(= (G {_ONE_WAY.format(c='c0')}) (G {_OTHER_WAY.format(c='c0')}))",
        ),
    )


def _histogram(context: Context) -> tuple[tuple[str, int], ...]:
    shown = [token.displayed for token in context]
    return tuple((symbol, shown.count(symbol)) for symbol in ("a", "b", "#"))


def order_worlds(choose: Choose = next_of) -> Iterator[World]:
    """A family machine's map on short contexts with at most one marker."""
    transformer = window_transformer(hist_machine_number(3))
    sorts = word_sorts()
    short = tuple(context for context in sorts["Ctx"] if len(context) < 2)  # noqa: PLR2004
    contexts = (*few_markers(sorts["Ctx"]), ())
    tokens = (*sorts["Tok"][:2], sorts["Tok"][3])
    meaning: dict[str, Meaning] = {
        **word_symbols(),
        "hist": _histogram,
        "at": lambda h, d: dict(h)[d],
        "g": lambda r, h: transformer.next_token(r, [count for _, count in h]),
        "G": lambda c: choose(transformer, c),
        "join": lambda b, c: (*b, *c),
    }
    yield World(
        sorts={
            **sorts,
            "Tok": tokens,
            "Ctx": contexts,
            "Lab": tuple({context[-1].label: None for context in contexts if context}),
            "Counts": tuple({_histogram(context): None for context in contexts}),
        },
        symbols=meaning,
        free={
            "y": tokens[:2],
            "z": tokens,
            "rest": tuple(c for c in short if c and c[0].displayed != "#"),
            "c0": tuple(c for c in short if not c or c[0].displayed != "#"),
            "t0": tokens[:2],
        },
    )


def order_checks(choose: Choose = next_of) -> tuple[Check, ...]:
    """The for-all proof, and every order of every short context."""
    return (
        covers(
            Smt(
                goals=lambda: order_goals(order_theory(lambda: order_worlds(choose))),
                instances="all parity-HIST machines and contexts",
                leans_on=(INDUCTION, ADJACENT_TRANSPOSITIONS),
            )
        ),
        supports(
            Exhaustive(
                holds=order_fails(choose),
                ranges=graded(lambda length: context_range(length, marked=True), 2, 3, 5),
                rechecked_as="context",
                exhibit=next_exhibit,
                leans_on=(),
            )
        ),
    )


@claim(
    id="machines.window.permutation",
    source=Source(PAPER, "Remark 3"),
    latex=r"G(v_{\pi(1)}, \dots, v_{\pi(m-1)}, v_m) = G(v_1, \dots, v_m)",
    scope="all parity-HIST machines, contexts and permutations that fix the newest token",
    uses=("machines.window.histogram", "machines.window.decodes"),
    expected=Status.PROVED,
)
def the_order_of_older_tokens_is_ignored() -> tuple[Check, ...]:
    """The next token does not depend on the order of all but the newest token."""
    return order_checks()
