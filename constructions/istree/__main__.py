"""`python -m constructions.istree`: run a wired model on a graph, show what it does, dump its weights."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from constructions.construction import Example
from constructions.engines import (
    ENGINES,
    Decode,
    Decoded,
    EngineMissing,
    decode_by_reference,
    find_engine,
)
from constructions.engines.reference import Step
from constructions.istree.graphs import (
    LAYOUTS,
    Graph,
    GraphError,
    TokenLayout,
    depth_first_tour,
    is_tree,
    parse_edge_list,
    parse_edges,
)
from constructions.istree.models import MODELS, TRANSFORMER, Model
from constructions.search import END_SEARCH, SearchError
from constructions.show import cli
from constructions.show.cli import CommandError, Parser
from constructions.show.dump import dump_document, print_dump
from constructions.show.export import SUFFIXES, save
from constructions.show.flags import flag_documents
from constructions.show.trace import Trace, print_trace, trace_document
from constructions.show.trace_html import html_page
from constructions.wired import Wired
from precision.format import Discipline

PROG = "python -m constructions.istree"
LARGEST_N = 1 << 20
DEFAULT_N = 8  # of a dump without a graph
EXAMPLE_N = 12  # the largest graph of a worked example
_LONG = re.compile(r"[0-9]{10,}")

DESCRIPTION = """\
Is a graph a tree? A hand-wired model walks it depth first in its chain of thought, and says YES or NO.
Give a graph with --edges, --graph or -, and see the chain of thought and the verdict; or see the weights with --dump-weights.
"""

EPILOG = """\
examples:
  python -m constructions.istree --edges "1-2,2-3,3-4"
  python -m constructions.istree --edges "1-2,2-3,3-1" --n 4 --json
  printf '1 2\\n2 3  # a comment\\n' | python -m constructions.istree - --trace
  python -m constructions.istree --edges "1-2,2-3,2-4" --html search.html
  python -m constructions.istree --model rag --edges "1-2,2-3"
  python -m constructions.istree --model hybrid --edges "1-2,2-3" --trace
  python -m constructions.istree --n 16 --dump-weights
  python -m constructions.istree --n 16 --dump-weights istree.safetensors
  python -m constructions.istree --variant printed --edges "1-2,2-3"
  python -m constructions.istree --printed layer-7 --edges "3-6,8-1,6-2,7-6,5-6,2-4,6-1"

models:
{models}
  The chain of thought of `transformer` is the walk itself, one vertex a token; `rag` and `hybrid` write searches and positions too.

graphs:
  Simple and undirected, on vertices 1 … n. The order of the edges, and of the two ends of each, is part of the input.
  FILE holds one edge `u v` a line, `#` starts a comment. n is the largest vertex unless --n is given.

tokens:
  paper  <s> u ~ v u ~ v … chain of thought, YES or NO
  eos    [BOS] u - v u - v … [EOS] chain of thought [EOS] TRUE or FALSE: the layout of the paper's released data, transformer only
  Vertices are called 1 … n in both; the released data number them from 0, so add 1 to each of theirs.
  The verdict is reported as YES or NO in both.

findings, for --printed:
{findings}

exit codes:
  0  the answer holds up: it is the one that the algorithm gives, the chain of thought included
     (as printed: the right verdict; by the Transformer after the beginning of the tour, and for YES after all of it)
  1  refuted: the model's answer is another one; stderr says what was expected
  2  usage: something is wrong with the input, or the output cannot be written
  3  unknown: interrupted, or out of memory
"""


@dataclass(frozen=True)
class _Run:
    """What the model answered, how it was decoded, and steps if asked for."""

    model: Model
    graph: Graph
    layout: TokenLayout
    prompt: tuple[str, ...]
    produced: tuple[str, ...]
    decoded: Decoded
    steps: tuple[Step, ...]


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command; returns its exit code."""
    return cli.run_command(PROG, _command, argv)


def _parser() -> Parser:
    known = [f for model in MODELS.values() for f in model.findings]
    findings = "\n".join(
        f"  {f.id:<15} {', '.join(model.name for model in MODELS.values() if f in model.findings)}; {f.source}: {f.printed}"
        for f in dict.fromkeys(known)
    )
    models = "\n".join(f"  {m.name:<12} {m.construction.source}: {m.construction.statement}" for m in MODELS.values())
    parser = Parser(PROG, DESCRIPTION, EPILOG.format(models=models, findings=findings))
    add = parser.add_argument
    add("stdin", nargs="?", metavar="-", help="read the graph from standard input, as --graph does from a file")
    add("--edges", metavar="EDGES", help='the graph, as "1-2,2-3"')
    add("--graph", metavar="FILE", help="the graph, as an edge list with one `u v` a line; - is standard input")
    add("--model", choices=tuple(MODELS), default=TRANSFORMER.name, help="see below (default: transformer)")
    add(
        "--n",
        type=cli.whole_number(1, LARGEST_N),
        help=f"number of vertices (default: the largest in the graph, or {DEFAULT_N})",
    )
    add(
        "--precision",
        type=cli.precision,
        metavar="P",
        help="bits of the number format R_p, odd (default: the least certified for n)",
    )
    add("--variant", choices=TRANSFORMER.construction.variants, default="repaired", help="default: repaired")
    add("--printed", metavar="FINDING[,…]", help="put these findings back to print in the repaired variant; see below")
    add("--tokens", choices=tuple(LAYOUTS), default="paper", help="token layout, see below (default: paper)")
    add(
        "--discipline",
        choices=tuple(d.value for d in Discipline),
        default="fused",
        help="round once per affine row, score and sum (fused), or after every + and × (default: fused)",
    )
    add("--engine", choices=ENGINES, default="reference", help="default: reference")
    add(
        "--trace",
        action="store_true",
        help="show, for each token, what every head attends to and what every block writes",
    )
    add("--html", metavar="PATH", type=Path, help="write the run as a page to step through in a browser")
    add("--json", action="store_true", help="one JSON document on standard output")
    add(
        "--dump-weights",
        nargs="?",
        const="",
        metavar="PATH",
        help="print the weights by name; with PATH write them: .safetensors (and .json beside it) or .npz",
    )
    return parser


def _command(argv: Sequence[str]) -> int:
    parser = _parser()
    args = parser.parse_args(cli.attach_negative_values(argv, ("--edges", "--n", "--precision")))
    _check(args)
    model, layout = MODELS[args.model], LAYOUTS[args.tokens]
    graph = _graph(args)
    n = graph.n if graph is not None else args.n or DEFAULT_N
    try:
        decode = find_engine(args.engine)
        cli.announce(n)
        wired = model.build(n, args.precision, layout, _findings(model, args), Discipline(args.discipline))
    except EngineMissing as error:
        raise CommandError(f"--engine: {error}") from error
    except ValueError as error:
        raise CommandError(str(error)) from error
    if args.dump_weights is not None:
        _dump(args, model, wired, layout, answers=graph is not None)
        if graph is not None and args.dump_weights == "":
            print()
    if graph is None:
        return cli.HOLDS
    run = _run(model, wired, graph, layout, decode, keep=args.trace or args.html is not None)
    complaint = _judge(run, wired)
    _report(args, wired, run)
    if complaint:
        cli.say(f"{PROG}: refuted: {complaint}")
        return cli.REFUTED
    return cli.HOLDS


def _check(args: argparse.Namespace) -> None:
    """What can be said before any work. Raises CommandError."""
    if args.stdin not in (None, "-"):
        raise CommandError(f"{args.stdin!r} is not understood; write --edges, --graph, or - for standard input")
    graphs = [
        name
        for name, given in (("--edges", args.edges), ("--graph", args.graph), ("-", args.stdin))
        if given is not None
    ]
    if len(graphs) > 1:
        raise CommandError(f"{' and '.join(graphs)}: give the graph once")
    if not graphs and args.dump_weights is None:
        raise CommandError('nothing to do; give a graph, as in --edges "1-2,2-3", or --dump-weights (see --help)')
    if not graphs and (args.trace or args.html is not None):
        raise CommandError(f'{"--trace" if args.trace else "--html"} needs a graph, as in --edges "1-2,2-3"')
    if (layout := LAYOUTS[args.tokens]) not in (model := MODELS[args.model]).layouts:
        known = " or ".join(known.name for known in model.layouts)
        raise CommandError(f"--model {model.name} reads the token layout {known}, not {layout.name}")
    if args.variant == "printed" and args.printed is not None:
        raise CommandError("--printed picks findings for --variant repaired; --variant printed has all of them")
    if args.html is not None:
        cli.check_writable(args.html, "--html")
    if args.dump_weights:
        path = Path(args.dump_weights)
        if path.suffix not in SUFFIXES:
            raise CommandError(f"--dump-weights {path}: the name must end in {' or '.join(SUFFIXES)}")
        cli.check_writable(path, "--dump-weights")
    elif args.dump_weights == "" and args.json and graphs:
        raise CommandError("--json prints one document: give --dump-weights a PATH, or leave out the graph")


def _findings(model: Model, args: argparse.Namespace) -> tuple[str, ...]:
    known = tuple(finding.id for finding in model.findings)
    if args.variant == "printed":
        return known
    if args.printed is None:
        return ()
    chosen = tuple(part.strip() for part in args.printed.split(",") if part.strip())
    if not chosen:
        raise CommandError(f"--printed names no finding; known: {', '.join(known)}")
    return chosen


def _graph(args: argparse.Namespace) -> Graph | None:
    path = "-" if args.stdin == "-" else args.graph
    text = args.edges if args.edges is not None else None if path is None else cli.read_text(path)
    if text is None:
        return None
    where = "" if args.edges is not None else "standard input: " if path == "-" else f"{path}: "
    if huge := _LONG.search(text if args.edges is not None else re.sub(r"#.*", "", text)):
        raise CommandError(f"{where}the number {huge[0][:20]}{'…' * (len(huge[0]) > 20)} is above {LARGEST_N}")
    try:
        if args.edges is None:
            graph = parse_edge_list(text, args.n)
        elif not text.strip(" ,\t\n") and args.n is None:
            raise GraphError("--edges is empty; give --n for a graph without edges")
        else:
            graph = parse_edges(text, args.n)
    except ValueError as error:
        raise CommandError(where + str(error)) from error
    if graph.n > LARGEST_N:
        raise CommandError(f"{where}vertex {graph.n} is above {LARGEST_N}, the largest n that is wired here")
    return graph


def _run(model: Model, wired: Wired, graph: Graph, layout: TokenLayout, decode: Decode, keep: bool) -> _Run:
    weights, arithmetic, respond = wired.model, wired.arithmetic, model.surroundings(wired)
    prompt, expected = _prompt(wired, graph, layout), model.expected(graph, layout)
    guess = wired.tokens(expected) if wired.token.keys() >= set(expected) else []  # searches as printed are other ones
    stop, limit = set(wired.tokens((layout.yes, layout.no))), model.limit(graph.n)

    def work(length: int) -> int:
        return length * (length + 200)  # attention grows with the position, the rest does not

    with cli.progress("searching", work, len(prompt) + len(guess) - 1) as tick:
        if keep and decode is decode_by_reference:
            decoded = decode_by_reference(
                weights, arithmetic, prompt, stop, limit, respond=respond, tick=tick, keep_steps=True
            )
        else:
            decoded = decode(weights, arithmetic, prompt, stop, limit, guess=guess, respond=respond, tick=tick)
        steps = decoded.steps
        if keep and not steps:  # the reference engine explains what another one found
            sequence = [*prompt, *decoded.produced[:-1]]
            steps = decode_by_reference(weights, arithmetic, sequence, stop, 1, tick=tick, keep_steps=True).steps
    before, after = (tuple(wired.vocabulary[token] for token in tokens) for tokens in (prompt, decoded.produced))
    return _Run(model, graph, layout, before, after, decoded, tuple(steps))


def _prompt(wired: Wired, graph: Graph, layout: TokenLayout) -> list[int]:
    vocabulary = layout.vocabulary(graph.n)
    return wired.tokens(vocabulary[token] for token in layout.prompt(graph))


def _judge(run: _Run, wired: Wired) -> str:
    """What is wrong with the answer; "" if it holds up."""
    model, graph, layout = run.model, run.graph, run.layout
    expected = tuple(model.expected(graph, layout))
    if run.produced == expected:
        return ""
    chain, verdict = _answer(run, run.produced)
    if wired.printed and verdict is not None:
        tour = [str(v) for v in depth_first_tour(graph)]
        tree = is_tree(graph)
        right = verdict == ("YES" if tree else "NO")
        if right and (not model.tour or (chain == tour if tree else chain == tour[: len(chain)])):
            return ""
    right_chain, right_verdict = _answer(run, expected)
    ending = f"says {verdict} {_after(chain)}" if verdict else f"gives no verdict within {len(run.produced)} tokens"
    algorithm = "Algorithm 1" if model.tour else "the algorithm"
    return f"the model {ending}; {algorithm} says {right_verdict} {_after(right_chain)}"


def _after(chain: Sequence[str]) -> str:
    return f"after {' '.join(chain)}" if chain else "at once"


def _answer(run: _Run, produced: Sequence[str]) -> tuple[list[str], str | None]:
    """The chain of thought and the verdict, YES or NO in either layout, None if there is none."""
    layout = run.layout
    verdict = {layout.yes: "YES", layout.no: "NO"}.get(produced[-1])
    chain = list(produced if verdict is None else produced[:-1])
    if verdict is not None and layout.end_of_prompt is not None and chain[-1:] == [layout.end_of_prompt]:
        chain.pop()
    return chain, verdict


def _report(args: argparse.Namespace, wired: Wired, run: _Run) -> None:
    model, about = run.model, run.model.construction
    chain, verdict = _answer(run, run.produced)
    trace = Trace(wired, (*run.prompt, *run.produced)[: len(run.steps)], len(run.prompt), run.steps)

    def sentence(values: Mapping[str, Fraction], produced: str) -> str:
        return model.narrate(values, produced, verdict or "no verdict")

    blocks = about.blocks if len(wired.blocks) == len(about.blocks) else {}
    if args.html is not None:
        page = html_page(trace, run.graph, verdict, sentence, blocks, model.prompt_registers, about)
        _write(args.html, page.encode())
    if args.json:
        document: dict[str, object] = {
            "schema": 1,
            "construction": wired.construction,
            "source": wired.source,
            "variant": wired.variant,
            "model": model.name,
            "engine": args.engine,
            "n": wired.n,
            "precision_bits": wired.arithmetic.format.significand_bits + 1,
            "input": list(run.prompt),
            "chain_of_thought": chain,
            "answer": verdict,
            "flags": flag_documents(run.decoded.flags, wired),
        }
        if wired.printed and wired.variant != "printed":
            document["printed"] = list(wired.printed)
        if args.trace:
            document["trace"] = trace_document(trace, sentence)
        cli.write_json(document)
        return
    if args.trace:
        print_trace(trace, cli.console(), sentence, blocks, model.prompt_registers)
        print()
    if chain:
        print(*chain)
    print(verdict or "no verdict")


def _dump(args: argparse.Namespace, model: Model, wired: Wired, layout: TokenLayout, *, answers: bool) -> None:
    if args.dump_weights == "" and not args.json:
        print_dump(model.construction, wired, cli.console())
        return
    extra = {"layout": layout.name, "model": model.name}
    document = dump_document(model.construction, wired, _examples(model, wired, layout), extra)
    if args.dump_weights == "":
        cli.write_json(document)
        return
    written = save(wired.model, document, Path(args.dump_weights))
    cli.report_written(written, as_json=args.json and not answers)


def _examples(model: Model, wired: Wired, layout: TokenLayout) -> list[Example]:
    """A tree and a graph that is none, with what these weights make of them under the reference engine."""
    n = wired.n
    size = min(n, EXAMPLE_N)
    tree = [(max(1, v // 2), v) if v % 3 else (v, max(1, v // 2)) for v in range(2, size + 1)]
    graphs = [Graph(n, tuple(tree))]
    if size >= 4:  # the same number of edges, one of them moved: a cycle, and a vertex left alone
        graphs.append(Graph(n, (*tree[1:-1], (1, size - 1) if size > 4 else (2, 3), *tree[:1])))
    stop, limit, respond = set(wired.tokens((layout.yes, layout.no))), model.limit(size), model.surroundings(wired)
    examples = []
    for graph in graphs:
        prompt = _prompt(wired, graph, layout)
        try:
            produced = decode_by_reference(wired.model, wired.arithmetic, prompt, stop, limit, respond=respond).produced
        except SearchError:  # a search as printed: there is nothing to expect
            continue
        responses = [False, *(wired.vocabulary[token] == END_SEARCH for token in produced)]
        wanted = [None if response else token for response, token in zip(responses, produced, strict=False)]
        examples.append(Example((*prompt, *produced[:-1]), (*[None] * (len(prompt) - 1), *wanted)))
    return examples


def _write(path: Path, data: bytes) -> None:
    try:
        path.write_bytes(data)
    except OSError as error:
        raise CommandError(f"{path}: {error.strerror or error}") from error


if __name__ == "__main__":
    sys.exit(main())
