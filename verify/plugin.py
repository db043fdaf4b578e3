"""Options and ledger of `pytest verify/`."""
