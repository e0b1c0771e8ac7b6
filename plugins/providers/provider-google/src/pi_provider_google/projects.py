"""Finds the project of an account: an existing one, or the one created when it is set up for Code Assist."""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING, Any

from pi_hookspecs.errors import UserError
from pi_provider_google.code_assist import METADATA, code_assist_headers

if TYPE_CHECKING:
    from pi_provider_kit import Http
    from pi_provider_kit.oauth import TokenRefused

__all__ = ["find_project"]

_FREE = "free-tier"
_LEGACY = "legacy-tier"

_TRIES = 24
"""Maximum number of polls for the setup; two minutes at the usual interval."""

_GUARDED = "SECURITY_POLICY_VIOLATED"
"""Error of an organisation with VPC Service Controls, whose accounts are of the standard tier."""


async def find_project(http: Http, provider: str, host: str, access: str, *, interval: float) -> str:
    """Return the project's id, after setting the account up where it is new.

    ``GOOGLE_CLOUD_PROJECT`` (or ``GOOGLE_CLOUD_PROJECT_ID``) names the project of an account that needs one of its own.

    Args:
        http: The login's HTTP client.
        provider: Provider of the login; its URLs may be overridden.
        host: Host of Cloud Code Assist.
        access: The access token.
        interval: Polling interval in seconds while an account is set up.

    Raises:
        UserError: The account needs a project of its own, or the setup timed out.
        RequestFailed: The service refused, or could not be reached.
    """
    named = _named()
    service = _Service(http, provider, host, access)
    metadata = {**METADATA, **({"duetProject": named} if named else {})}
    asked = {"metadata": metadata, **({"cloudaicompanionProject": named} if named else {})}
    account = await service.account(asked)
    found = _project_of(account)
    if account.get("currentTier"):
        return found or _needed(named)
    tier = _first_tier(account)
    if tier == _FREE:  # Google creates a project for it, and rejects another
        wanted: dict[str, Any] = {"tierId": tier, "metadata": dict(METADATA)}
    else:
        project = _needed(named)
        wanted = {"tierId": tier, "metadata": metadata, "cloudaicompanionProject": project}
    done = await service.set_up(wanted, interval)
    return _project_of(done) or found or _needed(named)


class _Service:
    """The account endpoints of Cloud Code Assist."""

    def __init__(self, http: Http, provider: str, host: str, access: str) -> None:
        self._http = http
        self._provider = provider
        self._host = host
        self._headers = {
            **code_assist_headers(antigravity=provider == "google-antigravity"),
            "authorization": f"Bearer {access}",
        }

    async def account(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Return the account: its tier, its project, the tiers it may have."""
        from pi_provider_kit.oauth import TokenRefused

        try:
            return await self._ask(":loadCodeAssist", asked)
        except TokenRefused as refused:
            if _is_guarded(refused):
                return {"currentTier": {"id": "standard-tier"}}
            raise

    async def set_up(self, wanted: dict[str, Any], interval: float) -> dict[str, Any]:
        """Set the account up and return the result."""
        operation = await self._ask(":onboardUser", wanted)
        for _ in range(_TRIES):
            name = operation.get("name")
            if operation.get("done") or not isinstance(name, str):
                response = operation.get("response")
                return response if isinstance(response, dict) else {}
            await asyncio.sleep(interval)
            operation = await self._ask(f"/{name}", None)
        message = f"The account is still being set up. Run pi auth login {self._provider} again in a few minutes."
        raise UserError(message)

    async def _ask(self, what: str, fields: dict[str, Any] | None) -> dict[str, Any]:
        from pi_provider_kit.oauth import endpoint, token_request

        url = endpoint(self._provider, f"{self._host}/v1internal{what}")
        return await token_request(self._http, url, fields, headers=self._headers)


def _named() -> str:
    named = (os.environ.get(name, "").strip() for name in ("GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_PROJECT_ID"))
    return next(filter(None, named), "")


def _needed(named: str) -> str:
    if not named:
        message = "The account needs a Google Cloud project. Set GOOGLE_CLOUD_PROJECT and sign in again."
        raise UserError(message)
    return named


def _project_of(answer: dict[str, Any]) -> str:
    project = answer.get("cloudaicompanionProject")
    if isinstance(project, dict):
        project = project.get("id")
    return project if isinstance(project, str) else ""


def _first_tier(account: dict[str, Any]) -> str:
    tiers = account.get("allowedTiers")
    rows = [tier for tier in tiers if isinstance(tier, dict)] if isinstance(tiers, list) else []
    tier = next((row for row in rows if row.get("isDefault")), {}).get("id")
    return tier if isinstance(tier, str) else _LEGACY


def _is_guarded(refused: TokenRefused) -> bool:
    error = refused.answer.get("error")
    details = error.get("details") if isinstance(error, dict) else None
    rows = details if isinstance(details, list) else []
    return any(isinstance(row, dict) and row.get("reason") == _GUARDED for row in rows)
