"""Exporters: plugins that write a session in another format."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

from pi_hookspecs.deferred import field, frozen
from pi_hookspecs.values import ReprMixin

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pi_hookspecs.interface_registrations import Renderer, Theme
    from pi_hookspecs.tools import Tool
    from pi_hookspecs.views import SessionView

__all__ = ["ExportRequest", "Exporter"]


@frozen(kw_only=True, eq=False, repr=False)
class ExportRequest(ReprMixin):
    """Further input of an export, in addition to the session's entries.

    Attributes:
        system_prompt: The system prompt of the next request; None for a stored session that is not open.
        tools: The active tools; None if they are not known.
        light: Colours of the light theme; None leaves the choice to the exporter.
        dark: Colours of the dark theme; None does the same.
        renderers: Renderers of plugins' messages and entries, by ``custom_type``; those with a kind by
            ``message/custom_type`` or ``entry/custom_type``.
    """

    system_prompt: str | None = None
    tools: Sequence[Tool] | None = None
    light: Theme | None = None
    dark: Theme | None = None
    renderers: Mapping[str, Renderer] = field(factory=dict)


@runtime_checkable
class Exporter(Protocol):
    """Writes a session as one document. Session content is untrusted and must be escaped."""

    format: str
    """Its name, in lower case: ``html``."""

    @property
    def suffixes(self) -> Sequence[str]:
        """File suffixes of this format, ``(".html", ".htm")``; the first is the default."""
        ...

    def export(self, session: SessionView, request: ExportRequest) -> bytes:
        """Return the document. May be called in a worker thread; it must not change the session."""
        ...
