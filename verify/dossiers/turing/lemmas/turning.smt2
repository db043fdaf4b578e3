; Lemmas on a tape that turns around, as a text of configurations. What they say all together, and what is argued beside them, stands
; in turning.py; the commands are those of search.smt2.

; ---- the text: <s>, m cells and `:`, then configurations of m cells and `|`. kind, digit: of the word at a position
(declare-const m Int)
(declare-fun kind (Int) Int)
(declare-fun digit (Int) Int)
(define-fun |is a blank| ((j Int)) Bool (= (kind j) 1))
(define-fun |is a cell| ((j Int)) Bool (= (kind j) 2))
(define-fun |is a head| ((j Int)) Bool (= (kind j) 3))
(define-fun |is a halted| ((j Int)) Bool (= (kind j) 4))
(define-fun |is a turn| ((j Int)) Bool (= (kind j) 5))
(define-fun |is <s>| ((j Int)) Bool (= (kind j) 7))
(define-fun |is :| ((j Int)) Bool (= (kind j) 8))
(define-fun |number cell| ((j Int)) Int (ite (|is a cell| j) (digit j) 0))
(define-fun |number head| ((j Int)) Int (ite (|is a head| j) (digit j) 0))
(define-fun |number halted| ((j Int)) Int (ite (|is a halted| j) (digit j) 0))
(machine)

; ---- the prompt: a word of L symbols from the cell `origin` on, where the head is
(declare-const L Int)
(declare-const origin Int)
(declare-fun word (Int) Int)
(axiom size (and (>= m 1) (>= L 0) (<= 0 origin) (<= (+ origin L) m) (< origin m)))
(axiom symbols-of-word (forall ((i Int)) (! (and (<= 0 (word i)) (< (word i) K)) :pattern ((word i)))))
(define-fun tape-starts ((c Int)) Int (ite (and (<= origin c) (< c (+ origin L))) (word (- c origin)) 0))
(define-fun seen-starts ((c Int)) Bool (or (= c origin) (and (<= origin c) (< c (+ origin L)))))
(axiom prompt (and (= (kind 1) 7) (= (kind (+ m 2)) 8) (forall ((p Int)) (! (=> (and (<= 2 p) (<= p (+ m 1)))
    (ite (= p (+ origin 2))
      (and (= (kind p) 3) (= (digit p) (+ FIRST (tape-starts origin))))
      (ite (seen-starts (- p 2))
        (and (= (kind p) 2) (= (digit p) (+ 1 (tape-starts (- p 2)))))
        (= (kind p) 1))))
  :pattern ((kind p))))))

; ---- the rules: what the table says of a state and a symbol
(lemma rules (table) (forall ((s Int) (x Int)) (! (=> (and (<= 0 s) (< s B) (<= 0 x) (< x K))
    (and (<= 0 (writes s x)) (< (writes s x) K) (<= 0 (enters s x)) (< (enters s x) A) (or (= (moves s x) 1) (= (moves s x) (- 1)))))
  :pattern ((writes s x)))))

; ---- the definition's terms: the word that is said behind j + m − 1, of the cell at j − 1; and whether HALT is said behind e
(declare-const e Int)
(defined-terms)

; ---- the run. tracked: the machine after some steps, as its rules say, which cells are of the word or have been visited, and the
; position e of the last configuration's end
(declare-const head Int)
(declare-const state Int)
(declare-fun tape (Int) Int)
(declare-fun seen (Int) Bool)
(define-fun read () Int (tape head))
(define-fun beside () Int (+ head (moves state read)))
(invariant place (and (>= e (+ m 2)) (<= 0 head) (< head m) (seen head) (<= 0 state) (< state A)))
(invariant symbols (forall ((c Int)) (! (and (<= 0 (tape c)) (< (tape c) K) (=> (not (seen c)) (= (tape c) 0))) :pattern ((tape c)))))
(invariant row (forall ((p Int)) (! (=> (and (<= (- e m) p) (< p e))
    (ite (= (- p (- e m)) head)
      (and (= (kind p) (ite (< state B) 3 4)) (= (digit p) (+ FIRST (* K state) (tape head))))
      (ite (seen (- p (- e m)))
        (and (= (kind p) 2) (= (digit p) (+ 1 (tape (- p (- e m))))))
        (= (kind p) 1))))
  :pattern ((kind p)) :pattern ((digit p)))))
(invariant edges (and
  (or (= (kind e) 5) (= (kind e) 8))
  (or (= (kind (- e m 1)) 5) (= (kind (- e m 1)) 7) (= (kind (- e m 1)) 8))))
(invariant heads (= (halted 1 e) (ite (< state B) 0 1)))

; the start
(suppose starts (= e (+ m 2)))
(induction none-halted (j 1) (x) (=> (and (<= j (+ m 2)) (= x 1)) (= (halted x j) 0)) ((halted x j)) (size prompt halted-1 halted-next))
(starts starts ((head origin) (state 0) (tape tape-starts) (seen seen-starts)) (size starts prompt symbols-of-word none-halted))

; ---- a step: each word is as it is said behind those before. It is the machine's if they are what the rules say.
(define-fun is-said ((p Int)) Bool (and (= (kind p) (later-kind (- p m))) (= (digit p) (later-digit (- p m)))))
(lemma halts-rightly (heads) (= halts (>= state B)))
(suppose goes-on (and (< state B) (<= 0 beside) (< beside m)
  (forall ((p Int)) (! (=> (and (< e p) (<= p (+ e m 1))) (is-said p)) :pattern ((kind p)) :pattern ((digit p))))))
(lemma rule-applied (rules place symbols goes-on) (and (<= 0 (writes state read)) (< (writes state read) K)
  (<= 0 (enters state read)) (< (enters state read) A) (or (= beside (- head 1)) (= beside (+ head 1)))))
(lemma head-left (goes-on size place symbols row edges table later-kind later-digit) (and
  (= (kind (+ e 1 head)) 2) (= (digit (+ e 1 head)) (+ 1 (writes state read)))))
(lemma head-came (goes-on size place symbols row edges table later-kind later-digit rule-applied) (and
  (= (kind (+ e 1 beside)) (ite (< (enters state read) B) 3 4))
  (= (digit (+ e 1 beside)) (+ FIRST (* K (enters state read)) (tape beside)))))
(lemma others-stay (goes-on size place symbols row edges table later-kind later-digit) (forall ((p Int)) (! (=>
    (and (< e p) (<= p (+ e m)) (not (= p (+ e 1 head))) (not (= p (+ e 1 beside))))
    (ite (seen (- p (+ e 1)))
      (and (= (kind p) 2) (= (digit p) (+ 1 (tape (- p (+ e 1))))))
      (= (kind p) 1)))
  :pattern ((kind p)) :pattern ((digit p)))))
(lemma turned (goes-on size place edges later-kind) (= (kind (+ e m 1)) 5))
(define-fun tape-next ((c Int)) Int (ite (= c head) (writes state read) (tape c)))
(define-fun seen-next ((c Int)) Bool (or (seen c) (= c beside)))
(induction now-halted (j e) (x) (=> (and (<= j (+ e m 1)) (= x 1))
    (= (halted x j) (ite (and (>= (enters state read) B) (>= j (+ e 1 beside))) 1 0)))
  ((halted x j)) (goes-on size place heads rule-applied head-left head-came others-stay turned halted-next))
(kept goes-on ((e (+ e m 1)) (head beside) (state (enters state read)) (tape tape-next) (seen seen-next))
  (goes-on size place rule-applied)
  (symbols symbols) (row head-left head-came others-stay) (edges edges turned) (heads now-halted))

; ---- where the head leaves the space: OUT, and the symbols before it as they were
(suppose leaves (and (< state B) (not (and (<= 0 beside) (< beside m)))
  (forall ((p Int)) (! (=> (and (< e p) (<= p (+ e 1 head))) (is-said p)) :pattern ((kind p)) :pattern ((digit p))))))
(lemma out (leaves rules size place symbols row edges table later-kind later-digit) (and
  (= (kind (+ e 1 head)) 6) (= (digit (+ e 1 head)) OUTSIDE)))
(lemma none-before (leaves rules size place symbols row edges table later-kind later-digit) (forall ((p Int)) (! (=> (and (< e p) (<= p (+ e head)))
    (and (= (kind p) (kind (- p m 1))) (=> (= (kind p) 2) (= (digit p) (digit (- p m 1)))))) :pattern ((kind p)) :pattern ((digit p)))))

; ---- the queue: behind a prompt, in a text that goes on up to `last`, what leaves is what entered m tokens before
(declare-const last Int)
(suppose as-said (and (>= last (+ m 2)) (forall ((p Int)) (! (=> (and (< (+ m 2) p) (<= p last)) (and (is-said p) (not (= (kind p) 6))))
  :pattern ((kind p)) :pattern ((digit p))))))
(lemma digits (later-kind later-digit) (forall ((j Int)) (! (and (<= 1 (later-kind j)) (<= (later-kind j) 6)
    (=> (= (later-kind j) 1) (= (later-digit j) 0)) (=> (= (later-kind j) 5) (= (later-digit j) T)))
  :pattern ((later-kind j)))))
(lemma none-entered (size prompt later-digit) (and (= (later-digit 1) 0) (= (later-digit 2) 0)))
(induction begun (j 1) (x) (=> (and (<= j last) (= x 1)) (= (runs x j) (ite (>= j (+ m 2)) 1 0))) ((runs x j))
  (size prompt as-said digits runs-1 runs-next))
(lemma queue (size prompt as-said digits none-entered begun) (forall ((k Int)) (=> (and (<= 1 k) (<= k last))
  (= (leaving k) (ite (> k m) (later-digit (- k m)) 0)))))
(concludes halts-rightly ())
(concludes out (leaves))
(concludes none-before (leaves))
