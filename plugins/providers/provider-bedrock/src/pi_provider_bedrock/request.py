"""Prepares a request: credentials, endpoint and signature."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from pi_provider_bedrock.credential_source import AUTHENTICATED
from pi_provider_bedrock.credentials import in_thread, signature
from pi_provider_bedrock.endpoint import endpoint_of
from pi_provider_bedrock.profiles import profile_of, profile_region
from pi_provider_kit import HttpRequest

if TYPE_CHECKING:
    from pi_hookspecs.provider import StreamOptions
    from pi_provider_bedrock.advice import Circumstances
    from pi_provider_bedrock.credentials import Chain
    from pi_provider_bedrock.endpoint import Endpoint
    from pi_provider_kit import AbortWatch

__all__ = ["prepared"]

_SOME_REGION = "us-east-1"
"""Region of the signature for a custom address where no region is set."""


async def prepared(
    payload: dict[str, Any],
    options: StreamOptions,
    chain: Chain,
    watch: AbortWatch,
    circumstances: Circumstances,
) -> HttpRequest:
    """Return the request. A bearer token is sent unchanged; otherwise the request is signed with AWS credentials.

    With a configured ``authorization`` header it is not signed: a gateway does that.

    Raises:
        AwsFailed: There are no credentials, or no region.
        Aborted: The run was aborted meanwhile.
    """
    watch.raise_if_aborted()
    model = circumstances.model
    headers = {name.lower(): value for name, value in (model.headers or {}).items()}
    body = {name: part for name, part in payload.items() if name != "modelId"}
    model_id = str(payload.get("modelId", model.id))
    endpoint = await watch(_endpoint(model_id, model.base_url))
    circumstances.region = endpoint.region
    token = _bearer(options.api_key)
    configured = {name.lower() for name in options.headers or {}} | headers.keys()
    if token is not None:
        circumstances.secrets = (token,)
        headers = {"authorization": f"Bearer {token}", **headers}
    if token is not None or "authorization" in configured:
        return HttpRequest(url=endpoint.url(model_id), body=body, headers=headers)
    circumstances.profile = profile_of(os.environ)
    credentials = await watch(chain.credentials())
    circumstances.secrets = tuple(filter(None, (credentials.secret_key, credentials.token)))
    url, region = endpoint.url(model_id), endpoint.region or _SOME_REGION
    return HttpRequest(
        url=url, body=body, headers=headers, sign=lambda content: signature(credentials, region, url, content)
    )


async def _endpoint(model_id: str, base_url: str) -> Endpoint:
    """Return the endpoint; in a thread, because a file may have to be read."""
    environ = dict(os.environ)
    if any(environ.get(name) for name in ("AWS_REGION", "AWS_DEFAULT_REGION")):
        return endpoint_of(model_id, base_url, environ, _nothing)
    return await in_thread(lambda: endpoint_of(model_id, base_url, environ, lambda: profile_region(environ)))


def _nothing() -> None:
    return None


def _bearer(key: str | None) -> str | None:
    """Return the bearer token: the key, unless it is the placeholder for credentials, else that of the environment."""
    if key and key != AUTHENTICATED:
        return key
    return os.environ.get("AWS_BEARER_TOKEN_BEDROCK", "").strip() or None
