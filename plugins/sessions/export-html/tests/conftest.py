"""Sessions in memory and their pages, read as a browser would."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest
from attrs import define, field

from pi_core import SessionManager
from pi_core.session import ReadOnlySession
from pi_hookspecs import AssistantMessage, ExportRequest, TextContent

VOID = {"br", "hr", "img", "input", "meta"}


@define
class Page(HTMLParser):
    """A page taken apart: its elements with their attributes, and the text that each of them shows."""

    source: str
    elements: list = field(factory=list)
    texts: list = field(factory=list)
    declarations: list = field(factory=list)
    open: list = field(factory=list)

    def __attrs_post_init__(self):
        HTMLParser.__init__(self)
        self.feed(self.source)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        assert len(dict(attributes)) == len(attributes), f"{tag} says something twice: {attributes}"
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)

    def handle_endtag(self, tag):
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append((self.open[-1] if self.open else None, data))

    def handle_comment(self, data):
        self.declarations.append(data)

    def handle_decl(self, decl):
        self.declarations.append(decl)

    def handle_pi(self, data):
        self.declarations.append(data)

    def unknown_decl(self, data):
        self.declarations.append(data)

    @property
    def text(self):
        """All that a reader can see."""
        return "".join(data for tag, data in self.texts if tag not in ("script", "style", "title"))

    def all(self, tag, class_=None):
        """The attributes of all elements of a tag, or those of a class."""
        found = [attributes for name, attributes in self.elements if name == tag]
        return [each for each in found if class_ is None or class_ in (each.get("class") or "").split()]


@pytest.fixture(scope="session")
def read_page():
    """Takes a page apart."""
    return Page


@pytest.fixture
def session():
    return SessionManager.in_memory("/home/anna/work", id="zebra-1")


@pytest.fixture
def written(session):
    """Returns the page of the session, as text."""

    def write(**request):
        from pi_export_html.exporter import HtmlExporter

        return HtmlExporter().export(ReadOnlySession(session), ExportRequest(**request)).decode()

    return write


@pytest.fixture
def page(written):
    """Returns the page of the session, taken apart."""
    return lambda **request: Page(written(**request))


@pytest.fixture
def answer():
    """Returns an answer with these blocks; a string becomes a text block."""

    def make(*content, **more):
        blocks = tuple(TextContent(each) if isinstance(each, str) else each for each in content)
        return AssistantMessage(content=blocks, api="x", provider="acme", model="acme-1", **more)

    return make
