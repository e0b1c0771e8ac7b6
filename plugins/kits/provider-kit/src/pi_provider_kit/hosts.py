"""The host in a base URL: its name, its address, and whether it is on this machine or in a private network."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from ipaddress import IPv4Address, IPv6Address

    from pi_hookspecs.models import Model

__all__ = ["host_of", "ip_address_of", "is_local", "runs_locally"]

_EMBEDDED = "llamacpp-embedded"
"""The API of models in a process of pi."""


def host_of(base_url: str) -> str:
    """Return the host's name in lower case; empty if the URL has none."""
    try:
        return urlsplit(base_url).hostname or ""
    except ValueError:
        return ""


def is_local(base_url: str) -> bool:
    """Whether the host is this machine or in a private network."""
    host = host_of(base_url)
    if host == "localhost" or host.endswith((".localhost", ".local")):
        return True
    address = ip_address_of(host)
    return address is not None and (address.is_loopback or address.is_private)


def runs_locally(model: Model) -> bool:
    """Return whether a model runs on this computer, in a process of pi or another one, or in a private network."""
    return model.api == _EMBEDDED or is_local(model.base_url)


def ip_address_of(host: str) -> IPv4Address | IPv6Address | None:
    """Return the IP address of a host; None for a name."""
    if not host or not (host[0].isdigit() or ":" in host):
        return None
    import ipaddress  # imported late, because few requests need it

    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None
