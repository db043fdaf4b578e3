"""What is claimed of every model: that rounding is sound, and which program the weights are, for every input and every n.

A row of `MODELS` has what differs from model to model: names, words, and the sizes that a run certifies anew. Which documents of
every n there are, and from which n on models are followed in cases, the dossiers say. What a program should be differs too much:
each definition is compared with its oracle in a file of its own, and `explained` there does the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from constructions.language.interpreter import Input
from constructions.language.terms import Answer
from constructions.turing.library import find
from precision.format import Discipline
from verify.certificates.above import survey, unjudged
from verify.certificates.building import precision_of
from verify.claims.models import (
    ISTREE,
    ISTREE_HYBRID,
    ISTREE_LEAN,
    ISTREE_RAG,
    OF_RETRIEVAL,
    TURING_COT,
    TURING_HYBRID,
    TURING_RAG,
    Told,
    of_retrieval,
)
from verify.claims.run_invariants import APART, COUNTS, QUEUE, RECORDS
from verify.dossiers.dossier import ENDLESS, LEAST, TRANSFORMER, About, Subject
from verify.dossiers.registry import find_dossiers
from verify.dossiers.retrieval.models import MODELS as RETRIEVERS
from verify.dossiers.retrieval.models import RETRIEVERS as RETRIEVERS_OF
from verify.framework.check import Check
from verify.framework.claim import Claim, Counterexample, Json, claims, size_text
from verify.runs.costs import sizes_text
from verify.stored.above import judge_of

BEYOND = 10**12  # where no model can be built; its certificate takes no longer
PRECISION = "p = the least that is certified for n"
STEPS, MOST_STEPS, SPACE = 10, 1000, 9  # of machines; cells: m is in the weights, the steps are not

# Certificates, and documents of every n


def certify(check: Check, subjects: Sequence[Subject], text: str) -> None:
    """Certifies the rounding of each. text: of which inputs."""
    asked = [replace(subject, precision_bits=check.p_bits) for subject in subjects]
    check.certified(asked, range=text, precision=check.precision_text(PRECISION))


def explained(check: Check, own: Subject, sizes: Sequence[int], text: str) -> None:
    """Compares the program of the model's weights at these n, and for every n."""
    check.explained([replace(own, n=n) for n in sizes], range=f"{text}; n = {sizes_text(sizes)}")
    every_n(check, "program", own, text)


def every_n(check: Check, about: About, own: Subject, text: str) -> None:
    """Checks what is stored for every n (verify/stored/), and a few intervals anew: each document of the model, in its variant."""
    if check.n_max < 10**4 or check.p_bits is not None:
        return
    for subject, what in find_dossiers()[own.construction, own.model].stored:
        if what == about and subject.last != ENDLESS and subject.dossier.variant(()) == own.dossier.variant(()):
            precision = PRECISION if about == "rounding" else ""
            check.stored(subject, about, range=f"{text}; every n by intervals", precision=precision)


def above(check: Check, about: About, own: Subject, text: str) -> None:
    """Judges every n above some size, in cases, as stored where that is of these weights, else all anew. text: of which inputs.

    The inequalities that decide the cases are stored. A program is the same under each discipline.
    """
    check.sizes(10**4)
    rounding = about == "rounding"
    if rounding and check.p_bits is not None:
        check.unknown("p grows with n")
    endless = replace(own, n=first_above(own), last=ENDLESS)
    followed = [d for d in Discipline if own.dossier.is_followed_above(d, theorem=True)]
    subjects = [replace(endless, discipline=d) for d in followed] if rounding else [endless]
    start, precision = size_text(own.dossier.first_above), PRECISION if rounding else ""
    inputs, begins = text, endless.n < own.dossier.first_above
    below = f", and those from {endless.n} to {start} by intervals" * begins
    in_cases = f"{text}; every n from {start} on in cases of n and its bit length"
    text = in_cases + below
    theorems: dict[Subject, Json | None] = {}
    accepted: list[Subject] = []
    for subject in subjects:
        how = f"; {subject.discipline.value}" * rounding
        large = replace(subject, n=own.dossier.first_above)
        theorem = check.accepted(large, range=in_cases + how, precision=precision) if rounding else None
        accepted += [subject] * (theorem is not None)
        theorems[subject] = theorem or check.stored_above(subject, about, range=text + how, precision=precision)
    if accepted and begins:
        few = [replace(subject, last=own.dossier.first_above - 1) for subject in accepted]
        last = size_text(own.dossier.first_above - 1)
        check.certified(few, range=f"{inputs}; every n from {endless.n} to {last} by intervals", precision=precision)
    anew = [subject for subject, theorem in theorems.items() if theorem is None]
    if anew and rounding:
        disciplines = " and ".join(subject.discipline.value for subject in anew)
        check.certified(anew, range=f"{text}; {disciplines}", precision=precision)
    elif anew:
        check.explained(anew, range=text)
    answered(check, about, theorems, builder_alone=len(accepted) == len(subjects))


def first_above(own: Subject) -> int:
    """Returns the first n of a claim above: where cases begin, or 4 if a run looks at all n itself."""
    stored = find_dossiers()[own.construction, own.model].stored
    return own.dossier.first_above if any(one.last == ENDLESS for one, _ in stored) else LEAST


def answered(
    check: Check, about: About, theorems: Mapping[Subject, Json | None], *, builder_alone: bool = False
) -> None:
    """Shows the inequalities by which documents of every n above some size come to what they say, the stored ones or made now.

    builder_alone: whether these are the builder's, as the small checker shows its own where it needs them.
    """
    what, judge = "a certificate" if about == "rounding" else "an explanation", judge_of(about)
    to, who = f"{what} comes to a case, or to its verdict there", "Builder and checker calculate"
    so = "Their comparisons are those inequalities, so they do for each n what they did once."
    if builder_alone:
        to, who = "the builder comes to the weights of a case", "The builder calculates"
        so = "Its comparisons are those inequalities, so it does for each n what it did once."
    check.proved(
        ((survey(subject, judge).theorem if theorem is None else theorem, {}) for subject, theorem in theorems.items()),
        by="Bernstein coefficients, and powers of two above those of their exponents",
        range=f"each answer by which {to}, for every n of the case",
        quickly=lambda: (survey(subject, unjudged).theorem for subject in theorems),
    )
    check.argued(
        f"{who} with a number that stands for each n of a case. {so} float64 has no such weights: {what} is about the weights as "
        "numbers."
    )


def first_other(read: Input, start: int, answers: Iterable[Answer | None]) -> Counterexample | None:
    """Returns where a text goes on otherwise than these answers say, one for each token after the first `start`.

    An answer is None where no word is due.
    """
    for k, (answer, token) in enumerate(zip(answers, read.tokens[start:], strict=True), start):
        said = None if answer is None else read.spoken(answer, k)
        if said != token:
            return Counterexample(position=k + 1, expected=str(token), due=str(said))
    return None


# Whose rounding a run certifies anew, and how the ledger says so

Chosen = tuple[Sequence[Subject], str]


def in_both(subjects: Sequence[Subject]) -> Sequence[Subject]:
    """Returns the subjects under each discipline."""
    return [replace(subject, discipline=discipline) for discipline in Discipline for subject in subjects]


def long_run_sizes(check: Check) -> Sequence[int]:
    """Returns the size that runs look at only from --n-max 10000 on; none for others."""
    return [] if check.n_max < 10**4 else [BEYOND]


def at_sizes(check: Check, model: ModelClaims) -> Chosen:
    """Returns a ladder of n, and one beyond; of recurrent models, which take longer, the first and the one beyond."""
    ladder = check.sizes(LEAST, ratio=10)
    sizes = (*(ladder if model.own.model == TRANSFORMER else ladder[:1]), *long_run_sizes(check))
    return in_both([replace(model.own, n=n) for n in sizes]), f"{model.texts}; n = {sizes_text(sizes)}"


def in_both_layouts(check: Check, model: ModelClaims) -> Chosen:
    """Returns a few n, and the last one in the layout eos too; beyond what can be built where no invariant is assumed."""
    is_lean = model.own.dossier.variant(()) == "lean"
    sizes = (*check.sizes(LEAST, ratio=10**4), *(long_run_sizes(check) if is_lean else ()))
    subjects = [replace(model.own, n=n) for n in sizes]
    text = f"{model.texts}; n = {sizes_text(sizes)}, of the layout eos {sizes[-1]:,}"
    return in_both([*subjects, subjects[-1].with_options(layout="eos")]), text


def one_in_each(check: Check, model: ModelClaims) -> Chosen:
    """Returns the least n, fused; one beyond, sequential."""
    least = check.sizes(LEAST)[0]
    largest = [least, *long_run_sizes(check)][-1]
    sequential = replace(model.own, n=largest, discipline=Discipline.SEQUENTIAL)
    return [model.own, sequential], f"{model.texts}; n = {least}, fused; n = {largest:,}, sequential"


def of_two_machines(check: Check, model: ModelClaims) -> Chosen:
    """Returns a few steps of a machine that reads a word, and as many as p allows of one that begins on a blank tape."""
    steps = check.certified_sizes(check.sizes(STEPS, ratio=10**3), lambda n: precision_of(replace(model.own, n=n)))
    few, many = replace(model.own, n=steps[0]), replace(model.own, n=steps[-1])
    few = few.with_options(machine=str(find("palindrome").machine), tape="1221")
    text = f"every text of up to n steps of palindrome on 1221, n = {few.n}, of bb2 on a blank tape, n = {many.n:,}"
    return in_both([few, many]), text


def in_one_space(check: Check, model: ModelClaims) -> Chosen:
    """Returns one number of cells."""
    check.certified_sizes([SPACE], lambda cells: precision_of(model.own))
    return in_both([model.own]), model.texts


# The models


@dataclass(frozen=True)
class ModelClaims:
    """One model, and what is claimed of it: at a few n, at all of documents, at all above some n, and of its program above.

    texts: for which its rounding is sound. chosen: whose rounding a run certifies. compared: the texts of its program.
    layout: which of several the claims above are about.
    """

    own: Subject
    rounding: Claim
    texts: str
    chosen: Callable[[Check, ModelClaims], Chosen]
    above: Claim | None = None
    program_above: Claim | None = None
    compared: str = ""
    layout: str = ""


SOUND = (
    "For every input, each register that is read is the ideal model's, rounded, or within the certificate's bound; "
    "the answer is the same."
)
DEFINED = (
    "In exact arithmetic, with attention that averages ties, the answer is the task's definition, for every input."
)
SEARCHES = "In exact arithmetic, it writes the search that is defined, token by token, and says what was found, for every input."


def all_above(told: Told) -> str:
    """Returns the n that a claim about all large n covers, in words."""
    return f"For every n ≥ {size_text(first_above(told.subject(LEAST)))}"


SEQUENCES = "every sequence of up to n tokens, every query"


def name_of(task: str, model: str, *, always: bool = False) -> str:
    """Returns what claims call a model of a retrieval task: "ngram (c = 3), rag". always: names a Transformer too."""
    named = task + f" (c = {RETRIEVERS_OF[task].query_length + 1})" * (task == "ngram")
    return named if model == TRANSFORMER and not always else f"{named}, {model}"


def retrieval(task: str, model: str) -> ModelClaims:
    """Returns a model of a retrieval task."""
    told, is_rag = of_retrieval(task, model), model == "rag"
    name, says = name_of(task, model), f"{name_of(task, model, always=True)}: {all_above(told)}"
    return ModelClaims(
        told.subject(LEAST),
        told.claim(
            "rounding",
            f"{name}: {SOUND}" + " Any numbers in the search, any word of the prompt as its result." * is_rag,
        ),
        SEQUENCES,
        at_sizes,
        told.claim("above", f"{says}: {SOUND}"),
        told.claim("program-above", f"{says}: {SEARCHES if is_rag else DEFINED}"),
        SEQUENCES + ", any word as its result" * is_rag,
    )


def searching(told: Told, sound: str, said: str, compared: str) -> ModelClaims:
    """Returns a recurrent model of IsTree. sound: of which texts its rounding is. said: what each word is."""
    name = f"IsTree, {told.model}"
    return ModelClaims(
        told.subject(LEAST),
        told.claim("rounding", f"{name}: {SOUND} {sound}"),
        "every simple graph and text of that form",
        one_in_each,
        told.claim("above", f"{name}: {all_above(told)}: {SOUND} {sound}", source=f"Theorem {told.theorem}"),
        told.claim("program-above", f"{name}: {all_above(told)}: {said}"),
        compared,
    )


def machine(told: Told, said: str) -> ModelClaims:
    """Returns a model that writes a machine's steps, of bb2 on a blank tape. said: what each word is."""
    name, form = f"Turing machines, {told.model}", "For every text in the form of a run"
    sound = f"{SOUND} {form} of bb2 on a blank tape, or of {STEPS} steps of palindrome on 1221, whatever it says."
    return ModelClaims(
        told.subject(LEAST),
        told.claim("rounding", f"{name}: {sound}"),
        "every text of up to n steps of bb2 on a blank tape",
        of_two_machines,
        told.claim("above", f"{name}: {all_above(told)}: {SOUND} {form} of bb2 on a blank tape, whatever it says."),
        told.claim("program-above", f"{name}: {all_above(told)}, of bb2 on a blank tape: {said}"),
        "any text of up to n steps of bb2 on a blank tape, whatever they say",
    )


GRAPHS = "every simple graph, any chain of thought"
ALGORITHM_1 = (
    "In exact arithmetic, with attention that averages ties, what is said is the defined step of Algorithm 1, "
    "after every prompt and any vertices that follow"
)
ALGORITHM_2 = (
    "In exact arithmetic, in a text of turns in which each word but the results of searches was due, what is said is the defined "
    "step of Algorithm 2, after any edges and whatever the searches find."
)
FRAMES = (
    "In exact arithmetic, with attention that averages ties, what is said after every prompt, and any frames that stand after "
    "n − 1 edges, is the next word of the defined search in frames, where one is due: at the end of a frame, whether the search "
    "goes down, passes over the edge to the father, looks further, goes up or ends; in a frame, to which vertex and from where on."
)
OF_A_RUN = (
    "In exact arithmetic, with attention that averages ties, what is said after any text in the form of a run is the next "
    "word"
)
STEP = (
    f"{OF_A_RUN} of the machine's step: the head's cell; the symbol, state and direction of the rule for the state and what was "
    "last left in that cell; or HALT."
)
SEARCH_AND_STEP = (
    f"{OF_A_RUN} of the search that is defined, for the next cell of the word or for the head's; then of the machine's step: "
    "the cell; the symbol, state and direction of the rule for the state and the symbol that was found; or HALT."
)
MODELS = (
    *(retrieval(task, model) for task, model in RETRIEVERS if model in OF_RETRIEVAL),
    ModelClaims(
        ISTREE.subject(LEAST),
        ISTREE.claim(
            "rounding",
            f"IsTree: {SOUND} Given the invariant of {COUNTS}, for every graph and any vertices as chain of thought.",
        ),
        GRAPHS,
        in_both_layouts,
        ISTREE.claim(
            "above",
            f"IsTree: {all_above(ISTREE)}: {SOUND} Given the invariant of {COUNTS}, for every graph and any chain of thought.",
        ),
        ISTREE.claim(
            "program-above",
            f"IsTree: {all_above(ISTREE)}: {ALGORITHM_1}, in the paper's layout. Given the invariant of {COUNTS}.",
        ),
        "prompts of up to n(n − 1)/2 edges, after n − 1 any vertices from 1 on",
        ", paper's layout",
    ),
    ModelClaims(
        ISTREE_LEAN.subject(LEAST),
        ISTREE_LEAN.claim(
            "rounding",
            f"IsTree: {SOUND} For every graph and any vertices as chain of thought; no invariant is assumed.",
        ),
        GRAPHS,
        in_both_layouts,
    ),
    searching(
        ISTREE_RAG,
        "For every simple graph and all turns after it, with any vertices and any results of searches; under sequential "
        f"given the invariant of {RECORDS}.",
        ALGORITHM_2,
        "any edges, any turns, whatever the searches find",
    ),
    searching(
        ISTREE_HYBRID,
        f"Given the invariant of {APART}, for every simple graph and all frames after it, with any vertices and positions.",
        FRAMES,
        "prompts of up to n(n − 1)/2 edges, after n − 1 any frames",
    ),
    machine(TURING_RAG, SEARCH_AND_STEP),
    machine(TURING_HYBRID, STEP),
    ModelClaims(
        TURING_COT.subject(MOST_STEPS, cells=SPACE),
        TURING_COT.claim(
            "rounding",
            f"Turing machines, cot: {SOUND} Given the invariant of {QUEUE}, for every text of up to {MOST_STEPS:,} configurations "
            f"of bb2 on {SPACE} cells, with one head each.",
        ),
        f"every text of up to {MOST_STEPS:,} steps of bb2 on {SPACE} cells",
        in_one_space,
    ),
)


@claims("model", MODELS, lambda model: model.rounding)
def test_rounding(check: Check, model: ModelClaims) -> None:
    certify(check, *model.chosen(check, model))
    every_n(check, "rounding", model.own, model.texts)


ABOVE = {model.above: model for model in MODELS if model.above}


@claims("claim", ABOVE, lambda claim: claim)
def test_above(check: Check, claim: Claim) -> None:
    model = ABOVE[claim]
    above(check, "rounding", model.own, model.texts + model.layout)


PROGRAMS_ABOVE = {model.program_above: model for model in MODELS if model.program_above}


@claims("claim", PROGRAMS_ABOVE, lambda claim: claim)
def test_program_above(check: Check, claim: Claim) -> None:
    above(check, "program", PROGRAMS_ABOVE[claim].own, PROGRAMS_ABOVE[claim].compared)
