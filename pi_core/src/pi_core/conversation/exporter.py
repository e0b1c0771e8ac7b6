"""Writing a session into a file: as a page for people, or as a session file of its branch."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from pi_core.conversation.runtime import Runtime
    from pi_hookspecs import Theme

__all__ = ["Exporter"]


class Exporter:
    """Writes a session somewhere.

    Args:
        runtime: What the conversation is made of.
    """

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime

    async def export(self, path: str | Path | None = None, *, export_format: str | None = None) -> Path:
        """Write the session in the format that the file's name asks for, HTML where it asks for none.

        A long session takes seconds, in a thread of its own; messages that come meanwhile may be missing.

        Args:
            path: The file, relative to the session's working directory; ``pi-session-...`` there when None.
            export_format: The format, whatever the name says.

        Returns:
            The file; relative where the session's working directory is the process's, too.

        Raises:
            UserError: There is nothing to export, no exporter of that format, or no place to write to.
            PiError: The exporter failed.
        """
        from pi_core.session.exporting import export_session

        runtime = self._runtime
        host, state = runtime.host, runtime.agent.state
        host.find_all("register_exporters")  # loaded here: of two threads one would find a plugin half loaded
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
            renderers={name: each.thing for name, each in renderers.items()},
        )

    async def export_html(self, path: str | Path | None = None) -> Path:
        """Write all branches as one HTML page, see ``export``."""
        return await self.export(path, export_format="html")

    async def export_jsonl(self, path: str | Path) -> Path:
        """Write the branch as a session file of its own, whatever the file is called, see ``export``."""
        return await self.export(path, export_format="jsonl")

    async def _themes(self) -> dict[str, Theme]:
        """Return those of the themes in files that the settings name."""
        from pi_core.session.exporting import theme_names, theme_of_file

        host = self._runtime.host
        wanted = {*filter(None, theme_names(host.settings))}
        if not wanted:
            return {}
        for name in wanted:
            host.find("register_themes", name)  # as above
        found = await self._runtime.resources.load("theme")
        return {each.name: theme_of_file(each.name, each.data) for each in found.resources if each.name in wanted}
