"""Theorem 9 for all parity-HIST machines: ready and refresh form, bounds, the final queue.

    form at step t                 tokens     form at step t + 1
    ready: one marker, sem = W_t   1 or 2     ready, or refresh if the marker slid out
    refresh: none, tail(sem) = W_t 1          ready for the same t

In refresh form sem is the whole word W_{t-1} a, the queue that Theorem 7 simulates.

Source: Sliding-Window Transformers Without Positional Encodings, Theorem 9 and Appendix A.
"""

from __future__ import annotations

from constructions.machines.contexts import (
    context_range,
    ready_fails,
    refresh_fails,
    step_exhibit,
)
from constructions.machines.instances import run_exhibit, run_range, window_fails
from constructions.machines.readings import graded
from constructions.machines.window_theory import (
    Code,
    Rules,
    prompt_goals,
    seen_goal,
    window_theory,
    window_worlds,
)
from constructions.machines.words import (
    LENGTH,
    LENGTHS,
    PAPER,
    WORD_LENGTH,
    WORD_LENGTH_SIGN,
    axioms_of,
    word_definitions,
)
from verify.claims import Check, Source, claim, covers, supports
from verify.facts import INDUCTION
from verify.methods.exhaustive import Exhaustive
from verify.methods.smt import Smt
from verify.smtlib import Goal, Theory
from verify.verdicts import Status

_READY = "(and (= (marks C) 1) ((_ is N) (newest C)) (not (halts q0)))"
_REFRESH = "(and (distinct C cnil) (= (marks C) 0) ((_ is N) (newest C)))"
_WINDOW = "(sem C)"
"""W_t in ready form; in refresh form it is the tail of this."""
_TAIL = "(wtail (sem C))"


def _one(window: str) -> str:
    return f"(not (two q0 (pty {window})))"


def _both(window: str) -> str:
    return f"(two q0 (pty {window}))"


def _form(context: str, window: str) -> str:
    """The context is in ready or refresh form of the step after this window's."""
    return f"(Form {context} (step {window}) (q1 {window}))"


def ready_goals(theory: Theory) -> tuple[Goal, ...]:
    """One- and two-symbol appends, from ready form to ready or refresh form."""
    return (
        Goal(
            name="one symbol",
            theory=theory,
            role="conclusion",
            assumptions=(_READY, _one(_WINDOW)),
            conclusion=_form("(next C)", _WINDOW),
        ),
        Goal(
            name="two symbols: the first is shown, the second owed",
            theory=theory,
            assumptions=(_READY, _both(_WINDOW)),
            conclusion="""(and (= (marks (next C)) 1)
              (= (newest (next C)) (P (q1 (sem C)) (o2 q0 (pty (sem C)))))
              (= (sem (next C)) (wsnoc (sem C) (o1 q0 (pty (sem C))))))""",
        ),
        Goal(
            name="two symbols",
            theory=theory,
            role="conclusion",
            assumptions=(_READY, _both(_WINDOW)),
            conclusion=_form("(next (next C))", _WINDOW),
        ),
    )


def refresh_goals(theory: Theory) -> tuple[Goal, ...]:
    """A context without marker goes to ready form, and is not empty."""
    return (
        Goal(
            name="the marker comes back",
            theory=theory,
            role="conclusion",
            assumptions=(_REFRESH,),
            conclusion="(Ready (next C) (wtail (sem C)) q0)",
        ),
        Goal(
            name="refresh form is never empty",
            theory=theory,
            conclusion="""(forall ((q Q) (c Ctx) (w Word)) (=> (and (not (halts q))
              (= (marks c) 0) (= (sem c) (appended w q))) (distinct c cnil)))""",
        ),
    )


def ready_checks(rules: Rules | None = None, code: Code | None = None) -> tuple[Check, ...]:
    """The for-all proof, and every short context of a family of machines."""
    used = code or Code()

    def goals() -> tuple[Goal, ...]:
        theory = window_theory("window", lambda: window_worlds(used), rules=rules)
        return (
            seen_goal(lambda: window_worlds(used)),
            *prompt_goals(theory),
            *ready_goals(theory),
        )

    return (
        covers(Smt(goals=goals, instances="all parity-HIST machines, windows and contexts")),
        supports(
            Exhaustive(
                holds=ready_fails(used.make),
                ranges=graded(lambda length: context_range(length, marked=True), 2, 3, 5),
                rechecked_as="context",
                exhibit=step_exhibit,
                leans_on=(),
            )
        ),
    )


@claim(
    id="machines.window.ready",
    source=Source(PAPER, "Appendix A"),
    latex=r"\mathrm{Ready}(C, W_t, q_t) \implies \mathrm{Ready}(C', W_{t+1}, q_{t+1}) \lor"
    r" \mathrm{Refresh}(C', W_t \| a_t, q_{t+1})",
    scope="all parity-HIST machines, windows and contexts",
    uses=("machines.words.laws", "machines.window.histogram", "machines.window.decodes"),
    expected=Status.PROVED,
)
def a_ready_context_steps_to_ready_or_refresh_form() -> tuple[Check, ...]:
    """Ready contexts go to ready or refresh form, for one- and two-symbol appends.

    The form is that of the next window and state; in refresh form the context still shows the
    whole word W_t a_t. The prompt is in ready form.
    """
    return ready_checks()


def refresh_checks(rules: Rules | None = None, code: Code | None = None) -> tuple[Check, ...]:
    """The for-all proof, and every short context without a marker."""
    used = code or Code()

    def goals() -> tuple[Goal, ...]:
        return refresh_goals(window_theory("window", lambda: window_worlds(used), rules=rules))

    return (
        covers(Smt(goals=goals, instances="all parity-HIST machines, windows and contexts")),
        supports(
            Exhaustive(
                holds=refresh_fails(used.make),
                ranges=graded(
                    lambda length: context_range(length, marked=False, states=("p", "q", "halt")),
                    3,
                    4,
                    6,
                ),
                rechecked_as="context",
                exhibit=step_exhibit,
                leans_on=(),
            )
        ),
    )


@claim(
    id="machines.window.refresh",
    source=Source(PAPER, "Appendix A"),
    latex=r"\mathrm{Refresh}(C, F, q) \implies \mathrm{Ready}(C', \mathsf{tail}(F), q)",
    scope="all parity-HIST machines, windows and contexts",
    uses=("machines.words.laws", "machines.window.histogram", "machines.window.decodes"),
    expected=Status.PROVED,
)
def a_context_without_marker_goes_to_ready_form() -> tuple[Check, ...]:
    """Refresh contexts go to ready form.

    One token brings the marker back and drops the oldest symbol; the step stays the same.
    """
    return refresh_checks()


_FROM_REFRESH = f"(and {_REFRESH} (not (halts q0)))"


def _largest(window: str) -> str:
    return f"(and (>= S (wlen {window})) (>= S (wlen (wtail (step {window})))))"


def _fits(*contexts: str) -> str:
    return f"(and {' '.join(f'(<= (clen {context}) (+ S 1))' for context in contexts)})"


_STEP = ("C", "(next C)", "(next (next C))", "(next (next (next C)))")


def bound_goals(theory: Theory) -> tuple[Goal, ...]:
    """From either form at step t to a form at step t + 1: tokens taken, lengths on the way."""
    return (
        *(
            Goal(
                name=f"{form} form, {tokens} tokens: all contexts fit",
                theory=theory,
                role="conclusion",
                assumptions=(start, append(window), _largest(window)),
                conclusion=f"(and {_form(_STEP[tokens], window)} {_fits(*_STEP[: tokens + 1])})",
            )
            for form, start, window, tokens, append in (
                ("ready", _READY, _WINDOW, 1, _one),
                ("ready", _READY, _WINDOW, 2, _both),
                ("refresh", _FROM_REFRESH, _TAIL, 2, _one),
                ("refresh", _FROM_REFRESH, _TAIL, 3, _both),
            )
        ),
        Goal(
            name="the prompt fits",
            theory=theory,
            assumptions=("(= (marks C) 1)", f"(>= S (wlen {_WINDOW}))"),
            conclusion=_fits("C"),
        ),
    )


def bound_checks(rules: Rules | None = None, code: Code | None = None) -> tuple[Check, ...]:
    """The for-all proof, and runs of small machines with their largest contexts."""
    used = code or Code()

    def goals() -> tuple[Goal, ...]:
        return bound_goals(
            window_theory(
                "window lengths",
                lambda: window_worlds(used),
                rules=rules,
                declarations="(declare-const S Int)\n",
                extra=(
                    *word_definitions()[2:4],
                    *axioms_of(WORD_LENGTH, WORD_LENGTH_SIGN, LENGTH, LENGTHS),
                ),
            )
        )

    return (
        covers(
            Smt(
                goals=goals,
                instances="all parity-HIST machines and runs, the final window included",
                leans_on=(INDUCTION,),
            )
        ),
        supports(
            Exhaustive(
                holds=window_fails(used.make),
                ranges=graded(lambda every: run_range(every, 1, 24), 499, 97, 11),
                rechecked_as="window-run",
                exhibit=run_exhibit,
                leans_on=(),
            )
        ),
    )


@claim(
    id="machines.window.bounds",
    source=Source(PAPER, "Theorem 9"),
    latex=r"|C| \le S + 1,\quad S = \max_t |W_t|,\qquad \text{at most 3 tokens per HIST step}",
    scope="all parity-HIST machines and runs; S is taken over all windows, the final one included",
    uses=("machines.words.laws", "machines.window.ready", "machines.window.refresh"),
    expected=Status.PROVED,
)
def contexts_stay_within_one_token_of_the_largest_window() -> tuple[Check, ...]:
    """With S the largest of all windows the context has at most S + 1 tokens at every token.

    The final window is included, and the middle of a two-symbol append; a HIST step takes at most
    3 tokens.
    """
    return bound_checks()
