"""Exports a session as one HTML page or as Markdown, and adds ``/export``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_hookspecs import hookimpl

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_hookspecs import Command, Exporter

__all__ = ["register_commands", "register_exporters"]


@hookimpl
def register_exporters() -> Sequence[Exporter]:
    """Add the formats ``html`` and ``markdown``."""
    from pi_export_html.exporter import HtmlExporter
    from pi_export_html.text import MarkdownExporter

    return [HtmlExporter(), MarkdownExporter()]


@hookimpl
def register_commands() -> Sequence[Command]:
    """Add ``/export``."""
    from pi_export_html.command import export_command

    return [export_command()]
