"""The sandbox's settings.

An invalid setting is an error, never replaced by a default, which might be weaker than requested.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any, Literal

from attrs import evolve, frozen

from pi_hookspecs import UserError
from pi_sandbox.settings import MODE, NETWORK

if TYPE_CHECKING:
    from pi_hookspecs import SettingsView

__all__ = ["ENGINES", "NETWORKS", "Options", "read_options"]

ENGINES = tuple(MODE.schema["enum"])
NETWORKS = tuple(NETWORK.schema["enum"])
"""From strictest to loosest."""

_LISTS = ("allow", "write", "denyRead", "env")
_LAST_PORT = 65_535
_HOST = re.compile(r"(\*\.)?[a-z0-9_]([a-z0-9_.-]*[a-z0-9_])?(:[0-9]{1,5})?", re.IGNORECASE)


@frozen(kw_only=True)
class Options:
    """The settings in force.

    Attributes:
        mode: The engine; ``auto`` takes the best one that works, ``off`` means no sandbox.
        network: ``off``, ``allow`` (the hosts of ``allow``) or ``open``.
        allow: Hosts, ``host:port`` or ``*.domain``.
        write: Folders and files that may be changed besides the working directory, as written in the settings.
        deny_read: Paths that cannot be read, in addition to the built-in ones.
        env: Variables that are passed on although they look like keys.
    """

    mode: str = MODE.default
    network: Literal["off", "allow", "open"] = NETWORK.default
    allow: tuple[str, ...] = ()
    write: tuple[str, ...] = ()
    deny_read: tuple[str, ...] = ()
    env: tuple[str, ...] = ()


def read_options(settings: SettingsView, engine: str | None = None) -> Options:
    """Return the settings in force; ``engine`` is the value of ``--sandbox``, which takes precedence.

    Raises:
        UserError: A setting is invalid; the message names the file and the setting.
    """
    unread = settings.unread("sandbox")
    if unread is not None:
        raise UserError(f"{unread}, in a file that may set sandbox")
    for origin, value in settings.each("sandbox"):
        _check(value, origin)
    merged = settings.get("sandbox")
    options = _of_values(merged) if isinstance(merged, dict) else Options()
    if engine is not None:
        options = evolve(options, mode=_one_of(engine, ENGINES, "--sandbox", "the command line"))
    if options.network == "allow" and not options.allow:
        raise UserError("sandbox.network is 'allow', but sandbox.allow names no host: list some, or use 'off'.")
    return options


def _check(value: Any, origin: str) -> None:
    """Check the settings of one file.

    Raises:
        UserError: A setting is invalid.
    """
    if isinstance(value, list):
        return  # the command of the example plugin ``sandbox``, which is older than this one
    if not isinstance(value, dict):
        raise UserError(f"setting sandbox must be an object, not {value!r:.60} ({origin})")
    for name, given in value.items():
        setting = f"sandbox.{name}"
        if name == "mode":
            _one_of(given, ENGINES, setting, origin)
        elif name == "network":
            _one_of(given, NETWORKS, setting, origin)
        elif name not in _LISTS:
            known = ", ".join(("mode", "network", *_LISTS))
            raise UserError(f"setting {setting} does not exist; use one of {known} ({origin})")
        elif not isinstance(given, list) or not all(isinstance(item, str) and item for item in given):
            raise UserError(f"setting {setting} must be a list of strings, not {given!r:.60} ({origin})")
        elif name == "allow":
            _check_hosts(given, origin)
        elif name != "env":
            _check_paths(given, setting, origin)


def _one_of(value: Any, allowed: tuple[str, ...], name: str, origin: str) -> str:
    if not isinstance(value, str) or value not in allowed:
        raise UserError(f"{name} must be one of {', '.join(allowed)}, not {value!r:.60} ({origin})")
    return value


def _check_hosts(hosts: list[str], origin: str) -> None:
    for host in hosts:
        name, _, port = host.partition(":")
        fits = _HOST.fullmatch(host) and not name.replace(".", "").isdecimal() and 0 < int(port or 1) <= _LAST_PORT
        if not fits:
            raise UserError(
                f"setting sandbox.allow cannot have {host!r}: give a host name, as 'pypi.example', 'host:443' or"
                f" '*.example.org'; neither '*' alone nor an address ({origin})"
            )


def _check_paths(paths: list[str], setting: str, origin: str) -> None:
    """Check that each path can match: one that never matches would hide nothing.

    Raises:
        UserError: A setting is invalid.
    """
    for path in paths:
        problem = _path_problem(path)
        if problem is not None:
            raise UserError(f"setting {setting} cannot have {path!r:.100}: {problem} ({origin})")


def _path_problem(path: str) -> str | None:
    if path.startswith("~") and path != "~" and not path.startswith("~/"):
        return "only '~/' is expanded, to your own home directory; write others in full"
    try:
        os.lstat(os.path.expanduser(path))
    except (FileNotFoundError, NotADirectoryError):  # it may be made later
        return "wildcards are not supported in it; give the folder" if "*" in path or "?" in path else None
    except (OSError, ValueError) as error:  # ValueError: a null character
        return f"it cannot be read: {getattr(error, 'strerror', None) or error}"
    return None


def _of_values(given: dict[str, Any]) -> Options:
    names = {"denyRead": "deny_read"}
    values: Any = {
        names.get(name, name): tuple(value) if isinstance(value, list) else value for name, value in given.items()
    }
    return Options(**values)
