; How many vertices Algorithm 1 says, and what it answers then.
(invariant length (= (- k P) (- (* 2 (among n k)) 1 (depth (number k)))))
(also starts length one-alone)
(also down length length more-down)
(also goes-up length length as-many-up)

; the end
(lemma ends-in-time (size at-most length heights here-seen) (<= k full))
(lemma answers (step) (=> answered (and says-end (= answers-no (not answers-yes))
  (or (and (= edge 0) (= c 1)) (and (not (= edge 0)) (seen w k))))))
(lemma yes-if-all (over step size at-most all-of-them length root-depth)
  (= answers-yes (forall ((v Int)) (! (=> (<= 1 v n) (seen v k)) :pattern ((visit v))))))
(lemma no-if-closes (closes closes-below step size at-most length here-seen seen-fathers heights) answers-no)
