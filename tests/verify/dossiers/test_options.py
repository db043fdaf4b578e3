"""A document says a model's options, and is refused in one line where it says what the model cannot have."""

from __future__ import annotations

from typing import Any

import pytest

from verify.certificates.arguments import named
from verify.certificates.document import about, subject_of
from verify.dossiers.dossier import Subject
from verify.dossiers.registry import find_subject

SUBJECTS = (
    find_subject("istree", 8),
    find_subject("istree", 8, lean=True, layout="eos"),
    find_subject("istree", 8, model="rag"),
    find_subject("turing", 8, model="hybrid", machine="1RB---_1LA1RB", tape="01"),
    find_subject("turing", 8, model="cot", cells=9),
    find_subject("ngram", 8, query_length=4),
)


@pytest.mark.parametrize("subject", SUBJECTS, ids=lambda subject: named(about(subject)))
def test_what_a_document_says_is_read_again(subject: Subject) -> None:
    assert subject_of(about(subject)) == subject


@pytest.mark.parametrize(
    ("place", "field", "value", "wrong"),
    [
        (0, "layout", "bos", "tokens is paper or eos, not 'bos'"),
        (0, "layout", None, "layout is a text, not 'None'"),
        (0, "variant", "best", "istree as transformer has no variant best"),
        (2, "layout", "eos", "istree as rag has no layout 'eos'"),
        (2, "variant", "lean", "istree as rag has no lean 'True'"),
        (3, "machine", 5, "machine is a text, not '5'"),
        (3, "cells", 5, "turing as hybrid has no cells '5'"),
        (4, "cells", 2.5, "cells is a whole number, not 2.5"),
        (4, "cells", True, "cells is a whole number, not True"),
        (4, "cells", 0, "cells is at least 1, not 0"),
        (5, "query_length", 1 << 20, "query_length = 1,048,576 is above 1,024"),
        (5, "layout", "eos", "has no layout 'eos'"),
    ],
)
def test_what_a_model_cannot_have_is_refused(place: int, field: str, value: Any, wrong: str) -> None:
    with pytest.raises(ValueError, match=f"^this is no certificate: .*{wrong}"):
        subject_of({**about(SUBJECTS[place]), field: value})


def test_a_variant_of_fewer_bits_has_nothing_as_printed() -> None:
    with pytest.raises(ValueError, match="the variant lean has nothing as printed"):
        subject_of({**about(SUBJECTS[1]), "printed": ["layer-7"]})
