"""The settings ``redact.*``; that of the output of JSON and RPC mode, ``redact.output``, is the engine's."""

from __future__ import annotations

from pi_hookspecs import PluginSetting

__all__ = ["ENABLED", "PATTERNS", "PROVIDER", "SETTINGS", "STRICT"]

ENABLED = PluginSetting(
    "redact.enabled",
    schema={"type": "boolean", "default": True},
    description="Keep [secrets](redaction.md) out of stored data",
    project="enable",
)
PROVIDER = PluginSetting(
    "redact.provider",
    schema={"type": "boolean", "default": False},
    description="Also replace secrets in requests; tools get the originals",
    project="enable",
)
STRICT = PluginSetting(
    "redact.strict",
    schema={"type": "boolean", "default": False},
    description="Also replace random-looking values of key-like names; refuse invalid patterns",
    project="enable",
)
PATTERNS = PluginSetting(
    "redact.patterns",
    schema={"type": "array", "items": {"type": "string"}, "default": []},
    description="Additional secrets, as regular expressions",
    project="add",
)
SETTINGS = (ENABLED, PROVIDER, STRICT, PATTERNS)
