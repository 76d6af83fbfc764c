"""The warm-up: one head, L + 1 blocks of width b = max(2d, d_in), and a shift.

    R_V         column map: column c of block i has its 1 in column c of block i + 1
    R_Q, R_K    read the first d and the next d columns of block 1
    U           reads the first d_in columns of block 1

l - 1 shifts bring block l to the front, so block l holds layer l's queries and keys and block
L + 1 the whole product.

Source: Fixed Universal Transformers, Appendix A.1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from constructions.universal.definitions import Target, TransformerSize, Universal, require_width
from constructions.universal.layouts import Layout, node_blocks
from constructions.universal.maps import ColumnMap, Indices, Ones
from constructions.universal.tree import PAPER, selection_check
from verify.claims import Check, Source, claim, covers
from verify.errors import SizeError
from verify.facts import INDUCTION, MATRIX_LAWS, SELECTION_PRODUCT
from verify.methods.smt import Smt
from verify.rational import Matrix
from verify.smtlib import Axiom, Goal, Theory, World, induction
from verify.verdicts import Status

# --- sizes and parameters --------------------------------------------------------------------


def block_width(size: TransformerSize) -> int:
    """The width b = max(2d, d_in) of one block."""
    return max(2 * size.head_width, size.token_width)


def shift_width(size: TransformerSize) -> int:
    """(L + 1) b, the least embedding dimension."""
    return (size.layers + 1) * block_width(size)


def _require_single_head(size: TransformerSize, width: int) -> None:
    if size.heads != 1:
        raise SizeError(
            f"the shift construction needs one head, got {size.heads}; use tree or looped"
        )
    require_width(width, shift_width(size), "shift")


def shift(size: TransformerSize, width: int | None = None) -> Universal:
    """The weight-tied fixed parameters in an embedding dimension of `width`, or of the least one.

    Raises:
        SizeError: more than one head, or width below (L + 1) b.
    """
    m, b = shift_width(size) if width is None else width, block_width(size)
    _require_single_head(size, m)
    place = np.arange(m)
    moved = ColumnMap(rows=np.where(place < size.layers * b, place + b, -1))

    def first(columns: int, offset: int) -> Ones:
        return Ones.at(m, columns, np.arange(columns) + offset, np.arange(columns))

    return Universal(
        size=size,
        width=m,
        queries=((first(size.head_width, 0),),) * size.layers,
        keys=((first(size.head_width, size.head_width),),) * size.layers,
        values=((moved,),) * size.layers,
        readout=first(size.token_width, 0),
    )


def shift_order(size: TransformerSize, width: int) -> Indices:
    """Per column of P_0 the coordinate it should select: 2d of each block, d_in of the last."""
    del width
    b, reads = block_width(size), np.arange(2 * size.head_width)
    blocks = [layer * b + reads for layer in range(size.layers)]
    return np.concatenate([*blocks, size.layers * b + np.arange(size.token_width)])


def shift_embedding(target: Target, width: int) -> Matrix:
    """E transposed, shape (m, d_in): each layer's block padded to width b."""
    _require_single_head(target.size, width)
    b, tokens = block_width(target.size), target.size.token_width
    parts: list[Matrix] = []
    for block in node_blocks(target):
        parts += [block, Matrix.zero(b - block.height, tokens)]
    spare = Matrix.zero(width - shift_width(target.size), tokens)
    return Matrix.stack([*parts, spare])


# --- theory ----------------------------------------------------------------------------------

SHIFT_RULE = "(= (shift (at i o)) (at (+ i 1) o))"
"""What the value map does to a column; the mutants replace it."""

_DECLARATIONS = """
(declare-sort Co 0)
(declare-datatypes ((Kind 0)) (((KQ) (KK) (KC))))
(declare-const L Int) (declare-const d Int) (declare-const din Int) (declare-const b Int)
(declare-fun at (Int Int) Co) (declare-fun block (Co) Int) (declare-fun offset (Co) Int)
(declare-fun shift (Co) Co)
(declare-fun reader (Kind Int) Co)
(declare-const k0 Kind) (declare-const c0 Int) (declare-const j Int)
(declare-fun t (Int) Co)
(define-fun columns ((k Kind)) Int (ite (= k KC) din d))
(define-fun place ((k Kind) (c Int)) Int (ite (= k KK) (+ d c) c))
"""


def shift_theory(rule: str, worlds: Callable[[], Iterator[World]]) -> Theory:
    """Blocks and offsets, the shift, and where a reader's column goes under it."""
    return Theory(
        name="shift",
        declarations=_DECLARATIONS,
        axioms=(
            Axiom(
                "sizes",
                """(and (>= L 1) (>= d 1) (>= din 1)
                  (= b (ite (>= (* 2 d) din) (* 2 d) din)))""",
                "b = max(2d, d_in)",
            ),
            Axiom(
                "exists",
                """(forall ((i Int) (o Int)) (! (=> (and (<= 1 i) (<= i (+ L 1)) (<= 0 o) (< o b))
                  (and (= (block (at i o)) i) (= (offset (at i o)) o))) :pattern ((at i o))))""",
                "each of the L + 1 blocks has coordinates 0..b-1",
            ),
            Axiom(
                "shift",
                f"""(forall ((i Int) (o Int)) (! (=> (and (<= 1 i) (<= i L) (<= 0 o) (< o b))
                  {rule}) :pattern ((shift (at i o)))))""",
                "column o of block i has its 1 in column o of block i + 1",
            ),
            Axiom(
                "readers",
                """(forall ((k Kind) (c Int)) (! (=> (and (<= 0 c) (< c (columns k)))
                  (= (reader k c) (at 1 (place k c)))) :pattern ((reader k c))))""",
                "R_Q, R_K and U read block 1",
            ),
            Axiom(
                "chain",
                """(=> (and (<= 0 c0) (< c0 (columns k0))) (and (= (t 0) (reader k0 c0))
                  (forall ((x Int)) (! (=> (and (<= 0 x) (< x L)) (= (t (+ x 1)) (shift (t x))))
                  :pattern ((t (+ x 1)))))))""",
                "t(x) is where the reader's column stands under x factors R_V",
            ),
        ),
        worlds=worlds,
    )


_COLUMN = "(and (<= 0 c0) (< c0 (columns k0)))"


def shift_goals(theory: Theory) -> tuple[Goal, ...]:
    """Block j + 1 comes to the front by j shifts; different columns of P_0 are different places."""
    return (
        *induction(
            name="j shifts read block j + 1",
            theory=theory,
            invariant=lambda x: f"(= (t {x}) (at (+ {x} 1) (place k0 c0)))",
            base="0",
            step=("j", "(+ j 1)"),
            base_assumptions=(_COLUMN,),
            step_assumptions=(_COLUMN, "(and (<= 0 j) (< j L))"),
        ),
        Goal(
            name="offsets lie inside a block",
            theory=theory,
            assumptions=(_COLUMN,),
            conclusion="(and (<= 0 (place k0 c0)) (< (place k0 c0) b))",
        ),
        Goal(
            name="different columns select different coordinates",
            theory=theory,
            role="conclusion",
            conclusion="""(forall ((k1 Kind) (x1 Int) (c1 Int) (k2 Kind) (x2 Int) (c2 Int)) (=>
              (and (<= 0 c1) (< c1 (columns k1)) (<= 0 x1) (= (= k1 KC) (= x1 L)) (<= x1 L)
                (<= 0 c2) (< c2 (columns k2)) (<= 0 x2) (= (= k2 KC) (= x2 L)) (<= x2 L)
                (= (at (+ x1 1) (place k1 c1)) (at (+ x2 1) (place k2 c2))))
              (and (= k1 k2) (= x1 x2) (= c1 c2))))""",
        ),
    )


_WORLD_SIZES = ((2, 2, 2), (3, 1, 4), (2, 2, 3))


def shift_worlds(build: Callable[[TransformerSize, int], Universal] = shift) -> Iterator[World]:
    """The shift theory on the actual index maps of small sizes."""
    for index, (layers, head_width, token_width) in enumerate(_WORLD_SIZES):
        size = TransformerSize(
            heads=1, layers=layers, head_width=head_width, token_width=token_width
        )
        b, kind = block_width(size), ("KQ", "KK", "KC")[index]
        model = build(size, shift_width(size))
        moved = model.values[0][0].rows.tolist()
        parts = {"KQ": model.queries[0][0], "KK": model.keys[0][0], "KC": model.readout}
        chain = [int(parts[kind].rows[0])]
        for _ in range(layers):
            chain.append(moved[chain[-1]])
        yield World(
            sorts={"Kind": ("KQ", "KK", "KC")},
            integers=range(-1, max(layers, b) + 2),
            symbols={
                "KQ": "KQ",
                "KK": "KK",
                "KC": "KC",
                "L": layers,
                "d": head_width,
                "din": token_width,
                "b": b,
                "at": lambda i, o, b=b: (i - 1) * b + o,
                "block": lambda i, b=b: i // b + 1,
                "offset": lambda i, b=b: i % b,
                "shift": moved.__getitem__,
                "reader": lambda k, c, parts=parts: int(parts[k].rows[c]),
                "k0": kind,
                "c0": 0,
                "t": chain.__getitem__,
            },
            free={"j": range(layers)},
        )


# --- claims ----------------------------------------------------------------------------------

LAYOUT = Layout(
    name="shift",
    build=shift,
    least_width=shift_width,
    order=shift_order,
    write=shift_embedding,
    tied=True,
    single_head=True,
)


def shift_checks(rule: str = SHIFT_RULE, layout: Layout = LAYOUT) -> tuple[Check, ...]:
    """The for-all proof, and the parameters themselves at small sizes."""
    return (
        covers(
            Smt(
                goals=lambda: shift_goals(shift_theory(rule, lambda: shift_worlds(layout.build))),
                instances="H = 1 and all L, d, d_in",
                leans_on=(INDUCTION, MATRIX_LAWS, SELECTION_PRODUCT),
            )
        ),
        selection_check(layout),
    )


@claim(
    id="universal.shift.identity",
    source=Source(PAPER, "Appendix A.1"),
    latex=r"E R^{l-1} S_1 J_Q = E S_l J_Q = W_{VO}^{1:l-1} W_Q^l,\quad m = (L+1)\max\{2d, d_{in}\}",
    scope="H = 1 and all L, d, d_in",
    uses=("universal.probes.layer", "universal.paths.identities"),
    expected=Status.PROVED,
)
def shifts_bring_each_block_to_the_front() -> tuple[Check, ...]:
    """The weight-tied shift construction serves H = 1 at (L+1) max(2d, d_in)."""
    return shift_checks()
