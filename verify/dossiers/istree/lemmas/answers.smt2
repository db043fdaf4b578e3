; What an answer means. The walk is over at the root, where no record is left but to fathers (`over-at-root`), and says YES if and only if
; all vertices are seen (`yes-if-all`); or the next edge leads to a vertex seen before, not the father (`closing-edge`).

; all edges of the vertices seen are of the tree of fathers
(lemma all-of-tree
  (size ends over-at-root here-seen root-seen root-depth seen-fathers heights path-to-here path-seen path-levels taken-edges left-edges)
  (forall ((j Int)) (! (=> (and (>= j 1) (not (= (own j) 0)) (seen (own j) k)) (and (of-tree j k) (seen (other j) k))) :pattern ((own j)))))

; With ranks, the higher end of the closing edge would have two edges to lower ones, or be the root.
(lemma closes-a-cycle (closing-edge here-seen ends twins fathers rec-is lower ranked-is) (not ranked))

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
(lemma edge-to-missed (father-of-missed fathers rec-is)
  (and (> (rec (up v0) v0) 0) (= (own (rec (up v0) v0)) (up v0)) (= (other (rec (up v0) v0)) v0)))
(lemma yes-is-right (misses-one father-of-missed edge-to-missed) false)
(suppose by-depth (forall ((v Int)) (! (=> (<= 1 v n) (= (rank v) (depth v))) :pattern ((rank v)))))
(lemma depths (all-seen all-of-tree ends root-seen root-depth seen-fathers heights) (forall ((j Int)) (! (=> (and (>= j 1) (not (= (own j) 0)))
    (ite (= (other j) (up (own j)))
      (and (not (= (own j) 1)) (= (depth (own j)) (+ 1 (depth (other j)))))
      (and (= (depth (other j)) (+ 1 (depth (own j)))) (= j (rec (own j) (other j))))))
  :pattern ((own j)))))
(lemma one-to-the-father (depths twins ends) (forall ((i Int) (j Int)) (! (=>
    (and (>= i 1) (>= j 1) (not (= (own i) 0)) (= (own i) (own j)) (= (other i) (other j) (up (own i))))
    (= i j))
  :pattern ((own i) (own j)))))
(lemma tree-is-ranked (by-depth depths one-to-the-father ends ranked-is) ranked)

; NO at the end is right: the vertices seen are a set that has the root, is closed under edges, and misses one
(suppose no answers-no)
(lemma no-is-right (over no yes-if-all all-of-tree root-seen) (and (seen 1 k)
  (forall ((j Int)) (! (=> (and (>= j 1) (not (= (own j) 0)) (seen (own j) k)) (seen (other j) k)) :pattern ((own j))))
  (not (forall ((v Int)) (! (=> (<= 1 v n) (seen v k)) :pattern ((visit v)))))))

; All that is concluded of the answer, where ranks or a set are any.
(concludes closes-a-cycle (closes))
(concludes yes-is-right (over yes misses-one))
(concludes tree-is-ranked (over yes by-depth))
(concludes no-is-right (over no))
