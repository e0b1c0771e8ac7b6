"""Model servers on this machine: which of them answer at their usual ports, and with which models."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, NamedTuple

from pi_provider_openai._completions_compat import host_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pi_hookspecs.models import Model, ProviderInfo
    from pi_provider_kit import Http

__all__ = ["LOCAL_SERVERS", "LocalServer", "discover_local_models", "is_local"]

_COMPAT = {"supportsStore": False, "supportsDeveloperRole": False, "maxTokensField": "max_tokens"}


class LocalServer(NamedTuple):
    """A server that people run at home; ``id`` is that of the catalogue's row."""

    id: str
    name: str
    base_url: str
    compat: dict[str, Any]


LOCAL_SERVERS = (
    LocalServer("ollama", "Ollama", "http://127.0.0.1:11434/v1", _COMPAT),
    LocalServer("lmstudio", "LM Studio", "http://127.0.0.1:1234/v1", _COMPAT),
    LocalServer("llama-cpp", "llama.cpp", "http://127.0.0.1:8080/v1", {**_COMPAT, "supportsReasoningEffort": False}),
    LocalServer("vllm", "vLLM", "http://127.0.0.1:8000/v1", _COMPAT),
)


def is_local(base_url: str) -> bool:
    """Whether the host is this machine or one of a private network: a server of somebody's own."""
    host = host_of(base_url)
    if host == "localhost" or host.endswith((".localhost", ".local")):
        return True
    if not host or not (host[0].isdigit() or ":" in host):
        return False
    import ipaddress

    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    return address.is_loopback or address.is_private


async def discover_local_models(
    timeout: float = 0.2,  # noqa: ASYNC109 - how long a silent server may hold this up; nobody need wait for it
    *,
    servers: Iterable[LocalServer] = LOCAL_SERVERS,
    http: Http | None = None,
) -> tuple[ProviderInfo, ...]:
    """Return the servers that answer, each with its models; a provider's row needs no key and has no default.

    Args:
        timeout: Seconds that all servers together may take.
        servers: Whom to ask.
        http: Connections to ask with.
    """
    from pi_provider_kit import Http

    http = http or Http()
    await http.transport()  # imports the client, which is not the servers' time
    found = await asyncio.gather(*(_ask(server, http, timeout) for server in servers))
    return tuple(info for info in found if info is not None)


async def _ask(server: LocalServer, http: Http, seconds: float) -> ProviderInfo | None:
    """Return a server's row; None where nothing answers, or something that is no model server."""
    from pi_hookspecs.errors import RequestFailed
    from pi_hookspecs.models import ProviderInfo
    from pi_provider_kit import HttpRequest, Timeouts, fetch_json

    request = HttpRequest(url=f"{server.base_url}/models", method="GET")
    waits = Timeouts(connect=seconds, first_byte=seconds, idle=seconds)
    try:
        async with asyncio.timeout(seconds):
            listed = await fetch_json(http, request, timeouts=waits)
    except (RequestFailed, TimeoutError):
        return None
    rows = listed.get("data") if isinstance(listed, dict) else None
    if not isinstance(rows, list):
        return None
    models = tuple(_model(row, server) for row in rows if isinstance(row, dict) and isinstance(row.get("id"), str))
    if not models:
        return None
    return ProviderInfo(
        id=server.id,
        name=server.name,
        api="openai-completions",
        base_url=server.base_url,
        keyless=True,
        compat=server.compat,
        models=models,
    )


def _model(row: dict[str, Any], server: LocalServer) -> Model:
    """Return a model; what the server does not say of it is the default (pi.md 5)."""
    from pi_hookspecs.models import Model

    meta = row.get("meta")
    windows = (
        row.get("max_model_len"),  # vLLM
        row.get("max_context_length"),  # LM Studio
        meta.get("n_ctx") if isinstance(meta, dict) else None,  # llama.cpp: as it was started
        meta.get("n_ctx_train") if isinstance(meta, dict) else None,
    )
    window = next((each for each in windows if isinstance(each, int) and each > 0), None)
    known: dict[str, Any] = {} if window is None else {"context_window": window, "max_tokens": min(window, 16_384)}
    return Model(
        id=row["id"],
        name=row["id"].replace("\\", "/").rpartition("/")[2] or row["id"],
        api="openai-completions",
        provider=server.id,
        base_url=server.base_url,
        compat=server.compat,
        **known,
    )
