"""The words of the linear argument: paths and their beginnings, targets, families, and the axioms.

    f            a family of numbers z_p: for every path p, d_in of them (entry i)
    sub, first   the sum over all paths that begin with p; with one of the first heads next
    along        the product of a target's weights along a beginning
    value, upto  the weighted sum over the ways to go on; with one of the first heads next
    read         what a target reads of a sum: an entry of E S, or of E S U

Source: Fixed Universal Transformers, Section 4 and Theorem 4.1; the argument is ours.
"""

from __future__ import annotations

from verify.smtlib import Axiom

DECLARATIONS = """
(declare-sort Path 0) (declare-sort Target 0) (declare-sort Choices 0) (declare-sort Stream 0)
(declare-sort Family 0) (declare-sort Output 0)
(declare-const H Int) (declare-const L Int) (declare-const din Int) (declare-const m Int)
(declare-fun count (Int) Int)
(declare-const root Path) (declare-fun child (Path Int) Path) (declare-fun depth (Path) Int)
(declare-fun z (Family Path Int) Real) (declare-fun w (Int Int) Real)
(declare-fun combine (Target) Output) (declare-const zero Output)
(declare-fun response (Target Path Int Int) Real) (declare-fun along (Target Path) Real)
(declare-fun send (Family Path) Stream) (declare-fun sub (Family Path) Stream)
(declare-fun first (Family Path Int) Stream)
(declare-const nil Stream) (declare-fun plus (Stream Stream) Stream)
(declare-fun read (Target Stream Int) Real)
(declare-fun point (Target Int) Int) (declare-fun rest (Target Int) Choices)
(declare-const done Choices) (declare-fun more (Int Choices) Choices)
(declare-fun size (Choices) Int) (declare-fun valid (Choices) Bool)
(declare-fun value (Family Path Choices Int) Real)
(declare-fun upto (Family Path Int Choices Int Int) Real)
(declare-fun x (Int) Real) (declare-fun power (Real Int) Real)
(declare-const f Family) (declare-const t Target) (declare-const p Path) (declare-const r Choices)
(declare-const y Int) (declare-const i Int) (declare-const j Int)
(define-fun head ((h Int)) Bool (and (<= 0 h) (< h H)))
(define-fun entry ((c Int)) Bool (and (<= 0 c) (< c din)))
(define-fun whole ((q Path)) Bool (= (depth q) L))
"""

AXIOMS = {
    "condition": Axiom(
        "condition",
        """(forall ((u Target) (q Path) (c Int) (d Int)) (!
          (=> (and (whole q) (entry c) (entry d) (= (combine u) zero))
            (= (- (response u q c d) (ite (= c d) (along u q) 0.0)) 0.0))
          :pattern ((response u q c d))))""",
        "the condition: path vectors are independent at each target, so a combination of them "
        "that vanishes has coefficients 0",
    ),
    "simulates": Axiom(
        "simulates",
        "(forall ((u Target)) (! (= (combine u) zero) :pattern ((combine u))))",
        "model and target have equal output; along p the target has its weights' product times I",
    ),
    "multiples": Axiom(
        "multiples of the identity",
        """(forall ((u Target) (q Path) (c Int)) (! (=> (and (whole q) (entry c)
          (forall ((a Int) (b Int)) (=> (and (entry a) (entry b))
            (= (response u q a b) (ite (= a b) (along u q) 0.0)))))
          (= (read u (send f q) c) (* (along u q) (z f q c))))
          :pattern ((read u (send f q) c))))""",
        "what the target reads of z_p sent along p is its response along p times z_p",
    ),
    "beginnings": Axiom(
        "beginnings",
        """(and (= (depth root) 0) (forall ((q Path) (h Int)) (!
          (= (depth (child q h)) (+ (depth q) 1)) :pattern ((child q h)))))""",
        "beginnings of paths, one head after the other",
    ),
    "sums": Axiom(
        "sums over paths",
        """(forall ((q Path)) (! (and (=> (whole q) (= (sub f q) (send f q)))
          (=> (< (depth q) L) (= (sub f q) (first f q H)))) :pattern ((sub f q))))""",
        "over a whole path there is one summand, over a beginning those of all next heads",
    ),
    "heads": Axiom(
        "sums over heads",
        """(and (forall ((q Path)) (! (= (first f q 0) nil) :pattern ((first f q 0))))
          (forall ((q Path) (h Int)) (! (=> (head h)
            (= (first f q (+ h 1)) (plus (first f q h) (sub f (child q h)))))
            :pattern ((first f q (+ h 1))))))""",
        "the sum over the next heads, one after the other",
    ),
    "linear": Axiom(
        "linear",
        """(and (forall ((u Target) (c Int)) (! (=> (entry c) (= (read u nil c) 0.0))
            :pattern ((read u nil c))))
          (forall ((u Target) (a Stream) (b Stream) (c Int)) (! (=> (entry c)
            (= (read u (plus a b) c) (+ (read u a c) (read u b c))))
            :pattern ((read u (plus a b) c)))))""",
        "a target reads sums as sums: E (S + T) = E S + E T, and likewise for E S U",
    ),
    "products": Axiom(
        "products of weights",
        """(and (forall ((u Target)) (! (= (along u root) 1.0) :pattern ((along u root))))
          (forall ((u Target) (q Path) (h Int)) (! (=> (and (< (depth q) L) (head h))
            (= (along u (child q h)) (* (along u q) (w (point u (depth q)) h))))
            :pattern ((along u (child q h))))))""",
        "the product of the weights along a beginning",
    ),
    "choices": Axiom(
        "a target's choices",
        """(and (forall ((u Target)) (! (= (rest u L) done) :pattern ((rest u L))))
          (forall ((u Target) (l Int)) (! (=> (and (<= 0 l) (< l L))
            (= (rest u l) (more (point u l) (rest u (+ l 1)))))
            :pattern ((point u l) (rest u l)))))""",
        "a target makes a choice in each layer",
    ),
    "words": Axiom(
        "words of choices",
        """(and (= (size done) 0) (valid done) (forall ((a Int) (s Choices)) (! (and
          (= (size (more a s)) (+ (size s) 1)) (= (valid (more a s)) (and (head a) (valid s))))
          :pattern ((more a s)))))""",
        "words of choices, each one of H",
    ),
    "every word": Axiom(
        "every word",
        """(forall ((s Choices)) (! (=> (and (valid s) (= (size s) L))
          (exists ((u Target)) (= (rest u 0) s))) :pattern ((valid s))))""",
        "every word of L choices is some target's",
    ),
    "weighted": Axiom(
        "weighted sums",
        """(and (forall ((q Path) (c Int)) (! (= (value f q done c) (z f q c))
            :pattern ((value f q done c))))
          (forall ((q Path) (a Int) (s Choices) (c Int)) (!
            (= (value f q (more a s) c) (upto f q a s H c))
            :pattern ((value f q (more a s) c)) :pattern ((upto f q a s H c)))))""",
        "no layer is left: z_p itself; else the sum over the next heads",
    ),
    "weighted heads": Axiom(
        "weighted sums over heads",
        """(and (forall ((q Path) (a Int) (s Choices) (c Int)) (! (= (upto f q a s 0 c) 0.0)
            :pattern ((upto f q a s 0 c))))
          (forall ((q Path) (a Int) (s Choices) (h Int) (c Int)) (! (=> (head h)
            (= (upto f q a s (+ h 1) c)
              (+ (upto f q a s h c) (* (w a h) (value f (child q h) s c)))))
            :pattern ((upto f q a s (+ h 1) c)))))""",
        "the sum over the next heads by the weights of the next choice",
    ),
    "unit": Axiom(
        "unit weights",
        """(forall ((a Int) (h Int)) (! (=> (and (head a) (head h))
          (= (w a h) (ite (= a h) 1.0 0.0))) :pattern ((w a h))))""",
        "choice y gives head y the weight 1 and the others 0",
    ),
    "powers": Axiom(
        "powers",
        """(forall ((a Int) (h Int)) (! (=> (and (head a) (head h)) (= (w a h) (power (x a) h)))
          :pattern ((w a h))))""",
        "choice y gives head h the weight x_y^h, heads counted from 0",
    ),
    "distinct": Axiom(
        "distinct numbers",
        """(forall ((a Int) (b Int)) (=> (and (head a) (head b) (not (= a b)))
          (not (= (x a) (x b)))))""",
        "the numbers x_y are distinct",
    ),
}
