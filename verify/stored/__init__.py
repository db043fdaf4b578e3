"""What was certified once of every n of a long range, kept with digests of the weights; the documents lie beside."""
