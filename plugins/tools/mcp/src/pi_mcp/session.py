"""A session's handlers: start and end, prompts, and changes of the configuration."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pi_hookspecs  # its names are imported on first use, and most prompts use none of these

if TYPE_CHECKING:
    from pi_hookspecs import (
        BeforeAgentStartResult,
        CommandsDiscoverResult,
        CompleteMentionEvent,
        CompleteMentionResult,
        ExpandPromptEvent,
        ExpandPromptResult,
        InputEvent,
        InputResult,
        PiAPI,
        PiContext,
        SessionShutdownEvent,
        SystemPromptEvent,
        SystemPromptResult,
    )
    from pi_mcp.hub import Hub

__all__ = ["Session"]


class Session:
    """The handlers of one activation.

    Args:
        pi: The plugin's object.
    """

    def __init__(self, pi: PiAPI) -> None:
        self._pi = pi
        self._hub: Hub | None = None
        self._section: str | None = None
        self._said = ""

    def listen(self) -> None:
        """Register the handlers."""
        self._pi.on("session_shutdown", self._shutdown)
        self._pi.on("input", self._input)
        self._pi.on("complete_mention", self._complete_mention)
        self._pi.on("commands_discover", self._commands_discover)
        self._pi.on("expand_prompt", self._expand_prompt)
        self._pi.on("system_prompt", self._system_prompt)
        self._pi.on("before_agent_start", self._before_agent_start)
        self._pi.on("turn_start", self._turn_start)
        self._pi.register_command(
            "mcp",
            self._command,
            description="MCP servers: state, tools, reconnect",
            complete=self._complete,
            touches=("files", "programs", "network", "settings"),
        )

    async def start(self, ctx: PiContext) -> None:
        """Use the currently configured and registered servers, or apply their changes."""
        if self._hub is not None:
            await self._hub.change()
            return
        from pi_mcp.hub import Hub

        self._section, self._said = None, ""
        self._hub = Hub(self._pi, ctx)
        await self._hub.start()

    async def _command(self, arguments: str, ctx: PiContext) -> None:
        from pi_mcp.command import run_command

        if self._hub is None:
            return
        try:
            await run_command(self._hub, arguments, ctx)
        except pi_hookspecs.PiError as error:  # of the user or a server, and no failure of the plugin
            ctx.ui.notify(ctx.secrets.redact(str(error)), "error")

    def _complete(self, typed: str) -> list[str]:
        from pi_mcp.command import complete

        return complete(self._hub, typed) if self._hub is not None else []

    async def _shutdown(self, event: SessionShutdownEvent) -> None:
        hub, self._hub = self._hub, None
        if hub is not None:
            await hub.end(for_good=event.reason == "quit")

    async def _input(self, event: InputEvent, ctx: PiContext) -> InputResult | None:
        """Wait for the first tools, add mentioned resources, and refuse a server's prompt with a missing argument."""
        if self._hub is None:
            return None
        if event.streaming_behavior is None:
            await self._hub.ready()
        if event.text.startswith("/mcp__"):
            from pi_mcp.prompts import missing_arguments

            problem = missing_arguments(self._hub, event.text)
            if problem is not None:
                ctx.ui.notify(problem, "error")
                return pi_hookspecs.InputResult(handled=True)
        if "@" not in event.text:
            return None
        text = await self._hub.resources.with_mentioned(event.text, ctx)
        return pi_hookspecs.InputResult(text=text) if text != event.text else None

    async def _complete_mention(self, event: CompleteMentionEvent) -> CompleteMentionResult | None:
        if self._hub is None:
            return None
        return pi_hookspecs.CompleteMentionResult(completions=await self._hub.resources.complete(event.text))

    def _commands_discover(self, event: object) -> CommandsDiscoverResult | None:
        if self._hub is None or not self._hub.offer.has_prompts:
            return None
        from pi_mcp.prompts import commands

        return pi_hookspecs.CommandsDiscoverResult(commands=commands(self._hub))

    async def _expand_prompt(self, event: ExpandPromptEvent) -> ExpandPromptResult | None:
        if self._hub is None or not event.text.startswith("/mcp__"):
            return None
        from pi_mcp.prompts import expanded

        text = await expanded(self._hub, event.text)
        return pi_hookspecs.ExpandPromptResult(text=text) if text is not None else None

    def _system_prompt(self, event: SystemPromptEvent) -> SystemPromptResult | None:
        """List the servers with deferred tools; the text does not change within a session."""
        if self._section is None and self._hub is not None:
            self._section = self._said = self._servers_text()
        if not self._section:
            return None
        return pi_hookspecs.SystemPromptResult(
            sections=[pi_hookspecs.PromptSection(name="mcp_servers", text=self._section)]
        )

    async def _before_agent_start(self, event: object) -> BeforeAgentStartResult | None:
        """Apply changes, and report them in a message: a changed system prompt would break the provider's cache."""
        if self._hub is None:
            return None
        await self._hub.ready()
        text = self._servers_text()
        if text == self._said:
            return None
        self._said, self._section = text, self._section or ""
        note = pi_hookspecs.CustomMessage(
            custom_type="mcp_servers", content=text or "There are no MCP tools to load.", display=False
        )
        return pi_hookspecs.BeforeAgentStartResult(messages=[note])

    async def _turn_start(self, _event: object) -> None:
        if self._hub is not None:
            await self._hub.next_turn()

    def _servers_text(self) -> str:
        if self._hub is None:
            return ""
        offer = self._hub.offer
        lines = [f"- {name} ({count} tools): {offer.about(name)}" for name, count in sorted(offer.deferred().items())]
        return "\n".join(["MCP servers with tools that tool_search finds and loads:", *lines]) if lines else ""
