"""Models whose terms the user has not accepted yet, which Copilot rejects until then."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_hookspecs.errors import RequestFailed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pi_provider_kit import Http

__all__ = ["enable_models"]

_POLICY_HEADERS = {"openai-intent": "chat-policy", "x-interaction-type": "chat-policy"}


async def enable_models(http: Http, ui: Any, base_url: str, token: str, headers: Mapping[str, str]) -> None:
    """Ask the user whether to accept the terms of such models, and accept them.

    The login succeeds whether or not this works; errors are reported as notices.
    """
    from urllib.parse import quote

    from pi_provider_kit.oauth import endpoint, token_request

    sent = {**headers, "authorization": f"Bearer {token}"}
    try:
        waiting = list(
            _waiting(await token_request(http, endpoint("github-copilot", f"{base_url}/models"), headers=sent))
        )
        if not waiting:
            return
        if not await ui.confirm(
            "Accept the terms of these models?", f"Copilot offers them once you do: {', '.join(waiting)}"
        ):
            ui.notify(
                "No terms were accepted; models that require this can be enabled in Copilot's settings at GitHub."
            )
            return
        for model_id in waiting:
            url = endpoint("github-copilot", f"{base_url}/models/{quote(model_id, safe='')}/policy")
            await token_request(http, url, {"state": "enabled"}, headers={**sent, **_POLICY_HEADERS})
    except RequestFailed as failure:
        ui.notify(
            f"Some models of Copilot may not be enabled ({failure}). See Copilot's settings at GitHub.", "warning"
        )


def _waiting(answer: Mapping[str, Any]) -> Iterator[str]:
    """Yield the ids of the models whose terms are neither accepted nor refused."""
    rows = answer.get("data")
    for row in rows if isinstance(rows, list) else ():
        policy = row.get("policy") if isinstance(row, dict) else None
        if isinstance(policy, dict) and policy.get("state") == "unconfigured" and isinstance(row.get("id"), str):
            yield row["id"]
