"""The paper's claims, a file for each family of lemmas or theorem."""
