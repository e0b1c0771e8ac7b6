"""Extensions that were written for the original pi, in TypeScript and JavaScript, as plugins of this one.

All of a session run in one process of Node.js, which the plugin ``isolated`` starts and talks to.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_hookspecs import hookimpl

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_hookspecs import ExtensionLanguage, PluginSetting

__all__ = ["register_services", "register_settings"]


@hookimpl
def register_services() -> Sequence[ExtensionLanguage]:
    """Run files in TypeScript and JavaScript as plugins."""
    from pi_typescript.language import TypeScript

    return [TypeScript()]


@hookimpl
def register_settings() -> Sequence[PluginSetting]:
    """Declare ``typescript.node``."""
    from pi_typescript.options import NODE

    return [NODE]
