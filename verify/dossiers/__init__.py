"""All that verification asks of one model, a module for each task: its weights, texts, definition, oracle, lemmas, searches."""
