"""`python -m constructions.istree`: run a wired model on a graph, show what it does, dump its weights."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from pathlib import Path

from constructions.engines import Decode
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
from constructions.models.construction import Example
from constructions.show import cli, options
from constructions.show.cli import CommandError, Parser
from constructions.show.options import LARGEST_N
from constructions.show.run import Run, run_document, run_model, worked_examples
from constructions.show.trace import print_trace, trace_document
from constructions.show.trace_html import html_page
from constructions.wiring.wired import Wired
from precision.format import Discipline

PROG = "python -m constructions.istree"
DEFAULT_N = 8  # of a dump without a graph
EDGE_LIST = "an edge list, one `u v` a line,"
EXAMPLE_N = 12  # vertices of a worked example that does not have all
MOST_WALKED, MOST_SEARCHED = 60_000, 4_000  # tokens of a worked example that has all; with searches in it
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
  2  usage: something is wrong with the input, it needs more memory than there is, or the output cannot be written
  3  unknown: interrupted
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command; returns its exit code."""
    return cli.run_command(PROG, _command, argv)


def _parser() -> Parser:
    models = [model.construction for model in MODELS.values()]
    epilog = EPILOG.format(models=options.list_models(models), findings=options.list_findings(models))
    parser = Parser(PROG, DESCRIPTION, epilog)
    add = parser.add_argument
    add("stdin", nargs="?", metavar="-", help="read the graph from standard input, as --graph does from a file")
    add("--edges", metavar="EDGES", help='the graph, as "1-2,2-3"')
    add("--graph", metavar="FILE", help="the graph, as an edge list with one `u v` a line; - is standard input")
    add(
        "--n",
        type=cli.whole_number(1, LARGEST_N),
        help=f"number of vertices (default: the largest in the graph, or {DEFAULT_N})",
    )
    add("--tokens", choices=tuple(LAYOUTS), default="paper", help="token layout, see below (default: paper)")
    options.add_model(parser, models, TRANSFORMER.name)
    options.add_engine(parser)
    add(
        "--trace",
        action="store_true",
        help="show, for each token, what every head attends to and what every block writes",
    )
    add("--html", metavar="PATH", type=Path, help="write the run as a page to step through in a browser")
    options.add_output(parser)
    return parser


def _command(argv: Sequence[str]) -> int:
    args = _parser().parse_args(cli.attach_negative_values(argv, ("--edges", "--n", "--precision")))
    _check(args)
    model, layout = MODELS[args.model], LAYOUTS[args.tokens]
    graph = _graph(args)
    n = graph.n if graph is not None else args.n or DEFAULT_N
    about, decode = model.construction, options.engine(args)
    with cli.progress(f"wiring n = {n:,}"), cli.usage_errors():
        wired = model.build(n, args.precision, layout, options.findings(args, about), Discipline(args.discipline))
    if args.dump_weights is not None:
        extra = {"layout": layout.name, "model": model.name}
        options.dump_weights(args, about, wired, _examples(model, wired, layout), extra, run=graph is not None)
    if graph is None:
        return cli.HOLDS
    run = _run(model, wired, graph, layout, decode, keep=args.trace or args.html is not None)
    options.say_engine(args, run.decoded)
    complaint = _judge(run, wired, model, graph, layout)
    _report(args, wired, run, model, graph, layout)
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
    if args.html is not None:
        cli.check_writable(args.html, "--html", force=args.force)
    options.check(args, run="the graph" if graphs else "")


def _graph(args: argparse.Namespace) -> Graph | None:
    path = "-" if args.stdin == "-" else args.graph
    if args.edges is not None:
        where, text = "", args.edges
    elif path is not None:
        where, text = "standard input: " if path == "-" else f"{path}: ", cli.read_text(path, EDGE_LIST)
    else:
        return None
    bare = re.sub(r"#.*", "", text) if where else text

    def line_of(found: re.Match[str]) -> str:
        return where and f"{where}line {len(bare[: found.end()].splitlines())}: "

    if huge := _LONG.search(bare):
        raise CommandError(f"{line_of(huge)}the number {huge[0][:20]}{'…' * (len(huge[0]) > 20)} is above {LARGEST_N}")
    with cli.usage_errors(where):
        if args.edges is None:
            graph = parse_edge_list(text, args.n)
        elif not text.strip(" ,\t\n") and args.n is None:
            raise GraphError("--edges is empty; give --n for a graph without edges")
        else:
            graph = parse_edges(text, args.n)
    largest = re.search(rf"\b0*{graph.n}\b", bare)
    if graph.n > LARGEST_N and largest:  # a vertex then, as --n is not so large
        raise CommandError(f"{line_of(largest)}vertex {graph.n} is above {LARGEST_N}, the largest n that is wired here")
    return graph


def _run(model: Model, wired: Wired, graph: Graph, layout: TokenLayout, decode: Decode, keep: bool) -> Run:
    return run_model(
        wired,
        _prompt(wired, graph, layout),
        _stop(wired, layout),
        model.limit(graph.n),
        decode,
        guess=_guess(model, wired, graph, layout),
        respond=model.surroundings(wired),
        title="searching",
        keep=keep,
    )


def _prompt(wired: Wired, graph: Graph, layout: TokenLayout) -> list[int]:
    vocabulary = layout.vocabulary(graph.n)
    return wired.tokens(vocabulary[token] for token in layout.prompt(graph))


def _stop(wired: Wired, layout: TokenLayout) -> set[int]:
    return set(wired.tokens((layout.yes, layout.no)))


def _judge(run: Run, wired: Wired, model: Model, graph: Graph, layout: TokenLayout) -> str:
    """What is wrong with the answer; "" if it holds up."""
    expected = tuple(model.expected(graph, layout))
    if run.produced == expected:
        return ""
    chain, verdict = _answer(run.produced, layout)
    if wired.printed and verdict is not None:
        tour = [str(v) for v in depth_first_tour(graph)]
        tree = is_tree(graph)
        right = verdict == ("YES" if tree else "NO")
        if right and (not model.tour or (chain == tour if tree else chain == tour[: len(chain)])):
            return ""
    right_chain, right_verdict = _answer(expected, layout)
    ending = f"says {verdict} {_after(chain)}" if verdict else f"gives no verdict within {len(run.produced)} tokens"
    algorithm = "Algorithm 1" if model.tour else "the algorithm"
    return f"the model {ending}; {algorithm} says {right_verdict} {_after(right_chain)}"


def _after(chain: Sequence[str]) -> str:
    return f"after {' '.join(chain)}" if chain else "at once"


def _answer(produced: Sequence[str], layout: TokenLayout) -> tuple[list[str], str | None]:
    """The chain of thought and the verdict, YES or NO in either layout, None if there is none."""
    verdict = {layout.yes: "YES", layout.no: "NO"}.get(produced[-1])
    chain = list(produced if verdict is None else produced[:-1])
    if verdict is not None and layout.end_of_prompt is not None and chain[-1:] == [layout.end_of_prompt]:
        chain.pop()
    return chain, verdict


def _report(args: argparse.Namespace, wired: Wired, run: Run, model: Model, graph: Graph, layout: TokenLayout) -> None:
    about, (chain, verdict) = model.construction, _answer(run.produced, layout)

    def sentence(values: Mapping[str, Fraction], produced: str) -> str:
        return model.narrate(values, produced, verdict or "no verdict")

    blocks = about.blocks if len(wired.blocks) == len(about.blocks) else {}
    if args.html is not None:
        page = html_page(run.trace, graph, verdict, sentence, blocks, model.prompt_registers, about)
        _write(args.html, page.encode())
    if args.json:
        document = run_document(args, wired, run.prompt, chain, verdict, run.decoded)
        if args.trace:
            document["trace"] = trace_document(run.trace, sentence)
        cli.write_json(document)
        return
    if args.trace:
        print_trace(run.trace, cli.console(), sentence, blocks, model.prompt_registers)
        print()
    if chain:
        print(*chain)
    print(verdict or "no verdict")


def _examples(model: Model, wired: Wired, layout: TokenLayout) -> Iterator[Example]:
    """A tree, or a part of the graph that is one where a run over all n vertices is too long; and a graph with a cycle."""
    n, size = wired.n, min(wired.n, EXAMPLE_N)
    most = MOST_SEARCHED if model.searches else MOST_WALKED
    whole = n == size or (3 * n + model.limit(n) <= most and not wired.printed)  # as printed, it may go on for ever
    graphs = [Graph(n, tuple(_tree(n)))] if whole else []
    if n >= 4:  # three of the first vertices are a cycle; as many edges as a tree has, where the model counts them
        rest = size if model.searches else n
        graphs.append(Graph(n, ((1, 2), (3, 2), (1, 3), *((max(1, v // 2), v) for v in range(4, rest)))))
    if not whole and n >= size + 3:  # a tree on the first vertices, a cycle on the others
        others = range(size + 1, n)
        cycle = [] if model.searches else [*((v, v + 1) for v in others), (n, size + 1)]
        graphs.append(Graph(n, (*_tree(size), *cycle)))
    runs = ((_prompt(wired, graph, layout), _guess(model, wired, graph, layout)) for graph in graphs)
    limit = model.limit(size if wired.printed else n)
    return worked_examples(wired, runs, _stop(wired, layout), limit, model.surroundings(wired))


def _tree(n: int) -> list[tuple[int, int]]:
    """A tree in which a vertex has up to two children, its edges this way and that."""
    return [(max(1, v // 2), v) if v % 3 else (v, max(1, v // 2)) for v in range(2, n + 1)]


def _guess(model: Model, wired: Wired, graph: Graph, layout: TokenLayout) -> list[int]:
    """What should follow, if the vocabulary has it: searches as printed are others."""
    expected = model.expected(graph, layout)
    return wired.tokens(expected) if wired.token.keys() >= set(expected) else []


def _write(path: Path, data: bytes) -> None:
    try:
        path.write_bytes(data)
    except OSError as error:
        raise CommandError(f"{path}: {error.strerror or error}") from error


if __name__ == "__main__":
    sys.exit(main())
