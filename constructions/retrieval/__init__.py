"""Index, associative recall, c-gram retrieval and Counting: what the four tasks share (Theorems 4.6, 5.2 and 5.6)."""
