"""Azure's endpoint and deployment names, and its differences from OpenAI."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit, urlunsplit

from pi_hookspecs.errors import RequestFailed
from pi_provider_openai.responses_request import responses_compat, responses_payload

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pi_hookspecs.models import Model
    from pi_hookspecs.provider import Context, StreamOptions

__all__ = ["AzureConfig", "azure_config", "azure_payload", "deployment_of"]

_AZURE = (".openai.azure.com", ".cognitiveservices.azure.com", ".ai.azure.com")

_BARE_PATHS = ("", "/openai", "/openai/v1/responses")
"""Paths of a resource's API."""


class AzureConfig(NamedTuple):
    """A deployment, and the API's version."""

    base_url: str
    deployment: str
    api_version: str


def azure_config(
    model: Model, environ: Mapping[str, str] | None = None, own: Mapping[str, str] | None = None
) -> AzureConfig:
    """Return the configuration of a model. The variables in ``own``, of the stored key, count before the others.

    Precedence: ``AZURE_OPENAI_BASE_URL``, ``AZURE_OPENAI_RESOURCE_NAME``, the model's own base URL;
    ``AZURE_OPENAI_API_VERSION`` is ``v1`` by default; ``AZURE_OPENAI_DEPLOYMENT_NAME_MAP`` is
    ``model=deployment,...``, a model it does not name is deployed under its id.

    Raises:
        RequestFailed: No resource is configured.
    """
    environ = {**(os.environ if environ is None else environ), **(own or {})}
    resource = environ.get("AZURE_OPENAI_RESOURCE_NAME", "").strip()
    base_url = environ.get("AZURE_OPENAI_BASE_URL", "").strip()
    if not base_url and resource:
        base_url = f"https://{resource}.openai.azure.com/openai/v1"
    base_url = base_url or model.base_url
    if not base_url:
        message = "The address of Azure OpenAI is unknown. Set AZURE_OPENAI_BASE_URL or AZURE_OPENAI_RESOURCE_NAME."
        raise RequestFailed(message)
    names = environ.get("AZURE_OPENAI_DEPLOYMENT_NAME_MAP", "")
    return AzureConfig(
        base_url=_api_of(base_url),
        deployment=deployment_of(model.id, names),
        api_version=environ.get("AZURE_OPENAI_API_VERSION", "").strip() or "v1",
    )


def deployment_of(model_id: str, names: str) -> str:
    """Return the deployment of a model, by the map ``model=deployment,...``."""
    for entry in names.split(","):
        model, _, deployment = entry.partition("=")
        if model.strip() == model_id and deployment.strip():
            return deployment.strip()
    return model_id


def azure_payload(model: Model, context: Context, options: StreamOptions, deployment: str) -> dict[str, Any]:
    """Return the body: as for Responses, for the deployment."""
    payload = responses_payload(model, context, options, responses_compat(model))
    payload["model"] = deployment
    return payload


def _api_of(base_url: str) -> str:
    """Return the base URL with the path of the API where only the resource was named."""
    try:
        parts = urlsplit(base_url)
        host = parts.hostname or ""
    except ValueError:
        return base_url
    path = parts.path.rstrip("/")
    if host.endswith(_AZURE) and path in _BARE_PATHS:
        return urlunsplit((parts.scheme, parts.netloc, "/openai/v1", "", ""))
    return base_url.rstrip("/")
