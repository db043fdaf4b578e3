; The paper's layout: <s> a ~ b c ~ d … of n − 1 edges, and vertices behind it.
(define-fun E () Int (- (* 3 n) 2))
(define-fun P () Int E)
(axiom size (>= n 1))
(axiom words (forall ((j Int)) (! (= (|is ~| j) (and (<= 3 j E) (= (mod j 3) 0))) :pattern ((|is ~| j)))))
(lemma thoughts (size) (forall ((j Int)) (! (= (current j) (ite (> j P) (number j) 0)) :pattern ((number j)))))
