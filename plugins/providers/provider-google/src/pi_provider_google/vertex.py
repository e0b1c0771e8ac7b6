"""Vertex AI's endpoint for a project, and its credentials: a key, a token, or the machine's own."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from pi_hookspecs.errors import RequestFailed
from pi_provider_google.adc import AMBIENT, ambient_token
from pi_provider_google.exchange import Call
from pi_provider_kit import AbortWatch

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pi_hookspecs.models import Model
    from pi_hookspecs.provider import StreamOptions

__all__ = ["host_of", "location_of", "project_of", "vertex_call"]

_VERSION = "v1"

_GOOGLES_OWN = re.compile(
    r"https://(?:(?P<location>[a-z0-9-]+|\{\w+\})-)?aiplatform(?:\.(?P<region>us|eu)\.rep)?\.googleapis\.com/?$"
)
"""A base URL whose location comes from the environment; the catalogue's is ``https://{location}-aiplatform.googleapis.com``."""

_MULTI_REGIONS = ("us", "eu")

_TOKENS = ("ya29.", "eyJ")
"""Prefix of access tokens, which keys do not have."""


async def vertex_call(
    model: Model, payload: dict[str, Any], options: StreamOptions, environ: Mapping[str, str] | None = None
) -> Call:
    """Return the request: in express mode with a key, else for a project in a location with a token.

    ``GOOGLE_CLOUD_PROJECT`` (or ``GCLOUD_PROJECT``) takes precedence over the project of the credentials,
    ``GOOGLE_CLOUD_LOCATION`` over the location in the base URL.

    Raises:
        RequestFailed: There are no credentials, or no project or location is configured.
        Aborted: ``options.signal`` was set while a token was requested.
    """
    environ = os.environ if environ is None else environ
    key = options.api_key
    resource = f"{_resource(model.id)}:streamGenerateContent?alt=sse"
    common: dict[str, Any] = {"path": resource, "payload": payload}
    if key and key != AMBIENT and not key.startswith(_TOKENS):
        base = f"{host_of(model.base_url, None)}/{_VERSION}"
        headers = {**(model.headers or {}), "x-goog-api-key": key}
        return Call(bases=(base,), headers=headers, sdk={"vertexai": True, "api_key": key}, **common)
    location = location_of(model.base_url, environ)
    project, headers, token = project_of(environ), dict(model.headers or {}), key
    if key is None or key == AMBIENT:
        with AbortWatch(options.signal) as watch:
            found = await watch(ambient_token())
        project, token = project or found.project, found.token
        headers |= {"x-goog-user-project": found.quota_project} if found.quota_project else {}
    if not project:
        raise RequestFailed("The project for Vertex AI is unknown. Set GOOGLE_CLOUD_PROJECT.")
    base = f"{host_of(model.base_url, location)}/{_VERSION}/projects/{quote(project)}/locations/{quote(location)}"
    return Call(
        bases=(base,),
        headers={**headers, "authorization": f"Bearer {token}"},
        secrets=(token,) if token else (),
        sdk={"vertexai": True, "project": project, "location": location, "token": token},
        **common,
    )


def host_of(base_url: str, location: str | None) -> str:
    """Return scheme and host; a base URL that is not Google's own is kept, without a version at its end."""
    if base_url and not _GOOGLES_OWN.match(base_url):
        return re.sub(r"/v1(?:beta1)?$", "", base_url.rstrip("/"))
    if location in (None, "global"):
        return "https://aiplatform.googleapis.com"
    if location in _MULTI_REGIONS:
        return f"https://aiplatform.{location}.rep.googleapis.com"
    return f"https://{location}-aiplatform.googleapis.com"


def location_of(base_url: str, environ: Mapping[str, str]) -> str:
    """Return the location of the model.

    Raises:
        RequestFailed: No location is configured.
    """
    found = _GOOGLES_OWN.match(base_url)
    named = (found["location"] or found["region"] or "") if found else ""
    location = environ.get("GOOGLE_CLOUD_LOCATION", "").strip() or ("" if named.startswith("{") else named)
    if not location:
        message = "The location of Vertex AI is unknown. Set GOOGLE_CLOUD_LOCATION to 'global' or 'us-central1'."
        raise RequestFailed(message)
    return location


def project_of(environ: Mapping[str, str]) -> str | None:
    """Return the project that the environment names."""
    named = (environ.get(name, "").strip() for name in ("GOOGLE_CLOUD_PROJECT", "GCLOUD_PROJECT"))
    return next(filter(None, named), None)


def _resource(model_id: str) -> str:
    """Return the resource of a model; an id of two parts is ``publisher/model``."""
    if model_id.startswith(("publishers/", "models/")):
        named = model_id
    else:
        publisher, slash, name = model_id.partition("/")
        named = f"publishers/{publisher}/models/{name}" if slash else f"publishers/google/models/{model_id}"
    return quote(named, safe="/:@")
