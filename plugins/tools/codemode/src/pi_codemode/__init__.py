"""Code mode: ``codemode`` runs a Python script that calls the other tools, and ``/tool`` keeps a script as a tool."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_hookspecs import PluginSetting, hookimpl

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_hookspecs import PiAPI

__all__ = ["activate", "pi_when", "register_settings"]

pi_when = {"settings": ["codemode.enabled", "defaultTools"], "texts": ['mcp.json: "code', './.mcp.json: "code']}
"""The exposures ``code`` and ``codemode`` of an MCP server; without them, its file is no reason to load this plugin."""


@hookimpl
def activate(pi: PiAPI) -> None:
    """Add the tool and the command; the setting, or an MCP server with such tools, lets the model use the tool."""
    from pi_codemode.session import CodeMode

    CodeMode(pi).listen()


@hookimpl
def register_settings() -> Sequence[PluginSetting]:
    """Declare ``codemode.enabled`` and ``codemode.preview``."""
    return [
        PluginSetting(
            "codemode.enabled",
            schema={"type": "boolean", "default": False},
            description="Offer the tool codemode: a Python script that calls the other tools",
            project="set",
        ),
        PluginSetting(
            "codemode.preview",
            schema={"type": "boolean", "default": False},
            description="Ask before a script of code mode runs, and list the tools that it calls",
            project="enable",
        ),
    ]
