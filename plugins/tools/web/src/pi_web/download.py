"""Downloads one page over HTTP: each redirect is checked, and size and time are limited."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from attrs import frozen

from pi_hookspecs import UserError
from pi_web.address import find_target, redirected

if TYPE_CHECKING:
    from pi_web.address import Target
    from pi_web.options import Options

__all__ = ["Page", "download"]

_REDIRECTS = 5
_ACCEPT = "text/html, text/markdown, text/plain;q=0.9, application/json;q=0.8, */*;q=0.1"
_READABLE = ("application/json", "application/xml", "application/javascript", "application/yaml", "application/toml")


@frozen
class Page:
    """An answer.

    Attributes:
        url: Where it came from, after redirects.
        status: The HTTP status.
        kind: The content type without parameters, in lower case.
        charset: The one that the server names.
        body: The bytes, at most as many as allowed.
        cut: Whether there were more.
    """

    url: str
    status: int
    kind: str
    charset: str | None
    body: bytes
    cut: bool


async def download(url: str, options: Options) -> Page:
    """Return a page.

    Raises:
        UserError: It cannot be reached, is not text, redirects too often, or takes too long.
    """
    import httpx

    from pi_provider_kit import tls_context

    context, seconds = tls_context(httpx), options.seconds
    try:
        async with asyncio.timeout(seconds):
            async with httpx.AsyncClient(verify=context, timeout=seconds, trust_env=False) as client:
                return await _follow(client, url, options)
    except TimeoutError:
        raise UserError(f"{url} did not answer within {options.seconds:g} seconds (web.timeout).") from None
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise UserError(f"{url} cannot be read: {str(error) or type(error).__name__}.") from None


async def _follow(client: Any, url: str, options: Options) -> Page:
    asked = url
    for _ in range(_REDIRECTS + 1):
        target = await find_target(url, options.private)
        async with client.stream("GET", _pinned(target), headers=_headers(target), extensions=_name(target)) as answer:
            location = answer.headers.get("location")
            if answer.is_redirect and location:
                url = redirected(target, location)
                continue
            return await _read(answer, target, options.max_bytes)
    raise UserError(f"{asked} redirects more than {_REDIRECTS} times.")


def _pinned(target: Target) -> Any:
    """Return the URL with the address that was checked in place of the name."""
    import httpx

    return httpx.URL(target.url).copy_with(host=target.address, port=target.port)


def _headers(target: Target) -> dict[str, str]:
    from importlib.metadata import version

    host = f"[{target.host}]" if ":" in target.host else target.host
    default = {"http": 80, "https": 443}[target.scheme] == target.port
    return {
        "host": host if default else f"{host}:{target.port}",
        "user-agent": f"pluggypi-web/{version('pluggypi-web')}",
        "accept": _ACCEPT,
        "accept-encoding": "identity",  # else a few bytes could become gigabytes
    }


def _name(target: Target) -> dict[str, str]:
    """Have the certificate compared with the name, not with the address."""
    return {"sni_hostname": target.host} if target.scheme == "https" else {}


async def _read(answer: Any, target: Target, most: int) -> Page:
    kind, _, parameters = answer.headers.get("content-type", "text/plain").lower().partition(";")
    kind = kind.strip()
    if not (kind.startswith("text/") or kind in _READABLE or kind.endswith(("+json", "+xml"))):
        raise UserError(
            f"{target.url} is {kind or 'of an unknown type'}, not text. Download it with bash if you need it."
        )
    if answer.headers.get("content-encoding", "identity") not in ("", "identity"):
        raise UserError(
            f"{target.url} is compressed, although that was not requested. Download it with bash if you need it."
        )
    body, cut = bytearray(), False
    async for chunk in answer.aiter_raw():
        body += chunk
        if len(body) > most:
            del body[most:]
            cut = True
            break
    charset = parameters.partition("charset=")[2].partition(";")[0].strip(" \"'") or None
    return Page(target.url, answer.status_code, kind, charset, bytes(body), cut)
