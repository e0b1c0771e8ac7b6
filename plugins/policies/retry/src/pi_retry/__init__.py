"""Retries failed requests: transient errors with exponential backoff, then the failover models that the user names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_hookspecs import hookimpl

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_hookspecs import Service

__all__ = ["register_services"]


@hookimpl
def register_services() -> Sequence[Service]:
    """Provide the retry policy."""
    from pi_retry.policy import Backoff

    return [Backoff()]
