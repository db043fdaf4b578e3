"""How a claim is judged: searches, evidence, rows, the ledger."""
