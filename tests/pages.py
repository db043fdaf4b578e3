"""A page of HTML as a tree, to be asked what it says and what it would load."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = {"br", "input", "link", "meta"}


@dataclass
class Element:
    """A part of a page. text: what it says, with what it holds."""

    tag: str
    attributes: dict[str, str]
    children: list[Element | str] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "".join(child if isinstance(child, str) else child.text for child in self.children)

    def all(self, tag: str = "") -> Iterator[Element]:
        """Every element inside, or those of a tag, as the page has them one after the other."""
        for child in self.children:
            if isinstance(child, Element):
                yield from [child] if tag in ("", child.tag) else []
                yield from child.all(tag)

    def one(self, tag: str) -> Element:
        (result,) = self.all(tag)
        return result

    def given(self, *names: str) -> list[str]:
        """The values of these attributes, wherever they stand inside."""
        return [element.attributes[name] for element in self.all() for name in names if name in element.attributes]


def tree(text: str) -> Element:
    """What the page consists of. AssertionError for a part that ends where another one has begun."""
    return _Reader(text).root


class _Reader(HTMLParser):
    """Builds the tree."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.root = Element("", {})
        self.inside = [self.root]
        self.feed(text)
        self.close()
        assert self.inside == [self.root]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = Element(tag, {name: value or "" for name, value in attrs})
        self.inside[-1].children.append(element)
        if tag not in VOID:
            self.inside.append(element)

    def handle_endtag(self, tag: str) -> None:
        assert self.inside.pop().tag == tag

    def handle_data(self, data: str) -> None:
        self.inside[-1].children.append(data)
