"""The tool ``generate_image``: an image model draws what the model describes. Off by default."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_hookspecs import hookimpl

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_hookspecs import PiAPI, PluginSetting

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
    from pi_image_generation.options import ENABLED, MODEL

    return [ENABLED, MODEL]
