"""Adds the providers and models that pi knows, as data; the file of a provider is read on first access."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_hookspecs import hookimpl

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_hookspecs import ProviderInfo

__all__ = ["register_models"]


@hookimpl
def register_models() -> Sequence[ProviderInfo]:
    """Add one row per provider; its models are read on first access."""
    from pi_hookspecs import load_models

    return load_models(__package__, "data/providers.json")
