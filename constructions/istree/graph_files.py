"""Graph files as people have them: edge lists with a header, DIMACS, MatrixMarket, METIS, adjacency lists, CSV, GraphML, GML.

Each reader gives the edges in the order of the file, since that order is part of the input of IsTree. A file that has each edge
twice, once for each direction, gives it once: at its first place. Weights are left out.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain

from constructions.istree.graphs import Edge, Graph, GraphError

_NUMBER = re.compile(r"[+-]?[0-9]{1,18}")
MOST_SHOWN = 4  # names of vertices in a note


@dataclass(frozen=True)
class GraphFile:
    """What a file says: its edges over its own vertex names, and how many vertices there are (None: those of the edges).

    names: vertices in the order of the file, where they are names instead of numbers.
    """

    edges: tuple[tuple[str, str], ...]
    vertices: int | None = None
    names: tuple[str, ...] = field(default=())


def read_graph(text: str, kind: str, n: int | None = None, first: int = 1) -> tuple[Graph, str]:
    """Returns the graph of a file of this kind, and a note on how vertices were numbered, "" if they kept their numbers.

    kind: a key of `FORMATS`. n: the number of vertices, if the caller knows it. first: the number of the file's first vertex, 0
    or 1. Raises GraphError, with one line.
    """
    file = FORMATS[kind](text)
    if file.vertices is not None and n is not None and n != file.vertices:
        raise GraphError(f"the file says {file.vertices} vertices, and --n says {n}")
    vertices = list(dict.fromkeys((*file.names, *chain.from_iterable(file.edges))))
    known = n if n is not None else file.vertices
    if all(map(_NUMBER.fullmatch, vertices)):
        number = {name: int(name) + 1 - first for name in vertices}
        if first == 1 and 0 in number.values():
            raise GraphError("the file has a vertex 0; vertices are 1 … n here, so give --first 0")
        if not file.names or set(number.values()) <= set(range(1, (known or len(vertices)) + 1)):
            most = max(number.values(), default=1) if known is None else known
            return Graph(most, _once((number[u], number[v]) for u, v in file.edges)), ""
    number = {name: i for i, name in enumerate(vertices, start=1)}
    more = ", …" if len(number) > MOST_SHOWN else ""
    shown = ", ".join(f"{name} → {i}" for name, i in list(number.items())[:MOST_SHOWN])
    edges = _once((number[u], number[v]) for u, v in file.edges)
    return Graph(max(len(number), 1) if known is None else known, edges), f"vertices got numbers: {shown}{more}"


def hint(text: str) -> str:
    """Returns the `--format` that a text seems to need, as part of an error; "" where nothing tells."""
    start = re.sub(r"\A(?:\s*#.*\n)+", "", text[:4000]).lstrip()
    kinds = (kind for pattern, kind in _SIGNS if re.match(pattern, start))
    kind = next(kinds, "")
    if kind in ("", "weighted", "adjacency"):
        kind = _kind_of_lists(text) or kind
    return f"; it looks like {kind}: give --format {kind}" if kind else ""


def _kind_of_lists(text: str) -> str:
    """Returns "metis" or "adjacency" for lines of whole numbers of which one has a single number, else ""."""
    lines = [line.split() for line in text.splitlines() if line.strip() and not line.lstrip().startswith(("#", "%"))]
    if not all(word.isdecimal() for line in lines for word in line) or not any(len(line) == 1 for line in lines[1:]):
        return ""
    counted = len(lines[0]) > 1 and (len(lines) - 1, sum(map(len, lines[1:]))) == (
        int(lines[0][0]),
        2 * int(lines[0][1]),
    )
    return "metis" if counted else "adjacency"


def may_be_header(graph: Graph) -> bool:
    """Returns whether the first edge, n-m, may be a header instead: m edges follow, and none of their vertices is above n."""
    if not graph.edges:
        return False
    (n, m), rest = graph.edges[0], graph.edges[1:]
    return m == len(rest) and all(u <= n and v <= n for u, v in rest)


def _header(text: str) -> GraphFile:
    """Reads a first line `n` or `n m`, then one edge a line; numbers after the two ends are weights."""
    lines = _numbers(text, "#")
    number, head = next(lines, (0, []))
    if not 1 <= len(head) <= 2:
        raise GraphError(f"line {number or 1}: the header is no `n` or `n m`")
    edges = tuple(_ends_of(line, words) for line, words in lines)
    if len(head) == 2 and int(head[1]) != len(edges):
        raise GraphError(f"line {number}: the header says {head[1]} edges, and {len(edges)} follow")
    return GraphFile(edges, int(head[0]))


def _weigh(text: str) -> GraphFile:
    """Reads one `u v weight` a line and leaves out the weight."""
    return GraphFile(tuple(_ends_of(line, words) for line, words in _words(text, "#")))


def _dimacs(text: str) -> GraphFile:
    """Reads `c` comments, `p edge n m`, then `e u v`, or `a u v weight`."""
    vertices, edges = None, []
    for line, words in _words(text, "\0"):
        if words[0] == "p" and len(words) == 4 and _NUMBER.fullmatch(words[2]):
            vertices = int(words[2])
        elif words[0] in ("e", "a") and len(words) >= 3:
            edges.append((words[1], words[2]))
        elif words[0] not in ("c", "n", "d", "v", "x"):
            raise GraphError(f"line {line}: {' '.join(words)[:40]!r} is no line of DIMACS")
    if vertices is None:
        raise GraphError("there is no line `p edge n m`, as DIMACS has")
    return GraphFile(tuple(edges), vertices)


def _matrix_market(text: str) -> GraphFile:
    """Reads `%%MatrixMarket matrix coordinate …`, a line `rows columns entries`, then `row column [value]`."""
    if not re.match(r"%%MatrixMarket\s+matrix\s+coordinate\b", text, re.IGNORECASE):
        raise GraphError("line 1: expected %%MatrixMarket matrix coordinate …")
    lines = _numbers(text, "%")
    number, size = next(lines, (0, []))
    if len(size) != 3 or size[0] != size[1]:
        raise GraphError(f"line {number or 1}: expected `n n entries`, the size of a square matrix")
    return GraphFile(tuple(_ends_of(line, words) for line, words in lines), int(size[0]))


def _metis(text: str) -> GraphFile:
    """Reads a line `n m`, then for each vertex a line of its neighbours. Refuses a third number, which announces weights."""
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("%")]
    head = lines[0].split() if lines else []
    if len(head) not in (2, 3) or not all(map(_NUMBER.fullmatch, head)) or (len(head) == 3 and int(head[2])):
        raise GraphError("line 1: expected `n m`, as METIS has for a graph without weights")
    n, m = int(head[0]), int(head[1])
    rows = lines[1 : n + 1]
    if len(rows) < n or any(line.strip() for line in lines[n + 1 :]):
        raise GraphError(f"the first line says {n} vertices, but {len(lines) - 1} lines follow")
    edges = tuple((str(u), v) for u, row in enumerate(rows, start=1) for v in row.split())
    if len(edges) != 2 * m:
        raise GraphError(f"the first line says {m} edges, which are {2 * m} neighbours; there are {len(edges)}")
    return GraphFile(edges, n)


def _adjacency(text: str) -> GraphFile:
    """Reads on each line a vertex, then its neighbours; a colon after the vertex is allowed."""
    rows = [(words[0].rstrip(":"), [w for w in words[1:] if w != ":"]) for _, words in _words(text, "#")]
    return GraphFile(tuple((u, v) for u, others in rows for v in others), None, tuple(u for u, _ in rows))


def _csv(text: str) -> GraphFile:
    """Reads two columns, leaves out more; a first row whose ends are not both like those that follow is a head."""
    try:
        dialect: type[csv.Dialect] | csv.Dialect = csv.Sniffer().sniff(text[:4000], delimiters=",;\t")
    except csv.Error:
        dialect = csv.excel
    rows = [
        (i, [cell.strip() for cell in row]) for i, row in enumerate(csv.reader(io.StringIO(text), dialect), start=1)
    ]
    rows = [(i, row) for i, row in rows if any(row)]
    if short := next((i for i, row in rows if len(row) < 2 or not row[0] or not row[1]), None):
        raise GraphError(f"line {short}: a row has the two ends of an edge")
    numeric = [all(map(_NUMBER.fullmatch, row[:2])) for _, row in rows]
    if rows and not numeric[0] and (all(numeric[1:]) or rows[0][1][0].lower() in _HEADS):
        rows = rows[1:]
    return GraphFile(tuple((row[0], row[1]) for _, row in rows))


_HEADS = ("source", "from", "u", "src", "node1", "start", "a")


def _networkx(reader: str) -> Callable[[str], GraphFile]:
    """Returns a reader of networkx, by its name."""

    def read(text: str) -> GraphFile:
        try:
            import networkx
        except ImportError:
            raise GraphError(f"reading {reader} needs networkx: pip install networkx") from None
        try:
            graph = getattr(networkx, f"parse_{reader}")(text)
        except Exception as error:  # its readers raise whatever the XML or the grammar makes them
            raise GraphError(f"networkx reads no {reader} in it: {' '.join(str(error).split())[:200]}") from error
        edges = tuple((str(u), str(v)) for u, v in graph.edges())
        return GraphFile(edges, graph.number_of_nodes(), tuple(map(str, graph.nodes())))

    return read


FORMATS: dict[str, Callable[[str], GraphFile]] = {
    "header": _header,
    "weighted": _weigh,
    "csv": _csv,
    "adjacency": _adjacency,
    "dimacs": _dimacs,
    "matrixmarket": _matrix_market,
    "metis": _metis,
    "graphml": _networkx("graphml"),
    "gml": _networkx("gml"),
}
_SIGNS = (
    (r"%%MatrixMarket", "matrixmarket"),
    (r"(?:c\b.*\n\s*)*p\s+\w+\s+\d+\s+\d+", "dimacs"),
    (r"(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)*<graphml", "graphml"),
    (r"(?s)(?:Creator.*?\n|Version.*?\n|\s)*graph\s*\[", "gml"),
    (r"\d+\s*\n\s*\d+\s+\d+\s*(?:\n|$)", "header"),
    (r"\d+[ \t]+\d+[ \t]+(?:[-+.\deE]+|\{.*\})[ \t]*(?:\n|$)", "weighted"),
    (r"[^\n,;\t]+[,;\t][^\n]+\n", "csv"),
    (r"(?:[\d \t]+\n)*?\d+(?:[ \t]*:|(?:[ \t]+\d+){3})", "adjacency"),
)


def _words(text: str, comment: str) -> Iterator[tuple[int, list[str]]]:
    """Yields the words of each line that has some, with its number."""
    for number, line in enumerate(text.splitlines(), start=1):
        if words := line.split(comment, 1)[0].split():
            yield number, words


def _numbers(text: str, comment: str) -> Iterator[tuple[int, list[str]]]:
    """Yields the words of each line, of which the first two are whole numbers. Raises GraphError."""
    for line, words in _words(text, comment):
        for word in words[:2]:
            if not _NUMBER.fullmatch(word):
                raise GraphError(f"line {line}: {word[:40]!r} is not a whole number")
        yield line, words


def _ends_of(line: int, words: list[str]) -> tuple[str, str]:
    if len(words) < 2:
        raise GraphError(f"line {line}: {' '.join(words)[:40]!r} is not an edge; write two vertices")
    return words[0], words[1]


def _once(edges: Iterable[Edge]) -> tuple[Edge, ...]:
    """Returns the edges without those that repeat another one the other way round; the first of the two stays."""
    seen: dict[Edge, None] = {}
    for u, v in edges:
        if u == v or (v, u) not in seen:  # a self-loop stays, and is refused by `Graph`
            if (u, v) in seen:
                raise GraphError(f"edge {u}-{v} repeats itself; a simple graph has each edge once")
            seen[u, v] = None
    return tuple(seen)
