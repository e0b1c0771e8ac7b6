"""Skills, prompt templates, themes, context files: where they are, who may be believed, and which of two wins."""

from __future__ import annotations

from pi_core.resources.loader import DefaultResourceLoader

__all__ = ["DefaultResourceLoader"]
