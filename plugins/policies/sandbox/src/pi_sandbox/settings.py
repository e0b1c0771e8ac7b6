"""The settings ``sandbox.*``."""

from __future__ import annotations

from typing import Any

from pi_hookspecs import PluginSetting

__all__ = ["MODE", "NETWORK", "SETTINGS"]

_NAMES: dict[str, Any] = {"type": "array", "items": {"type": "string"}, "default": []}

MODE = PluginSetting(
    "sandbox.mode",
    schema={"enum": ["off", "auto", "bwrap", "landlock", "seatbelt"], "default": "off"},
    description="Engine of the [sandbox](sandbox.md); `auto` selects the first one that works",
    project=("bwrap", "auto", "landlock", "seatbelt", "off"),
)
NETWORK = PluginSetting(
    "sandbox.network",
    schema={"enum": ["off", "allow", "open"], "default": "off"},
    description="What sandboxed programs can reach: nothing, the hosts in `allow`, or everything",
    project=("off", "allow", "open"),
)
SETTINGS = (
    MODE,
    NETWORK,
    PluginSetting(
        "sandbox.allow",
        schema=_NAMES,
        description="Hosts to allow if `network` is `allow`: `host`, `host:port` or `*.domain`",
        project="narrow",
    ),
    PluginSetting(
        "sandbox.write",
        schema=_NAMES,
        description="Folders that programs can change, in addition to the working directory",
        project="narrow",
    ),
    PluginSetting(
        "sandbox.denyRead",
        schema=_NAMES,
        description="Paths that programs cannot read, in addition to keys and logins",
        project="add",
    ),
    PluginSetting(
        "sandbox.env",
        schema=_NAMES,
        description="Environment variables that programs get even though they look like keys",
        project="narrow",
    ),
)
