"""Words and contexts as recursive data: the laws that the step proofs use.

    defined by the front                        proved at the rear, by induction over the word
    odd, wlen, wcount of a word                 of w u
    sem, marks, newest, clen, ccount            of C v
    of a context

A law is stated once, as a `Law`; the same text is what `machines.words.laws` proves and what the
theories of Theorems 7 and 9 assume. A parity is the predicate odd(w, y): y occurs in w an odd
number of times.

Source: Sliding-Window Transformers Without Positional Encodings, Sections 3 and 5.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from constructions.machines.readings import Reading, reading_check, word_worlds
from verify.claims import Check, Source, claim, covers
from verify.facts import INDUCTION
from verify.methods.smt import Smt
from verify.smtlib import Axiom, Goal, Theory, World, induction
from verify.verdicts import Status

PAPER = "sliding-window-without-pe"

# --- theory ----------------------------------------------------------------------------------

WORDS = """
(declare-sort Sym 0) (declare-sort Q 0)
(declare-datatypes ((Word 0)) (((wnil) (wcons (whead Sym) (wtail Word)))))
(declare-datatypes ((Lab 0)) (((N (nq Q)) (P (pq Q) (ps Sym)))))
(declare-datatypes ((Disp 0)) (((mark) (sym (symof Sym)))))
(declare-datatypes ((Tok 0)) (((tok (disp Disp) (lab Lab) (bit Bool)))))
(declare-datatypes ((Ctx 0)) (((cnil) (ccons (chead Tok) (ctail Ctx)))))
(declare-fun wsnoc (Word Sym) Word) (declare-fun wlen (Word) Int)
(declare-fun wcount (Word Sym) Int) (declare-fun odd (Word Sym) Bool)
(declare-fun csnoc (Ctx Tok) Ctx) (declare-fun clen (Ctx) Int)
(declare-fun ccount (Ctx Disp) Int) (declare-fun marks (Ctx) Int)
(declare-fun sem (Ctx) Word) (declare-fun newest (Ctx) Lab)
"""

INDUCTION_CONSTANTS = """
(declare-const w0 Word) (declare-const s0 Sym) (declare-const c0 Ctx) (declare-const t0 Tok)
"""

SEM_RULE = "(ite ((_ is mark) (disp t)) (sem c) (wcons (symof (disp t)) (sem c)))"
"""sem of the context t c; a mutant replaces it."""


def word_definitions() -> tuple[Axiom, ...]:
    """Functions of a word, by its first symbol."""
    return (
        Axiom("wsnoc of nothing", "(forall ((u Sym)) (= (wsnoc wnil u) (wcons u wnil)))", "() u"),
        Axiom(
            "wsnoc",
            """(forall ((s Sym) (w Word) (u Sym)) (! (= (wsnoc (wcons s w) u)
              (wcons s (wsnoc w u))) :pattern ((wsnoc (wcons s w) u))))""",
            "appending goes past the first symbol",
        ),
        Axiom("wlen of nothing", "(= (wlen wnil) 0)", "the empty word has length 0"),
        Axiom(
            "wlen",
            """(forall ((s Sym) (w Word)) (! (= (wlen (wcons s w)) (+ (wlen w) 1))
              :pattern ((wlen (wcons s w)))))""",
            "a first symbol adds 1 to the length",
        ),
        *parity_definitions(),
        Axiom("wcount of nothing", "(forall ((y Sym)) (= (wcount wnil y) 0))", "none in ()"),
        Axiom(
            "wcount",
            """(forall ((s Sym) (w Word) (y Sym)) (! (= (wcount (wcons s w) y)
              (+ (wcount w y) (ite (= y s) 1 0))) :pattern ((wcount (wcons s w) y))))""",
            "a first symbol adds 1 to its own count",
        ),
    )


def parity_definitions() -> tuple[Axiom, ...]:
    """The parity of a word, by its first symbol."""
    return (
        Axiom("odd of nothing", "(forall ((y Sym)) (not (odd wnil y)))", "() has parity 0"),
        Axiom(
            "odd",
            """(forall ((s Sym) (w Word) (y Sym)) (! (= (odd (wcons s w) y)
              (xor (= y s) (odd w y))) :pattern ((odd (wcons s w) y))))""",
            "a first symbol flips its own parity",
        ),
    )


def context_definitions(sem_rule: str = SEM_RULE) -> tuple[Axiom, ...]:
    """Functions of a context, by its oldest token."""
    return (
        Axiom("csnoc of nothing", "(forall ((v Tok)) (= (csnoc cnil v) (ccons v cnil)))", "() v"),
        Axiom(
            "csnoc",
            """(forall ((t Tok) (c Ctx) (v Tok)) (! (= (csnoc (ccons t c) v)
              (ccons t (csnoc c v))) :pattern ((csnoc (ccons t c) v))))""",
            "appending goes past the oldest token",
        ),
        Axiom("sem of nothing", "(= (sem cnil) wnil)", "the empty context shows the empty word"),
        Axiom(
            "sem",
            f"""(forall ((t Tok) (c Ctx)) (! (= (sem (ccons t c)) {sem_rule})
              :pattern ((sem (ccons t c)))))""",
            "sem deletes the markers and keeps the order",
        ),
        Axiom("marks of nothing", "(= (marks cnil) 0)", "no marker in the empty context"),
        Axiom(
            "marks",
            """(forall ((t Tok) (c Ctx)) (! (= (marks (ccons t c))
              (+ (marks c) (ite ((_ is mark) (disp t)) 1 0))) :pattern ((marks (ccons t c)))))""",
            "a marker adds 1 to the number of markers",
        ),
        Axiom(
            "newest",
            """(forall ((t Tok) (c Ctx)) (! (= (newest (ccons t c))
              (ite (= c cnil) (lab t) (newest c))) :pattern ((newest (ccons t c)))))""",
            "the newest label is that of the last token",
        ),
        *count_definitions(),
    )


def count_definitions() -> tuple[Axiom, ...]:
    """Length and displayed counts of a context, by its oldest token."""
    return (
        Axiom("clen of nothing", "(= (clen cnil) 0)", "the empty context has length 0"),
        Axiom(
            "clen",
            """(forall ((t Tok) (c Ctx)) (! (= (clen (ccons t c)) (+ (clen c) 1))
              :pattern ((clen (ccons t c)))))""",
            "a token adds 1 to the length",
        ),
        Axiom("ccount of nothing", "(forall ((d Disp)) (= (ccount cnil d) 0))", "none in ()"),
        Axiom(
            "ccount",
            """(forall ((t Tok) (c Ctx) (d Disp)) (! (= (ccount (ccons t c) d)
              (+ (ccount c d) (ite (= (disp t) d) 1 0))) :pattern ((ccount (ccons t c) d))))""",
            "a token adds 1 to the count of what it displays",
        ),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Law:
    """A statement about all words (or all contexts) x, to be proved by induction over x.

    `body` and `pattern` are texts in which {x} stands for the word or context; `others` declares
    the further variables; `needs` names laws that the step uses.
    """

    name: str
    over: str
    body: str
    pattern: str
    gloss: str
    others: str = ""
    needs: tuple[str, ...] = ()

    def at(self, term: str) -> str:
        """The law for one word or context, all other variables quantified."""
        body = self.body.format(x=term)
        if not self.others:
            return body
        return f"(forall ({self.others}) (! {body} :pattern ({self.pattern.format(x=term)})))"

    @property
    def axiom(self) -> Axiom:
        """The law for all words or contexts, as later theories assume it."""
        body, pattern = self.body.format(x="x"), self.pattern.format(x="x")
        variables = f"(x {self.over}) {self.others}".strip()
        return Axiom(
            self.name, f"(forall ({variables}) (! {body} :pattern ({pattern})))", self.gloss
        )

    def goals(self, theory: Theory) -> tuple[Goal, Goal]:
        """Base and step of the induction over x."""
        word = self.over == "Word"
        return induction(
            name=self.name,
            theory=theory,
            invariant=self.at,
            base="wnil" if word else "cnil",
            step=("w0", "(wcons s0 w0)") if word else ("c0", "(ccons t0 c0)"),
        )


PAR_SNOC = Law(
    name="parity at the rear",
    over="Word",
    others="(u Sym) (y Sym)",
    body="(= (odd (wsnoc {x} u) y) (xor (= y u) (odd {x} y)))",
    pattern="(odd (wsnoc {x} u) y)",
    gloss="a last symbol flips its own parity",
)
WORD_NOT_EMPTY = Law(
    name="words that were appended to",
    over="Word",
    others="(u Sym)",
    body="(distinct (wsnoc {x} u) wnil)",
    pattern="(wsnoc {x} u)",
    gloss="a word with a last symbol is not empty",
)
WORD_LENGTH = Law(
    name="length of words at the rear",
    over="Word",
    others="(u Sym)",
    body="(= (wlen (wsnoc {x} u)) (+ (wlen {x}) 1))",
    pattern="(wlen (wsnoc {x} u))",
    gloss="a last symbol adds 1 to the length",
)
WORD_LENGTH_SIGN = Law(
    name="length of words",
    over="Word",
    body="(>= (wlen {x}) 0)",
    pattern="(wlen {x})",
    gloss="lengths of words are not negative",
)
WORD_COUNT = Law(
    name="counts of words at the rear",
    over="Word",
    others="(u Sym) (y Sym)",
    body="(= (wcount (wsnoc {x} u) y) (+ (wcount {x} y) (ite (= y u) 1 0)))",
    pattern="(wcount (wsnoc {x} u) y)",
    gloss="a last symbol adds 1 to its own count",
)
WORD_PARITY = Law(
    name="parity of words",
    over="Word",
    others="(y Sym)",
    body="(= (odd {x} y) (= (mod (wcount {x} y) 2) 1))",
    pattern="(odd {x} y)",
    gloss="the parity of a word is its counts mod 2",
)
NOT_EMPTY = Law(
    name="contexts that were appended to",
    over="Ctx",
    others="(v Tok)",
    body="(distinct (csnoc {x} v) cnil)",
    pattern="(csnoc {x} v)",
    gloss="a context with a newest token is not empty",
)
SEM = Law(
    name="sem at the rear",
    over="Ctx",
    others="(v Tok)",
    body="(= (sem (csnoc {x} v)) (ite ((_ is mark) (disp v)) (sem {x}) "
    "(wsnoc (sem {x}) (symof (disp v)))))",
    pattern="(sem (csnoc {x} v))",
    gloss="a newest token appends its symbol to sem, unless it is a marker",
)
MARKS = Law(
    name="markers at the rear",
    over="Ctx",
    others="(v Tok)",
    body="(= (marks (csnoc {x} v)) (+ (marks {x}) (ite ((_ is mark) (disp v)) 1 0)))",
    pattern="(marks (csnoc {x} v))",
    gloss="a newest marker adds 1 to the number of markers",
)
MARKS_SIGN = Law(
    name="markers",
    over="Ctx",
    body="(>= (marks {x}) 0)",
    pattern="(marks {x})",
    gloss="the number of markers is not negative",
)
NEWEST = Law(
    name="newest label",
    over="Ctx",
    others="(v Tok)",
    body="(= (newest (csnoc {x} v)) (lab v))",
    pattern="(newest (csnoc {x} v))",
    gloss="the newest label is that of the token appended last",
    needs=(NOT_EMPTY.name,),
)
LENGTH = Law(
    name="length of contexts at the rear",
    over="Ctx",
    others="(v Tok)",
    body="(= (clen (csnoc {x} v)) (+ (clen {x}) 1))",
    pattern="(clen (csnoc {x} v))",
    gloss="a newest token adds 1 to the length",
)
LENGTHS = Law(
    name="lengths",
    over="Ctx",
    body="(= (+ (wlen (sem {x})) (marks {x})) (clen {x}))",
    pattern="(clen {x})",
    gloss="a context is as long as its word and its markers together",
)
COUNT = Law(
    name="counts of contexts at the rear",
    over="Ctx",
    others="(v Tok) (d Disp)",
    body="(= (ccount (csnoc {x} v) d) (+ (ccount {x} d) (ite (= (disp v) d) 1 0)))",
    pattern="(ccount (csnoc {x} v) d)",
    gloss="a newest token adds 1 to the count of what it displays",
)
COUNT_MARKS = Law(
    name="count of the marker",
    over="Ctx",
    body="(= (ccount {x} mark) (marks {x}))",
    pattern="(marks {x})",
    gloss="the count of the marker is the number of markers",
)
COUNT_SEM = Law(
    name="counts of sem",
    over="Ctx",
    others="(y Sym)",
    body="(= (ccount {x} (sym y)) (wcount (sem {x}) y))",
    pattern="(ccount {x} (sym y))",
    gloss="a context displays a symbol as often as it occurs in sem",
)
SEM_PARITY = Law(
    name="parity of sem",
    over="Ctx",
    others="(y Sym)",
    body="(= (odd (sem {x}) y) (= (mod (ccount {x} (sym y)) 2) 1))",
    pattern="(odd (sem {x}) y)",
    gloss="the parity of sem is the displayed counts mod 2",
)
LAWS: tuple[Law, ...] = (
    PAR_SNOC, WORD_NOT_EMPTY, WORD_LENGTH, WORD_LENGTH_SIGN, WORD_COUNT, WORD_PARITY,
    NOT_EMPTY, SEM, MARKS, MARKS_SIGN, NEWEST, LENGTH, LENGTHS, COUNT, COUNT_MARKS, COUNT_SEM,
    SEM_PARITY,
)  # fmt: skip


def axioms_of(*laws: Law) -> tuple[Axiom, ...]:
    """Laws as a later theory assumes them."""
    return tuple(law.axiom for law in laws)


def law_goals(
    laws: Sequence[Law], sem_rule: str, worlds: Callable[[], Iterable[World]]
) -> tuple[Goal, ...]:
    """Each law by induction, from the definitions and from the laws that it needs."""
    by_name = {law.name: law for law in laws}
    theories: dict[tuple[str, ...], Theory] = {}
    goals: list[Goal] = []
    for law in laws:
        if law.needs not in theories:
            needed = axioms_of(*(by_name[name] for name in law.needs))
            theories[law.needs] = Theory(
                name=f"words, with {', '.join(law.needs)}" if law.needs else "words",
                declarations=WORDS + INDUCTION_CONSTANTS,
                axioms=(*word_definitions(), *context_definitions(sem_rule), *needed),
                worlds=worlds,
            )
        goals += law.goals(theories[law.needs])
    return tuple(goals)


# --- claims ----------------------------------------------------------------------------------


def law_checks(
    laws: Sequence[Law] = LAWS, sem_rule: str = SEM_RULE, reading: Reading | None = None
) -> tuple[Check, ...]:
    """The laws by structural induction, and real contexts."""
    return (
        covers(
            Smt(
                goals=lambda: law_goals(laws, sem_rule, lambda: word_worlds(reading)),
                instances="all alphabets, words and contexts",
                leans_on=(INDUCTION,),
            )
        ),
        reading_check(reading or Reading()),
    )


@claim(
    id="machines.words.laws",
    source=Source(PAPER, "Sections 3 and 5"),
    latex=r"\Pi(w\sigma) = \Pi(w) \oplus e_\sigma,\quad \mathsf{sem}(C \| v) = \mathsf{sem}(C)"
    r" \| \tau(v)\ (\tau(v) \ne \#),\quad |\mathsf{sem}(C)| + \#_C = |C|,"
    r"\quad \Pi(\mathsf{sem}(C)) = \mathrm{cnt}_C \bmod 2",
    scope="all alphabets, words and contexts",
    expected=Status.PROVED,
)
def words_and_contexts_obey_the_same_laws_at_both_ends() -> tuple[Check, ...]:
    """The laws of words, contexts, parity and sem that the step proofs use.

    Parity, length, counts, sem, markers and newest label, defined by the front of a word or
    context, change at its rear as the step proofs say; the parity of sem is the displayed counts
    mod 2.
    """
    return law_checks()
