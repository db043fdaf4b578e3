"""The paper's lemmas, one a file: gadgets, heads and recurrences."""
