"""Adds fields to provider requests, by API, according to the user's setting ``payload``.

``"payload": {"openai-responses": {"service_tier": "flex"}}``
"""

from typing import Any

from pi_hookspecs import BeforeProviderRequestEvent, PiContext, hookimpl


@hookimpl
def before_provider_request(event: BeforeProviderRequestEvent, ctx: PiContext) -> Any:
    if event.model is None:
        return None
    extra = ctx.settings.get(["payload", event.model.api])
    return {**event.payload, **extra} if extra else None
