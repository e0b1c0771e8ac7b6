"""Exports a session to a file: as a document, or its branch as a session file."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from pi_core.conversation.runtime import Runtime
    from pi_hookspecs import Theme

__all__ = ["Exporter"]


class Exporter:
    """Exports a session.

    Args:
        runtime: The objects that all parts share.
    """

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime

    async def export(self, path: str | Path | None = None, *, export_format: str | None = None) -> Path:
        """Write the session to a file; see ``AgentSession.export``."""
        from pi_core.session.exporting import custom_renderers, export_session

        runtime = self._runtime
        host, state = runtime.host, runtime.agent.state
        host.find_all("register_exporters")  # load the plugins here, not concurrently in worker threads
        if "TextRedactor" in host.service_kinds:
            host.services("TextRedactor")  # as above
        renderers = runtime.registrations.find_all("register_renderers")
        return await asyncio.to_thread(
            export_session,
            runtime.manager,
            path,
            host=host,
            cwd=runtime.cwd,
            export_format=export_format,
            system_prompt=state.system_prompt,
            tools=state.tools,
            themes=await self._themes(),
            renderers=custom_renderers(renderers),
            clean=runtime.ctx.secrets.clean,
        )

    async def export_html(self, path: str | Path | None = None) -> Path:
        """Write all branches as one HTML page; see ``AgentSession.export_to_html``."""
        return await self.export(path, export_format="html")

    async def export_jsonl(self, path: str | Path) -> Path:
        """Write the branch as a separate session file; see ``AgentSession.export_to_jsonl``."""
        return await self.export(path, export_format="jsonl")

    async def _themes(self) -> dict[str, Theme]:
        """Return the themes named in the settings that are defined in files."""
        from pi_core.resources.theme_resolver import theme_of_file
        from pi_core.session.exporting import theme_names

        host = self._runtime.host
        names = {*filter(None, theme_names(host.settings))}
        if not names:
            return {}
        for name in names:
            host.find("register_themes", name)  # as above
        found = await self._runtime.resources.load("theme")
        return {each.name: theme_of_file(each.name, each.data) for each in found.resources if each.name in names}
