"""The setting ``cacheWarming``."""

from __future__ import annotations

from pi_hookspecs import PluginSetting

__all__ = ["MODE"]

MODE = PluginSetting(
    "cacheWarming",
    schema={"enum": ["off", "streaming", "idle"], "default": "streaming"},
    description="When to keep long prompts in their provider's [cache](cache.md): never, while a prompt is being "
    "answered, or also while pi waits for the next one",
    project="nothing",
)
