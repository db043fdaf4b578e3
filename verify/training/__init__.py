"""What small models learn: the paper's experiment on IsTree, and training that starts at weights wired by hand."""
