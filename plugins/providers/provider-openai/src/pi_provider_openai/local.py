"""Model servers on this machine or a private network: reachability, and their models."""

from __future__ import annotations

import asyncio
import os
from contextlib import suppress
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from attrs import evolve

from pi_provider_kit import ip_address_of

if TYPE_CHECKING:
    from pi_hookspecs.models import Model, ProviderInfo
    from pi_hookspecs.provider import StreamOptions
    from pi_provider_kit import Http

__all__ = ["ollama_url", "with_models"]

_OLLAMA = "http://127.0.0.1:11434/v1"
"""Default address of Ollama."""


async def with_models(http: Http, row: ProviderInfo, options: StreamOptions) -> ProviderInfo:
    """Return a provider with the models of its server; without models where it does not answer in time.

    Ollama's address is that of ``OLLAMA_HOST``, unless another one is configured.
    """
    if row.id == "ollama" and row.base_url == _OLLAMA:
        row = evolve(row, base_url=ollama_url(os.environ.get("OLLAMA_HOST", "")))
    seconds = (options.timeout_ms or 0) / 1000 or None
    listed = None
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            is_there = await _listens(row.base_url)
        if is_there:
            await http.transport()  # httpx is imported only for a reachable server, outside of its deadline
            async with asyncio.timeout(seconds):
                listed = await _listed(http, row, options)
    rows = listed.get("data") if isinstance(listed, dict) else None
    named = [each for each in rows if isinstance(each, dict)] if isinstance(rows, list) else []
    models = {each["id"]: _model(each, row) for each in named if isinstance(each.get("id"), str) and each["id"]}
    return evolve(row, models=tuple(models.values()))


async def _listed(http: Http, row: ProviderInfo, options: StreamOptions) -> Any:
    """Return what ``GET .../models`` answers; None if it is not a model server."""
    from pi_hookspecs.errors import RequestFailed
    from pi_provider_kit import HttpRequest, fetch_json

    key = {"Authorization": f"Bearer {options.api_key}"} if options.api_key else {}
    request = HttpRequest(url=f"{row.base_url}/models", method="GET", headers=key)
    try:
        return await fetch_json(http, request, options)
    except RequestFailed:
        return None


async def _listens(base_url: str) -> bool:
    """Return whether a server accepts connections at a URL."""
    try:
        parts = urlsplit(base_url)
        host, port = parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)
        places = [host] if ip_address_of(host) is not None else await _looked_up(host)
    except ValueError:  # invalid port
        return False
    for place in places:
        with suppress(OSError):
            _, writer = await asyncio.open_connection(place, port)
            writer.close()
            return True
    return False


async def _looked_up(name: str) -> list[str]:
    """Return the addresses of a name; empty if it has none.

    The lookup runs in a daemon thread; asyncio would wait for its own thread at exit.
    """
    import socket
    import threading

    loop = asyncio.get_running_loop()
    answer: asyncio.Future[list[str]] = loop.create_future()

    def tell(found: list[str]) -> None:
        if not answer.done():  # cancelled meanwhile
            answer.set_result(found)

    def look_up() -> None:
        found: list[str] = []
        with suppress(OSError, ValueError):  # ValueError: invalid host name
            found = [str(each[4][0]) for each in socket.getaddrinfo(name, None, type=socket.SOCK_STREAM)]
        with suppress(RuntimeError):  # the loop is closed
            loop.call_soon_threadsafe(tell, found)

    threading.Thread(target=look_up, name="look-up", daemon=True).start()
    return await answer


def ollama_url(host: str) -> str:
    """Return the base URL that ``OLLAMA_HOST`` means: ``[SCHEME://]HOST[:PORT][/PATH]``, any part left out.

    A server that listens at all addresses (``0.0.0.0``) is reached at this machine's own.
    """
    scheme, separator, rest = host.strip().strip("\"'").rpartition("://")
    place, _, path = rest.partition("/")
    if place.count(":") > 1 and not place.startswith("["):
        place = f"[{place}]"
    try:
        parts = urlsplit(f"//{place}")
        name, port = parts.hostname or "127.0.0.1", parts.port
    except ValueError:  # invalid port; Ollama itself uses its default then
        return _OLLAMA
    usual = {"http": 80, "https": 443}.get(scheme, 11434) if separator else 11434
    name = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(name, name)  # noqa: S104 - never connected to
    host_text = f"[{name}]" if ":" in name else name
    return f"{scheme or 'http'}://{host_text}:{usual if port is None else port}{f'/{path}'.rstrip('/')}/v1"


def _model(listed: dict[str, Any], row: ProviderInfo) -> Model:
    """Return a model; missing fields have the default."""
    meta = listed.get("meta")
    windows = (
        listed.get("max_model_len"),  # vLLM
        listed.get("max_context_length"),  # LM Studio
        meta.get("n_ctx") if isinstance(meta, dict) else None,  # llama.cpp: as it was started
        meta.get("n_ctx_train") if isinstance(meta, dict) else None,
    )
    model = row.custom_model(listed["id"])
    model = evolve(model, name=model.id.replace("\\", "/").rpartition("/")[2] or model.id)
    window = next((each for each in windows if type(each) is int and each > 0), None)
    return model if window is None else evolve(model, context_window=window, max_tokens=min(window, 16_384))
