"""Writing a session into a file: as a page for people, or as a session file of its branch."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from pi_core.agent.agent import Agent
    from pi_core.host import PluginHost
    from pi_core.plugin_api.registrations import SessionRegistrations
    from pi_core.session import SessionManager
    from pi_hookspecs import ResourceLoader, Theme

__all__ = ["SessionExports"]


class SessionExports:
    """Methods of ``AgentSession`` that write it somewhere."""

    agent: Agent
    cwd: Path
    host: PluginHost
    registered: SessionRegistrations
    resources: ResourceLoader
    session_manager: SessionManager

    async def export(self, path: str | Path | None = None, *, export_format: str | None = None) -> Path:
        """Write the session in the format that the file's name asks for, HTML where it asks for none.

        A long session takes seconds, in a thread of its own; what is said meanwhile may be missing.

        Args:
            path: The file, relative to the session's working directory; ``pi-session-...`` there when None.
            export_format: The format, whatever the name says.

        Returns:
            The file; relative where the session's working directory is the process's, too.

        Raises:
            UserError: There is nothing to export, nobody who could, or no place to write to.
            PiError: The exporter failed.
        """
        from pi_core.session.exporting import export_session

        state = self.agent.state
        self.host.find_all("register_exporters")  # loaded here: of two threads one would find a plugin half loaded
        return await asyncio.to_thread(
            export_session,
            self.session_manager,
            path,
            host=self.host,
            cwd=self.cwd,
            export_format=export_format,
            system_prompt=state.system_prompt,
            tools=state.tools,
            themes=await self._themes(),
            renderers={name: each.thing for name, each in self.registered.find_all("register_renderers").items()},
        )

    async def export_html(self, path: str | Path | None = None) -> Path:
        """Write all branches as one HTML page, see ``export``."""
        return await self.export(path, export_format="html")

    async def export_jsonl(self, path: str | Path) -> Path:
        """Write the branch as a session file of its own, whatever the file is called, see ``export``."""
        return await self.export(path, export_format="jsonl")

    export_to_html = export_html
    export_to_jsonl = export_jsonl

    async def _themes(self) -> dict[str, Theme]:
        """Return those of the themes in files that the settings name."""
        from pi_core.session.exporting import theme_names, theme_of_file

        wanted = {*filter(None, theme_names(self.host.settings))}
        if not wanted:
            return {}
        for name in wanted:
            self.host.find("register_themes", name)  # as above
        found = await self.resources.load("theme")
        return {each.name: theme_of_file(each.name, each.data) for each in found.resources if each.name in wanted}
