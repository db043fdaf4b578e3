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
(define-fun second ((j Int)) Bool (= (mod j 3) 1))
(define-fun record ((j Int)) Bool (and (<= 4 j (+ E 1)) (not (= (mod j 3) 0))))
(axiom start (= (number 1) 0))
(axiom numbers (forall ((j Int)) (! (=> (<= 2 j E) (ite (= (mod j 3) 0) (= (number j) 0) (<= 1 (number j) n)))
  :pattern ((number j)))))
(axiom no-loop (forall ((j Int)) (! (=> (and (<= 4 j E) (second j)) (not (= (number j) (number (- j 2))))) :pattern ((number j)))))
(axiom no-edge-twice (forall ((i Int) (j Int)) (! (=> (and (<= 4 i) (< i j) (<= j E) (second i) (second j)) (not (or
    (and (= (number i) (number j)) (= (number (- i 2)) (number (- j 2))))
    (and (= (number i) (number (- j 2))) (= (number (- i 2)) (number j))))))
  :pattern ((number i) (number j)))))

; ---- records
(lemma records (size words numbers own other) (forall ((j Int)) (! (=> (>= j 1) (and
    (= (own j) (ite (record j) (ite (second j) (number j) (number (- j 3))) 0))
    (= (other j) (ite (record j) (ite (second j) (number (- j 2)) (number (- j 1))) 0))))
  :pattern ((own j)) :pattern ((other j)))))
(lemma ends (size numbers no-loop records) (forall ((j Int)) (! (=> (>= j 1) (ite (record j)
    (and (<= 1 (own j) n) (<= 1 (other j) n) (not (= (own j) (other j))))
    (and (= (own j) 0) (= (other j) 0))))
  :pattern ((own j)) :pattern ((other j)))))
(lemma none-at-1 (size ends) (and (= (own 1) 0) (= (other 1) 0)))
(lemma no-record-twice (size numbers no-loop no-edge-twice records) (forall ((i Int) (j Int)) (! (=>
    (and (>= i 1) (>= j 1) (not (= (own i) 0)) (= (own i) (own j)) (= (other i) (other j)))
    (= i j))
  :pattern ((own i) (own j)))))
(define-fun twin ((j Int)) Int (ite (second j) (+ j 1) (- j 1)))
(lemma twins (size numbers records) (forall ((j Int)) (! (=> (and (>= j 1) (not (= (own j) 0)))
    (and (>= (twin j) 1) (= (own (twin j)) (other j)) (= (other (twin j)) (own j))))
  :pattern ((own j)))))

(lemma apart (size ends records twins) (forall ((j Int)) (! (=> (and (>= j 1) (not (= (own j) 0))) (not (= (own (+ j 1)) (own j))))
  :pattern ((own j)))))

; rec: the record of two neighbours, or 0. There is such a function, as there is no record twice.
(declare-fun rec (Int Int) Int)
(axiom rec-is (forall ((v Int) (u Int)) (! (or (= (rec v u) 0)
    (and (>= (rec v u) 1) (= (own (rec v u)) v) (= (other (rec v u)) u)))
  :pattern ((rec v u)))))
(axiom rec-of-all (forall ((j Int)) (! (=> (and (>= j 1) (not (= (own j) 0))) (= (rec (own j) (other j)) j)) :pattern ((own j)))))

; next: the first record of a vertex behind i, or 0. There is such a function, as one of some integers is the least.
(declare-fun next (Int Int) Int)
(axiom next-is (forall ((i Int) (v Int)) (! (=> (>= i 0) (or
    (and (= (next i v) 0) (forall ((h Int)) (! (=> (< i h) (not (= (own h) v))) :pattern ((own h)))))
    (and (< i (next i v)) (= (own (next i v)) v)
      (forall ((h Int)) (! (=> (and (< i h) (< h (next i v))) (not (= (own h) v))) :pattern ((own h)))))))
  :pattern ((next i v)))))

; ---- the run. visit: where a vertex is first said, or 0; some integer is the least. up: the vertex before that, the father.
(declare-fun visit (Int) Int)
(define-fun up ((v Int)) Int (ite (= (visit v) (+ P 1)) (- 1) (number (- (visit v) 1))))
(define-fun seen ((v Int) (k Int)) Bool (and (< P (visit v)) (<= (visit v) k)))
(define-fun back ((k Int)) Int (ite (= k (+ P 1)) (- 1) (number (- k 1))))
(axiom visit-of-all (forall ((j Int)) (! (=> (> j P) (and (< P (visit (number j))) (<= (visit (number j)) j))) :pattern ((number j)))))
(axiom visit-is (forall ((v Int)) (! (or (= (visit v) 0) (and (> (visit v) P) (= (number (visit v)) v))) :pattern ((visit v)))))
; depth: by recursion. There is such a function, as fathers are visited before.
(lemma fathers-before (size visit-of-all) (forall ((v Int)) (! (=> (> (visit v) (+ P 1)) (< P (visit (up v)) (visit v)))
  :pattern ((visit v)))))
(declare-fun depth (Int) Int)
(axiom depth-is (forall ((v Int)) (! (and
    (=> (= (visit v) (+ P 1)) (= (depth v) 0))
    (=> (> (visit v) (+ P 1)) (= (depth v) (+ 1 (depth (up v))))))
  :pattern ((visit v)) :pattern ((depth v)))))

; rank: any function. ranked: no edge joins equals, vertex 1 has no lower neighbour, and no vertex has two
(declare-fun rank (Int) Int)
(declare-const ranked Bool)
(define-fun leads-down ((j Int)) Bool (and (>= j 1) (not (= (own j) 0)) (< (rank (other j)) (rank (own j)))))
(axiom ranked-is (= ranked (and
  (forall ((j Int)) (! (=> (and (>= j 1) (not (= (own j) 0)))
      (and (not (= (rank (own j)) (rank (other j)))) (=> (leads-down j) (not (= (own j) 1)))))
    :pattern ((own j))))
  (forall ((i Int) (j Int)) (! (=> (and (leads-down i) (leads-down j) (= (own i) (own j))) (= (other i) (other j)))
    :pattern ((own i) (own j)))))))

; tracked: path, the vertices from the current one up to the root; taken, the last record of a vertex that the search took;
; count, how many vertices are seen
(declare-fun path (Int) Bool)
(declare-fun taken (Int) Int)
(declare-const count Int)
(invariant behind-prompt (> k P))
(invariant vertices (forall ((j Int)) (! (=> (and (< P j) (<= j k)) (<= 1 (number j) n)) :pattern ((number j)))))
(invariant root (= (number (+ P 1)) 1))
(invariant fathers (forall ((v Int)) (! (=> (and (seen v k) (not (= v 1))) (and (> (rec v (up v)) 0) (> (rec (up v) v) 0)))
  :pattern ((visit v)))))
(invariant heights (forall ((v Int)) (! (=> (seen v k) (>= (depth v) 0)) :pattern ((visit v)))))
(invariant path-to-here (path (number k)))
(invariant path-seen (forall ((v Int)) (! (=> (path v) (and (seen v k) (<= (depth v) (depth (number k))))) :pattern ((path v)))))
(invariant path-levels (forall ((u Int) (v Int)) (! (=> (and (path u) (path v) (= (depth u) (depth v))) (= u v))
  :pattern ((path u) (path v)))))
(invariant path-up (forall ((v Int)) (! (=> (and (path v) (not (= v 1))) (and (path (up v)) (= (taken (up v)) (rec (up v) v))))
  :pattern ((path v)))))
(invariant come (ite (= (back k) (up (number k)))
  (= (taken (number k)) 0)
  (and (= (up (back k)) (number k)) (not (= (back k) 1)) (seen (back k) k) (= (taken (number k)) (rec (number k) (back k))))))
(define-fun of-tree ((j Int) (k Int)) Bool
  (or (= (other j) (up (own j))) (and (seen (other j) k) (not (= (other j) 1)) (= (up (other j)) (own j)))))
(invariant taken-edges (forall ((j Int)) (! (=> (and (>= j 1) (not (= (own j) 0)) (seen (own j) k) (<= j (taken (own j)))) (of-tree j k))
  :pattern ((own j)))))
(invariant taken-is (forall ((v Int)) (! (>= (taken v) 0) :pattern ((taken v)))))
(invariant left-edges (forall ((j Int)) (! (=> (and (>= j 1) (not (= (own j) 0)) (seen (own j) k) (not (path (own j)))) (of-tree j k))
  :pattern ((own j)))))
(invariant children (forall ((v Int)) (! (=> (and (seen v k) (not (= v 1))) (<= (rec (up v) v) (taken (up v)))) :pattern ((visit v)))))
(invariant lower (=> ranked (forall ((v Int)) (! (=> (and (seen v k) (not (= v 1))) (< (rank (up v)) (rank v))) :pattern ((visit v))))))
(invariant length (= (- k P) (- (* 2 count) 1 (depth (number k)))))

; ---- what follows at any vertex c
(define-fun c () Int (number k))
(lemma here (size vertices behind-prompt) (and (> k P) (<= 1 c n)))
(lemma root-seen (root behind-prompt visit-of-all) (and (= (visit 1) (+ P 1)) (seen 1 k)))
(lemma root-depth (root-seen depth-is) (= (depth 1) 0))
(lemma here-seen (path-to-here path-seen) (seen c k))
(lemma seen-fathers (size here vertices root visit-of-all visit-is depth-is) (forall ((v Int)) (! (=> (and (seen v k) (not (= v 1)))
    (and (> (visit v) (+ P 1)) (seen (up v) k) (< (visit (up v)) (visit v)) (<= 1 (up v) n) (= (depth v) (+ 1 (depth (up v))))))
  :pattern ((visit v)))))
(lemma seen-are-vertices (size vertices visit-is) (forall ((v Int)) (! (=> (seen v k) (<= 1 v n)) :pattern ((visit v)))))
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
(starts starts ((path path-starts) (taken taken-starts) (count 1)) (size starts one-seen depth-is ends))

(suppose down (and (not (= edge 0)) (not (seen w k)) (= (number (+ k 1)) w)))
(suppose goes-up (and (= edge 0) (not (= c 1)) (= (number (+ k 1)) (up c))))
(lemma new-vertex (size here root-seen taken-here down edge-is ends)
  (and (<= 1 w n) (not (= w 1)) (not (= c w)) (> edge (taken c) (- 1))))
(lemma new-visit (size here down visit-of-all visit-is new-vertex) (and (= (visit w) (+ k 1)) (= (up w) c)))
(lemma new-records (here new-vertex edge-is twins rec-of-all) (and (= (rec c w) edge) (> (rec w c) 0)))
(lemma new-depth (size here new-visit depth-is) (= (depth w) (+ 1 (depth c))))
(lemma new-rank (here new-vertex edge-is here-seen fathers lower rec-is ranked-is) (=> ranked (< (rank c) (rank w))))
(lemma seen-down (size here down new-visit visit-is) (forall ((v Int)) (! (= (seen v (+ k 1)) (or (seen v k) (= v w))) :pattern ((visit v)))))
(define-fun path-down ((v Int)) Bool (or (path v) (= v w)))
(define-fun taken-down ((v Int)) Int (ite (= v w) 0 (ite (= v c) edge (taken v))))
(kept down ((k (+ k 1)) (path path-down) (taken taken-down) (count (+ count 1)))
  (here down root-seen here-seen new-vertex new-visit new-records new-depth seen-down)
  (vertices vertices) (root root) (fathers fathers) (heights heights) (path-seen path-seen) (path-levels path-seen path-levels)
  (path-up path-to-here path-levels path-seen path-up seen-fathers) (taken-edges taken-edges edge-is seen-fathers no-record-twice)
  (taken-is taken-is) (left-edges left-edges) (children children seen-fathers) (lower lower new-rank) (length length))

(lemma father-of-here (goes-up here root-seen here-seen seen-fathers)
  (and (seen (up c) k) (<= 1 (up c) n) (not (= (up (up c)) c)) (= (depth c) (+ 1 (depth (up c))))))
(lemma seen-up (goes-up size here father-of-here visit-of-all visit-is) (forall ((v Int)) (! (= (seen v (+ k 1)) (seen v k)) :pattern ((visit v)))))
(define-fun path-goes-up ((v Int)) Bool (and (path v) (not (= v c))))
(kept goes-up ((k (+ k 1)) (path path-goes-up))
  (here goes-up root-seen here-seen father-of-here seen-up)
  (vertices vertices) (root root) (fathers fathers) (heights heights) (path-to-here path-to-here path-up)
  (path-seen path-seen path-levels path-to-here) (path-levels path-levels) (path-up path-up path-seen seen-fathers)
  (come path-up path-to-here seen-fathers) (taken-edges taken-edges) (taken-is taken-is)
  (left-edges left-edges taken-edges edge-is seen-fathers) (children children seen-fathers) (lower lower) (length length))

(suppose goes-on (and says-number (= (number (+ k 1)) says)))
(cases down-or-up goes-on (down goes-up) (step))

; ---- the end. counted: count is the number of vertices seen, which are among 1 … n
(suppose counted (and (<= count n) (= (= count n) (forall ((v Int)) (! (=> (<= 1 v n) (seen v k)) :pattern ((visit v)))))))
(lemma ends-in-time (size counted length heights here-seen) (<= k full))
(lemma answers (step) (=> (not says-number) (and says-end (= answers-no (not answers-yes))
  (or (and (= edge 0) (= c 1)) (and (not (= edge 0)) (seen w k))))))

; over: behind a last return to the root. All edges of the vertices seen are of the tree of fathers.
(suppose over (and (= edge 0) (= c 1)))
(lemma all-of-tree (over here root-seen seen-fathers path-to-here path-seen path-levels heights root-depth taken-edges left-edges edge-is ends size)
  (forall ((j Int)) (! (=> (and (>= j 1) (not (= (own j) 0)) (seen (own j) k)) (and (of-tree j k) (seen (other j) k))) :pattern ((own j)))))
(lemma yes-if-all (over step counted length root-depth)
  (= answers-yes (forall ((v Int)) (! (=> (<= 1 v n) (seen v k)) :pattern ((visit v))))))

; closes: an edge leads to a vertex seen before, neither the father nor a child. With ranks, the higher end would have two lower
; neighbours, or be the root. And it is found too early for YES, below the root.
(suppose closes (and (not (= edge 0)) (seen w k)))
(lemma closing-edge (closes edge-is here root-seen here-seen children rec-of-all ends size seen-fathers)
  (and (record edge) (= (own edge) c) (not (= (up c) w)) (=> (not (= w 1)) (not (= (up w) c)))))
(lemma closes-a-cycle (closes closing-edge here-seen ends twins fathers rec-is lower ranked-is) (not ranked))
(lemma closes-below (closes closing-edge root-depth twins ends left-edges path-seen path-levels path-to-here heights) (not (= c 1)))
(lemma no-if-closes (closes closes-below step counted length here-seen seen-fathers heights) answers-no)

; YES is right: a set of vertices that has the root and is closed under edges misses none. Else let v0 be the one visited first.
; And the depths are ranks, so there is no cycle.
(declare-fun closed (Int) Bool)
(declare-const v0 Int)
(suppose misses-one (and (closed 1)
  (forall ((j Int)) (! (=> (and (>= j 1) (not (= (own j) 0)) (closed (own j))) (closed (other j))) :pattern ((own j))))
  (<= 1 v0 n) (not (closed v0))
  (forall ((v Int)) (! (=> (and (<= 1 v n) (not (closed v))) (<= (visit v0) (visit v))) :pattern ((visit v))))))
(suppose yes answers-yes)
(lemma all-seen (over yes yes-if-all) (forall ((v Int)) (! (=> (<= 1 v n) (seen v k)) :pattern ((visit v)))))
(lemma father-of-missed (all-seen misses-one seen-fathers) (and (seen v0 k) (not (= v0 1)) (<= 1 (up v0) n) (closed (up v0))))
(lemma edge-to-missed (father-of-missed fathers rec-is) (and (> (rec (up v0) v0) 0) (= (own (rec (up v0) v0)) (up v0)) (= (other (rec (up v0) v0)) v0)))
(lemma yes-is-right (misses-one father-of-missed edge-to-missed) false)
(suppose by-depth (forall ((v Int)) (! (=> (<= 1 v n) (= (rank v) (depth v))) :pattern ((rank v)))))
(lemma tree-is-ranked (by-depth all-seen all-of-tree ends root-depth seen-fathers heights ranked-is) ranked)

; NO at the end is right: the vertices seen are a set that has the root, is closed under edges, and misses one
(suppose no answers-no)
(lemma no-is-right (over no yes-if-all all-of-tree root-seen) (and (seen 1 k)
  (forall ((j Int)) (! (=> (and (>= j 1) (not (= (own j) 0)) (seen (own j) k)) (seen (other j) k)) :pattern ((own j))))
  (not (forall ((v Int)) (! (=> (<= 1 v n) (seen v k)) :pattern ((visit v)))))))
