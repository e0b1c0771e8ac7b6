"""Signs in to GitHub Copilot; its models, their APIs and its headers are defined by other plugins."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_hookspecs import hookimpl

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_hookspecs import Login

__all__ = ["register_logins"]


@hookimpl
def register_logins() -> Sequence[Login]:
    """Sign in to provider ``github-copilot``."""
    from pi_provider_copilot.login import CopilotLogin

    return [CopilotLogin()]
