"""Entries of ``mcp.json``: their keys, the allowed values, and aliases from other programs."""

from __future__ import annotations

import hashlib
import json
import re
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from attrs import Factory, field, frozen

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["NAME", "Scope", "Server", "entry_hash", "read_entry"]

Scope: TypeAlias = Literal["user", "project", "plugin"]
"""The origin of an entry: a kind of file, or a plugin."""

NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
EXPOSURES = ("auto", "direct", "deferred", "code", "codemode", "hidden")
STARTS = ("lazy", "background", "eager")
_TRANSPORTS = {"stdio": "stdio", "http": "http", "streamable-http": "http", "sse": "sse"}
_SHORT = 60
_DAY = 86_400
_IGNORED = ("alwaysAllow", "autoApprove")


@frozen(kw_only=True, eq=False)
class Server:
    """One configured server. Values may still contain ``${VAR}`` and ``!command``.

    Attributes:
        name: Letters, digits, ``_`` and ``-``.
        transport: ``stdio``, ``http`` or ``sse``.
        origin: File and line of the entry, or the plugin that registered it.
        config: The entry as written; not part of the ``repr``, because it may contain secrets.
        timeout: Seconds that a call may take without progress.
        exposure: ``auto``, ``direct``, ``deferred``, ``code`` or ``hidden``.
        tool_exposure: The same for single tools, by name or by a pattern with ``*``.
        hidden: Names and patterns of tools that the user has hidden, whatever a project's file says.
        start: ``lazy``, ``background``, ``eager``; None for the default of the front end's mode.
        tools_off: Names of disabled tools.
        most_tools: Maximum number of its other tools that are used, the first ones of its list.
    """

    name: str
    transport: str
    scope: Scope
    origin: str
    config: dict[str, Any] = field(repr=False)
    timeout: float = 60.0
    enabled: bool = True
    exposure: str = "auto"
    tool_exposure: dict[str, str] = Factory(dict)
    hidden: tuple[str, ...] = ()
    start: str | None = None
    parallel: bool = False
    trust_annotations: bool = False
    inherit_env: bool = False
    sampling: str = "off"
    description: str = ""
    tools_off: tuple[str, ...] = ()
    most_tools: int = 512

    @property
    def hash(self) -> str:
        """A hash of the entry, which changes with every edit."""
        return entry_hash(self.name, self.config)


def entry_hash(name: str, config: Mapping[str, Any]) -> str:
    """Return the SHA-256 of a name and its entry as written."""
    text = json.dumps([name, config], sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


def read_entry(name: str, entry: Any, *, scope: Scope, origin: str) -> tuple[Server, list[str]]:
    """Return the server of an entry, and notices about keys that have no effect.

    Raises:
        ValueError: The entry is invalid; the message names the problem and the valid form.
    """
    if not NAME.fullmatch(name):
        raise ValueError(f"the name {name!r} must be 1 to 64 letters, digits, '_' and '-'")
    if not isinstance(entry, dict):
        raise ValueError(f"{_short(entry)} must be an object with a command or a url")  # noqa: TRY004 - the file's fault
    transport = _transport(entry)
    for key, (is_right, wanted) in _KEYS.items():
        if entry.get(key) is not None and not is_right(entry[key]):
            raise ValueError(f"{key} is {_short(entry[key], secret=key in _SECRET)}; it must be {wanted}")
    if scope == "project" and (command := _command_in(entry)) is not None:
        raise ValueError(f"{command} is a value that runs a command (!...); only your own file may have one")
    if scope == "project" and "auth" in entry:
        raise ValueError("auth uses a login of pi, which a project's file must not; put the entry into your own file")
    notices = [f"{key} has no effect: pi asks by its own guards" for key in _IGNORED if key in entry]
    if transport == "sse":
        notices.append("the transport sse is obsolete; ask the server's operator for streamable HTTP")
    exposure = entry.get("exposure") or "auto"
    return Server(
        name=name,
        transport=transport,
        scope=scope,
        origin=origin,
        config=entry,
        timeout=float(entry.get("timeout") or 60),
        enabled=entry.get("enabled", True) is not False and entry.get("disabled") is not True,
        exposure=_plain(exposure),
        tool_exposure={key: _plain(value) for key, value in (entry.get("toolExposure") or {}).items()},
        start=entry.get("start"),
        parallel=entry.get("parallel") is True,
        # A project's file is not the user's word on whom to trust.
        trust_annotations=entry.get("trustAnnotations") is True and scope == "user",
        inherit_env=entry.get("inheritEnv") is True,
        sampling=entry.get("sampling") or "off",
        description=entry.get("description") or "",
        tools_off=tuple(entry.get("disabledTools") or ()),
        most_tools=entry.get("maxTools") or 512,
    ), notices


def _command_in(entry: Mapping[str, Any], above: str = "") -> str | None:
    """Return the key of a value that is a command, whose output would be used; None if there is none."""
    for key, value in entry.items():
        if isinstance(value, dict):
            found = _command_in(value, f"{above}{key}.")
            if found is not None:
                return found
        else:
            texts = value if isinstance(value, list) else [value]
            if any(isinstance(each, str) and each.startswith("!") for each in texts):
                return f"{above}{key}"
    return None


def _plain(exposure: str) -> str:
    return "code" if exposure == "codemode" else exposure


def _transport(entry: dict[str, Any]) -> str:
    named = entry.get("type") or entry.get("transport")
    if named is not None and not (isinstance(named, str) and named in _TRANSPORTS):
        raise ValueError(f"type is {_short(named)}; it must be one of {', '.join(_TRANSPORTS)}")
    found = _TRANSPORTS[named] if named else ("stdio" if entry.get("command") else "http")
    needed = "command" if found == "stdio" else "url"
    if not entry.get(needed):
        raise ValueError(f"it has no {needed}" if named else "it has neither command nor url")
    if found != "stdio" and isinstance(entry["url"], str) and not re.match(r"https?://|\$\{|!", entry["url"]):
        raise ValueError(f"url is {_short(entry['url'])}; it must begin with https:// or http://")
    return found


def _short(value: Any, *, secret: bool = False) -> str:
    """Return a value for a message; if it may contain secrets, only its type."""
    if secret:
        return f"a {type(value).__name__} that does not fit"
    text = json.dumps(value, ensure_ascii=False, default=repr)
    return text if len(text) <= _SHORT else text[: _SHORT - 3] + "..."


def _texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


def _text_map(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(each, str) for each in value.values())


def _positive(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 < value <= _DAY


def _count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 < value <= _MOST_TOOLS


def _one_of(names: tuple[str, ...]) -> tuple[Callable[[Any], bool], str]:
    return lambda value: isinstance(value, str) and value in names, f"one of {', '.join(names)}"


def _text(value: Any) -> bool:
    return isinstance(value, str)


def _flag(value: Any) -> bool:
    return isinstance(value, bool)


def _oauth(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    texts = all(isinstance(each, str) for key, each in value.items() if key in _OAUTH_TEXTS)
    port = value.get("callbackPort", 0)
    registration = value.get("clientRegistration", "auto")
    return (
        texts
        and isinstance(port, int)
        and 0 <= port <= _MOST_PORTS
        and registration in ("auto", "dcr", "cimd")
        and (registration != "cimd" or "clientMetadataUrl" in value)
        and re.match(r"https?://", value.get("authServerMetadataUrl", "https://")) is not None
        and re.match(r"https://[^/]+/.", value.get("clientMetadataUrl", "https://x/y")) is not None
    )


_OAUTH_TEXTS = (
    "authServerMetadataUrl",
    "callbackUrl",
    "clientId",
    "clientMetadataUrl",
    "clientName",
    "clientSecret",
    "scope",
)
_MOST_PORTS = 65_535
_MOST_TOOLS = 10_000
"""Each tool takes about 50 µs at every start, and memory."""
_OAUTH_FORM = (
    "an object with strings, callbackPort a number, clientRegistration one of auto, dcr and cimd (cimd needs a "
    "clientMetadataUrl with https)"
)
_SECRET = ("env", "headers", "args", "oauth")
_KEYS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "command": (_text, "a string, the program alone; its arguments are the list args"),
    "args": (_texts, "a list of strings"),
    "env": (_text_map, "an object of strings"),
    "cwd": (_text, "a string"),
    "url": (_text, "a string"),
    "headers": (_text_map, "an object of strings"),
    "auth": (_text, "the name of a provider that you are signed in to"),
    "oauth": (_oauth, _OAUTH_FORM),
    "timeout": (_positive, "a number of seconds, more than 0"),
    "enabled": (_flag, "true or false"),
    "disabled": (_flag, "true or false"),
    "exposure": _one_of(EXPOSURES),
    "toolExposure": (
        lambda value: isinstance(value, dict) and all(each in EXPOSURES[1:] for each in value.values()),
        f"an object of tool names, each with one of {', '.join(EXPOSURES[1:])}",
    ),
    "start": _one_of(STARTS),
    "parallel": (_flag, "true or false"),
    "trustAnnotations": (_flag, "true or false"),
    "inheritEnv": (_flag, "true or false"),
    "sampling": _one_of(("off", "ask")),
    "description": (_text, "a string"),
    "disabledTools": (_texts, "a list of tool names"),
    "maxTools": (_count, f"a whole number from 1 to {_MOST_TOOLS}"),
}
