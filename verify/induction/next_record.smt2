; Lemmas on the frames of one base. What they say all together stands in next_record.py; what commands mean, in search.smt2.

; ---- the definition's terms, of any text and at any position: own, found-at … are functions with axioms of the same names
(declare-const n Int)
(declare-fun |number vertex| (Int) Int)
(declare-fun |number place| (Int) Int)
(define-fun vertex ((j Int)) Int (|number vertex| j))
(define-fun place ((j Int)) Int (|number place| j))
(declare-const k Int)
(defined-terms)

; ---- the text: <s> a ~ b c ~ d … of n − 1 edges, and frames behind it. E is the position of the last endpoint
(define-fun E () Int (- (* 3 n) 2))
(axiom size (>= n 2))
(axiom words (forall ((j Int)) (! (= (|is ~| j) (and (<= 3 j E) (= (mod j 3) 0))) :pattern ((|is ~| j)))))
(axiom numbers (forall ((j Int)) (! (=> (<= 2 j E) (ite (= (mod j 3) 0) (= (vertex j) 0) (<= 1 (vertex j) n))) :pattern ((|number vertex| j)))))
(lemma records (size words own) (forall ((j Int)) (! (=> (and (>= j 1) (not (= (own j) 0))) (<= 4 j (+ E 1))) :pattern ((own j)))))
(lemma ends (size words numbers own other) (forall ((j Int)) (! (=> (and (>= j 1) (not (= (own j) 0))) (<= 1 (other j) n)) :pattern ((own j)))))

; ---- the end of a frame, at k: v @base @target
(define-fun v ((k Int)) Int (vertex (- k 2)))
(define-fun base ((k Int)) Int (place (- k 1)))
(define-fun target ((k Int)) Int (place k))
(invariant frame-end (and (> k (+ E 2)) (>= (v k) 1)))
(invariant base-is (or (= (base k) 1) (and (> (base k) 1) (= (own (base k)) (v k)))))
(invariant ahead (< (base k) (target k)))
(invariant none-before (forall ((j Int)) (! (=> (and (> j (base k)) (= (own j) (v k))) (<= (target k) j)) :pattern ((own j)))))

; ---- what follows there: what is found behind the base is the next record, and no case is met in which no word is due
(define-fun next-record ((i Int) (k Int)) Bool (and (> i (base k)) (= (own i) (v k))
  (forall ((j Int)) (! (=> (and (> j (base k)) (= (own j) (v k))) (<= i j)) :pattern ((own j))))))
(lemma found-behind (size records frame-end base-is ahead none-before found-at found-at-all)
  (=> (> (found-at k) (base k)) (and (next-record (found-at k) k) (>= (found-at k) (target k)))))
(lemma found-before (size records frame-end base-is ahead none-before found-at found-at-all)
  (=> (<= (found-at k) (base k)) (forall ((j Int)) (! (=> (and (> j (base k)) (= (own j) (v k)))
    (> j (- (* 2 (target k)) (base k)))) :pattern ((own j))))))
(lemma decided (size frame-end found-behind) (=> (<= downs (- n 1)) (not leaves-open)))
(lemma follows (size frame-end found-behind) (=> follows-edge (next-record (found-at k) k)))
(lemma over (size records frame-end ahead found-before) (=> is-over
  (forall ((j Int)) (! (=> (> j (base k)) (not (= (own j) (v k)))) :pattern ((own j))))))

; ---- along that record: behind `- v` its other end is said, behind `/ v` its position
(suppose goes-on (and follows-edge (= (vertex (+ k 2)) again)))
(lemma found-again (size records frame-end follows goes-on found-at found-at-all again-at again-at-all)
  (= (again-at (+ k 2)) (found-at k)))
(lemma goes-down (size frame-end base-is ends follows goes-on found-again) (and (not vertex-open) (= next-vertex (other (found-at k)))))
(lemma passes (size frame-end goes-on found-again) (= passed (found-at k)))

; ---- the induction: at a new base, and behind a frame that looks further
(suppose begins (and (> k (+ E 2)) (>= (v k) 1) (or (= (base k) 1) (and (> (base k) 1) (= (own (base k)) (v k))))
  (= (target k) new-target)))
(lemma one-behind (size records begins) (and (not new-target-open) (= (target k) (+ (base k) 1))))
(starts begins () (begins one-behind))
(suppose further (and looks-further (= (vertex (+ k 2)) again) (= (place (+ k 3)) same-base) (= (place (+ k 4)) twice-as-far)))
(lemma looked (size frame-end further) (<= (found-at k) (base k)))
(lemma has-a-word (size records frame-end base-is ahead further) (not target-open))
(lemma frame (size frame-end further has-a-word) (and (= (v (+ k 4)) (v k)) (= (base (+ k 4)) (base k))
  (= (- (target (+ k 4)) (base k)) (* 2 (- (target k) (base k))))))
(kept further ((k (+ k 4))) (frame) (frame-end frame-end) (base-is base-is) (ahead ahead) (none-before looked found-before))
