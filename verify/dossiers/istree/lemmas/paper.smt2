; The paper's layout: <s> a ~ b c ~ d …, and vertices behind it if there are n − 1 edges.
(declare-const edges Int)
(define-fun E () Int (+ (* 3 edges) 1))
(define-fun P () Int E)
(axiom size (and (>= n 1) (>= edges 0)))
(axiom prompt (= edges (- n 1)))
(axiom words (forall ((j Int)) (! (= (|is ~| j) (and (<= 3 j E) (= (mod j 3) 0))) :pattern ((|is ~| j)))))
(lemma thoughts (size prompt) (forall ((j Int)) (! (= (current j) (ite (> j P) (number j) 0)) :pattern ((number j)))))
