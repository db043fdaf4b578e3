"""Circuits of one RNN step and the Transformer that evaluates them (Theorem 4.8). Nothing is built here yet."""
