; The prompt: its numbers, and the records of its edges, loops and repetitions among them. E is the position of the last endpoint.
(define-fun second ((j Int)) Bool (= (mod j 3) 1))
(define-fun record ((j Int)) Bool (and (<= 4 j (+ E 1)) (not (= (mod j 3) 0))))
(axiom numbers (forall ((j Int)) (! (=> (<= 2 j E) (ite (= (mod j 3) 0) (= (number j) 0) (<= 1 (number j) n)))
  :pattern ((number j)))))
(lemma records (size words numbers own other) (forall ((j Int)) (! (=> (>= j 1) (and
    (= (own j) (ite (record j) (ite (second j) (number j) (number (- j 3))) 0))
    (= (other j) (ite (record j) (ite (second j) (number (- j 2)) (number (- j 1))) 0))))
  :pattern ((own j)) :pattern ((other j)))))
(lemma ends (size numbers records) (forall ((j Int)) (! (=> (>= j 1) (ite (record j)
    (and (<= 1 (own j) n) (<= 1 (other j) n))
    (and (= (own j) 0) (= (other j) 0))))
  :pattern ((own j)) :pattern ((other j)))))
(define-fun twin ((j Int)) Int (ite (second j) (+ j 1) (- j 1)))
(lemma twins (size numbers records) (forall ((j Int)) (! (=> (and (>= j 1) (not (= (own j) 0)))
    (and (>= (twin j) 1) (= (own (twin j)) (other j)) (= (other (twin j)) (own j))))
  :pattern ((own j)))))

; rec: the first record of v that leads to u, or 0. There is such a function, as one of some integers is the least.
(declare-fun rec (Int Int) Int)
(axiom rec-is (forall ((v Int) (u Int)) (! (or (= (rec v u) 0)
    (and (>= (rec v u) 1) (= (own (rec v u)) v) (= (other (rec v u)) u)))
  :pattern ((rec v u)))))
(axiom rec-first (forall ((j Int)) (! (=> (and (>= j 1) (not (= (own j) 0))) (<= 1 (rec (own j) (other j)) j))
  :pattern ((rec (own j) (other j))))))

; rank: any function. ranked: no edge joins equals, vertex 1 has no lower neighbour, and no vertex has two edges to lower ones
(declare-fun rank (Int) Int)
(declare-const ranked Bool)
(define-fun leads-down ((j Int)) Bool (and (>= j 1) (not (= (own j) 0)) (< (rank (other j)) (rank (own j)))))
(axiom ranked-is (= ranked (and
  (forall ((j Int)) (! (=> (and (>= j 1) (not (= (own j) 0)))
      (and (not (= (rank (own j)) (rank (other j)))) (=> (leads-down j) (not (= (own j) 1)))))
    :pattern ((own j))))
  (forall ((i Int) (j Int)) (! (=> (and (leads-down i) (leads-down j) (= (own i) (own j))) (= i j))
    :pattern ((own i) (own j)))))))
