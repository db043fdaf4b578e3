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
; from(i): the record behind which the head looks for the next one is i, or the head looks for the first one and i is 0
(define-fun from ((i Int) (u Int) (k Int)) Bool
  (or (and (= i 0) (= u 0)) (and (>= i 1) (= (own i) (number k)) (= (other i) u))))
(lemma edge-found (size thoughts ends no-record-twice record-before next-is edge-at) (forall ((k Int) (i Int)) (! (=>
    (and (> k P) (>= (number k) 1) (from i (come-from k) k) (not (= (edge-at k) 1)))
    (and (> (edge-at k) 1) (= (edge-at k) (next i (number k)))))
  :pattern ((edge-at k) (next i (number k))))))
(lemma edge-not-found (size thoughts ends behind-next next-is edge-at-all) (forall ((k Int) (i Int)) (! (=>
    (and (> k P) (>= (number k) 1) (from i (come-from k) k) (= (edge-at k) 1))
    (= (next i (number k)) 0))
  :pattern ((edge-at k) (next i (number k))))))
(lemma edge2-found (size thoughts ends no-record-twice record-before next-is edge2-at) (forall ((k Int) (i Int)) (! (=>
    (and (> k P) (>= (number k) 1) (from i (father k) k) (not (= (edge2-at k) 1)))
    (and (> (edge2-at k) 1) (= (edge2-at k) (next i (number k)))))
  :pattern ((edge2-at k) (next i (number k))))))
(lemma edge2-not-found (size thoughts ends behind-next next-is edge2-at-all) (forall ((k Int) (i Int)) (! (=>
    (and (> k P) (>= (number k) 1) (from i (father k) k) (= (edge2-at k) 1))
    (= (next i (number k)) 0))
  :pattern ((edge2-at k) (next i (number k))))))
