"""Which models are looked at: wired for any n at any p, with hard inputs and what has to be written about each."""

from __future__ import annotations

from dataclasses import dataclass, replace

from constructions.wiring.wired import Wired
from precision.format import Discipline
from verify.certificates.building import precision_of
from verify.certificates.document import CERTIFIED, certificate
from verify.dossiers import dossier as certificates
from verify.dossiers.dossier import Dossier, HardInput
from verify.dossiers.registry import find_subject as certified_subject

LONGEST = 2000  # tokens of an input and of what is looked at of its answer
PER_VERTEX = 4  # where that is more: a prompt of n − 1 edges has 3 tokens a vertex


@dataclass(frozen=True)
class BitsSubject:
    """A model in one variant."""

    dossier: Dossier
    variant: str = "repaired"
    discipline: Discipline = Discipline.FUSED

    @property
    def construction(self) -> str:
        """Its name."""
        return self.dossier.construction

    @property
    def printed(self) -> tuple[str, ...]:
        """The findings that are put back to print."""
        return tuple(finding.id for finding in self.dossier.findings) if self.variant == "printed" else ()

    def subject(self, n: int, precision_bits: int | None = None) -> certificates.Subject:
        """Returns the model that is asked the hard inputs of this n."""
        own = self.dossier.asked_at(n)
        dossier = own.read({**own.fields, "variant": self.variant, "printed": self.printed})
        return certificates.Subject(dossier, n, None, precision_bits, self.discipline, self.printed)

    def wired_for(self, n: int) -> int:
        """Returns the p that the model is wired for: that of its own formula, or of the print's."""
        return precision_of(self.subject(n))

    def build(self, n: int, precision_bits: int | None = None) -> Wired:
        """Returns the model for n, its constants derived for this p; below the least, weights that do not fit are rounded."""
        subject = self.subject(n, precision_bits)
        return subject.dossier.wired(subject, forced=precision_bits is not None)

    def cases(self, n: int, longest: int | None = None) -> list[HardInput]:
        """Returns the hard inputs of this size, the shortest first, as tokens of the model for n.

        longest: tokens of each (default: LONGEST, or 4 a vertex); an answer is cut there, and a prompt as long as that is left out.
        Of the variant printed, trees alone: for another graph the theorem allows more than one chain of thought.
        """
        subject, wired, longest = self.subject(n), self.build(n), longest or max(LONGEST, PER_VERTEX * n)
        cases = []
        for one in subject.dossier.extreme_inputs(subject, wired):
            answer = one.answer[: max(0, longest - len(one.prompt))]
            if answer:
                cases.append(replace(one, answer=answer))
        return sorted(cases, key=lambda case: len(case.tokens))

    def is_certified(self, n: int, precision_bits: int) -> bool:
        """Returns whether the static checker certifies all inputs at this p."""
        return bool(certificate(self.subject(n, precision_bits))["verdict"] == CERTIFIED)


def find_subject(
    construction: str, variant: str = "repaired", discipline: Discipline = Discipline.FUSED
) -> BitsSubject:
    """Returns the Transformer of a construction. Raises ValueError if there is none."""
    return BitsSubject(certified_subject(construction, 1).dossier, variant, discipline)
