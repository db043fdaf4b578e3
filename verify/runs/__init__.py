"""How the things that claims speak of are run: single parts, walks on graphs, Turing machines."""
