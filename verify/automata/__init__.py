"""Which token sequences a certificate speaks of, as automata over words and families of numbers."""
