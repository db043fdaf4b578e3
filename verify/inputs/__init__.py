"""What claims are tried on: columns, graphs and machines, drawn, listed or from a seed."""
