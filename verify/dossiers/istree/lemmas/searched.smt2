; A turn of Algorithm 2 is a step of the walk, by what its searches find.

; ---- where the walk comes to a vertex: at the end of a record
(lemma comings (size words kinds numbers came_to) (forall ((j Int)) (! (=> (>= j 1)
    (= (came_to j) (ite (and (> j (+ E 1)) (|is -| (- j 1))) (number j) 0)))
  :pattern ((came_to j)))))
(lemma none-early (size kinds comings root) (forall ((j Int)) (! (=> (and (<= 1 j) (<= j P)) (= (came_to j) 0)) :pattern ((came_to j)))))
(invariant head (and (|is a vertex| k)
  (= (|is -| (- k 1)) (= (back k) (up (vertex k)))) (= (|is ^| (- k 1)) (not (= (back k) (up (vertex k)))))))
(invariant root-record (= (number (- P 1)) 1))
(invariant as-many-records (= (records-to 1 k) (among n k)))

; ---- what searches find behind k, where the last word but one of each is the vertex that it is about, `current`
; silent: between k and j there is no mark of a record. f: the father as he is recorded, the root's is the root
(define-fun silent ((j Int)) Bool (forall ((h Int)) (! (=> (and (< k h) (< h j)) (not (|is -| h))) :pattern ((kind h)))))
(define-fun f () Int (ite (= c 1) 1 (up c)))
(lemma first-record (size none-early visit-of-all visit-is here-seen father-at father-at-all) (forall ((j Int)) (! (=>
    (and (>= j k) (>= (current j) 1))
    (ite (seen (current j) k) (= (father-at j) (visit (current j))) (or (= (father-at j) 1) (< k (visit (current j)) (+ j 1)))))
  :pattern ((father-at j)))))
(lemma finds-father (size here here-seen root-seen root-record seen-fathers first-record) (forall ((j Int)) (! (=>
    (and (>= j k) (= (current j) c))
    (= (recorded j) f))
  :pattern ((father-at j)))))
(lemma finds-record (size here head comings root-seen root-record seen-fathers first-record visit-is) (forall ((j Int)) (! (=>
    (and (>= j k) (silent (+ j 1)) (>= (current j) 1))
    (ite (seen (current j) k) (<= 1 (recorded j) n) (= (recorded j) 0)))
  :pattern ((father-at j)))))
(edges)
(lemma finds-first (size here none-at-1 edge-found edge-not-found) (forall ((j Int)) (! (=>
    (and (>= j k) (= (current j) c))
    (= (first-found j) (ite (= (next 0 c) 0) 0 (other (next 0 c)))))
  :pattern ((edge-at j)))))
(lemma finds-next (size here none-at-1 taken-here edge2-found edge2-not-found) (forall ((j Int)) (! (=>
    (and (>= j k) (= (current j) c) (= (beyond2 j) (back k)) (not (= (back k) (up c))))
    (= (next-found j) (ite (= behind 0) 0 (other behind))))
  :pattern ((edge2-at j)))))
(lemma finds-next-but-father (size here none-at-1 ends next-is taken-here edge2-found edge2-not-found) (forall ((j Int)) (! (=>
    (and (>= j k) (= (current j) c) (= (beyond2 j) (up c)) (not (= behind 0)) (= (other behind) (up c)))
    (= (next-found j) (ite (= edge 0) 0 w)))
  :pattern ((edge2-at j)))))

; ---- a turn: a word is always due (no way is left open), and what it leads to is a step
(lemma edges-lead
  (size here taken-here taken-is come seen-vertices ends next-is edge-is father-here no-record-of-loop root-seen seen-fathers here-seen) (and
  (ite (= c 1) (= (up c) (- 1)) (and (<= 1 (up c) n) (not (= (up c) c))))
  (= (= (back k) (up c)) (= (taken c) 0))
  (=> (not (= (back k) (up c))) (and (= (back k) (number (- k 2))) (<= 1 (back k) n) (not (= (back k) c))))
  (=> (not (= behind 0)) (and (<= 1 (other behind) n) (not (= (other behind) c))))
  (=> (not (= edge 0)) (and (<= 1 w n) (not (= w c)) (not (= w (up c)))))
  (=> (and (not (= behind 0)) (not (= (other behind) (up c)))) (= edge behind))))
(lemma never-open
  (size left-open-is here head edges-lead current finds-father finds-record finds-first finds-next finds-next-but-father)
  (not left-open))
; searches: how many words those of a turn are; all have one for the father and one for a neighbour, and another one where that is the father
(define-fun searches () Int (+ 6 (ite (= (taken c) 0) 8 16) (ite passes 16 0)))
(define-fun comes-to ((v Int) (new Bool)) Bool (and (|is a vertex| end) (= (vertex end) v) (= (origin end) c)
  (= (|is -| (- end 1)) new) (= (|is ^| (- end 1)) (not new))
  (silent (- end 1))))
(lemma turn-down
  (size end-is goes-down-is here head edges-lead current finds-father finds-record finds-first finds-next finds-next-but-father)
  (=> goes-down (and (not (= edge 0)) (not (seen w k)) (comes-to w true) (= (- end k) (+ searches 9)))))
(lemma turn-up
  (size end-is goes-up-is here head edges-lead current finds-father finds-record finds-first finds-next finds-next-but-father)
  (=> goes-up (and (= edge 0) (not (= c 1)) (comes-to (up c) false) (= (- end k) (+ searches 3)))))
(induction records-stay (j 1) (x a) (=>
    (and (= x 1) (<= 1 a j) (forall ((h Int)) (! (=> (and (< a h) (<= h j)) (not (|is -| h))) :pattern ((kind h)))))
    (= (records-to x j) (records-to x a)))
  ((records-to x a) (records-to x j)) (records-to-1 records-to-next))
(lemma turn-yes
  (size end-is answers-yes-is here head edges-lead current finds-father finds-record finds-first finds-next finds-next-but-father records-stay)
  (=> answers-yes (and (= edge 0) (= c 1) (= (records-to 1 k) n) (= (- end k) (+ searches 4)) (silent end))))
(lemma turn-no
  (size end-is answers-no-is here head edges-lead current finds-father finds-record finds-first finds-next finds-next-but-father records-stay)
  (=> answers-no (and (ite (= edge 0) (and (= c 1) (not (= (records-to 1 k) n))) (seen w k))
    (= (- end k) (+ searches (ite (= edge 0) 4 7))) (silent end))))
(lemma step (turn-down turn-up) (and
  (=> onward (ite (= edge 0) (not (= c 1)) (not (seen w k))))
  (=> (and onward (not (= edge 0))) (and (comes-to w true) (= (- end k) (+ searches 9))))
  (=> (and onward (= edge 0)) (and (comes-to (up c) false) (= (- end k) (+ searches 3))))))

; ---- how it goes on
(lemma root-due (size begins-otherwise-is) (not begins-otherwise))
(suppose starts (and (= k (+ P 1)) begins))
(lemma comes-first (size starts begins-is kinds comings) (and (= k (+ P 1)) (= (arrival k) (vertex k) (number (- P 1)) 1)
  (|is a vertex| (- P 1)) (|is -| P) (|is a vertex| k)))
(lemma comes-down (size here kinds comings step down) (and (> end k) (= (vertex end) (arrival end) w) (= (back end) (origin end) c)
  (forall ((j Int)) (! (=> (< k j end) (= (arrival j) 0)) :pattern ((arrival j))))))
(lemma comes-up (size here kinds comings step goes-up) (and (> end k) (= (vertex end) (up c)) (= (back end) c)
  (forall ((j Int)) (! (=> (and (< k j) (<= j end)) (= (arrival j) 0)) :pattern ((arrival j))))))
(also down head step comes-down new-visit)
(also goes-up head step comes-up father-of-here)
(also down root-record root-record)
(also goes-up root-record root-record)
