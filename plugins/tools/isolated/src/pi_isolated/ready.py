"""The first message of a process: its contract version, its hooks and what it registers."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from attrs import field, frozen

from pi_hookspecs import PiError, answers_of
from pi_hookspecs.specs import all_hookspecs
from pi_hookspecs.values import Value

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

__all__ = [
    "CONTRACT",
    "DELTA_HOOKS",
    "KINDS",
    "ONLY_DELTAS",
    "STATE_PARTS",
    "Ready",
    "command_in",
    "parse_ready",
    "unmet_contract",
]

CONTRACT = (1, 1)
"""The contract of this version, at least: processes came with 1.1."""

DELTA_HOOKS = ("context", "before_provider_request", "message_update")
"""Hooks whose events are long: sent as what has changed, to those that ask for it."""

ONLY_DELTAS = ("context", "before_provider_request")
"""Those of them that are as long as the conversation: nothing else is sent, and answers are what has changed, too."""

_LEFT_OUT = {
    "project_trust": "it is called before there is a session",
    "session_before_append": "it is called where nothing can be awaited",
}
_MOST = 1_000
"""Things of one kind that a process can register."""

_TOOL_HOOKS = ("tool_call", "tool_execution_start", "tool_execution_update", "tool_execution_end", "tool_result")
"""Hooks whose events have ``toolName``, and so take the filter ``tools``."""


KINDS = {
    "tools": ("tool", "name"),
    "commands": ("command", "name"),
    "shortcuts": ("shortcut", "key"),
    "flags": ("flag", "name"),
    "providers": ("provider", "id"),
    "renderers": ("renderer", "type"),
    "toolRenderers": ("renderer of a tool", "name"),
    "virtualModels": ("virtual model", "id"),
    "channels": ("channel", "name"),
}
"""What a process can register, by its key in ``registers``: the word for one, and the key that identifies it."""

STATE_PARTS = ("entries", "tools", "commands", "models", "settings", "systemPrompt", "usage", "themes")
"""Parts of the state that are sent only to those that ask for them, because they are large or take time."""


@frozen(kw_only=True, eq=False, repr=False)
class Ready(Value):
    """What a process implements.

    Attributes:
        hooks: The hooks, each with its filter.
        registers: What it registers, as it was described, by kind (``KINDS``) and name.
        state: The parts of pi's state that it wants with each request; None if it wants no state.
        files: The files, as absolute paths, that it was loaded from, if those are not all files of its folder.
    """

    hooks: Mapping[str, Mapping[str, Any]]
    registers: Mapping[str, Mapping[str, Mapping[str, Any]]] = field(factory=dict)
    state: Sequence[str] | None = None
    files: Sequence[str] = ()

    def of(self, kind: str) -> Mapping[str, Mapping[str, Any]]:
        """Return what is registered of one kind, by name."""
        return self.registers.get(kind, {})

    @property
    def tools(self) -> Mapping[str, Mapping[str, Any]]:
        """The tools, as they were described."""
        return self.of("tools")

    def to_plain(self) -> dict[str, Any]:
        """Return it as it is kept in the index, and as the process wrote it."""
        registers = {kind: list(things.values()) for kind, things in self.registers.items() if things}
        plain: dict[str, Any] = {"hooks": dict(self.hooks), "registers": registers}
        if self.state is not None:
            plain["state"] = list(self.state)
        if self.files:
            plain["files"] = list(self.files)
        return plain


def unmet_contract(version: str) -> str | None:
    """Return why a contract does not fit, with what to do; None if it does."""
    if not re.fullmatch(r"\d+(\.\d+)*", version):
        return f"is for contract {version!r}, which is not a version; write one such as '1.1'"
    major, minor = (*map(int, version.split(".")), 0)[:2]
    if major == CONTRACT[0] and minor <= CONTRACT[1]:
        return None
    from importlib.metadata import version as installed  # takes as long as everything else here

    from packaging.version import Version

    there = max(CONTRACT, Version(installed("pluggypi-hookspecs")).release[:2])
    if major == there[0] and minor <= there[1]:
        return None
    remedy = "Install a newer version of the plugin" if major < there[0] else "Update pi"
    return f"is for contract {version}, and this pi has contract {'.'.join(map(str, there))}. {remedy}"


def parse_ready(message: Mapping[str, Any], report: Callable[[str], None]) -> Ready:
    """Parse the first message of a process; what cannot be done over a pipe is reported and left out.

    Raises:
        PiError: Something in it is wrong.
    """
    hooks = _objects(message.get("hooks", {}), "hooks")
    registers = _object(message.get("registers", {}), "registers")
    unknown = registers.keys() - KINDS.keys()
    if unknown:
        report(f"registers {', '.join(sorted(unknown))}, which a process cannot; it can register {', '.join(KINDS)}")
    for each in _texts(message.get("lacking")):
        report(f"uses {each}, which pi does not have: it has no effect")
    return Ready(
        hooks={hook: filters for hook, filters in hooks.items() if _counts(hook, filters, report)},
        registers={kind: _described(_limited(registers.get(kind, []), kind, report), kind) for kind in KINDS},
        state=_state(message.get("state"), report),
        files=_texts(message.get("files")),
    )


def command_in(config: Any, above: str = "") -> str | None:
    """Return why a program may not give a configuration, which has a command in place of a value; None if it may.

    pi would run the command itself, outside of the program's sandbox.
    """
    items = config.items() if isinstance(config, dict) else enumerate(config) if isinstance(config, list) else ()
    for key, value in items:
        if isinstance(value, str) and value.startswith("!"):
            whose = "only files of the user and plugins in pi's own process may have one"
            return f"{above}{key} is a value that runs a command (!...); {whose}"
        found = command_in(value, f"{above}{key}.")
        if found is not None:
            return found
    return None


def _texts(value: Any) -> list[str]:
    return [each for each in value if isinstance(each, str)] if isinstance(value, list) else []


def _state(parts: Any, report: Callable[[str], None]) -> list[str] | None:
    if parts is None:
        return None
    if not isinstance(parts, list):
        raise PiError(f"state must be a list of parts, not {parts!r:.80}")
    unknown = [str(each) for each in parts if each not in STATE_PARTS]
    if unknown:
        report(f"asks for the state {', '.join(unknown)}, but there is only {', '.join(STATE_PARTS)}")
    return [each for each in parts if each in STATE_PARTS]


def _counts(hook: str, filters: Mapping[str, Any], report: Callable[[str], None]) -> bool:
    """Whether a hook can be called over a pipe.

    Raises:
        PiError: There is no such hook, or its filter is wrong: a guard must not get less than it asked for.
    """
    spec = all_hookspecs().get(hook)
    if spec is None or answers_of(spec) is None:
        raise PiError(f"it implements {hook!r}, but there is no such event hook")
    for key, value in filters.items():
        is_names = isinstance(value, list) and all(isinstance(each, str) for each in value)
        if key == "tools" and hook in _TOOL_HOOKS and is_names:
            continue
        if key == "delta" and hook in DELTA_HOOKS and isinstance(value, bool):
            continue
        if key == "tool" and hook == "tool_call" and isinstance(value, bool):
            continue
        if key == "payload" and hook == "before_provider_request" and isinstance(value, bool):
            continue
        raise PiError(f"the filter {key!r}: {value!r:.80} of the hook {hook} is not one that pi knows")
    why = _LEFT_OUT.get(hook)
    if hook in ONLY_DELTAS and not filters.get("delta") and filters.get("payload", True):
        why = 'its events are as long as the conversation; ask for what changes, with {"delta": true}'
    if why is not None:
        report(f"{hook} is left out: {why}")
    return why is None


def _limited(value: Any, kind: str, report: Callable[[str], None]) -> Any:
    if not isinstance(value, list) or len(value) <= _MOST:
        return value
    report(f"registers {len(value):,} {kind}; the first {_MOST:,} are used")
    return value[:_MOST]


def _described(value: Any, kind: str) -> dict[str, Mapping[str, Any]]:
    word, key = KINDS[kind]
    if not isinstance(value, list):
        raise PiError(f"registers.{kind} must be a list, not {value!r:.80}")
    found: dict[str, Mapping[str, Any]] = {}
    for each in value:
        described = _object(each, f"a {word}")
        name = described.get(key)
        if kind in ("tools", "commands"):
            allowed = r"[\w-]{1,128}" if kind == "tools" else r"[\w:.-]{1,128}"
            if not isinstance(name, str) or not re.fullmatch(allowed, name):
                raise PiError(f"a {word} has the name {name!r:.80}; names are letters, digits, dashes and underscores")
        elif not isinstance(name, str) or not name:
            raise PiError(f"a {word} has the {key} {name!r:.80}, which is not text")
        if not isinstance(described.get("description", ""), str):
            raise PiError(f"the description of the {word} {name!r} is not text")
        if kind == "tools":
            _object(described.get("parameters"), f"parameters of the tool {name!r}")
        found[_identity(kind, name, described)] = described
    return found


def _identity(kind: str, name: str, described: Mapping[str, Any]) -> str:
    if kind == "virtualModels":
        return f"{described.get('provider')}/{name}"
    return f"{described.get('kind', 'message')}/{name}" if kind == "renderers" else name


def _objects(value: Any, what: str) -> dict[str, dict[str, Any]]:
    return {key: _object(each, f"{what}.{key}") for key, each in _object(value, what).items()}


def _object(value: Any, what: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise PiError(f"{what} must be an object, not {value!r:.80}")
    return value
