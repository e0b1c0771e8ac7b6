"""The settings ``retry.*``."""

from __future__ import annotations

from pi_hookspecs import PluginSetting

__all__ = ["BASE_DELAY", "ENABLED", "FAILOVER", "JITTER", "MAX_AGENT_DELAY", "MAX_DELAY", "MAX_RETRIES", "SETTINGS"]

ENABLED = PluginSetting(
    "retry.enabled",
    schema={"type": "boolean", "default": True},
    description="Retry automatically when a request fails for a temporary reason",
    project="set",
)
MAX_RETRIES = PluginSetting(
    "retry.maxRetries",
    schema={"type": "integer", "minimum": 0, "default": 3},
    description="Number of attempts after the first one",
    project="set",
)
BASE_DELAY = PluginSetting(
    "retry.baseDelayMs",
    schema={"type": "integer", "minimum": 0, "default": 2000},
    description="Milliseconds before the first retry; doubled each time",
    project="set",
)
MAX_DELAY = PluginSetting(
    "retry.maxDelayMs",
    schema={"type": "integer", "minimum": 0, "default": 60_000},
    description="Longest wait between two retries, in milliseconds",
    project="set",
)
MAX_AGENT_DELAY = PluginSetting(
    "retry.maxAgentDelayMs",
    schema={"type": "integer", "minimum": 0},
    description="Alias of `retry.maxDelayMs`, which takes precedence",
    project="set",
)
JITTER = PluginSetting(
    "retry.jitter",
    schema={"type": "number", "minimum": 0, "default": 0.0},
    description="Random part of each wait, as a fraction from 0 to 1",
    project="set",
)
FAILOVER = PluginSetting(
    "retry.failover",
    schema={"type": "array", "items": {"type": "string"}, "default": []},
    description="Models, as `provider/id`, to continue with if retrying does not help",
    protected=True,
    project="set",
)
SETTINGS = (ENABLED, MAX_RETRIES, BASE_DELAY, MAX_DELAY, MAX_AGENT_DELAY, JITTER, FAILOVER)
