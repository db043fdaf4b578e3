"""Wired models in the files of other tools: their weights alone, or programs that run without this project."""
