"""The language that weights are written in: registers, affine forms, blocks, and the matrices they become."""
