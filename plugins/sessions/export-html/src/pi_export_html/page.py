"""The page: its head with the Content Security Policy, and its three parts."""

from __future__ import annotations

import base64
import hashlib
from importlib.resources import files
from typing import TYPE_CHECKING

from pi_export_html.about import about, title
from pi_export_html.entries import Transcript
from pi_export_html.outline import outline
from pi_export_html.sidebar import sidebar
from pi_export_html.theme import theme_css
from pi_html_kit.assets import CODE_SCRIPT, CONTENT_STYLE, asset
from pi_html_kit.html_text import Html, tag

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pi_hookspecs import ExportRequest, SessionView

__all__ = ["page", "page_script"]

_BACK = tag("a", "Back to the active one", href="#")


def page(session: SessionView, request: ExportRequest) -> bytes:
    """Return the page of a session."""
    return b"".join([part.encode("utf-8", "replace") for part in _parts(session, request)])


def _parts(session: SessionView, request: ExportRequest) -> Iterator[str]:
    """Yield the page from its start to its end, each entry alone: a text of all of them is copied by each tag."""
    entries = outline(session)
    style = _resource("page.css") + asset(CONTENT_STYLE) + theme_css(request.light, request.dark)
    script = page_script()
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=_policy(style, script)),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("meta", name="referrer", content="no-referrer"),
        tag("meta", name="robots", content="noindex"),
        tag("title", title(session, entries)),
        tag("style", Html(style)),
    )
    yield f'<!DOCTYPE html>\n<html lang="en">{head}<body>'
    yield tag("input", type="checkbox", id="nav", aria_label="Hide the tree")
    yield tag("label", "☰", for_="nav", title="Tree (b)")
    yield from sidebar(entries)
    yield "<main>"
    yield about(session, entries, request)
    yield tag("p", "You are viewing an abandoned branch. ", _BACK, id="elsewhere")
    yield '<div id="log">'
    yield from Transcript(entries, request.renderers).written()
    yield "</div>"
    yield tag("footer", "Exported from pi. Keys: j k messages, / search, t thinking, o output, b tree", class_="end")
    yield f"</main>{tag('script', Html(script))}</body></html>\n"


def page_script() -> str:
    """Return the page's script."""
    return f"{asset(CODE_SCRIPT)}\n{_resource('page.js')}"


def _policy(style: str, script: str) -> str:
    """Return the Content Security Policy: nothing but our style, our script, and images inside the page."""
    return (
        f"default-src 'none'; img-src data:; style-src {_hash(style)}; script-src {_hash(script)}; "
        "base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _resource(name: str) -> str:
    return files("pi_export_html").joinpath(name).read_text(encoding="utf-8")
