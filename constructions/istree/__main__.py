"""`python -m constructions.istree`: run a wired model on a graph, show what it does, dump its weights."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING

from constructions.istree.base import Answer, IsTreeModel
from constructions.istree.graph_files import FORMATS, hint, may_be_header, read_graph
from constructions.istree.graphs import Graph, GraphError, parse_edge_list, parse_edges
from constructions.istree.models import DOOR
from constructions.models.door import LARGEST_N
from constructions.models.request import Run
from constructions.show import cli, options
from constructions.show.cli import CommandError, Parser
from constructions.show.command import Command, Job, show_answer

if TYPE_CHECKING:
    from constructions.show.page import Page
    from constructions.show.trace import TokenTrace, Trace

DEFAULT_N = 8  # of a dump without a graph
EDGES = "edges"
EDGE_LIST = "an edge list, one `u v` a line,"
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
  python -m constructions.istree --variant lean --edges "1-2,2-3"
  python -m constructions.istree --printed layer-7 --edges "1-2,4-1,1-3,1-5,6-1"

models:
{models}
  The chain of thought of `transformer` is the walk itself, one vertex a token; `rag` and `hybrid` write searches and positions too.

graphs:
  Simple and undirected, on vertices 1 … n. The order of the edges, and of the two ends of each, is part of the input.
  FILE holds one edge `u v` a line, `#` starts a comment. n is the largest vertex unless --n is given.
  --format says what else it may be: `header` (a first line `n` or `n m`), `weighted` (`u v weight`), csv, adjacency, dimacs,
  matrixmarket, metis; graphml and gml need networkx. A first line that may be a header is refused until --format says what it is.
  Vertices with names get numbers, in the order of the file. An edge that a file has once for each direction is one edge.

tokens:
  paper  <s> u ~ v u ~ v … chain of thought, YES or NO
  eos    [BOS] u - v u - v … [EOS] chain of thought [EOS] TRUE or FALSE: the layout of the paper's released data, transformer only
  Vertices are called 1 … n in both; the released data number them from 0, so add 1 to each of theirs.
  The verdict is reported as YES or NO in both.

findings, for --printed:
{findings}

""" + options.exit_codes(
    "the answer holds up: it is the one that the algorithm gives, the chain of thought included\n"
    "     (as printed: the right verdict; by the Transformer after the beginning of the tour, and for YES after all of it)",
    "the model's answer is another one; stderr says what was expected",
)


def _parser(prog: str) -> Parser:
    parser = Parser(prog, DESCRIPTION, _epilog)
    add = parser.add_argument
    add("stdin", nargs="?", metavar="-", help="read the graph from standard input, as --graph does from a file")
    add("--edges", metavar="EDGES", help='the graph, as "1-2,2-3"')
    add("--graph", metavar="FILE", help="the graph, as an edge list with one `u v` a line; - is standard input")
    add("--format", choices=(EDGES, *FORMATS), help="what FILE is, see below (default: edges)")
    add("--first", type=int, choices=(0, 1), default=1, help="the number of FILE's first vertex (default: 1)")
    add(
        "--n",
        type=cli.whole_number(1, LARGEST_N),
        help=f"number of vertices (default: the largest in the graph, or {DEFAULT_N})",
    )
    options.add_model(parser, DOOR)
    options.add_engine(parser)
    options.add_trace(parser, "show, for each token, what every head attends to and what every block writes")
    options.add_output(parser)
    return parser


def _epilog() -> str:
    return EPILOG.format(models=options.list_models(DOOR), findings=options.list_findings(DOOR))


def _job(args: argparse.Namespace) -> Job[IsTreeModel, Graph]:
    _check(args)
    model = options.open_model(args, DOOR)
    graph = _graph(args)
    n = graph.n if graph is not None else args.n or DEFAULT_N

    return Job(args, model, n, graph)


def _report(job: Job[IsTreeModel, Graph], run: Run, answer: Answer, trace: Trace | None) -> None:
    model, (_, verdict) = job.model, answer

    def sentence(values: Mapping[str, Fraction], produced: str) -> str:
        return model.narrate(values, produced, verdict or "no verdict")

    show_answer(job, run, answer, trace, sentence, model.prompt_registers)


def _page(job: Job[IsTreeModel, Graph], run: Run, answer: Answer) -> Page:
    from constructions.istree.scene import graph_scene, walk_of, walk_sentence, walks
    from constructions.show.page import Page

    graph, (_, verdict) = job.given, answer
    if graph is None:
        raise TypeError("there is no graph")

    def says(token: TokenTrace) -> str:
        return job.model.narrate(token.before_output, token.produced, verdict or "no verdict")

    walk = [] if job.model.tour else walks(run.words, len(run.prompt), marks_first=not job.model.searches)

    def focus(token: TokenTrace) -> Mapping[str, int]:
        return walk[token.position - 1] if walk else walk_of(token.before_output)

    return Page(
        "Is this graph a tree?",
        verdict or "",
        f"n = {graph.n}, {len(graph.edges)} edges",
        graph_scene(graph),
        says,
        lambda token: walk_sentence(walk[token.position - 1]) if walk else "",
        focus,
        job.model.prompt_registers,
    )


def _check(args: argparse.Namespace) -> None:
    """Checks what can be said before any work. Raises CommandError."""
    if args.stdin not in (None, "-"):
        raise CommandError(f"{args.stdin!r} is not understood; write --edges, --graph, or - for standard input")
    graphs = [
        name
        for name, given in (("--edges", args.edges), ("--graph", args.graph), ("-", args.stdin))
        if given is not None
    ]
    if len(graphs) > 1:
        raise CommandError(f"{' and '.join(graphs)}: give the graph once")
    options.check(args, runs=bool(graphs), needs='a graph, as in --edges "1-2,2-3"')


def _graph(args: argparse.Namespace) -> Graph | None:
    path = "-" if args.stdin == "-" else args.graph
    if path is None and (args.format or not args.first):
        raise CommandError(f"{'--format' if args.format else '--first'} is about a file; give --graph FILE or -")
    if args.edges is not None:
        where, text = "", args.edges
    elif path is not None:
        where, text = "standard input: " if path == "-" else f"{path}: ", cli.read_text(path, EDGE_LIST)
    else:
        return None
    if args.format in FORMATS:
        graph = _graph_of_file(args, where, text)
        if graph.n > LARGEST_N:
            raise CommandError(f"{where}{graph.n} vertices are above {LARGEST_N}, the largest n that is wired here")
        return graph
    bare = re.sub(r"#.*", "", text) if where else text

    def line_of(match: re.Match[str]) -> str:
        return where and f"{where}line {len(bare[: match.end()].splitlines())}: "

    if huge := _LONG.search(bare):
        shown = f"{huge[0][:20]}{'…' * (len(huge[0]) > 20)}"
        raise CommandError(f"{line_of(huge)}the number {shown} is above {LARGEST_N}{where and hint(text)}")
    with cli.usage_errors(where):
        if args.edges is None:
            graph = _graph_of_lines(args, text)
        elif not text.strip(" ,\t\n") and args.n is None:
            raise GraphError("--edges is empty; give --n for a graph without edges")
        else:
            graph = parse_edges(text, args.n)
    # So large an n comes from a vertex, as that of --n is bounded.
    if graph.n > LARGEST_N and (largest := re.search(rf"\b0*{graph.n}\b", bare)):
        raise CommandError(f"{line_of(largest)}vertex {graph.n} is above {LARGEST_N}, the largest n that is wired here")
    return graph


def _graph_of_lines(args: argparse.Namespace, text: str) -> Graph:
    """Returns the graph of one edge a line. Raises GraphError, with what the text may be instead."""
    try:
        graph = parse_edge_list(text, args.n, first=args.first)
    except GraphError as error:
        zero = "; is the first vertex 0? Then give --first 0" if args.first and "vertex 0 of" in str(error) else ""
        raise GraphError(f"{error}{'' if args.format else zero or hint(text)}", error.edge) from error
    if args.format is None and may_be_header(graph):
        (n, m), what = graph.edges[0], "an edge or a header (so many vertices, so many edges)"
        raise GraphError(f"the first line, {n} {m}, may be {what}; give --format edges or --format header")
    return graph


def _graph_of_file(args: argparse.Namespace, where: str, text: str) -> Graph:
    with cli.usage_errors(where):
        graph, note = read_graph(text, args.format, args.n, args.first)
    if note:
        cli.remark(note)
    return graph


COMMAND = Command(
    "python -m constructions.istree",
    _parser,
    _job,
    _page,
    _report,
    signed=("--edges", "--n", "--precision"),
    running="searching",
)
main = COMMAND.main


if __name__ == "__main__":
    sys.exit(main())
