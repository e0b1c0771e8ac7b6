"""Plugins in separate processes: folders with a ``pi_plugin.json`` that names a command, in any language.

A process is started when one of its hooks, tools or commands is first needed; what it has is known from an index.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_hookspecs import hookimpl

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_hookspecs import PluginRunner

__all__ = ["register_services"]


@hookimpl
def register_services() -> Sequence[PluginRunner]:
    """Run programs as plugins."""
    from pi_isolated.runner import ProgramRunner

    return [ProgramRunner()]
