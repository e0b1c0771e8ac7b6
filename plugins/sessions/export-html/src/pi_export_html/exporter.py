"""The exporter of the format ``html``."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pi_hookspecs import ExportRequest, SessionView

__all__ = ["HtmlExporter"]


class HtmlExporter:
    """Implements ``Exporter``."""

    format = "html"
    suffixes = (".html", ".htm")

    def export(self, session: SessionView, request: ExportRequest) -> bytes:
        """Return the page."""
        from pi_core import paused_gc
        from pi_export_html.page import page

        with paused_gc():  # a long session is a hundred thousand objects
            return page(session, request)
