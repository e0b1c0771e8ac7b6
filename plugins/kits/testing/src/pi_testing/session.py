"""Converts a test's options to arguments of ``create_agent_session``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import define

from pi_hookspecs import hookimpl

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from pi_core import PluginHost
    from pi_hookspecs import Tool, UserInterface
    from pi_testing.options import PiOptions
    from pi_testing.scripted import ScriptedProvider
    from pi_testing.stand_ins import FakeTool

__all__ = ["session_options"]


@define(eq=False)
class _FakeTools:
    """A plugin, because what plugins add at run time wins over a plugin's tool, but not over the program's own."""

    tools: Sequence[Tool]

    @hookimpl
    def register_tools(self) -> Sequence[Tool]:
        return self.tools


def session_options(
    *,
    cwd: Path,
    script: ScriptedProvider,
    ui: UserInterface,
    options: PiOptions,
    host: PluginHost,
    fake_tools: Mapping[str, FakeTool],
) -> dict[str, Any]:
    """Return what ``create_agent_session`` takes; stand-ins come for the tools that no plugin registers."""
    missing = [tool for name, tool in fake_tools.items() if host.find("register_tools", name) is None]
    plugins: dict[str, object] = {"script": script}
    if missing:
        plugins["fake-tools"] = _FakeTools(missing)
    return {
        "cwd": cwd,
        "host": host,
        "settings": host.settings,
        "model": script.model,
        "tools": options.tool_names,
        "custom_tools": options.custom_tools,
        "plugins": plugins,
        "ui": ui,
        **options.session,
    }
