"""What commands say: a line for each, with its exit code, its arguments, and words that it prints.

2 is a mistake: one line on stderr, which names the thing, and nothing on stdout; 2+ is seen after something was printed. Other
codes print their words on stdout.
`c{k}` in arguments is the character c, or the text in brackets, k times. ⏎ is the end of a line.
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from tests.constructions.commands import main_of

WORDS = """
constructions.istree:
2 --n 1000 --export torch a.pt2 | at n = 1000 was not tried in float64; n = 64 is the largest that was
2 --n 5 --precision 101 --export torch a.pt2 | at p = 101 was not tried in float64; p = 69 is the largest
2 --printed layer-7 --n 5 --export torch a.pt2 | as printed is not exported
2 --n 7 --export torch a.pt2 --float float32 | at n = 7 was not tried in float32; n = 6 is the largest
2 --tokens eos --n 5 --export torch a.pt2 | sequences that do not begin with <s>: not tried in float64
2 --discipline sequential --n 3 --export torch a.pt2 | sequential rounding: not tried in float64
2 --export jax a.pt2 | there is no export 'jax'; there are torch, onnx, transformerlens, hf
2 --export torch a.onnx | the name of a torch.export program must end in .pt2
2 --export torch there.pt2 | there.pt2 exists; --force overwrites it
2 --export torch beside.pt2 | beside.pt2.json exists; --force overwrites it
2 --export torch no/a.pt2 | there is no folder
2 --export torch folder.pt2 | this is a folder, not a file
2 --export torch a.pt2 --float float16 | argument --float: invalid choice: 'float16'
2 --model hybrid --edges 2-1 --tokens eos | istree as hybrid has no option 'tokens'
2 --model hybrid --edges 2-1 --printed layer-7 | unknown finding 'layer-7'; known: nearest-tie, search-range, parent
2 --variant lean --model rag --edges 1-2 | istree, rag, has no variant lean; it has repaired, printed
2 --edges 2-2 | edge 2-2 is a self-loop
2 --edges 1-2,2-3,2-1 | edge 2-1 repeats edge 1-2
2 --edges 0-1,1-2 | vertex 0 of edge 0-1 is not in 1 … 2
2 --edges 1-4 --n 3 | vertex 4 of edge 1-4 is not in 1 … 3
2 --edges -1-2 | vertex -1 of edge -1-2 is not in 1 … 2
2 --edges 1-x | '1-x' is not an edge
2 --edges 1.5-2 | '1.5-2' is not an edge
2 --edges 1-2-3 | '1-2-3' is not an edge
2 --edges '1 -2' | vertex -2 of edge 1--2 is not in 1 … 1
2 --edges '1- 2' | '1- 2' is not an edge
2 --edges 1~2 | '1~2' is not an edge
2 --edges '' | --edges is empty
2 --edges ' , ' | --edges is empty
2 --edges 1-99999999 | vertex 99999999 is above 1048576
2 --edges 1-2 - | --edges and -: give the graph once
2 --edges 1-2 --graph x | --edges and --graph: give the graph once
2 --edges 1-2 --edges 2-3 | argument --edges: is given twice; give it once
2 --graph x --graph=y | argument --graph: is given twice; give it once
2 --edges 1-2 --n 3 --n 3 | argument --n: is given twice; give it once
2 --n 3 --dump-weights x.npz --dump-weights | argument --dump-weights: is given twice
2 --n 3 --export torch x.pt2 --export torch y.pt2 | argument --export: is given twice
2 --edges 1-2 --precision 8 | an odd number of bits, at least 5 and at most 1023, not '8'
2 --edges 1-2 --precision 3 | an odd number of bits, at least 5
2 --edges 1-2 --precision 0 | an odd number of bits, at least 5
2 --edges 1-2 --precision -7 | an odd number of bits, at least 5
2 --edges 1-2 --precision 17.0 | an odd number of bits, at least 5
2 --edges 1-2 --printed C.99 | unknown finding 'C.99'; known: tied-head, layer-7, edge-count, score-range, C.14, C.3, C.5
2 --edges 1-2 --printed , | --printed names no finding
2 --edges 1-2 --variant printed --printed C.3 | --variant printed has all of them
2 --edges 1-2 --variant mended | invalid choice: 'mended'
2 --edges 1-2 --tokens bos | invalid choice: 'bos'
2 --edges 1-2 --engine steam | invalid choice: 'steam'
2 --edges 1-2 --discipline loose | invalid choice: 'loose'
2 --dump-weights --n 0 | '0' is not in 1 … 1048576
2 --dump-weights --n -3 | '-3' is not in 1 … 1048576
2 --dump-weights --n many | 'many' is not a whole number
2 --dump-weights w.txt | --dump-weights w.txt: the name must end in .safetensors or .npz
2 --dump-weights /nowhere/w.npz | there is no folder /nowhere
2 --dump-weights --edges 1-2 --json | --json prints one document
2 --edges 1-2 --html / | --html /: this is a folder, not a file
2 --edges 1-2 --html - | --html '-': this needs the name of a file
2 --edges 1-2 --html '' | this needs the name of a file
2 --edges 1-2 --html /nowhere/p.html | there is no folder /nowhere
2 --trace --dump-weights | --trace needs a graph
2 | nothing to do
2 --n 3 | nothing to do
2 1-2 | '1-2' is not understood
2 --edges | expected one argument
2 --speed 3 | unrecognized arguments
2 --edge 1-2 | unrecognized arguments: --edge
2 --edges 1-9{5000} | is above 1048576
2 --edges 1-2 --precision 9{100} | an odd number of bits, at least 5
2 --dump-weights --n 9{5000} | is not in 1 … 1048576

circuits:
2 | give an operation (negate, compare, add, multiply, relu) or --rnn NAME
2 add --rnn sum | or --rnn NAME, one of them
2 add | --p is missing
2 add --p 8 | an odd number of bits, at least 5
2 divide --p 9 | invalid choice: 'divide'
2 add --p 9 --n 3 | --n belongs to --rnn
2 multiply --p 1001 | multiply takes 6,000,004 gates, at most 1,048,576
2 --rnn recall --p 9 | p = 9 is too small for recall; the least p is 11
2 --rnn recall --n 8 --p 9 | too small for recall at n = 8; the least p it is wired for is 19
2 --rnn nothing | invalid choice: 'nothing'
2 add --p 9 --aiger x.txt | the name must end in .aag or .aig
2 add --p 9 --aiger no/where/x.aig | there is no folder
2+ add --p 9 --against nowhere.aig | nowhere.aig: No such file

constructions.turing:
2 --machine bb2 --model cot --steps 10 --export torch a.pt2 | keeps its tape in numbers of p = 91 bits, float64 holds 53
2 --machine bb2 --export torch a.pt2 | --export needs --steps, the most steps of the runs that the model is to be for
2 --machine bb2 --model cot --steps 1 --export torch a.pt2 | no size of turing (cot) is known to write the right tokens
2 --machine bb2 --model rag --steps 101 --export torch a.pt2 | at steps = 101 was not tried in float64; steps = 100 is the
2 --machine bb2 --model cot --variant printed | turing, cot, has no variant printed; it has repaired
2 | give a --machine
2 --machine 1RB1LB_1LA1 | state B: the row '1LA1' has 4 characters
2 --machine nobody | 'nobody' is no file and no machine of the library, which has bb2, bb3
2 --machine bb99 | 'bb99' is no file and no machine of the library
2 --machine machines/none.txt | is no file and no machine
2 --machine ---_--- | a machine has 2 to 10 symbols
2 --machine '1RB1LB_1LA1RZ 1RB---_1LA1RB' | there are 2 machines in the text, 1RB1LB_1LA1RZ, 1RB---_1LA1RB; give one
2 --machine increment --tape 1011 | increment wants a number, highest digit first
2 --machine counter --tape 11 | counter wants 3, then a number
2 --machine increment --tape 4 | '4' at place 1 of the tape is not one of the symbols 0 … 2
2 --machine 1RB1LB_1LA1RZ --tape 012 | '2' at place 3 of the tape is not one of the symbols 0 … 1
2 --machine 1RB1LB_1LA1RZ --tape -1 | '-' at place 1 of the tape
2 --machine 1RB1LB_1LA1RZ --steps -1 | '-1' is not in 0 … 100000000
2 --machine 1RB1LB_1LA1RZ --steps 9{30} | is not in 0 … 100000000
2 --machine 1RB1LB_1LA1RZ --steps | expected one argument
2 --machine 1RB1LB_1LA1RZ --steps x | 'x' is not a whole number
2 --machine 1RB1LB_1LA1RZ --precision 9 | p = 9 is too small for 1000 steps; the least p it is wired for is 79
2 --machine 1RB1LB_1LA1RZ --precision 8 | odd number of bits
2 --machine 1RB1LB_1LA1RZ --printed nothing | unknown finding 'nothing'; known: own-record, cell-zero
2 --machine 1RB1LB_1LA1RZ --printed , | names no finding
2 --machine 1RB1LB_1LA1RZ --printed cell-zero --variant printed | picks findings for
2 --machine 1RB1LB_1LA1RZ --json --trace | leave out --trace
2 --machine 1RB1LB_1LA1RZ --json --steps 1000001 | lists every word of a run: at most 1,000,000 --steps
2 --machine 1RB1LB_1LA1RZ --dump-weights --trace | --dump-weights and --export run nothing
2 --machine 1RB1LB_1LA1RZ --steps 2 --export torch a.pt2 --html a.html | --html shows a run
2 --machine 1RB1LB_1LA1RZ --dump-weights x.txt | must end in
2 --machine 1RB1LB_1LA1RZ --cells 4 --model rag | turing as rag has no option 'cells'
2 --machine 1RB1LB_1LA1RZ --cells 4 --tape 01101 | 4 cells do not hold the 5 symbols
2 --machine 1RB1LB_1LA1RZ --steps 2000001 | 2000001 steps may reach 4,000,003; --cells names fewer
2 --machine / | '/' is no file and no machine of the library
2 --machine '' | there is no machine

verify.certify:
2 | name a construction
2 recal | there is no construction 'recal'; there are counting, index,
2 recall --model cot | recall has no model 'cot'; it has transformer, rag, hybrid
2 turing --model transformer | turing has no model 'transformer'; it has hybrid, rag, cot
2 model.npz | model.npz: of files, an exported model in .safetensors is read here
2 model.pt2 | model.pt2: of files, an exported model in .safetensors is read here
2 recall --precision 6 | odd
2 recall --printed layer-7 | unknown finding 'layer-7'
2 recall --printed , | names no finding
2 recall --printed C.3 --variant printed | picks findings for
2 istree --length 9 | --length
2 recall --variant lean | recall as transformer has no variant lean; it has repaired, printed
2 recall --tokens eos | unrecognized arguments: --tokens eos; besides the options of every model, recall as transformer has none
2 istree --model hybrid --tokens eos | unrecognized arguments: --tokens eos
2 --tokens eos --model=hybrid istree | istree as hybrid has none of its own
2 istree --model rag --variant lean | has no variant lean; it has repaired, printed
2 istree --variant lean --printed layer-7 | the variant lean has nothing as printed
2 absent.safetensors | absent.safetensors
2 x.safetensors --all-n | an exported model is of one n
2 x.safetensors --mutants 9 | an exported model is of one n
2 turing --model rag --machine zz | 'zz' is no file and no machine
2 turing --model rag --machine /dev/null | /dev/null: there is no machine in the text
2 turing --model rag --machine '' | there is no machine in the text
2 turing --model cot --variant printed | has no variant printed
2 turing --model cot --printed x | known: none
2 turing --model rag --tape 9 | 9
2 turing --model cot --all-n | many n are not for cot
2 recall --machine bb2 | unrecognized arguments: --machine bb2
2 turing --model hybrid --cells 9 | of every model, turing as hybrid has --machine, --tape
2 recall --n 65 --mutants 3 | from 4 to 64
2 recall --all-n --mutants 3 | one n
2 recall --n 8-9 --mutants 3 | one n
2 counting --all-n --n 8 --printed count-query | many n are for what is repaired or lean
2 counting --n 8-9 --printed count-query | many n are for what is repaired or lean
2 index --all-n --length 9 | many n are for sequences of up to n tokens
2 index --all-n --n 8-9 | --all-n has no last n
2 recall --mutants 0 | 0
2 turing --model hybrid --all-cells | unrecognized arguments: --all-cells
2 index --all-cells | unrecognized arguments: --all-cells
2 turing --model cot --all-cells --cells 5 | leave out --cells 5
2 turing --model cot --all-cells --n 5 | every number of cells is asked for, and of steps: leave out --n
2 turing --model cot --all-cells --mutants 5 | --mutants is for one n
2 x.safetensors --all-cells | unrecognized arguments: --all-cells
0 istree --tokens eos --n 1000000000000 | certified
0 istree --variant lean --n 1000 | istree, lean, n = 1000, p = 41: certified
3 recall --n 3 --length 4 | at least 4
0 recall --model hybrid | recall, hybrid, n = 16, p = 39: certified
0 simulate | simulate, n = 16, p = 67: certified
0 simulate | only at 928 kinds of tokens, where the answer is read
0 turing --n 10 | turing, hybrid, 1RB1LB_1LA1RZ, n = 10, p = 41: certified
0 istree --model rag --n 1161 | p = 43: certified
0 istree --model rag --n 1000 --discipline sequential | assumed of the ideal run, records: no more vertices are recorded
0 istree --model hybrid --n 100 | assumed of the ideal run, records of one vertex: two records
0 turing --model cot --machine 1RZ0LA --cells 4 | assumed of the ideal run, the digit in
0 turing --model rag --n 5 --machine palindrome --tape 121 | certified
1 turing --model hybrid --n 5 --printed cell-zero | cell-zero as printed, n = 5
0 turing --model rag --n 5 --printed prompt-characters | the print lies in the text
1 index --model rag --n 9 --printed regex-count | the vocabulary
1 recall --precision 5 | not an element of R_5
1 counting --printed count-margin | ideally by -1/8192, at a share of 1/5
1 recall --variant printed | the ideal model is not seen to be that of recall
3 recall --n 16 --length 4000 | block 1, feed-forward
0 recall --n 5-9 | recall: certified⏎  n = 5 … 9, in 4 intervals

verify.theorem:
2 | name a construction (
2 nothing | there is no construction 'nothing'; there are counting,
2 index --model cot | index has no model 'cot'; it has transformer, rag, hybrid
2 x.safetensors | there is no construction 'x.safetensors' (a construction is named, not its file)
2+ recall --n 3-9 | many n are from 4 on
2 recall --n 5-9 --printed C.3 | many n are for what is repaired or lean
2 recall --n 5-9 --all-n | --all-n has no last n
2 recall --n 9-5 | 9 is above 5
2 recall --all-n --precision 61 | --precision is one p, and every n needs more and more bits
2 turing --model cot --all-cells --precision 61 | --precision is one p

verify.explain:
2 | name a construction
2 nothing | there is no construction 'nothing'; there are counting,
2 index --model cot | index has no model 'cot'; it has transformer, rag, hybrid
2 model.npz | model.npz: of files, an exported model in .safetensors is read here
2 index --printed x | unknown finding 'x'
2 istree --tape '' | unrecognized arguments: --tape ; besides the options of every model, istree as transformer has --tokens
2 turing --model cot --all-n | many n are not for cot
2 turing --model cot --n 2-3 | many n are not for cot
2 turing --model cot --cells 501 | 1 … 500 cells
2 turing --model hybrid --tape 2 | '2'
2 turing --model hybrid --machine zz | 'zz' is no file and no machine
2 missing.safetensors | missing.safetensors
2 --replay missing.json | missing.json
2 index --n 9-4 | 9 is above 4
2 index --n 4-9 --all-n | the first n alone
2 index.safetensors --all-n | of one n
2 index --n 4- | is not a whole number
2 counting --all-n --printed count-margin | many n are for what is repaired or lean
0 index | at query, k: the number number[number[k] + 1]
0 recall --model hybrid | recall, hybrid, n = 16: the program is the task, for every input
1 counting --printed count-query | on '<s> 1 ? 1 1' it says YES; the right answer is NO
1 recall --printed tied-head | on '<s> 1 2 ? 1' it says <s>; the right answer is 2
3 recall --n 3 | at least 4
3 turing --model rag --n 2 --printed first-write | no definition of turing
0 turing --model rag --n 2 --tape 1 | the machine's, or of the search that is defined, for every
0 turing --model hybrid --n 9 --tape 10 | up to n steps, each word is the machine's, for every input
0 turing --model hybrid --machine 1RZ0LA --n 2 | at a step, 4, state, k: → if read[k] = 0, else ←
0 istree --model hybrid --n 8 | each word that is due is the defined step of the search
0 istree --variant lean --tokens eos --n 8 | at [EOS] of the thought, k: TRUE if k > prompt_end[k] + 15, else FALSE
0 istree --variant lean --n 8 | (other[j] at j = the last of 2…k with self[j] = number[k] and before[j] = goal[k], else 1)
0 index --model rag | at search 3, k: the repetition token number token[k − 3] − 1
0 recall --model rag | writes the search that is defined, and says what it finds, for every input
1 recall --model rag --printed regex-boundaries | answer at search 1: on 1 1 ? 1: the model answers FAILED; the right answer is 1
3 index --model rag --printed regex-characters | the answer at search 2: the program is not seen to be the task
1 istree --n 6 --printed layer-7 | on edges 2-1, 4-2, 2-5, 2-6, 3-2: it says NO; the right answer is YES
1 istree --n 7 --printed edge-count | it says YES; the right answer is NO
0 recall --printed score-range --n 8 | the program is the task, for every input
0 turing --n 4 | turing, hybrid,
3 simulate --n 4 | simulate, n = 4: cannot tell
0 index --n 4-1000 | index, n = 4 … 1000: the program is the task, for every input
3 index --n 3-9 | at least 4
0 istree --n 8 | the defined step of Algorithm 1, for every input⏎  given the invariants of its runs: counts of one vertex⏎
0 index --all-n --n 5 | index, every n from 5 on: the program is the task, for every input⏎  n ≤ 128: in

verify.precision:
3 istree --model rag | : cannot tell⏎
3 turing | not covered; counting, index, istree, ngram, recall as Transformers are
3 simulate | not covered; counting, index, istree, ngram, recall as Transformers are
2 | name a construction (
2 nothing | there is no construction 'nothing'; there are counting,
2 istree --model cot | istree has no model 'cot'; it has transformer, rag, hybrid
2 index --variant lean | index has no variant lean; it has printed, repaired
2 istree --n 5 | n = 5: the hard inputs of istree begin at n = 6
2 index --n 0 | '0' is not in 1 … 10000
2 index --n 4 --n-max 8 | not allowed with argument
2 index --tokens eos | unrecognized arguments: --tokens eos
2 index --formats --svg a.svg | --formats has neither a figure nor a discipline
2 index --svg a.png | the name of a figure must end in .svg
2 index --svg no/a.svg | there is no folder
2 index --svg there.svg | there.svg exists; --force overwrites it

constructions.simulate:
2 --rnn shift --words 9 --export torch a.pt2 | at p = 71 was not tried in float64; p = 61 is the largest that was
2 '1 2' | '2' is not a word of parity
2 '' | a prompt has at least one word
2 --rnn lstm | there is no RNN 'lstm'
2 1 --precision 11 | p = 11 is too small for 55 gates
2 1 --precision 21 | p = 21 is too small for 55 gates and 57 positions; the least p it is wired for is 49
2 --rnn turing-cot --words 6000 | at most 8,388,608 are written
2 1 --json --trace | --json prints one document
1 '1 1' --printed input-bits | refuted: token 6 of step 1 is 1; the RNN's is 0

constructions.index:
2 '5 2 5' | there is no `?`
2 '5 ? 2 ? 5' | there are 2 `?`
2 '5 2 ?' | one position, from 1, not 0 tokens
2 '5 2 ? 1 1' | one position, from 1, not 2 tokens
2 '5 2 ? 3' | position 3 is not in 1 … 2
2 '? 1' | the sequence is empty
2 '5 2 ? 0' | 0 is not a token here
2 '5 0 ? 1' | 0 is not a token here
2 '-5 2 ? 1' | -5 is not a token here
2 '5 x ? 1' | 'x' is not a whole number
2 '5 ² ? 1' | '²' is not a whole number
2 '5 1.5 ? 1' | '1.5' is not a whole number
2 '1048577 ? 1' | 1048577 is above 1048576
2 '1 ? 1' --precision 8 | an odd number of bits
2 '1 ? 1' --precision 7 | p = 7 is too small for n = 1 (fused); the least p it is wired for is
2 '1 ? 1' --model cot | invalid choice: 'cot'
2 '1 ? 1' --printed C.3 | unknown finding 'C.3'; known: tied-head
2 '1 ? 1' --variant printed --printed tied-head | --variant printed has all of them
2 | nothing to do
2 --trace --dump-weights | --trace needs a prompt
2 --html a.html --dump-weights | --html needs a prompt
2 --dump-weights w.txt | must end in .safetensors or .npz
2 --dump-weights --json '1 ? 1' | --json prints one document
2 --sequence /nowhere/s.txt '? 1' | /nowhere/s.txt: No such file or directory
2 --sequence - - | - and --sequence: give the sequence once
2 --sequence /dev/null '? 1' | the sequence is empty
2 '5 9{5000} ? 1' | 99…' is above 1048576, the largest n

constructions.recall:
2 '5 2 ? 7' --n 6 | 7 is above 6, --n
2 '1 2 1 ? 1' --n 2 | the sequence has 3 tokens, more than 2
2 '5 2 ?' | one key, not 0 tokens

constructions.ngram:
2 '5 2 ?' | the first c − 1 tokens
2 '5 2 ? 0 1' | 0 is not a token here
2 '5 2 ?( 5){1025}' | the query has 1025 tokens, more than 1024, the most that is wired here

constructions.counting:
2 '5 2 ? 5' | a token and a threshold, not 1 tokens
2 '5 2 ? 0 1' | 0 is not a token here
2 '5 2 ? 5 -1' | -1 is not a token here
2 '0 ? 1 0' | 0 is not a token here
2 '5 ? 5 -9{5000}' | 99…' is not a token here: a threshold is a number from 0

verify.induction:
2 turing --model transformer | turing has no model 'transformer'; it has hybrid, rag, cot
2 turing --machine zz | 'zz' is no file and no machine of the library
2 turing --machine '' | there is no machine in the text; expected rules
2 turing --tokens eos | unrecognized arguments: --tokens eos
2 turing --variant lean | turing as hybrid has no lemmas of lean; it has those of repaired
2 --machine bb2 | unrecognized arguments: --machine; besides the options of every model, istree as transformer
2 --model cot | istree has no model 'cot'; it has transformer, rag, hybrid
2 turing --model cot --tokens eos | unrecognized arguments: --tokens eos
2 --model rag --tokens eos | unrecognized arguments: --tokens; besides the options of every model, istree as rag has none
2 --scripts=/dev/null/here | /dev/null/here: Not a directory
2 --scripts= | argument --scripts: name a folder
3 recall | recall as transformer: not covered; istree, simulate, turing are
0 turing --machine 1RZ0LA | lemmas, all follow
0 turing --model rag --machine 1RZ0LA | follows: finds-symbol, from
0 turing --model cot --machine 1RZ0LA | lemmas, all follow

verify.training:
2 --only LSTM | --only LSTM: there are Transformer/plain/4, 
2 --write nowhere | --write nowhere: there is no such folder

verify.capacity:
2 --tasks sorting | --tasks sorting: want some of index, recall, ngram, counting, istree
2 --write nowhere | --write nowhere: there is no such folder

verify.table:
2 --json --markdown | argument --markdown: not allowed with argument --json
0 --help | examples:

constructions:
2 --nonsense | unrecognized arguments: --nonsense
"""
THERE = ("there.svg", "there.pt2", "beside.pt2.json")  # files, beside the folder folder.pt2
MOST_CHARACTERS = 420  # of a line on stderr, however long the argument


def cases() -> list[tuple[str, str, str, str]]:
    """Reads the table: module, arguments, exit code, words."""
    result, module = list[tuple[str, str, str, str]](), ""
    for line in WORDS.strip().splitlines():
        if line.endswith(":") and " " not in line:
            module = line[:-1]
        elif line:
            first, words = line.split(" | ")
            code, _, argv = first.partition(" ")
            result.append((module, argv, code, words.replace("⏎", "\n")))
    return result


def repeated(text: str) -> str:
    return re.sub(r"(?:\((.+?)\)|(\S))\{(\d+)\}", lambda m: (m[1] or m[2]) * int(m[3]), text)


@pytest.mark.parametrize(("module", "argv", "code", "words"), cases())
def test_words(
    module: str,
    argv: str,
    code: str,
    words: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in THERE:
        (tmp_path / name).write_text("mine")
    (tmp_path / "folder.pt2").mkdir()
    assert main_of(module)(shlex.split(repeated(argv))) == int(code[0])
    out, err = capsys.readouterr()
    assert words in (err if code[0] == "2" or words.startswith("refuted: ") else out)
    if code[0] == "2":
        assert bool(out) == (code == "2+")
        assert err.startswith(f"python -m {module}: error: ")
        assert err.count("\n") == 1
        assert len(err) < MOST_CHARACTERS
        assert {path.name for path in tmp_path.iterdir()} == {*THERE, "folder.pt2"}
        assert {(tmp_path / name).read_text() for name in THERE} == {"mine"}
