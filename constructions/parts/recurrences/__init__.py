"""Linear units: what a Linear RNN block keeps, one lemma a file (appendix C.3)."""
