; The edge behind another one is told by the edge before it: what the step's heads find.
(lemma shifted (own other own-before other-before) (forall ((j Int)) (! (=> (>= j 1) (and
    (= (own-before (+ j 1)) (own j)) (= (other-before (+ j 1)) (other j))))
  :pattern ((own j)) :pattern ((other j)))))
(lemma shifted-back (shifted) (forall ((j Int)) (! (=> (>= j 2) (and
    (= (own-before j) (own (- j 1))) (= (other-before j) (other (- j 1)))))
  :pattern ((own-before j)) :pattern ((other-before j)))))
(lemma nothing-before-1 (other-before) (= (other-before 1) 0))
(lemma record-before (record-before-at record-before-at-all shifted shifted-back nothing-before-1) (forall ((j Int)) (! (=> (>= j 1)
    (let ((i (- (record-before-at j) 1))) (or
      (and (= (other-before (record-before-at j)) 0)
        (forall ((h Int)) (! (=> (and (<= 1 h) (< h j)) (not (= (own h) (own j)))) :pattern ((own h)))))
      (and (<= 1 i) (< i j) (= (own i) (own j)) (= (other-before (record-before-at j)) (other i))
        (forall ((h Int)) (! (=> (and (< i h) (< h j)) (not (= (own h) (own j)))) :pattern ((own h))))))))
  :pattern ((record-before-at j)))))
(lemma behind-next (size ends record-before next-is) (forall ((i Int) (v Int)) (! (=>
    (and (>= i 0) (>= v 1) (or (= i 0) (= (own i) v)) (not (= (next i v) 0)))
    (= (other-before (record-before-at (next i v))) (ite (= i 0) 0 (other i))))
  :pattern ((next i v)))))
; The head looks for the edge of `current` behind the one that leads to `beyond`, or for the first one if that is 0; edge2-at for another
; one, behind beyond2. from(i): that edge's record of v is i, or i is 0.
(define-fun from ((i Int) (u Int) (v Int)) Bool
  (or (and (= i 0) (= u 0)) (and (>= i 1) (= (own i) v) (= (other i) u))))
(lemma edge-found (size ends no-record-twice record-before next-is edge-at) (forall ((k Int) (i Int) (v Int)) (! (=>
    (and (> k P) (>= v 1) (= (current k) v) (from i (beyond k) v) (not (= (edge-at k) 1)))
    (and (> (edge-at k) 1) (= (edge-at k) (next i v))))
  :pattern ((edge-at k) (next i v)))))
(lemma edge-not-found (size ends behind-next next-is edge-at-all) (forall ((k Int) (i Int) (v Int)) (! (=>
    (and (> k P) (>= v 1) (= (current k) v) (from i (beyond k) v) (= (edge-at k) 1))
    (= (next i v) 0))
  :pattern ((edge-at k) (next i v)))))
(lemma edge2-found (size ends no-record-twice record-before next-is edge2-at) (forall ((k Int) (i Int) (v Int)) (! (=>
    (and (> k P) (>= v 1) (= (current k) v) (from i (beyond2 k) v) (not (= (edge2-at k) 1)))
    (and (> (edge2-at k) 1) (= (edge2-at k) (next i v))))
  :pattern ((edge2-at k) (next i v)))))
(lemma edge2-not-found (size ends behind-next next-is edge2-at-all) (forall ((k Int) (i Int) (v Int)) (! (=>
    (and (> k P) (>= v 1) (= (current k) v) (from i (beyond2 k) v) (= (edge2-at k) 1))
    (= (next i v) 0))
  :pattern ((edge2-at k) (next i v)))))
