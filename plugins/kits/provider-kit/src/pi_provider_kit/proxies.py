"""Which proxy the environment names for a request (``HTTP_PROXY``, ``HTTPS_PROXY``, ``ALL_PROXY``, ``NO_PROXY``)."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import ssl
    from collections.abc import Mapping

    import httpx

__all__ = ["Proxies", "proxied_transport", "proxy_failure"]


class Proxies:
    """The proxies of an environment.

    Args:
        by_scheme: ``http``, ``https`` or ``all`` to a proxy's URL, as ``urllib.request.getproxies`` returns it.
    """

    def __init__(self, by_scheme: Mapping[str, str]) -> None:
        self._by_scheme = {name: url for name in ("http", "https", "all") if (url := by_scheme.get(name))}

    @classmethod
    def from_environment(cls) -> Proxies:
        """Read the environment, and on macOS and Windows the system's settings, now."""
        if sys.platform not in ("darwin", "win32") and not any(name.lower().endswith("_proxy") for name in os.environ):
            return cls({})
        from urllib.request import getproxies

        return cls(getproxies())

    def proxy_for(self, scheme: str, host: str, port: int | None) -> str | None:
        """Return the URL of the proxy to use, None to connect directly."""
        if not self._by_scheme:
            return None
        url = self._by_scheme.get(scheme) or self._by_scheme.get("all")
        if url is None:
            return None
        if _is_excepted(host.strip("[]"), port):
            return None
        if url.startswith("socks://"):  # as desktop environments write it
            return "socks5://" + url.removeprefix("socks://")
        return url if "://" in url else f"http://{url}"


def _is_excepted(host: str, port: int | None) -> bool:
    """Return whether ``NO_PROXY`` has a host: by name, domain (``.acme.test``, ``*.acme.test``), address or network.

    An entry may end in a port. An IPv6 address may be in brackets, and must be where a port follows.
    """
    from urllib.request import proxy_bypass  # knows names and domains, and the system's settings

    name = f"[{host}]" if ":" in host else host
    if proxy_bypass(name if port is None else f"{name}:{port}"):
        return True
    listed = os.environ.get("no_proxy") or os.environ.get("NO_PROXY") or ""
    return any(_excepts(entry, host, port) for entry in listed.replace(",", " ").split())


def _excepts(entry: str, host: str, port: int | None) -> bool:
    from ipaddress import ip_address, ip_network

    if entry.startswith("*."):
        return f".{host}".lower().endswith(entry[1:].lower())
    bracketed, _, ending = entry.rpartition("]") if entry.startswith("[") else ("", "", "")
    if bracketed:
        entry, ending = bracketed[1:], ending.removeprefix(":")
    elif entry.count(":") == 1:
        entry, _, ending = entry.partition(":")
    if ending.isdecimal() and int(ending) != port:
        return False
    try:
        address, network = ip_address(host), ip_network(entry, strict=False)
    except ValueError:  # a name, on either side
        return False
    mapped = getattr(address, "ipv4_mapped", None)
    return address in network or (mapped is not None and mapped in network)


def proxied_transport(proxy: str, context: ssl.SSLContext) -> httpx.AsyncBaseTransport:
    """Return httpx's own transport through a proxy.

    Raises:
        httpx.ProxyError: The proxy's URL is not usable, or SOCKS support is not installed. The message is without the
            URL's user and password.
    """
    import httpx

    try:
        return httpx.AsyncHTTPTransport(verify=context, proxy=httpx.Proxy(proxy))
    except ImportError as error:
        message = (
            "the environment names a SOCKS proxy, and SOCKS support is not installed: "
            "install pluggypi-provider-kit[socks], or unset ALL_PROXY"
        )
        raise httpx.ProxyError(message) from error
    except (ValueError, httpx.InvalidURL):
        scheme = proxy.partition("://")[0]
        message = f"the environment names a proxy whose URL is not usable (scheme {scheme!r}); use http:// or socks5://"
        raise httpx.ProxyError(message) from None


def proxy_failure(proxy: str, error: httpx.ConnectError) -> httpx.ProxyError | None:
    """Return the error that names the proxy, without its password; None if the error is the server's own."""
    import ssl

    import httpx

    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLError):  # TLS with the server itself, through the tunnel
            return None
        cause = cause.__cause__ or cause.__context__
    url = httpx.URL(proxy)
    return httpx.ProxyError(f"no connection to the proxy {url.host}{f':{url.port}' if url.port else ''} ({error})")
