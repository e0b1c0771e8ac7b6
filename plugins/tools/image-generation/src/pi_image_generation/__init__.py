"""The tool ``generate_image``: an image model draws what the model describes. Off by default."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_hookspecs import PluginSetting, hookimpl

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_hookspecs import PiAPI

__all__ = ["activate", "pi_when", "register_settings"]

pi_when = {"settings": ["imageGeneration.enabled"]}


@hookimpl
def activate(pi: PiAPI) -> None:
    """Offer the tool in the session, unless ``imageGeneration.enabled`` is false."""
    from pi_image_generation.tool import image_tool

    pi.register_tool(image_tool())


@hookimpl
def register_settings() -> Sequence[PluginSetting]:
    """Declare ``imageGeneration.enabled`` and ``imageGeneration.model``."""
    return [
        PluginSetting(
            "imageGeneration.enabled",
            schema={"type": "boolean", "default": False},
            description="Offer the tool generate_image, with which the model draws images into files",
        ),
        PluginSetting(
            "imageGeneration.model",
            schema={"type": ["string", "null"], "default": None},
            description="The image model that draws; by default the first one whose provider has a key",
        ),
    ]
