"""Which distribution to install where no plugin of a session provides a type of the contract.

The engine has no names of plugins. An entry point in the group ``pi.provides`` of any installed distribution, such as
``Compactor.acme-tides = pi_hookspecs:Compactor``, names a type of the contract and a distribution that provides it;
``pluggypi`` has one for each type that a plugin of its own provides. They are read when something is missing.
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

__all__ = ["adds", "install_command", "plugin_for", "provider_of"]

_GROUP = "pi.provides"
_OURS = "pluggypi"


def provider_of(kind: str) -> str | None:
    """Return the distribution that provides a type of the contract, such as ``Compactor``; None if none is known."""
    import importlib_metadata

    try:
        names = sorted(each.name for each in importlib_metadata.entry_points(group=_GROUP))
    except Exception:  # noqa: BLE001 - metadata that is damaged; it is only advice
        return None
    return next((each.removeprefix(f"{kind}.") for each in names if each.startswith(f"{kind}.")), None)


def plugin_for(kind: str) -> str:
    """Return a sentence about the plugin that provides a type of the contract, and how it is installed."""
    distribution = provider_of(kind)
    if distribution is None:
        return "Install a plugin that can."
    name = distribution.removeprefix(f"{_OURS}-")
    return f"The plugin {name!r} can ({_command(distribution)}); if you select plugins by name, add it."


def adds(kind: str) -> str:
    """Return what to do if nothing provides a type of the contract, as the end of a sentence."""
    distribution = provider_of(kind)
    return "install one" if distribution is None else f"{_command(distribution)} adds one"


def _command(distribution: str) -> str:
    extra = _extra_with(distribution)
    return f"pip install {distribution}" if extra is None else install_command(extra)


def _extra_with(distribution: str) -> str | None:
    """Return the extra of ``pluggypi`` that installs a distribution; None if it needs none, or there is none."""
    import importlib_metadata

    try:
        required = importlib_metadata.requires(_OURS) or []
    except Exception:  # noqa: BLE001 - it is not installed, or its metadata is damaged
        return None
    extras = []
    named = []
    for each in required:
        name, _, condition = each.partition(";")
        extra = re.search(r"extra\s*==\s*['\"]([^'\"]+)", condition)
        if extra is not None:
            extras.append(extra[1])
            if re.match(rf"{re.escape(distribution)}(?![\w.-])", name):
                named.append(extra[1])
    return min(named, key=extras.count, default=None)  # not the one that joins several


def install_command(extra: str) -> str:
    """Return the command that adds an extra to this installation, with the installer that made it."""
    return f"{_installer(Path(sys.prefix))} 'pluggypi[{extra}]'"


def _installer(prefix: Path) -> str:
    """Return the beginning of the command for an environment, from what each installer leaves in it."""
    if os.path.exists(prefix / "uv-receipt.toml") or "/uv/tools/" in prefix.as_posix():  # noqa: PTH110
        return "uv tool install"
    if os.path.exists(prefix / "pipx_metadata.json"):  # noqa: PTH110
        return "pipx install --force"
    from importlib.util import find_spec

    if find_spec("pip") is None:  # uv makes environments without it
        return f"uv pip install --python {sys.executable}"
    return "pip install"
