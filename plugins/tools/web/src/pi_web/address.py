"""Which addresses may be reached: those of the public internet, and the hosts that the user has allowed.

A name is resolved once, here, and the connection goes to an address that was judged: a server of names that answers
differently the second time leads nowhere else.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

from attrs import frozen

from pi_hookspecs import UserError

if TYPE_CHECKING:
    from collections.abc import Collection

__all__ = ["Target", "find_target", "redirected"]

_PORTS = {"http": 80, "https": 443}
_EMBEDDED = ("ipv4_mapped", "sixtofour")


@frozen
class Target:
    """The target of a URL.

    Attributes:
        url: The URL, without its fragment.
        scheme: ``http`` or ``https``.
        host: The name or address, in lower case.
        port: The port.
        address: The address to connect to.
    """

    url: str
    scheme: str
    host: str
    port: int
    address: str


async def find_target(url: str, private: Collection[str]) -> Target:
    """Return where a URL leads.

    Args:
        url: As the model wrote it, or a redirect.
        private: Hosts, or ``host:port``, that may have private addresses.

    Raises:
        UserError: It is not a URL of the web, its host is not known, or it has a private address.
    """
    try:
        parts = urlsplit(url.strip())
        host, port = (parts.hostname or "").rstrip("."), parts.port
    except ValueError as error:
        raise UserError(f"{url!r} is not a URL: {error}.") from None
    if parts.scheme not in _PORTS or not host:
        raise UserError(f"fetch reads http and https URLs with a host, such as 'https://example.com/', not {url!r}.")
    if parts.username is not None or parts.password is not None:
        raise UserError("fetch accepts no URL with a user name or a password. Omit them.")
    port = port or _PORTS[parts.scheme]
    addresses = await _resolve(host, port)
    if host not in private and f"{host}:{port}" not in private:
        _refuse_private(host, port, addresses)
    return Target(parts._replace(fragment="").geturl(), parts.scheme, host, port, addresses[0])


def redirected(target: Target, location: str) -> str:
    """Return the URL that a redirect leads to.

    Raises:
        UserError: It leads from https to http, or to another host: the plugins that guard calls (the sandbox, say) have
            seen the URL of the call alone.
    """
    url = urljoin(target.url, location)
    if target.scheme == "https" and not url.startswith("https:"):
        raise UserError(
            f"{target.url} redirects to {url!r}, which is not encrypted. Fetch that URL itself if you must."
        )
    if not _is_same_host(target, url):
        raise UserError(f"{target.url} redirects to another host: {url}. Fetch that URL itself if you want it.")
    return url


def _is_same_host(target: Target, url: str) -> bool:
    """Whether a URL leads to the same host, at the same port or from one of the web's own ports to the other."""
    try:
        parts = urlsplit(url)
        host, port = (parts.hostname or "").rstrip("."), parts.port or _PORTS.get(parts.scheme)
    except ValueError:
        return True  # ``find_target`` explains it
    return host == target.host and (port == target.port or {port, target.port} == {*_PORTS.values()})


async def _resolve(host: str, port: int) -> list[str]:
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise UserError(f"The host {host!r} cannot be resolved: {error}.") from None
    return [str(each[4][0]) for each in found]


def _refuse_private(host: str, port: int, addresses: Collection[str]) -> None:
    for each in addresses:
        if not _is_public(each):
            raise UserError(
                f"{host!r} has the private address {each}, which fetch does not reach. The user can allow it:"
                f' "web": {{"allowPrivate": ["{host}:{port}"]}} in the settings.'
            )


def _is_public(text: str) -> bool:
    """Whether an address, and the one that it contains, is one of the public internet."""
    address = ipaddress.ip_address(text.partition("%")[0])
    inner = [getattr(address, name, None) for name in _EMBEDDED]
    return all(each.is_global and not each.is_multicast for each in (address, *filter(None, inner))) and not (
        isinstance(address, ipaddress.IPv6Address) and address in _NAT64 and not _is_public(str(_last_bits(address)))
    )


_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")


def _last_bits(address: ipaddress.IPv6Address) -> ipaddress.IPv4Address:
    return ipaddress.IPv4Address(int(address) & 0xFFFF_FFFF)
