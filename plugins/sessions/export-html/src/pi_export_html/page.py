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
    from pi_hookspecs import ExportRequest, SessionView

__all__ = ["page", "page_script"]


def page(session: SessionView, request: ExportRequest) -> str:
    """Return the page of a session."""
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
    main = tag(
        "main",
        about(session, entries, request),
        tag("p", "You are viewing an abandoned branch. ", tag("a", "Back to the active one", href="#"), id="elsewhere"),
        tag("div", Transcript(entries, request.renderers).written(), id="log"),
        tag("footer", "Exported from pi. Keys: j k messages, / search, t thinking, o output, b tree", class_="end"),
    )
    body = tag(
        "body",
        tag("input", type="checkbox", id="nav", aria_label="Hide the tree"),
        tag("label", "☰", for_="nav", title="Tree (b)"),
        sidebar(entries),
        main,
        tag("script", Html(script)),
    )
    return f"<!DOCTYPE html>\n{tag('html', head, body, lang='en')}\n"


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
