"""Resources (skills, prompt templates, themes, context files): where they are found, trust, and name collisions."""

from __future__ import annotations

from pi_core.resources.loader import DefaultResourceLoader

__all__ = ["DefaultResourceLoader"]
