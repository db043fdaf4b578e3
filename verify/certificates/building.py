"""A construction's model for any n. Its numbers have rows of powers, which are data of the wiring: a few are listed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from constructions import counting, index, ngram, recall
from constructions.istree import hybrid as hybrid_search
from constructions.istree import lean, transformer
from constructions.istree import rag as rag_search
from constructions.istree.graphs import Layout
from constructions.istree.models import MODELS as GRAPH_MODELS
from constructions.models.program import Family
from constructions.parts.heads.match import FINDING as SCORE_RANGE
from constructions.parts.heads.match import printed_room
from constructions.retrieval.rag import Searcher, families
from constructions.retrieval.retriever import Plan, Retriever
from constructions.turing import configurations as space
from constructions.turing import cot, hybrid, rag
from constructions.turing.door import given_machine, is_named, named_machine
from constructions.turing.machine import parse_standard
from constructions.turing.models import MODELS as TURING
from constructions.turing.models import TuringModel
from constructions.turing.tape_models import TaskOfAnySize
from constructions.wiring.finding import Finding
from constructions.wiring.part import Setting, printed_precision
from constructions.wiring.wired import Wired
from precision.format import Arithmetic, Discipline, fixed_point
from verify.algebra.domains import Undecided
from verify.algebra.symbolic import symbol
from verify.automata import configurations, language, searches, tapes
from verify.automata.language import Language
from verify.certificates.matrices import LARGEST_TABLE, require_same
from verify.rounding.model import Listed, Model, planned

LEAST = 4
LARGEST_N = 1 << 64  # up to which each n lies in an interval that is looked at
ENDLESS = -1
FEW = 5  # numbers that are listed where only their rows' powers are asked for
RETRIEVERS: dict[str, Retriever] = {
    module.TRANSFORMER.task.name: module.TRANSFORMER for module in (index, recall, ngram, counting)
}
MODELS: dict[tuple[str, str], Retriever] = {
    (retriever.task.name, retriever.model): retriever
    for module in (index, recall, ngram, counting)
    for retriever in module.RETRIEVERS
}
OTHERS = {
    ("istree", "transformer"): transformer.FINDINGS,
    ("istree", "hybrid"): hybrid_search.FINDINGS,
    ("istree", "rag"): rag_search.FINDINGS,
    ("turing", "rag"): rag.FINDINGS,
    ("turing", "hybrid"): hybrid.FINDINGS,
    ("turing", "cot"): cot.FINDINGS,
}
COVERED = (*RETRIEVERS, "istree", "turing")
# Which models are followed above 2^64, their programs and their rounding; and of which both at once only under `fused`.
ABOVE = frozenset({*MODELS, *(of for of in OTHERS if of != ("turing", "cot"))})
FUSED_ABOVE = frozenset({("istree", "transformer"), ("istree", "hybrid")})
DEFAULT_MACHINE = "bb2"


@dataclass(frozen=True)
class Subject:
    """Which model, and which inputs. last: if given, for every n from `n` to there; ENDLESS: for every n from `n` on.

    length: the most tokens of a sequence.

    n: steps, of a Turing machine; machine: in the standard text format; cells: the space of a tape that turns around. all_cells:
    n to last are numbers of cells, which float64 need not reach; of each, as many steps as there are configurations.
    precision_bits: by default the least. layout: of a graph's tokens. lean: the variant of istree.
    """

    construction: str
    n: int
    length: int | None = None
    precision_bits: int | None = None
    discipline: Discipline = Discipline.FUSED
    printed: tuple[str, ...] = ()
    query_length: int | None = None
    layout: Layout = "paper"
    lean: bool = False
    model: str = "transformer"
    machine: str = ""
    tape: str = ""
    cells: int | None = None
    last: int = 0
    all_cells: bool = False

    @property
    def turing(self) -> TuringModel:
        """The builder of a Turing machine's model."""
        return replace(TURING[self.model], machine=parse_standard(self.machine), tape=self.tape, cells=self.cells)

    @property
    def task(self) -> TaskOfAnySize | space.TaskOfAnySize:
        """What that is wired for."""
        one = space.TaskOfAnySize if self.all_cells else space.Task
        task = one if self.model == "cot" else TaskOfAnySize
        return task(parse_standard(self.machine), self.n, self.tape, self.cells)

    @property
    def retriever(self) -> Retriever:
        """The builder of a retrieval task's model."""
        return MODELS[self.construction, self.model]


def is_covered(construction: str, model: str) -> bool:
    """Whether the checker knows the inputs of this model."""
    return (construction, model) in MODELS or (construction, model) in OTHERS


def findings_of(construction: str, model: str = "transformer") -> Sequence[Finding]:
    """What a construction can put back to print."""
    return OTHERS[construction, model] if (construction, model) in OTHERS else MODELS[construction, model].findings


def every_n(subject: Subject, *, theorem: bool = False) -> Subject:
    """For every n from its own on, as far as numbers in place of n are followed. theorem: for rounding and program at once."""
    own = (subject.construction, subject.model)
    followed = own in ABOVE and not subject.lean
    if theorem and subject.discipline is Discipline.SEQUENTIAL:
        followed &= own not in FUSED_ABOVE
    return replace(subject, last=ENDLESS if followed else LARGEST_N)


def every_cells(subject: Subject) -> Subject:
    """For every number of cells."""
    return replace(subject, n=1, last=ENDLESS, all_cells=True)


def at_size(subject: Subject, size: int) -> Subject:
    """For one n, or one number of cells m: then b^m steps, as many as there are rows of m digits, and any word."""
    if not subject.all_cells:
        return replace(subject, n=size, last=0)
    bits = space.Code(parse_standard(subject.machine)).bits
    return replace(subject, n=1 << bits * size, cells=size, last=0, tape="")


def in_case(subject: Subject, n: Any) -> tuple[Subject, ...]:
    """What is asked of a case whose numbers n stands for: that n; or the even and the odd m of which ⌊m/2⌋ is n's bit length."""
    bits = n.bit_length() if subject.all_cells else 0
    return tuple(at_size(subject, size) for size in ((2 * bits, 2 * bits + 1) if subject.all_cells else (n,)))


def least(subject: Subject) -> int:
    """The first n that the rules cover."""
    return 1 if subject.construction == "turing" else LEAST


def families_of(subject: Subject) -> list[Listed]:
    """The numbers of a model's vocabulary."""
    own_families: Sequence[Family]
    if subject.construction == "turing":
        task = subject.task
        own_families = (
            configurations.families(task)
            if isinstance(task, space.TaskOfAnySize)
            else tapes.FAMILIES[subject.model](task)
        )
    elif subject.construction == "istree" and subject.model in searches.FAMILIES:
        own_families = searches.FAMILIES[subject.model](subject.n)
    elif subject.construction == "istree" or not isinstance(retriever := subject.retriever, Searcher):
        return [Listed("", 1, subject.n)]
    else:
        script = retriever.script(subject.query_length or retriever.query_length, frozenset(subject.printed))
        own_families = families(retriever.task, subject.n, script)
    return [Listed(family.name, family.low, family.high, family.text) for family in own_families]


def precision_of(subject: Subject) -> int:
    """The p that is asked for, or the one that the model is built with."""
    if subject.precision_bits is not None:
        return subject.precision_bits
    as_printed = SCORE_RANGE.id in subject.printed
    if as_printed and subject.construction == "istree":
        return printed_precision(subject.n)
    if subject.lean:
        return lean.least_precision(subject.n, subject.discipline, layout=subject.layout)
    if subject.construction == "turing":
        turing = subject.turing
        return turing.least_precision(turing.machine, steps=subject.n, **turing.task, discipline=subject.discipline)
    if subject.construction == "istree":
        least = {"hybrid": hybrid_search.least_precision, "rag": rag_search.least_precision}
        return least.get(subject.model, transformer.least_precision)(subject.n, subject.discipline)
    retriever = subject.retriever
    bits = retriever.least_precision(subject.n, subject.discipline, query_length=subject.query_length)
    return max(bits, printed_room(subject.n)) if as_printed else bits


def build(subject: Subject) -> tuple[Model, Language]:
    """The model and its inputs. Raises ValueError for a subject that makes no sense, Undecided for one beyond the rules.

    Raises OtherMatrices where the matrices that users get are not those of the exact layers.
    """
    model, language, _ = build_beside(subject)
    return model, language


def build_beside(subject: Subject) -> tuple[Model, Language, Wired | None]:
    """The same with the matrices that users get, see `compared`; None where n is no number."""
    if subject.n < least(subject) or (subject.length or LEAST) < LEAST:
        raise Undecided(
            "the input",
            f"n and the length must be at least {LEAST}: below, a rule cannot tell a number from a position",
        )
    model = model_of(subject)
    wired = compared(subject, model) if isinstance(subject.n, int) else None
    return model, language_of(subject), wired


def solver_of(subject: Subject) -> Any:
    """What builds and asks the models of a subject."""
    if subject.construction == "turing":
        return subject.turing
    if subject.construction == "istree":
        return GRAPH_MODELS[subject.model, subject.layout].of("lean" if subject.lean else "repaired")
    retriever = subject.retriever
    return replace(retriever, query_length=subject.query_length or retriever.query_length)


def wired_of(subject: Subject, listed: int | None = None) -> Wired:
    """The model as matrices, by the builder that users call. listed: how many numbers of each family the embedding lists.

    Raises ValueError where users get none: p is too small, or a weight needs more digits than float64 has.
    """
    how: dict[str, Any] = {"printed": subject.printed, "discipline": subject.discipline}
    if subject.model != "cot":  # its words do not depend on n
        how["listed"] = listed
    n = 1 if subject.all_cells else subject.n  # its weights are those of the cells, for any number of steps
    wired: Wired = solver_of(subject).build(n, subject.precision_bits, **how)
    return wired


def can_be_written(subject: Subject, model: Model) -> bool:
    """Whether all numbers of the vocabulary are compared, and the model's file has a digest: a bounded table of them."""
    return sum(family.high - family.low + 1 for family in families_of(subject)) * len(model.registers) <= LARGEST_TABLE


def compared(subject: Subject, model: Model, *, few: bool = False) -> Wired | None:
    """The matrices that users get for the subject, held against a model that stands for it; None if they get none.

    few: list a few numbers only, as is done where a table of all would be too large. Raises OtherMatrices where they differ.
    """
    listed = None if can_be_written(subject, model) and not few else min(FEW, subject.n)
    try:
        wired = wired_of(subject, listed)
    except ValueError:
        return None
    require_same(model, wired, subject.n, families_of(subject))
    return wired


def _compared_sizes(subject: Subject, model: Model, low: int, high: int, *, one: bool) -> tuple[int, ...]:
    """The n of an interval at which its model is held against matrices: both ends, and one that a hash of the weights chooses.

    one: only one of these, which the hash chooses too.
    """
    number = int(model.digest, 16)
    sizes = sorted({low, low + number % (high - low + 1), high})
    if one:
        sizes = [sizes[number % len(sizes)]]
    return tuple(n for n in sizes if compared(replace(subject, n=n), model, few=True) is not None)


def language_of(subject: Subject) -> Language:
    """The inputs."""
    n = subject.n
    if subject.construction == "turing":
        task = subject.task
        return configurations.turing(task) if isinstance(task, space.TaskOfAnySize) else texts(subject, n, n)
    if subject.construction == "istree":
        return texts(subject, n, n)
    retriever = subject.retriever
    query_length = subject.query_length or retriever.query_length
    prompts = language.retrieval(subject.construction, n, subject.length or n, query_length)
    if not isinstance(retriever, Searcher):
        return prompts
    script = retriever.script(query_length, frozenset(subject.printed))
    return language.searching(prompts, script, families(retriever.task, n, script))


def of_machine(subject: Subject, text: str | None, tape: str | None) -> Subject:
    """The subject for a machine, by its name, a file or its rules, by default BB(2), and a word, by default the machine's own.

    Raises CommandError, ValueError.
    """
    text = DEFAULT_MACHINE if text is None else text
    if is_named(text):
        machine, word = named_machine(text, tape)
    else:
        pasted = given_machine(text)
        machine, word = pasted.machine, pasted.tape(tape or "")
    machine.word(word)
    return replace(subject, machine=str(machine), tape=word)


def texts(subject: Subject, low: int, high: int) -> Language:
    """Of a graph or a Turing machine: the inputs for every n from low to high."""
    return (_tapes if subject.construction == "turing" else _graphs)(subject, low, high)


def _tapes(subject: Subject, low: int, high: int) -> Language:
    """The texts of a model that writes its tape, for every number of steps from low to high."""
    n: Any = symbol(low, high) if low < high else low
    task = replace(subject, n=n).task
    if not isinstance(task, TaskOfAnySize):
        raise TypeError(f"the texts of {subject.model} are not those of a tape")
    texts = tapes.turing(task, subject.model, rag.tape_search(frozenset(subject.printed)), (low, high))
    if low < high and n.sizes.high != high:
        raise TypeError(f"the texts ask of n what the builder has not: n = {low} … {high} is cut at {n.sizes.high}")
    return texts


def _graphs(subject: Subject, low: int, high: int) -> Language:
    """The texts of a model of IsTree, for every n from low to high."""
    if subject.model == "hybrid":
        return searches.of_hybrid(low, high)
    if subject.model == "rag":
        limited = subject.discipline is Discipline.SEQUENTIAL and not subject.printed
        return searches.of_rag(low, high, frozenset(subject.printed), limited=limited)
    return language.istree(low, high, subject.layout)


def model_of(subject: Subject) -> Model:
    """The model, for any n from 1 on. Raises ValueError for a subject that makes no sense."""
    n, few, finding_ids = subject.n, min(subject.n, FEW), frozenset(subject.printed)
    fmt = fixed_point(precision_of(subject))
    if subject.construction == "turing":
        task, arithmetic = subject.task, Arithmetic(fmt, subject.discipline)
        if isinstance(task, space.TaskOfAnySize):
            arithmetic = Arithmetic(cot.format_for(task, subject.precision_bits), subject.discipline)
            return planned(*cot.plan(task), arithmetic, families_of(subject), rounded=False)
        cells = task.around(FEW)
        if subject.model == "hybrid":
            embedding, blocks = hybrid.plan(task, fmt, printed=finding_ids, cells=cells)
        else:
            embedding, blocks = rag.plan(task, printed=finding_ids, cells=cells)
        return planned(embedding, blocks, arithmetic, families_of(subject), rounded=False)
    if subject.lean:
        embedding, blocks = lean.plan(n, fmt, layout=subject.layout, vertices=few)
    elif subject.construction == "istree" and subject.model == "hybrid":
        embedding, blocks = hybrid_search.plan(n, fmt, printed=finding_ids, vertices=few)
    elif subject.construction == "istree" and subject.model == "rag":
        embedding, blocks = rag_search.plan(n, printed=finding_ids, vertices=few)
    elif subject.construction == "istree":
        embedding, blocks = transformer.plan(n, fmt, layout=subject.layout, printed=finding_ids, vertices=few)
    else:
        retriever = subject.retriever
        query_length = subject.query_length or retriever.query_length
        plan = Plan(Setting(n, retriever.sequence_length(n, query_length), fmt), query_length, finding_ids)
        embedding = retriever.listing(plan, few)
        blocks = tuple(retriever.blocks(plan))
    arithmetic = Arithmetic(fmt, subject.discipline)
    return planned(embedding, blocks, arithmetic, families_of(subject), rounded=bool(finding_ids))


def sized(subject: Subject, end: int) -> tuple[Model, Language, int]:
    """As `sized_beside`, but for where it was compared."""
    model, language, high, _ = sized_beside(subject, end)
    return model, language, high


def sized_beside(subject: Subject, end: int, *, one: bool = False) -> tuple[Model, Language, int, tuple[int, ...]]:
    """One model for all sizes from the subject's n to the one that is returned, at most `end`; n is an atom of it and its inputs.

    The last value: the n at which it was held against the matrices that users get: three or, if `one` says so, one of them; fewer
    where users get none. Raises OtherMatrices if they differ.

    The builder is given n as a symbol, so its weights are what it makes for each of these n, at the same p.
    """
    low, n = subject.n, symbol(subject.n, end)
    try:
        p = precision_of(replace(subject, n=n))
        model = model_of(replace(subject, n=n, precision_bits=p))
        high = n.sizes.high
    except TypeError:  # it asks for what is another number at each n
        high = low
    if high == low:
        model = model_of(subject)
    largest = families_of(replace(subject, n=high))
    ranges = {one.family: replace(model.families[one.family], low=one.low, high=one.high) for one in largest}
    model = replace(model, families=ranges)
    sizes = _compared_sizes(subject, model, low, high, one=one)
    if subject.construction in ("istree", "turing"):
        return model, texts(subject, low, high), high, sizes
    # The inputs of the largest size contain those of all others.
    return model, replace(language_of(replace(subject, n=high)), sizes=(low, high)), high, sizes
