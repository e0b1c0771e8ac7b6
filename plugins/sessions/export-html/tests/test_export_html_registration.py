"""What the plugin registers, what that costs, and ``/export``."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import pi_export_html
from pi_hookspecs import Exporter, UserError
from pi_testing.patience import PATIENCE

LEAN = """
import sys
import pi_export_html

pi_export_html.register_exporters(), pi_export_html.register_commands()
print([name for name in ("markdown_it", "html.parser", "pi_export_html.page") if name in sys.modules])
"""


class Context:
    """A command's context: exports to the given path, or fails."""

    def __init__(self, failure=None):
        self.ui = self
        self.failure = failure
        self.notices = []
        self.paths = []

    async def export(self, path=None):
        self.paths.append(path)
        if self.failure is not None:
            raise self.failure
        return Path(path or "pi-session-x.html")

    def notify(self, message, level="info"):
        self.notices.append((level, message))


def test_html_and_markdown_are_registered_as_formats():
    html, markdown = pi_export_html.register_exporters()

    assert isinstance(html, Exporter)
    assert isinstance(markdown, Exporter)
    assert (html.format, html.suffixes) == ("html", (".html", ".htm"))
    assert (markdown.format, markdown.suffixes) == ("markdown", (".md", ".markdown"))


def test_registering_imports_nothing_that_only_a_page_needs():
    done = subprocess.run([sys.executable, "-c", LEAN], capture_output=True, text=True, timeout=PATIENCE, check=True)

    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("args", "path"), [("", None), ("  ", None), ("talk.html", "talk.html"), ("'my talk.jsonl' ", "my talk.jsonl")]
)
async def test_the_command_exports_and_prints_the_path(args, path):
    command = pi_export_html.register_commands()[0]
    ctx = Context()

    await command.handler(args, ctx)

    assert ctx.paths == [path]
    assert ctx.notices == [("info", f"Session exported to: {path or 'pi-session-x.html'}")]


async def test_the_command_reports_what_went_wrong():
    command = pi_export_html.register_commands()[0]
    ctx = Context(UserError("Nothing to export yet - start a conversation first"))

    await command.handler("", ctx)

    assert ctx.notices == [("error", "Nothing to export yet - start a conversation first")]
