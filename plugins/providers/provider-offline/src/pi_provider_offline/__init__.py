"""Adds the model ``offline/rules``: a rule-based stand-in, not a language model, without network and key."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_hookspecs import hookimpl

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_hookspecs import Provider, ProviderInfo

__all__ = ["register_models", "register_providers"]


@hookimpl
def register_providers() -> Sequence[Provider]:
    """Implement the API id ``offline-rules``."""
    from pi_provider_offline.provider import OfflineRules

    return [OfflineRules()]


@hookimpl
def register_models() -> Sequence[ProviderInfo]:
    """Add provider ``offline`` with its one model, which must be asked for by name."""
    from pi_provider_offline.provider import PROVIDER

    return [PROVIDER]
