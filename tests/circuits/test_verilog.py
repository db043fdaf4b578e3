"""The operations beside plain Verilog, by foreign tools: Yosys makes gates of it, and Berkeley ABC compares them with ours.

The Verilog says what the operations are on signed integers, in the words of that language. It shares nothing with circuits/.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from circuits import aiger_read
from circuits.berkeley_abc import equivalent, find_abc
from circuits.operations import OPERATIONS

YOSYS = shutil.which("yosys")
pytestmark = pytest.mark.skipif(
    YOSYS is None or find_abc() is None, reason="Yosys or Berkeley ABC is not installed: apt install yosys berkeley-abc"
)
SUM = "wire signed [{top}:0] v = {value};"
SAID = """
  wire [{top}:0] size = v < 0 ? -v : v;
  wire [{high}:0] cut = size > {largest} ? {largest} : size;
  assign {{{outputs}}} = {{cut, v >= 0}};
"""
ROUNDED = """
  wire signed [{top}:0] exact = a * b;
  wire [{top}:0] whole = exact < 0 ? -exact : exact;
  wire [{top}:0] floor = whole >> {q};
  wire [{low}:0] rest = whole;
  wire up = rest > {half} || (rest == {half} && floor[0]);
  wire signed [{top}:0] near = floor + up;
  wire signed [{top}:0] v = exact < 0 ? -near : near;
"""
VALUES = {"negate": "-a", "relu": "a < 0 ? 0 : a", "add": "a + b"}


def verilog(name: str, p: int) -> str:
    """A module over R_p: bits x1 … xp of an input, from the most significant one on; the last is 1 if it is not negative."""
    operands = "ab"[: OPERATIONS[name].operands]
    q, top = (p - 1) // 2, 2 * p + 1
    outputs = ["o1"] if name == "compare" else [f"o{i}" for i in range(1, p + 1)]
    ports = [f"input {x}{i}" for x in operands for i in range(1, p + 1)] + [f"output {o}" for o in outputs]
    lines = [f"module operation({', '.join(ports)});"]
    for x in operands:
        size = ", ".join(f"{x}{i}" for i in range(1, p))
        lines.append(f"  wire signed [{p - 1}:0] {x}_size = {{1'b0, {size}}};")
        lines.append(f"  wire signed [{top}:0] {x} = {x}{p} ? {x}_size : -{x}_size;")
    if name == "compare":
        lines.append("  assign o1 = a < b;")
    else:
        if name == "multiply":
            lines.append(ROUNDED.format(top=top, q=q, low=q - 1, half=1 << q - 1))
        else:
            lines.append("  " + SUM.format(top=top, value=VALUES[name]))
        lines.append(SAID.format(top=top, high=p - 2, largest=(1 << p - 1) - 1, outputs=", ".join(outputs)))
    return "\n".join([*lines, "endmodule", ""])


def synthesised(text: str, folder: Path) -> Path:
    """An AIGER file of it."""
    source, target = folder / "operation.v", folder / "operation.aig"
    source.write_text(text, encoding="utf-8")
    script = f"read_verilog {source}; synth -flatten -top operation; aigmap; write_aiger -symbols {target}"
    subprocess.run([str(YOSYS), "-q", "-p", script], check=True, timeout=120)
    return target


@pytest.mark.parametrize(
    ("name", "p"), [(name, p) for name in OPERATIONS for p in (5, 7 if name == "multiply" else 17)]
)
def test_operations_are_what_verilog_says(name: str, p: int, tmp_path: Path) -> None:
    ours, theirs = OPERATIONS[name].circuit(p), aiger_read.read(synthesised(verilog(name, p), tmp_path))
    assert theirs.inputs == ours.inputs
    assert theirs.output_names == ours.output_names
    assert equivalent(ours, theirs, str(find_abc()))


@pytest.mark.parametrize(
    ("right", "wrong"), [("&& floor[0]", "&& !floor[0]"), ("rest >", "rest >="), ("{cut, v >= 0}", "{cut, v > 0}")]
)
def test_a_slip_is_seen(right: str, wrong: str, tmp_path: Path) -> None:
    text = verilog("multiply", 7)
    assert text.count(right) == 1
    theirs = aiger_read.read(synthesised(text.replace(right, wrong), tmp_path))
    assert not equivalent(OPERATIONS["multiply"].circuit(7), theirs, str(find_abc()))
