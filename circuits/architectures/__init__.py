"""Recurrent architectures that the paper names, each as a small exact step function whose state is numbers of R_p.

Source: sections 1, 2 and 6. Each is one layer. `python -m verify.adversary --task index --rnn circuits/architectures/gates.py:gru`
finds two prompts that it must confuse.

cell     what all have: embeddings, rounding after each operator, an answer, the bits of a state
matrices linear attention, RetNet, xLSTM's mLSTM: the state is a matrix
gates    GRU, LSTM, RWKV, Mamba: the state is vectors
caches   StreamingLLM's window, TOVA, RMT: the state is some tokens, or some vectors that attend to what comes
train    trains the weights of trained.json
"""
