; Lemmas on Algorithm 1's search. What they say all together, and what is argued beside them, stands in search.py.
;   (axiom NAME formula)          what the text is, or what a function is that exists
;   (suppose NAME formula)        a case, or what a proof by contradiction starts from
;   (lemma NAME (FACT …) formula) follows from these facts
;   (induction NAME (j FROM) (VARIABLE …) formula (pattern) (FACT …))  for all integers from FROM on, and all others
;   (invariant NAME formula)      holds at every vertex of a run: may be supposed, and is shown by the next three
;   (starts CASE ((symbol new) …) (FACT …) (INVARIANT FACT …) …)  each invariant with new symbols in place, at the start
;   (kept CASE ((symbol new) …) (FACT …) (INVARIANT FACT …) …)    the same behind a step, from the invariants before it
;   (also CASE INVARIANT FACT …)                                  what shows an invariant of a part of the text, beside what all use
;   (tracked CASE (symbol new) …)                                 new symbols of a part of the text, beside those of all
;   (cases NAME GOES-ON (CASE …) (FACT …))                        one of the cases is met, by these facts
;   (concludes LEMMA (CASE …))    it rests on nothing but invariants, which an induction shows, and on these cases
;   (define NAME SORT value)      as a macro without parameters, but opaque: what rests on the value uses NAME-is

; ---- the text, and the definition's terms: of any text and at any position, own, other, father-at … are functions with axioms of the same
; names. E is the position of the last endpoint, 1 if there is none; P + 1 that of the root, where the walk begins; k that of a vertex
(declare-const n Int)
(text)
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
(walk)
(invariant come (ite (= (back k) (up (vertex k)))
  (= (taken (vertex k)) 0)
  (and (= (up (back k)) (vertex k)) (not (= (back k) 1)) (seen (back k) k) (= (taken (vertex k)) (rec (vertex k) (back k))))))

; ---- what follows at any vertex c
(lemma here (here-seen behind-prompt) (and (> k P) (<= 1 c n)))
(lemma father-here (size here root-seen here-seen seen-fathers) (and (not (= (up c) 0)) (not (= (up c) c))))
(lemma taken-here (size here come fathers rec-is taken-is ends) (ite (= (back k) (up c))
  (= (taken c) 0)
  (and (>= (taken c) 1) (= (own (taken c)) c) (= (other (taken c)) (back k)))))

; ---- the step: along the next edge that does not lead to the father, or up
(define-fun behind () Int (next (taken c) c))
(define-fun passes () Bool (and (not (= behind 0)) (= (other behind) (up c))))
(define-fun edge () Int (ite passes (next behind c) behind))
(define-fun w () Int (other edge))
(lemma edge-is (size here next-is taken-here ends no-record-twice) (and
  (=> (not (= edge 0)) (and (> edge (taken c)) (record edge) (= (own edge) c) (not (= w (up c)))))
  (forall ((j Int)) (! (=> (and (> j (taken c)) (= (own j) c) (or (= edge 0) (< j edge))) (= (other j) (up c))) :pattern ((own j))))))

; ---- how it goes on, if what is said behind k leads to another vertex, at `end`: to a new one, or up to the father; or it is answered
(suppose goes-on onward)
(suppose down (and onward (not (= edge 0)) (not (seen w k))))
(suppose goes-up (and onward (= edge 0) (not (= c 1))))

; over: behind a last return to the root
(suppose over (and answered (= edge 0) (= c 1)))
(lemma over-at-root (over edge-is) (and (= c 1)
  (forall ((j Int)) (! (=> (and (> j (taken c)) (= (own j) c)) (= (other j) (up c))) :pattern ((own j))))))

; closes: an edge leads to a vertex seen before, neither the father nor a child. And c is below the root.
(suppose closes (and answered (not (= edge 0)) (seen w k)))
(lemma closing-edge (closes edge-is here root-seen here-seen children rec-of-all ends size seen-fathers)
  (and (record edge) (= (own edge) c) (seen w k) (not (= (up c) w)) (=> (and (not (= w 1)) (= (up w) c)) (< (rec c w) edge))))
(lemma closes-below
  (closing-edge no-record-of-loop rec-of-all root-depth twins ends left-edges path-seen path-levels path-to-here heights) (not (= c 1)))

; ---- that one of these holds, by what is said behind k (`step`), where the walk comes then, and what is tracked of the text besides
(step)

; ---- the start, down and up: what changes up to the next vertex
(define-fun path-starts ((v Int)) Bool (= v 1))
(define-fun taken-starts ((v Int)) Int 0)
(lemma one-seen (size starts comes-first visit-of-all visit-is) (and (= (visit 1) (+ P 1))
  (forall ((v Int)) (! (= (seen v k) (= v 1)) :pattern ((visit v))))))

(lemma new-vertex (size here here-seen root-seen taken-here down edge-is ends)
  (and (<= 1 w n) (not (= w 1)) (not (= c w)) (> edge (taken c) (- 1))))
(lemma new-visit (size here down comes-down visit-of-all visit-is new-vertex) (and (= (visit w) end) (= (up w) c)))
(lemma new-records (here new-vertex edge-is twins rec-of-all) (and (= (rec c w) edge) (> (rec w c) 0)))
(lemma new-depth (size here here-seen comes-down new-visit depth-is) (= (depth w) (+ 1 (depth c))))
(lemma new-rank (here new-vertex edge-is here-seen fathers lower rec-is ranked-is) (=> ranked (< (rank c) (rank w))))
(lemma seen-down (size here down comes-down new-visit visit-of-all visit-is)
  (forall ((v Int)) (! (= (seen v end) (or (seen v k) (= v w))) :pattern ((visit v)))))
(lemma more-down (size down comes-down new-vertex seen-down one-more) (= (among n end) (+ 1 (among n k))))
(define-fun path-down ((v Int)) Bool (or (path v) (= v w)))
(define-fun taken-down ((v Int)) Int (ite (= v w) 0 (ite (= v c) edge (taken v))))

(lemma father-of-here (goes-up here root-seen here-seen seen-fathers)
  (and (seen (up c) k) (<= 1 (up c) n) (not (= (up (up c)) c)) (= (depth c) (+ 1 (depth (up c))))))
(lemma seen-up (comes-up size here father-of-here visit-of-all visit-is)
  (forall ((v Int)) (! (= (seen v end) (seen v k)) :pattern ((visit v)))))
(lemma as-many-up (size seen-up as-many) (= (among n end) (among n k)))
(define-fun path-goes-up ((v Int)) Bool (and (path v) (not (= v c))))
(length)

; ---- the induction: at the start, and in both cases in which the run goes on
(starts starts ((path path-starts) (taken taken-starts)) (size starts comes-first one-seen depth-is ends))
(kept down ((k end) (path path-down) (taken taken-down))
  (here down comes-down root-seen here-seen new-vertex new-visit new-records new-depth seen-down)
  (seen-vertices seen-vertices) (root root) (fathers fathers) (heights heights)
  (path-seen path-seen) (path-levels path-seen path-levels)
  (path-up path-to-here path-levels path-seen path-up seen-fathers) (taken-edges taken-edges edge-is seen-fathers no-record-twice)
  (taken-is taken-is) (left-edges left-edges) (children children seen-fathers) (lower lower new-rank))
(kept goes-up ((k end) (path path-goes-up))
  (here goes-up comes-up root-seen here-seen father-of-here seen-up)
  (seen-vertices seen-vertices) (root root) (fathers fathers) (heights heights) (path-to-here path-to-here path-up)
  (path-seen path-seen path-levels path-to-here) (path-levels path-levels) (path-up path-up path-seen seen-fathers)
  (come path-up path-to-here seen-fathers) (taken-edges taken-edges) (taken-is taken-is)
  (left-edges left-edges taken-edges edge-is seen-fathers) (children children seen-fathers) (lower lower))
(cases down-or-up goes-on (down goes-up) (step))

; ---- the end
(answers)
(concludes answers ())
(concludes no-if-closes (closes))
