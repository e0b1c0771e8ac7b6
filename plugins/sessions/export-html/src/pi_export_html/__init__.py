"""Exports a session as one HTML page or as Markdown, and adds ``/export`` and ``/share``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_hookspecs import hookimpl

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_hookspecs import Command, Exporter, PluginSetting

__all__ = ["register_commands", "register_exporters", "register_settings"]


@hookimpl
def register_exporters() -> Sequence[Exporter]:
    """Add the formats ``html`` and ``markdown``."""
    from pi_export_html.exporter import HtmlExporter
    from pi_export_html.text import MarkdownExporter

    return [HtmlExporter(), MarkdownExporter()]


@hookimpl
def register_commands() -> Sequence[Command]:
    """Add ``/export`` and ``/share``."""
    from pi_export_html.command import export_command
    from pi_export_html.share import share_command

    return [export_command(), share_command()]


@hookimpl
def register_settings() -> Sequence[PluginSetting]:
    """Declare ``shareDestination``."""
    from pi_export_html.share import DESTINATION

    return [DESTINATION]
