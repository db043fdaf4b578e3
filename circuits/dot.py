"""Circuits as Graphviz DOT: inputs on the left, outputs on the right."""

from __future__ import annotations

from circuits.circuit import Circuit, GateKind

_STYLE = {
    GateKind.ONE: 'label="1", shape=box, style=filled, fillcolor="#eeeeee"',
    GateKind.AND: 'label="∧", shape=circle, style=filled, fillcolor="#cfe3f7"',
    GateKind.XOR: 'label="⊕", shape=circle, style=filled, fillcolor="#f9e2c2"',
}
_NOT = 'label="¬", shape=circle, style=filled, fillcolor="#ffffff"'


def dot_text(circuit: Circuit, title: str) -> str:
    """Returns the text of a DOT file. A negation, XOR with 1, is drawn as one."""
    lines = [
        f"digraph {_quote(title)} {{",
        f"  rankdir=LR; label={_quote(title)}; labelloc=t; ranksep=0.3; nodesep=0.12;",
        '  node [fontname="Helvetica", fontsize=11, width=0.28, height=0.28, margin="0.04,0.02"];',
        "  edge [arrowsize=0.5];",
    ]
    ones = {i for i, gate in enumerate(circuit.gates) if gate.kind is GateKind.ONE}
    visible = set(circuit.outputs) | set(circuit.next_state)
    edges: list[tuple[int, int]] = []
    nodes: dict[int, str] = {}
    for i, gate in enumerate(circuit.gates):
        if gate.computes:
            operands = {gate.left, gate.right}
            negation = gate.kind is GateKind.XOR and len(operands - ones) == 1 and len(operands) == 2
            nodes[i] = _NOT if negation else _STYLE[gate.kind]
            edges += [(operand, i) for operand in sorted(operands - ones if negation else operands)]
        elif gate.kind is not GateKind.ONE:
            name = (circuit.inputs if gate.kind is GateKind.INPUT else circuit.states)[gate.left]
            nodes[i] = f"label={_quote(name)}, shape=plaintext"
    visible |= {operand for operand, _ in edges}
    nodes |= dict.fromkeys(ones & visible, _STYLE[GateKind.ONE])
    lines += [f"  g{i} [{style}];" for i, style in nodes.items()]
    lines += [f"  g{operand} -> g{i};" for operand, i in edges]
    ends = [*zip(circuit.output_names, circuit.outputs, strict=True)]
    ends += [(f"next {name}", i) for name, i in zip(circuit.states, circuit.next_state, strict=True)]
    for number, (name, i) in enumerate(ends):
        lines += [f"  o{number} [label={_quote(name)}, shape=plaintext];", f"  g{i} -> o{number};"]
    return "\n".join([*lines, "}"]) + "\n"


def _quote(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
