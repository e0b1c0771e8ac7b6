"""The sandbox's settings: the user's own decide, a project's can only tighten them.

An invalid setting is an error, never replaced by a default, which might be weaker than requested.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any, Literal, cast

from attrs import evolve, field, frozen

from pi_hookspecs import UserError

if TYPE_CHECKING:
    from pi_hookspecs import SettingsView

__all__ = ["ENGINES", "NETWORKS", "Options", "read_options"]

ENGINES = ("off", "auto", "bwrap", "landlock", "seatbelt")
NETWORKS = ("off", "allow", "open")
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
        ignored: Sentences about a project's settings that would have loosened the sandbox.
    """

    mode: str = "off"
    network: Literal["off", "allow", "open"] = "off"
    allow: tuple[str, ...] = ()
    write: tuple[str, ...] = ()
    deny_read: tuple[str, ...] = ()
    env: tuple[str, ...] = ()
    ignored: tuple[str, ...] = field(default=(), eq=False)


def read_options(settings: SettingsView, engine: str | None = None) -> Options:
    """Return the settings in force; ``engine`` is the value of ``--sandbox``, which takes precedence.

    Raises:
        UserError: A setting is invalid; the message names the file and the setting.
    """
    unread = settings.unread("sandbox")
    if unread is not None:
        raise UserError(f"{unread}, in a file that may set sandbox")
    options = Options()
    own = os.path.join(os.fspath(settings.agent_dir), "settings.json")
    for origin, value in settings.each("sandbox"):
        if isinstance(value, list):
            continue  # the command of the example plugin ``sandbox``, which is older than this one
        layer = _layer(value, origin)
        options = _tightened(options, layer, origin) if _is_project(origin, own) else _replaced(options, layer)
    if engine is not None:
        options = evolve(options, mode=_one_of(engine, ENGINES, "--sandbox", "the command line"))
    if options.network == "allow" and not options.allow:
        raise UserError("sandbox.network is 'allow', but sandbox.allow names no host: list some, or use 'off'.")
    return options


def _is_project(origin: str, own: str) -> bool:
    return origin != own and origin.endswith(os.path.join(os.sep, ".pi", "settings.json"))


def _layer(value: Any, origin: str) -> dict[str, Any]:
    """Return the settings of one file, checked.

    Raises:
        UserError: A setting is invalid.
    """
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
    return value


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


def _replaced(options: Options, layer: dict[str, Any]) -> Options:
    """Return the options with a layer of the user's own settings applied."""
    names = {"denyRead": "deny_read"}
    given = {names.get(name, name): value for name, value in layer.items()}
    values: Any = {name: tuple(value) if isinstance(value, list) else value for name, value in given.items()}
    return evolve(options, **values)


def _tightened(options: Options, layer: dict[str, Any], origin: str) -> Options:
    """Return the options with those settings of a project's layer applied that tighten them."""
    ignored = []
    mode = layer.get("mode", options.mode)
    if options.mode not in (mode, "off"):
        ignored.append(f"sandbox.mode {mode!r} is ignored: your own is {options.mode!r}")
        mode = options.mode
    network = layer.get("network", options.network)
    if NETWORKS.index(network) > NETWORKS.index(options.network):
        ignored.append(f"sandbox.network {network!r} is ignored: your own is {options.network!r}")
        network = options.network
    kept: dict[str, Any] = {}
    for name in ("allow", "write", "env"):
        mine = getattr(options, name)
        more = [item for item in layer.get(name, ()) if item not in mine]
        if more:
            ignored.append(f"sandbox.{name} {more!r:.200} is ignored: add it to your own settings")
        kept[name] = tuple(item for item in mine if item in layer.get(name, mine))
    return evolve(
        options,
        mode=mode,
        network=cast('Literal["off", "allow", "open"]', network),
        deny_read=(*options.deny_read, *layer.get("denyRead", ())),
        ignored=(*options.ignored, *(f"{sentence} ({origin})" for sentence in ignored)),
        **kept,
    )
