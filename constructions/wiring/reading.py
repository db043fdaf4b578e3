"""What a head looks up, in words and as JSON, and held against its keys and queries."""

from __future__ import annotations

from fractions import Fraction

from constructions.wiring.affine import ZERO, Affine
from constructions.wiring.lookup import Preference, Quadratic, deviation
from constructions.wiring.plan import Head
from constructions.wiring.register import register

PLACES = (["position"], ["place"])
ENDS = ("first", "last", "one")


def head_deviation(head: Head) -> Quadratic:
    """Returns by how much the head's score deviates from its lookup's, see `deviation`."""
    products = ((c.key, c.query) for c in head.components)
    return {} if head.lookup is None else deviation(head.lookup, products, head.needs)


def refusals(head: Head) -> list[str]:
    """Writes each term by which the head's score deviates from its lookup's."""
    terms = head_deviation(head).items()
    return [f"{c}·key({'·'.join(key)})·query({'·'.join(query) or 1})" for (key, query), c in terms]


def sentence(head: Head, longest: int | None = None) -> str:
    """Says what a head reads: "reads `father` at the first position where `vertex` equals `number`, else at position 1".

    longest: the most tokens of a text, which no position exceeds. Returns "" for a head without a lookup.
    """
    lookup = head.lookup
    if lookup is None:
        return ""
    forms = [form for name, form in head.reads.items() if not register(name).is_square] or [*head.reads.values()]
    read = ", ".join(f"`{unscaled(form)[0]}`" for form in forms)
    where = " and ".join(_match(key, query) for key, query in lookup.equal)
    if lookup.prefer is None and lookup.penalty is None:
        every = f"position 1 and every position where {where}" if where else "every position so far"
        return f"reads the mean of {read} at {every}"
    which, key = _prefer(lookup.prefer, longest)
    default = ", else at position 1" if where and lookup.exempt else ""
    besides = "" if default or lookup.penalty is None else f"; position 1 pays `{lookup.penalty}`"
    if which in ENDS:
        return f"reads {read} at the {which} position{f' where {where}' if where else ''}{default}{besides}"
    among = f", of those where {where}" if where else ""
    return f"reads {read} at the position {key}{which}{among}{default}{besides}"


def lookup_document(head: Head, longest: int | None = None) -> dict[str, object] | None:
    """Writes a head's lookup as JSON: forms as registers with exact coefficients, numbers as strings.

    says: the sentence. refused: the terms in which the weights differ from it, as text; none but in a print that is wrong.
    """
    if (lookup := head.lookup) is None:
        return None
    prefer = lookup.prefer
    return {
        "says": sentence(head, longest),
        "equal": [{"key": _write(key), "query": _write(query)} for key, query in lookup.equal],
        "scale": str(lookup.scale),
        "prefer": prefer and {"key": _write(prefer.key), "pull": _write(prefer.pull), "curve": str(prefer.curve)},
        "exempt": lookup.exempt,
        "penalty": None if lookup.penalty is None else _write(lookup.penalty),
        "refused": refusals(head),
    }


def _prefer(prefer: Preference | None, longest: int | None) -> tuple[str, str]:
    """Returns which match is preferred, and by which key: ("first", "") or ("nearest to `w`", "whose `count` is ")."""
    if prefer is None:
        return "one", ""
    key, factor = unscaled(prefer.key)
    wish, by_position = prefer.wish, set(prefer.key.terms) == {"position"}
    least, most, name = ("first", "last", "") if by_position else ("smallest", "largest", f"whose `{key}` is ")
    if wish is None:
        return (most if all(c > 0 for c in prefer.pull.terms.values()) else least), name
    if is_place(prefer.key) and set(wish.terms) <= {"one"}:
        place = wish.terms.get("one", ZERO)
        if place <= 1 or (longest is not None and place >= longest):
            return (least if place <= 1 else most), name
    if by_position and wish == prefer.key:
        return most, name
    return f"nearest to `{hide_one(wish * (1 / factor))}`", name


def _match(key: Affine, query: Affine) -> str:
    """Says that a key equals a query, without a factor that both have."""
    key, factor = unscaled(key)
    query = hide_one(query * (1 / factor))
    return f"`{key}` equals `{query}`" if query.terms else f"`{key}` is {query}"


def is_place(form: Affine) -> bool:
    """Returns whether the form is a register of positions, or a multiple of one."""
    return [*form.terms] in PLACES and not form.constant


def unscaled(form: Affine) -> tuple[Affine, Fraction]:
    """Returns a form over its first coefficient, and that coefficient; `one` is written as a number."""
    factor = next(iter(form.terms.values()), Fraction(1))
    return hide_one(form * (1 / factor)), factor


def hide_one(form: Affine) -> Affine:
    """Returns the form with the register `one` as a number, for people."""
    rest = {name: c for name, c in form.terms.items() if name != "one"}
    return Affine(rest, form.terms.get("one", ZERO) + form.constant)


def _write(form: Affine) -> dict[str, str]:
    terms = {**form.terms, "one": hide_one(form).constant}
    return {name: str(c) for name, c in terms.items() if c}
