"""The setting ``typescript.node``."""

from __future__ import annotations

from pi_hookspecs import PluginSetting

__all__ = ["NODE"]

NODE = PluginSetting(
    "typescript.node",
    schema={"type": "string"},
    description="The Node.js that runs extensions in TypeScript: a path, or a name that is looked up on PATH",
    protected=True,
    project="nothing",
)
