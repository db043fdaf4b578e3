; Lemmas on Algorithm 1's search. What they say all together, and what is argued beside them, stands in search.py.
;   (axiom NAME formula)          what the text is, or what a function is that exists
;   (suppose NAME formula)        a case, or what a proof by contradiction starts from
;   (lemma NAME (FACT …) formula) follows from these facts
;   (induction NAME (j FROM) (VARIABLE …) formula (pattern) (FACT …))  for all integers from FROM on, and all others
;   (invariant NAME formula)      holds at every vertex of a run: may be supposed, and is shown by the next three
;   (starts CASE ((symbol new) …) (FACT …) (INVARIANT FACT …) …)  each invariant with new symbols in place, at the start
;   (kept CASE ((symbol new) …) (FACT …) (INVARIANT FACT …) …)    the same behind a step, from the invariants before it
;   (also CASE INVARIANT FACT …)                                  what shows an invariant of a part of the text, beside what all use
;   (cases NAME GOES-ON (CASE …) (FACT …))                        one of the cases is met, by these facts

; ---- the step's terms, of any text and at any position: own, other, father-at … are functions with axioms of the same names
(declare-const n Int)
(declare-fun number (Int) Int)
(declare-const k Int)
(defined-terms)

; ---- the text. E is the position of the last endpoint, 1 if there is none, P that of the prompt's last token
(layout)
(axiom start (= (number 1) 0))
(graph)
(axiom no-loop (forall ((j Int)) (! (=> (and (<= 4 j E) (second j)) (not (= (number j) (number (- j 2))))) :pattern ((number j)))))
(axiom no-edge-twice (forall ((i Int) (j Int)) (! (=> (and (<= 4 i) (< i j) (<= j E) (second i) (second j)) (not (or
    (and (= (number i) (number j)) (= (number (- i 2)) (number (- j 2))))
    (and (= (number i) (number (- j 2))) (= (number (- i 2)) (number j))))))
  :pattern ((number i) (number j)))))

; ---- records
(lemma no-record-of-loop (size no-loop records) (forall ((j Int)) (! (=> (and (>= j 1) (record j)) (not (= (own j) (other j)))) :pattern ((own j)))))
(lemma none-at-1 (size ends) (and (= (own 1) 0) (= (other 1) 0)))
(lemma no-record-twice (size numbers no-loop no-edge-twice records) (forall ((i Int) (j Int)) (! (=>
    (and (>= i 1) (>= j 1) (not (= (own i) 0)) (= (own i) (own j)) (= (other i) (other j)))
    (= i j))
  :pattern ((own i) (own j)))))
(lemma apart (size ends no-record-of-loop records twins) (forall ((j Int)) (! (=> (and (>= j 1) (not (= (own j) 0))) (not (= (own (+ j 1)) (own j))))
  :pattern ((own j)))))

(lemma rec-of-all (ends rec-is rec-first no-record-twice) (forall ((j Int)) (! (=> (and (>= j 1) (not (= (own j) 0))) (= (rec (own j) (other j)) j))
  :pattern ((own j)))))

; next: the first record of a vertex behind i, or 0. There is such a function, as one of some integers is the least.
(declare-fun next (Int Int) Int)
(axiom next-is (forall ((i Int) (v Int)) (! (=> (>= i 0) (or
    (and (= (next i v) 0) (forall ((h Int)) (! (=> (< i h) (not (= (own h) v))) :pattern ((own h)))))
    (and (< i (next i v)) (= (own (next i v)) v)
      (forall ((h Int)) (! (=> (and (< i h) (< h (next i v))) (not (= (own h) v))) :pattern ((own h)))))))
  :pattern ((next i v)))))

; ---- the run
(define-fun arrival ((j Int)) Int (number j))
(define-fun vertex ((k Int)) Int (number k))
(define-fun back ((k Int)) Int (ite (= k (+ P 1)) (- 1) (number (- k 1))))
(walk)
(invariant vertices (forall ((j Int)) (! (=> (and (< P j) (<= j k)) (<= 1 (number j) n)) :pattern ((number j)))))
(invariant come (ite (= (back k) (up (number k)))
  (= (taken (number k)) 0)
  (and (= (up (back k)) (number k)) (not (= (back k) 1)) (seen (back k) k) (= (taken (number k)) (rec (number k) (back k))))))
(invariant length (= (- k P) (- (* 2 (among n k)) 1 (depth (number k)))))

; ---- what follows at any vertex c
(lemma here (size vertices behind-prompt) (and (> k P) (<= 1 c n)))
(lemma father-here (size here root-seen here-seen seen-fathers) (and (not (= (up c) 0)) (not (= (up c) c))))
(lemma taken-here (size here come fathers rec-is taken-is ends) (ite (= (back k) (up c))
  (= (taken c) 0)
  (and (>= (taken c) 1) (= (own (taken c)) c) (= (other (taken c)) (back k)))))

; ---- the step: along the next edge that does not lead to the father, or up
(define-fun behind () Int (next (taken c) c))
(define-fun edge () Int (ite (and (not (= behind 0)) (= (other behind) (up c))) (next behind c) behind))
(define-fun w () Int (other edge))
(lemma edge-is (size here next-is taken-here ends no-record-twice) (and
  (=> (not (= edge 0)) (and (> edge (taken c)) (record edge) (= (own edge) c) (not (= w (up c)))))
  (forall ((j Int)) (! (=> (and (> j (taken c)) (= (own j) c) (or (= edge 0) (< j edge))) (= (other j) (up c))) :pattern ((own j))))))
(lemma first-visit (size here thoughts visit-of-all visit-is father-at father-at-all) (= (father-at k) (visit c)))
; the step says what it should: `step`, by what its heads find, in neighbours.smt2 or counts.smt2. Where the search ends, the answer
; is NO before 2n − 1 vertices were said, and at that many YES if it is over
(define-fun full () Int (+ P (* 2 n) (- 1)))
(define-fun ends-right () Bool (and says-end (= answers-no (not answers-yes))
  (=> (< k full) answers-no)
  (=> (and (= k full) (= edge 0)) answers-yes)))
(define-fun says-right () Bool (ite (= edge 0)
  (ite (= c 1) ends-right (and says-number (= says (up c))))
  (ite (seen w k) ends-right (and says-number (= says w)))))
(heads)

; ---- the induction: at the start, and in both cases in which the run goes on
(lemma first-word (prompt) (and (begins-number P) (= (begins P) 1)))
(suppose starts (and (= k (+ P 1)) (= (number k) 1)))
(define-fun path-starts ((v Int)) Bool (= v 1))
(define-fun taken-starts ((v Int)) Int 0)
(lemma one-seen (size starts visit-of-all visit-is) (and (= (visit 1) (+ P 1))
  (forall ((v Int)) (! (= (seen v k) (= v 1)) :pattern ((visit v))))))
(starts starts ((path path-starts) (taken taken-starts)) (size starts one-seen depth-is ends) (length one-alone))

(suppose down (and (not (= edge 0)) (not (seen w k)) (= (number (+ k 1)) w)))
(suppose goes-up (and (= edge 0) (not (= c 1)) (= (number (+ k 1)) (up c))))
(lemma new-vertex (size here here-seen root-seen taken-here down edge-is ends)
  (and (<= 1 w n) (not (= w 1)) (not (= c w)) (> edge (taken c) (- 1))))
(lemma new-visit (size here down visit-of-all visit-is new-vertex) (and (= (visit w) (+ k 1)) (= (up w) c)))
(lemma new-records (here new-vertex edge-is twins rec-of-all) (and (= (rec c w) edge) (> (rec w c) 0)))
(lemma new-depth (size here here-seen new-visit depth-is) (= (depth w) (+ 1 (depth c))))
(lemma new-rank (here new-vertex edge-is here-seen fathers lower rec-is ranked-is) (=> ranked (< (rank c) (rank w))))
(lemma seen-down (size here down new-visit visit-is) (forall ((v Int)) (! (= (seen v (+ k 1)) (or (seen v k) (= v w))) :pattern ((visit v)))))
(lemma more-down (size down new-vertex seen-down one-more) (= (among n (+ k 1)) (+ 1 (among n k))))
(define-fun path-down ((v Int)) Bool (or (path v) (= v w)))
(define-fun taken-down ((v Int)) Int (ite (= v w) 0 (ite (= v c) edge (taken v))))
(kept down ((k (+ k 1)) (path path-down) (taken taken-down))
  (here down root-seen here-seen new-vertex new-visit new-records new-depth seen-down)
  (seen-vertices seen-vertices) (vertices vertices) (root root) (fathers fathers) (heights heights)
  (path-seen path-seen) (path-levels path-seen path-levels)
  (path-up path-to-here path-levels path-seen path-up seen-fathers) (taken-edges taken-edges edge-is seen-fathers no-record-twice)
  (taken-is taken-is) (left-edges left-edges) (children children seen-fathers) (lower lower new-rank) (length length more-down))

(lemma father-of-here (goes-up here root-seen here-seen seen-fathers)
  (and (seen (up c) k) (<= 1 (up c) n) (not (= (up (up c)) c)) (= (depth c) (+ 1 (depth (up c))))))
(lemma seen-up (goes-up size here father-of-here visit-of-all visit-is) (forall ((v Int)) (! (= (seen v (+ k 1)) (seen v k)) :pattern ((visit v)))))
(lemma as-many-up (size seen-up as-many) (= (among n (+ k 1)) (among n k)))
(define-fun path-goes-up ((v Int)) Bool (and (path v) (not (= v c))))
(kept goes-up ((k (+ k 1)) (path path-goes-up))
  (here goes-up root-seen here-seen father-of-here seen-up)
  (seen-vertices seen-vertices) (vertices vertices) (root root) (fathers fathers) (heights heights) (path-to-here path-to-here path-up)
  (path-seen path-seen path-levels path-to-here) (path-levels path-levels) (path-up path-up path-seen seen-fathers)
  (come path-up path-to-here seen-fathers) (taken-edges taken-edges) (taken-is taken-is)
  (left-edges left-edges taken-edges edge-is seen-fathers) (children children seen-fathers) (lower lower) (length length as-many-up))

(suppose goes-on (and says-number (= (number (+ k 1)) says)))
(cases down-or-up goes-on (down goes-up) (step))

; ---- the end
(lemma ends-in-time (size at-most length heights here-seen) (<= k full))
(lemma answers (step) (=> (not says-number) (and says-end (= answers-no (not answers-yes))
  (or (and (= edge 0) (= c 1)) (and (not (= edge 0)) (seen w k))))))

; over: behind a last return to the root
(suppose over (and (= edge 0) (= c 1)))
(lemma over-at-root (over edge-is) (and (= c 1)
  (forall ((j Int)) (! (=> (and (> j (taken c)) (= (own j) c)) (= (other j) (up c))) :pattern ((own j))))))
(lemma yes-if-all (over step size at-most all-of-them length root-depth)
  (= answers-yes (forall ((v Int)) (! (=> (<= 1 v n) (seen v k)) :pattern ((visit v))))))

; closes: an edge leads to a vertex seen before, neither the father nor a child. And it is found too early for YES, below the root.
(suppose closes (and (not (= edge 0)) (seen w k)))
(lemma closing-edge (closes edge-is here root-seen here-seen children rec-of-all ends size seen-fathers)
  (and (record edge) (= (own edge) c) (seen w k) (not (= (up c) w)) (=> (and (not (= w 1)) (= (up w) c)) (< (rec c w) edge))))
(lemma closes-below
  (closing-edge no-record-of-loop rec-of-all root-depth twins ends left-edges path-seen path-levels path-to-here heights) (not (= c 1)))
(lemma no-if-closes (closes closes-below step size at-most length here-seen seen-fathers heights) answers-no)
(answers)
