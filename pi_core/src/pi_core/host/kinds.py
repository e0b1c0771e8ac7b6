"""The kinds of objects that plugins register: their types, their names, and their descriptions as plain data."""

from __future__ import annotations

import re
from types import FunctionType, MappingProxyType
from typing import TYPE_CHECKING, Any

import pi_hookspecs
from pi_core.agent.declared_schema import schema_problem
from pi_core.agent.safe_text import safe_repr
from pi_hookspecs.deferred import frozen
from pi_hookspecs.values import Value

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

__all__ = ["KINDS", "Kind"]

_LONGEST_TOOL_NAME = 128
_IN_TOOL_NAMES = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-")
_EXECUTE_TAKES = 5
_EXECUTE = "async def execute(call_id, params, signal, on_update, ctx)"
_COROUTINE = 0x80
"""The value of ``inspect.CO_COROUTINE``, without importing ``inspect``."""
_NO_RESULT = r"(None|str|bool|int|float|complex|bytes|dict|list|tuple|set)(\[.*\])?"


@frozen(eq=False, repr=False)
class Kind(Value):
    """One registration hook.

    Attributes:
        name: The kind's name in messages and settings, such as ``tool`` in ``"tool:grep"``.
        types: Names in ``pi_hookspecs`` of the classes and protocols that an object may be an instance of.
        key: The attribute that contains the name of an object; if None, the name of its type is used.
        keys: Other attributes that contain the name, by the name of the type.
        data: The attributes that are stored in the index.
        prefix: Returns a prefix for the name of an object, so that objects of several types may have the same name.
        calls: Attributes that must be callable.
        check: Returns what is wrong with an object of the right type, or None.
    """

    name: str
    types: tuple[str, ...]
    key: str | None = "name"
    data: tuple[str, ...] = ()
    calls: tuple[str, ...] = ()
    check: Callable[[Any], str | None] = lambda _thing: None
    by_class: bool = False
    prefix: Callable[[Any], str] = lambda _thing: ""
    keys: Mapping[str, str] = MappingProxyType({})

    def key_of(self, thing: Any) -> str:
        """Return the name under which an object is registered."""
        if self.key is None:
            return self.matching(thing) or ""
        return f"{self.prefix(thing)}{getattr(thing, self._key_attribute(thing, self.key))}"

    def _key_attribute(self, thing: Any, key: str) -> str:
        return self.keys.get(type(thing).__name__, key) if self.keys else key

    def matching(self, thing: Any) -> str | None:
        """Return the name of the kind's type that an object is an instance of; None if it is not of such a type."""
        for name in self.types:
            expected = getattr(pi_hookspecs, name)
            if self.by_class:
                if isinstance(thing, type) and all(hasattr(thing, each) for each in _members(expected)):
                    return name
            elif not isinstance(thing, type) and isinstance(thing, expected):
                return name
        return None

    def problem(self, thing: Any) -> str | None:
        """Return why an object cannot be registered; None if it can."""
        if self.matching(thing) is None:
            if self.name == "tool" and isinstance(thing, FunctionType):
                return f"the function {thing.__name__!r} is not of type Tool; decorate it with @tool{_place(thing)}"
            return f"{safe_repr(thing)} is not of type {self._missing(thing) or ' or '.join(self.types)}"
        key = self._key_attribute(thing, self.key) if self.key is not None else None
        name = getattr(thing, key, None) if key is not None else self.key_of(thing)
        if not name or not isinstance(name, str):
            return f"{safe_repr(thing)} has no name: {key} is {safe_repr(name)}"
        for attribute in self.calls:
            if not callable(getattr(thing, attribute)):
                value = safe_repr(getattr(thing, attribute))
                return f"{self.name} {name!r}: {attribute} is {value}, which is not callable"
        return self.check(thing)

    def _missing(self, thing: Any) -> str:
        """Return the protocol that an object resembles most, and what it lacks; empty if it resembles none."""
        best = (0, "", [""])
        for name in self.types:
            expected = getattr(pi_hookspecs, name)
            if getattr(expected, "_is_protocol", False):
                members = {each for base in expected.__mro__ if base.__module__ != "typing" for each in _declared(base)}
                lacks = sorted(each for each in members if not hasattr(thing, each))
                best = max(best, (len(members) - len(lacks), name, lacks), key=lambda each: each[0])
        shared, name, lacks = best
        return f"{name}: it has no {', '.join(map(repr, lacks))}" if shared and lacks else ""

    def describe(self, thing: Any) -> dict[str, Any]:
        """Return an object as plain data."""
        described: dict[str, Any] = {"name": self.key_of(thing)}
        for attribute in self.data:
            value = getattr(thing, attribute)
            described[attribute] = list(value) if isinstance(value, tuple) else value
        return described


def _declared(base: type) -> Iterator[str]:
    names = (*vars(base), *vars(base).get("__annotations__", ()))
    return (each for each in names if not each.startswith("_"))


def _flag_problem(flag: Any) -> str | None:
    if flag.type in ("boolean", "string"):
        return None
    return f"flag {flag.name!r}: type must be 'boolean' or 'string', not {safe_repr(flag.type)}"


def _members(protocol: type) -> set[str]:
    return {name for base in protocol.__mro__ for name in vars(base) if not name.startswith("_")} - {"name"}


_TOOL_VALUES: dict[str, type | str] = {
    "annotations": "ToolAnnotations",
    "output_schema": dict,
    "namespace": str,
    "renderer": "ToolRenderer",
}
"""Types of a tool's optional values; pi's own types are given by name, and imported only for tools with one."""


def _tool_problem(tool: Any) -> str | None:
    if not (0 < len(tool.name) <= _LONGEST_TOOL_NAME and _IN_TOOL_NAMES.issuperset(tool.name)):
        return f"tool {tool.name!r}: a name is 1 to 128 letters, digits, '_' and '-'"
    parameters = tool.parameters
    if not isinstance(parameters, dict) or parameters.get("type") != "object":
        return (
            f'tool {tool.name!r}: parameters must be a JSON schema with "type": "object", not {safe_repr(parameters)}'
        )
    mistake = schema_problem(parameters)
    if mistake is not None:
        return f"tool {tool.name!r}: {mistake}"
    for name, kind in _TOOL_VALUES.items():
        value = getattr(tool, name)
        if value is not None and not isinstance(value, kind if isinstance(kind, type) else getattr(pi_hookspecs, kind)):
            right = kind.__name__ if isinstance(kind, type) else kind
            return f"tool {tool.name!r}: {name} must be a {right} or None, not {safe_repr(value)}"
    return _execute_problem(tool)


def _execute_problem(tool: Any) -> str | None:
    """Return why a tool cannot be called with the signature of ``ToolExecute``; None if it can."""
    code = getattr(tool.execute, "__code__", None)
    if code is not None and code.co_argcount == _EXECUTE_TAKES and not code.co_kwonlyargcount:
        return _declared_problem(tool, code)
    from inspect import signature

    try:
        taken = signature(tool.execute)
        taken.bind(*range(_EXECUTE_TAKES))
    except ValueError:  # a builtin without a signature
        return None
    except TypeError:
        return f"tool {tool.name!r}: execute takes {taken}; it is called as {_EXECUTE}{_place(tool.execute)}"
    return _declared_problem(tool, code)


def _declared_problem(tool: Any, code: Any) -> str | None:
    """Return why the declared result of a tool's function cannot be the result of a call; None if it can."""
    if hasattr(tool.execute, "__wrapped__"):  # a decorator's function has the annotations of the wrapped function
        return None
    declared = getattr(tool.execute, "__annotations__", {}).get("return", "")
    name = declared.__name__ if type(declared) is type else str(declared)
    if name == "ToolResult":
        if code is None or code.co_flags & _COROUTINE:
            return None
        return f"tool {tool.name!r}: execute is not async; write {_EXECUTE}{_place(tool.execute)}"
    if re.fullmatch(_NO_RESULT, name) is None:
        return None
    right = 'a ToolResult, as in ToolResult.text("done"); a function decorated with @tool may return a str'
    return f"tool {tool.name!r}: execute returns {name}; return {right}{_place(tool.execute)}"


def _place(function: Any) -> str:
    """Return where a function is defined, as text for the end of a message."""
    code = getattr(function, "__code__", None)
    return f" (in {code.co_filename}, line {code.co_firstlineno})" if code is not None else ""


def _exporter_problem(exporter: Any) -> str | None:
    suffixes = exporter.suffixes
    if isinstance(suffixes, list | tuple) and suffixes and all(_is_suffix(suffix) for suffix in suffixes):
        return None
    return f'exporter {exporter.format!r}: suffixes must be endings such as (".html",), not {safe_repr(suffixes)}'


def _mode_problem(mode: Any) -> str | None:
    if mode.prepare is None or callable(mode.prepare):
        return None
    return f"mode {mode.name!r}: prepare is {safe_repr(mode.prepare)}, which is not callable"


def _renderer_prefix(renderer: Any) -> str:
    if hasattr(renderer, "render"):
        kind = getattr(renderer, "kind", None)
        return f"{kind}/" if kind is not None else ""
    return "markdown/" if hasattr(renderer, "transform") else "tool/"


def _renderer_problem(renderer: Any) -> str | None:
    """Return why a renderer of any type cannot be used; None if it can."""
    kind = getattr(renderer, "kind", None)
    if kind not in (None, "message", "entry"):
        return f"renderer {renderer.name!r}: kind must be 'message', 'entry' or None, not {safe_repr(kind)}"
    for name in ("transform", "render_call", "render_result"):
        value = getattr(renderer, name, bool)
        if not (callable(value) or (value is None and name != "transform")):
            return f"renderer {renderer.name!r}: {name} is {safe_repr(value)}, which is not callable"
    return None


def _theme_problem(theme: Any) -> str | None:
    for name in ("colors", "vars", "export"):
        value = getattr(theme, name)
        if not isinstance(value, dict):
            return f"theme {theme.name!r}: {name} must be a dict of colours by name, not {safe_repr(value)}"
    return None


def _is_suffix(suffix: object) -> bool:
    return isinstance(suffix, str) and len(suffix) > 1 and suffix.startswith(".")


_MODE_DATA = ("interactive", "priority", "description")


def _setting_problem(setting: Any) -> str | None:
    from jsonschema import Draft202012Validator, SchemaError

    try:
        Draft202012Validator.check_schema(setting.schema)
    except SchemaError as error:
        return f"setting {setting.name!r}: schema is not a JSON schema: {error.message}"
    may = setting.project
    if may in (None, *_PROJECT_MAY) or (isinstance(may, tuple) and may and all(isinstance(each, str) for each in may)):
        return None
    return f"setting {setting.name!r}: project must be one of {', '.join(_PROJECT_MAY)} or a tuple, not {may!r:.60}"


_PROJECT_MAY = ("set", "nothing", "enable", "disable", "lower", "add", "restrict", "narrow")


def _models_problem(row: Any) -> str | None:
    problem = getattr(row, "problem", None)  # a provider's row is data, a virtual model has a function
    return problem() if problem is not None else None


def _project_file_problem(file: Any) -> str | None:
    name = file.name
    if isinstance(name, str) and name and all(part not in ("", ".", "..") for part in name.split("/")):
        return None
    return f"project file {safe_repr(name)}: it must be a path below a folder, such as AGENTS.md or .claude/agents"


_SETTING_DATA = ("description", "protected", "project_may", "schema", "variable")
_PROVIDER_DATA = ("key_variables", "keyless", "default_model", "only_by_name")
_SERVICES = (
    "Compactor",
    "BranchSummarizer",
    "Retrier",
    "CacheWarmer",
    "AnswerFilter",
    "CommandRunner",
    "ToolOperations",
    "Launcher",
    "PluginRunner",
    "ExtensionLanguage",
    "ProcessKeeper",
    "SessionSearch",
    "TextRedactor",
    "TraceContext",
)
_TOOL_DATA = (
    "label",
    "description",
    "parameters",
    "default_active",
    "prompt_snippet",
    "prompt_guidelines",
    "exposure",
    "namespace",
)

KINDS: dict[str, Kind] = {
    "register_providers": Kind("provider", ("Provider",), key="api"),
    "register_models": Kind(
        "models",
        ("ProviderInfo", "VirtualModel"),
        key="id",
        keys={"VirtualModel": "provider"},
        data=_PROVIDER_DATA,
        check=_models_problem,
    ),
    "register_tools": Kind("tool", ("Tool",), data=_TOOL_DATA, calls=("execute",), check=_tool_problem),
    "register_commands": Kind("command", ("Command",), data=("description",), calls=("handler",)),
    "register_flags": Kind("flag", ("Flag",), data=("type", "default", "description"), check=_flag_problem),
    "register_shortcuts": Kind("shortcut", ("Shortcut",), data=("description",), calls=("handler",)),
    "register_modes": Kind("mode", ("Mode",), data=_MODE_DATA, calls=("run",), check=_mode_problem),
    "register_subcommands": Kind("subcommand", ("Subcommand",), data=("description",), calls=("run",)),
    "register_session_stores": Kind("session store", ("SessionStore",), by_class=True),
    "register_services": Kind("service", _SERVICES, key=None),
    "register_credentials": Kind("credential source", ("CredentialSource",)),
    "register_renderers": Kind(
        "renderer", ("Renderer", "ToolRenderer", "MarkdownTransform"), check=_renderer_problem, prefix=_renderer_prefix
    ),
    "register_exporters": Kind(
        "exporter", ("Exporter",), key="format", data=("suffixes",), calls=("export",), check=_exporter_problem
    ),
    "register_themes": Kind("theme", ("Theme",), check=_theme_problem),
    "register_resource_kinds": Kind("resource kind", ("ResourceKind",), data=("folder",), calls=("read", "accepts")),
    "register_logins": Kind("login", ("Login",)),
    "register_settings": Kind("setting", ("PluginSetting",), data=_SETTING_DATA, check=_setting_problem),
    "register_permissions": Kind("permission store", ("PermissionStore",), calls=("list", "remove")),
    "register_project_files": Kind("project file", ("ProjectFile",), check=_project_file_problem),
}
"""The kind of object that each registration hook registers."""
