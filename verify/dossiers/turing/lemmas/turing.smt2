; Lemmas on a Turing machine's run as a text of steps. What they say all together, and what is argued beside them, stands in
; turing.py; the commands are those of search.smt2.

; ---- the text: <s>, a word of L symbols, what is copied of it up to P if the model searches, then W words a step, of which S are the
; search and what is found. kind: of the word at a position
(declare-const n Int)
(declare-const L Int)
(declare-fun kind (Int) Int)
(kinds)
(machine)
(axiom size (and (>= n 1) (>= L 0)))
(axiom numbers (forall ((j Int)) (! (and
    (=> (not (|is a cell| j)) (= (|number cell| j) 0))
    (=> (not (|is a symbol| j)) (= (|number symbol| j) 0))
    (=> (not (|is a state| j)) (= (|number state| j) 0)))
  :pattern ((kind j)) :pattern ((|number cell| j)) :pattern ((|number symbol| j)) :pattern ((|number state| j)))))
(axiom prompt (and (= (kind 1) 0) (forall ((j Int)) (! (=> (<= 2 j (+ L 1))
    (and (|is a symbol| j) (<= 0 (|number symbol| j)) (< (|number symbol| j) K)))
  :pattern ((kind j)) :pattern ((|number symbol| j))))))

; ---- the rules: what the table says of a state and a symbol
(lemma rules (table) (forall ((s Int) (x Int)) (! (=> (and (<= 0 s) (< s B) (<= 0 x) (< x K))
    (and (<= 0 (writes s x)) (< (writes s x) K) (>= (enters s x) 0) (or (= (moves s x) 1) (= (moves s x) (- 1)))))
  :pattern ((writes s x)))))

; ---- the definition's terms, behind the last word of t steps, at k: pointer, place, left, read-at … with axioms of the same names
(declare-const k Int)
(defined-terms)

; ---- the run. tracked: the machine after t steps, as its rules say; and where each cell has its last record, 1 if nowhere
(declare-const t Int)
(declare-const head Int)
(declare-const state Int)
(declare-fun tape (Int) Int)
(declare-fun last (Int) Int)
(define-fun number-of ((c Int)) Int (+ c n 1))
(define-fun inside ((c Int)) Bool (<= (- n) c n))
(define-fun read () Int (tape head))
(invariant steps (and (<= 0 t n) (= k (+ P (* W t)))))
(invariant near (and (<= (- t) head t)))
(invariant head-there (= (pointer k) head))
(invariant state-there (and (= (ite (> k 1) (|number state| (- k 1)) 0) state) (>= state 0)))
(invariant symbols (forall ((c Int)) (! (and (<= 0 (tape c)) (< (tape c) K)) :pattern ((tape c)))))
(invariant records (forall ((c Int)) (! (=> (inside c) (ite (= (last c) 1)
    (= (tape c) 0)
    (and (<= 2 (last c) k) (= (place (last c)) (number-of c)) (= (left (last c)) (tape c)))))
  :pattern ((last c)))))
(invariant no-later-record (forall ((c Int) (j Int)) (! (=> (and (inside c) (<= 2 j k) (< (last c) j)) (not (= (place j) (number-of c))))
  :pattern ((last c) (place j)))))

; ---- a step: five words, each as it is said behind those before; and before them the search and what it finds, if there is one. It is
; the machine's if what is said is what the rules say.
(define-fun first () Int (+ k S 1))
(suppose goes-on (and (not halts) (< t n) (searched k)
  (|is a cell| first) (= (|number cell| first) says-cell)
  (|is a symbol| (+ first 1)) (= (|number symbol| (+ first 1)) says-symbol)
  (|is a cell| (+ first 2)) (= (|number cell| (+ first 2)) says-again)
  (|is a state| (+ first 3)) (= (|number state| (+ first 3)) says-state)
  (= (kind (+ first 4)) says-arrow)))
(lemma halts-rightly (state-there) (= halts (>= state B)))

; ---- how the model reads: where records stand, at the start and in a step, and that what is read is what was left
(suppose starts (and (= k P) (= t 0)))
(reads)

; the start
(define-fun tape-starts ((c Int)) Int (ite (and (<= 0 c) (< c L)) (|number symbol| (+ c 2)) 0))
(induction no-rights (j 1) (x) (=> (and (<= j P) (= x 1)) (= (rights x j) 0)) ((rights x j)) (size prompt before-steps rights-1 rights-next))
(induction no-lefts (j 1) (x) (=> (and (<= j P) (= x 1)) (= (lefts x j) 0)) ((lefts x j)) (size prompt before-steps lefts-1 lefts-next))
(starts starts ((head 0) (state 0) (tape tape-starts) (last last-starts))
  (size starts prompt before-steps numbers word-records no-rights no-lefts pointer))

; what is said is what the rules say
(lemma states-read (goes-on steps size state-there halts-rightly) (and (<= 0 state) (< state B)
  (= (ite (> k 1) (|number state| (- k 1)) 0) state)))
(lemma symbols-said (symbol-read states-read symbols table goes-on steps size) (= (|number symbol| (+ first 1)) (writes state read)))
(lemma states-said (symbol-read states-read symbols table goes-on steps size) (= (|number state| (+ first 3)) (enters state read)))
(lemma arrows-said (symbol-read states-read symbols table goes-on steps size)
  (= (kind (+ first 4)) (ite (= (moves state read) 1) 4 5)))
(lemma cells-said (goes-on head-there no-arrows steps size) (and (= (|number cell| first) head) (= (|number cell| (+ first 2)) head)))
(lemma rule-applied (rules symbols states-read) (and (<= 0 (writes state read)) (< (writes state read) K) (>= (enters state read) 0)
  (or (= (moves state read) 1) (= (moves state read) (- 1)))))
(lemma record-written (record-here cells-said symbols-said)
  (and (= (place record-there) (number-of head)) (= (left record-there) (writes state read))))
(lemma head-moved (no-arrows arrows-said rule-applied pointer rights-next lefts-next steps size)
  (= (pointer (+ k W)) (+ head (moves state read))))
(define-fun tape-next ((c Int)) Int (ite (= c head) (writes state read) (tape c)))
(define-fun last-next ((c Int)) Int (ite (= c head) record-there (last c)))
(kept goes-on ((k (+ k W)) (t (+ t 1)) (head (+ head (moves state read))) (state (enters state read)) (tape tape-next) (last last-next))
  (goes-on steps size near rule-applied)
  (head-there head-moved) (state-there states-said) (symbols symbols) (records records record-written)
  (no-later-record no-later-record no-records record-written))
(concludes halts-rightly ())
