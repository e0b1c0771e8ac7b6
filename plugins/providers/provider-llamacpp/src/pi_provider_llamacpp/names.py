"""The ids that the plugin registers."""

from __future__ import annotations

__all__ = ["API", "INSTALL", "PROVIDER_ID"]

API = "llamacpp-embedded"
PROVIDER_ID = "llamacpp"
INSTALL = 'pip install "pluggypi[local]"'
"""The command that brings llama.cpp."""
