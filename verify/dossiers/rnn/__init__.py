"""Theorem 4.8's runs: gate by gate, they are the RNN's."""
