"""The settings of the plugin."""

from __future__ import annotations

from pi_hookspecs import PluginSetting

__all__ = ["ENABLED", "MODEL"]

ENABLED = PluginSetting(
    "imageGeneration.enabled",
    schema={"type": "boolean", "default": False},
    description="Offer the tool generate_image, with which the model draws images into files",
    project="disable",
)
MODEL = PluginSetting(
    "imageGeneration.model",
    schema={"type": ["string", "null"], "default": None},
    description="The image model that draws; by default the first one whose provider has a key",
    project="set",
)
