; The step of Algorithm 1 says what it should, by what its heads find.
(invariant vertices (forall ((j Int)) (! (=> (and (< P j) (<= j k)) (<= 1 (number j) n)) :pattern ((number j)))))
(lemma first-visit (size here thoughts visit-of-all visit-is father-at father-at-all) (= (father-at k) (visit c)))

; `step`, in neighbours.smt2 or counts.smt2: where the search ends, the answer is NO before 2n − 1 vertices were said, and at that many YES
; if it is over
(define-fun full () Int (+ P (* 2 n) (- 1)))
(define-fun ends-right () Bool (and says-end (= answers-no (not answers-yes))
  (=> (< k full) answers-no)
  (=> (and (= k full) (= edge 0)) answers-yes)))
(define-fun says-right () Bool (ite (= edge 0)
  (ite (= c 1) ends-right (and says-number (= says (up c))))
  (ite (seen w k) ends-right (and says-number (= says w)))))
(heads)

; how it goes on
(lemma first-word (prompt) (and (begins-number P) (= (begins P) 1)))
(suppose starts (and (= k (+ P 1)) (= (number k) 1)))
(lemma comes-first (starts) (and (= k (+ P 1)) (= (arrival k) (vertex k) 1)))
(lemma comes-down (size here step down) (and (> end k) (= (vertex end) (arrival end) w) (= (back end) (origin end) c)
  (forall ((j Int)) (! (=> (< k j end) (= (arrival j) 0)) :pattern ((arrival j))))))
(lemma comes-up (size here step goes-up) (and (> end k) (= (vertex end) (up c)) (= (back end) c)
  (forall ((j Int)) (! (=> (and (< k j) (<= j end)) (or (= (arrival j) 0) (= (arrival j) (up c)))) :pattern ((arrival j))))))
(also down vertices vertices)
(also goes-up vertices vertices)
