"""Small exact runs, along which what lemmas use is seen to be true."""
