; The step of the repaired model: the edge behind another one is told by the edges' orders, how many edges of a vertex come up to it.

; ---- orders: the records of a vertex have 2, 3, …, one behind the other. place: where the token is that a record is of.
(define-fun place ((j Int)) Int (ite (second j) j (- j 3)))
(lemma order-is (size words start numbers records order) (forall ((j Int)) (! (=> (>= j 1)
    (= (order j) (ite (record j) (+ 1 (tally (own j) (place j))) 0)))
  :pattern ((order j)))))
(induction tally-grows (j 1) (v a) (=> (<= 1 a j) (<= (tally v a) (tally v j))) ((tally v a) (tally v j)) (tally-1 tally-next))
(lemma tally-natural (tally-1 tally-grows) (forall ((v Int) (j Int)) (! (=> (>= j 1) (and (= (tally v 1) 0) (>= (tally v j) 0)))
  :pattern ((tally v j)))))
(induction tally-stays (j 1) (v a) (=>
    (and (<= 1 a j) (forall ((h Int)) (! (=> (and (< a h) (<= h j)) (not (= (number h) v))) :pattern ((number h)))))
    (= (tally v j) (tally v a)))
  ((tally v a) (tally v j)) (tally-1 tally-next))
(lemma places (size numbers records) (forall ((j Int)) (! (=> (and (>= j 1) (not (= (own j) 0)))
    (and (<= 2 (place j) E) (= (number (place j)) (own j))))
  :pattern ((own j)))))
(lemma place-rises (size ends numbers records no-loop) (forall ((i Int) (j Int)) (! (=>
    (and (>= i 1) (not (= (own i) 0)) (= (own i) (own j)) (< i j))
    (< (place i) (place j)))
  :pattern ((own i) (own j)))))
(define-fun record-of ((p Int)) Int (ite (second p) p (+ p 3)))
(lemma occurrences (size start numbers records) (forall ((p Int)) (! (=> (and (<= 2 p E) (not (= (number p) 0)))
    (and (>= (record-of p) 1) (= (own (record-of p)) (number p)) (= (place (record-of p)) p)))
  :pattern ((number p)))))
(lemma tally-at (size tally-next places) (forall ((j Int)) (! (=> (and (>= j 1) (not (= (own j) 0)))
    (= (tally (own j) (place j)) (+ 1 (tally (own j) (- (place j) 1)))))
  :pattern ((own j)))))
(lemma order-rises (order-is ends places place-rises tally-at tally-natural tally-grows) (forall ((i Int) (j Int)) (! (=>
    (and (>= i 1) (not (= (own i) 0)) (= (own i) (own j)) (< i j))
    (< 1 (order i) (order j)))
  :pattern ((own i) (own j)))))
(lemma none-between (size ends places place-rises occurrences next-is) (forall ((i Int) (v Int) (h Int)) (! (=>
    (and (>= i 0) (or (= i 0) (= (own i) v)) (>= v 1) (not (= (next i v) 0))
      (< (ite (= i 0) 1 (place i)) h) (< h (place (next i v))))
    (not (= (number h) v)))
  :pattern ((next i v) (number h)))))
(lemma tally-between (size ends places next-is none-between tally-stays tally-1 place-rises) (forall ((i Int) (v Int)) (! (=>
    (and (>= i 0) (or (= i 0) (= (own i) v)) (>= v 1) (not (= (next i v) 0)))
    (= (tally v (- (place (next i v)) 1)) (tally v (ite (= i 0) 1 (place i)))))
  :pattern ((next i v)))))
(lemma order-next (size order-is ends places tally-1 tally-at tally-between next-is) (forall ((i Int) (v Int)) (! (=>
    (and (>= i 0) (or (= i 0) (= (own i) v)) (>= v 1) (not (= (next i v) 0)))
    (= (order (next i v)) (ite (= i 0) 2 (+ 1 (order i)))))
  :pattern ((next i v)))))

; prev: the last record of the same vertex before j, or 0. There is such a function, as one of some integers is the largest.
(declare-fun prev (Int) Int)
(axiom prev-is (forall ((j Int)) (! (=> (>= j 1) (and (<= 0 (prev j)) (< (prev j) j)
    (=> (>= (prev j) 1) (= (own (prev j)) (own j)))
    (forall ((h Int)) (! (=> (and (< (prev j) h) (< h j)) (not (= (own h) (own j)))) :pattern ((own h))))))
  :pattern ((prev j)))))
(lemma next-of-prev (size ends prev-is next-is) (forall ((j Int)) (! (=> (and (>= j 1) (not (= (own j) 0)))
    (= (next (prev j) (own j)) j))
  :pattern ((prev j)))))
; So up to any position, the records of a vertex have the orders 2, 3, …, d + 1, each once; d ≤ n − 1, as their other ends differ.
(lemma orders (size ends order-next next-of-prev prev-is) (forall ((j Int)) (! (=> (and (>= j 1) (not (= (own j) 0)))
    (= (order j) (ite (= (prev j) 0) 2 (+ 1 (order (prev j))))))
  :pattern ((prev j)))))
(lemma others-differ (size ends no-record-of-loop no-record-twice) (forall ((i Int) (j Int)) (! (=>
    (and (>= i 1) (>= j 1) (not (= i j)) (not (= (own i) 0)) (= (own i) (own j)))
    (and (not (= (other i) (other j))) (<= 1 (other j) n) (not (= (other j) (own j)))))
  :pattern ((own i) (own j)))))

; ---- what the heads find
(lemma previous-is (size words thoughts) (forall ((j Int)) (=> (> j P) (= (previous j) (ite (= j (+ P 1)) 0 (number (- j 1)))))))
(lemma visit-here (here-seen root-seen seen-fathers) (and (seen c k) (= (= c 1) (= (visit c) (+ P 1)))))
(lemma father-is (size words thoughts visit-here first-visit)
  (= (father k) (ite (= c 1) 0 (up c))))
(lemma came-down (size prompt here vertices root root-seen taken-here father-is previous-is) (and
  (= (= (previous k) (father k)) (= (taken c) 0))
  (=> (not (= (taken c) 0)) (and (= (previous k) (back k)) (>= (taken c) 1) (= (own (taken c)) c) (= (other (taken c)) (back k))))))
(lemma walked-found (size here came-down walked-at walked-at-all ends no-record-twice) (=> (not (= (taken c) 0)) (= (walked-at k) (taken c))))
(lemma walked-is (walked came-down walked-found) (= (walked k) (ite (= (taken c) 0) 1 (order (taken c)))))
(lemma first-found (size thoughts here ends came-down walked-is next-is order-is order-next order-rises first-at first-at-all first-at-next first-at-largest) (and
  (=> (not (= behind 0)) (= (first-at k) behind))
  (=> (= behind 0) (<= (order (first-at k)) (walked k)))))
(lemma second-found (size thoughts here ends came-down first-found next-is order-is order-next order-rises second-at second-at-all second-at-next second-at-largest)
  (=> (not (= behind 0)) (and
    (=> (not (= (next behind c) 0)) (= (second-at k) (next behind c)))
    (=> (= (next behind c) 0) (<= (order (second-at k)) (order behind))))))
(lemma mark (size thoughts here visit-of-all visit-is mark-at mark-at-all)
  (=> (>= (other (first-at k)) 1) (= (not (= (mark-at k) 1)) (seen (other (first-at k)) k))))
(lemma mark2 (size thoughts here visit-of-all visit-is mark2-at mark2-at-all)
  (=> (>= (other (second-at k)) 1) (= (not (= (mark2-at k) 1)) (seen (other (second-at k)) k))))
(lemma orders-here (size here came-down walked-is order-is order-next next-is tally-natural ends places) (and
  (> (walked k) 0)
  (=> (not (= behind 0)) (and (= (order behind) (+ 1 (walked k))) (>= (other behind) 1)))
  (=> (and (not (= behind 0)) (not (= (next behind c) 0)))
    (and (= (order (next behind c)) (+ 1 (order behind))) (>= (other (next behind c)) 1)))))
(lemma step (size prompt thoughts here root-seen father-is orders-here first-found second-found mark mark2 father-here) says-right)
