"""The setting ``showCacheMissNotices``."""

from __future__ import annotations

from pi_hookspecs import PluginSetting

__all__ = ["NOTICES"]

NOTICES = PluginSetting(
    "showCacheMissNotices",
    schema={"type": "boolean", "default": False},
    description="Show notices about prompts that missed the provider's cache, the cost of summaries, and repeated "
    "requests",
    project="set",
)
