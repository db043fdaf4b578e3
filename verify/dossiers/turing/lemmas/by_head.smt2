; The hybrid: a record stands at each symbol of the word and at the direction of each step, and a head reads the last one of a cell.
(lemma before-steps (size prompt) (forall ((j Int)) (! (=> (<= 2 j P) (= (kind j) 2)) :pattern ((kind j)))))
(define-fun last-starts ((c Int)) Int (ite (and (<= 0 c) (< c L)) (+ c 2) 1))
(lemma word-records (size prompt place left numbers) (and (= (left 1) 0) (forall ((j Int)) (! (=> (<= 2 j P)
    (and (= (place j) (number-of (- j 2))) (= (left j) (|number symbol| j))))
  :pattern ((place j)) :pattern ((left j))))))

(define-fun record-there () Int (+ k 5))
(lemma no-arrows (goes-on steps size head-there pointer rights-next lefts-next)
  (and (= (pointer (+ k 1)) head) (= (pointer (+ k 2)) head) (= (pointer (+ k 3)) head) (= (pointer (+ k 4)) head)))
(lemma no-records (goes-on steps size place) (and
  (= (place (+ k 1)) 0) (= (place (+ k 2)) 0) (= (place (+ k 3)) 0) (= (place (+ k 4)) 0)))
(lemma record-here (goes-on steps size place left)
  (and (= (place record-there) (number-of (|number cell| (+ first 2)))) (= (left record-there) (|number symbol| (+ first 1)))))
(lemma blank (prompt left) (= (left 1) 0))
(lemma found (goes-on steps size near no-arrows no-records records no-later-record read-at read-at-all) (and
  (= (read-at (+ k 1)) (last head)) (= (read-at (+ k 3)) (last head)) (= (read-at (+ k 4)) (last head))))
(lemma symbol-read (found blank records near steps) (and (= (left (last head)) read)
  (= (left (read-at (+ k 1))) read) (= (left (read-at (+ k 3))) read) (= (left (read-at (+ k 4))) read)))
