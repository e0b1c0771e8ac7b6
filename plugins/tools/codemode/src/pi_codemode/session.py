"""Code mode in one session: when the tool is offered, what the system prompt says of it, and ``/tool``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_codemode.saved import SavedTools
from pi_codemode.tool import NAME, codemode_tool
from pi_codemode.warm import WarmProcess

if TYPE_CHECKING:
    from pi_hookspecs import PiAPI, PiContext, SystemPromptEvent, SystemPromptResult

__all__ = ["CodeMode"]


class CodeMode:
    """Code mode of a session.

    Args:
        pi: Where the tool, the command and the handlers are added.
    """

    def __init__(self, pi: PiAPI) -> None:
        self._pi = pi
        self._warm = WarmProcess()
        self._saved = SavedTools(pi, self._warm)

    def listen(self) -> None:
        """Register the tool and the command, and follow the session."""
        self._register(is_enabled=False)
        self._pi.register_command(
            "tool",
            self._saved.command,
            complete=self._saved.complete,
            description="List the scripts that were saved as tools; /tool save NAME saves the last script",
            touches=("files",),
        )
        for name in ("session_start", "agent_start", "session_shutdown", "system_prompt"):
            self._pi.on(name, getattr(self, name))

    def session_start(self, ctx: PiContext) -> None:
        """Offer the tool if the setting says so, and the tools that the project keeps."""
        if ctx.settings.get("codemode.enabled") is True:
            self._remove()
            self._register(is_enabled=True)
        self._saved.load(ctx)

    def _register(self, *, is_enabled: bool) -> None:
        tool = codemode_tool(self._pi.get_all_tools, self._warm, is_enabled=is_enabled)
        self._remove = self._pi.register_tool(tool)

    def agent_start(self, ctx: PiContext) -> None:
        """Start the process for a script while the model writes it."""
        if NAME in self._pi.get_active_tools():
            self._warm.prepare(ctx)

    def system_prompt(self, event: SystemPromptEvent) -> SystemPromptResult | None:
        """List the tools that only scripts can call: nothing else tells the model that they exist."""
        if NAME not in event.tools:
            return None
        from pi_codemode.functions import functions_of
        from pi_hookspecs import PromptSection, SystemPromptResult

        functions = functions_of(self._pi.get_all_tools()).values()
        lines = [f"- {each.line}" for each in functions if not each.tool.active]
        if not lines:
            return None
        text = "\n".join(["Functions that only scripts of the tool codemode can call (await them):", *lines])
        return SystemPromptResult(sections=[PromptSection(name=NAME, text=text, source=NAME)])

    async def session_shutdown(self) -> None:
        """End the process that waits for a script."""
        await self._warm.close()
