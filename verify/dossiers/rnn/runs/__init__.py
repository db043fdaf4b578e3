"""What each symbol of the lemmas is along small runs."""
