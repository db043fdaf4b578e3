; The layout eos: [BOS] a - b c - d … [EOS] of any number of edges, and vertices behind it up to the next [EOS].
(declare-const edges Int)
(define-fun E () Int (+ (* 3 edges) 1))
(define-fun P () Int (+ E 1))
(axiom size (and (>= n 1) (>= edges 0)))
(axiom prompt (|is [EOS]| P))
(axiom words (forall ((j Int)) (! (and
    (= (|is -| j) (and (<= 3 j E) (= (mod j 3) 0)))
    (=> (<= 1 j E) (not (|is [EOS]| j)))
    (=> (|is [EOS]| j) (= (number j) 0)))
  :pattern ((|is -| j)) :pattern ((|is [EOS]| j)))))
(lemma thoughts (size prompt words end-at end-at-all) (forall ((j Int)) (! (=> (>= j 1) (and
    (= (end-at j) (ite (>= j P) P 1))
    (= (current j) (ite (> j P) (number j) 0))))
  :pattern ((number j)) :pattern ((end-at j)))))
