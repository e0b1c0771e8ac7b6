"""Calls of a program to ``ctx``: the members that can be used over a pipe, their arguments and their results.

A method has the name of the ``ctx`` page, ``exec`` or ``ui.confirm``; its arguments are keyword arguments in camelCase.
"""

from __future__ import annotations

import inspect
import json
import re
from functools import cache
from inspect import Parameter
from typing import TYPE_CHECKING, Any

import attrs

import pi_hookspecs
from pi_core import from_wire, message_from_wire, model_from_wire, to_wire, wire_name
from pi_core.host.grants import FILE, GATED, is_granted
from pi_hookspecs import Context, PiError, SideRequest, Tool, UnknownName
from pi_isolated.ready import command_in

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pi_hookspecs import PiContext
    from pi_isolated.plugin import Member

__all__ = ["call_member", "known_members"]

_PARTS = {
    "models": "ModelCatalog",
    "pi": "PiAPI",
    "session": "SessionView",
    "settings": "ChangeableSettings",
    "ui": "FullUserInterface",
}
"""Members of ``ctx`` whose members can be called, with their protocols; ``pi`` stands for the plugin's own."""

_OBJECTS = (
    "children child_environment command_operations create_session deps emit file_operations list_permissions models"
    " prepare_spawn processes relay remove_permission resources secrets session sessions settings"
    " signal ui models.get_api_key models.stream session.children session.tree"
    " ui.add_autocomplete_provider ui.approve ui.custom ui.form ui.get_all_themes ui.get_editor_component ui.get_theme"
    " ui.on_terminal_input ui.set_activity ui.set_editor_component ui.set_footer ui.set_header ui.theme"
    " pi.emit pi.events pi.exec pi.observe_hooks pi.on pi.plugin pi.register_command pi.register_flag"
    " pi.register_message_renderer pi.register_provider pi.register_shortcut pi.register_tool pi.unregister_provider"
)
"""What is an object of this process, draws, or is a secret."""
_LEFT_OUT = frozenset(_OBJECTS.split())

_KEYS = "models.get_api_key"
"""For extensions in another language, which have the rights of those in Python."""

_LONGEST_ENTRY = 1_000_000
"""Characters of JSON: the session's file keeps every entry for ever."""

_NOT_AWAITED = ("pi.send_message", "pi.send_user_message")
"""What returns the answer of the model: the program goes on as soon as the message is sent."""

_PARAMETERS_LEFT_OUT = frozenset({"on_update", "setup", "signal"})


@cache
def known_members() -> dict[str, Any]:
    """Return the members that a program can use, by the name in a call: functions of the protocols, and properties."""
    roots = {"": "ToolContext", **{f"{name}.": protocol for name, protocol in _PARTS.items()}}
    return {
        f"{prefix}{name}": member
        for prefix, protocol in roots.items()
        for name, member in inspect.getmembers_static(getattr(pi_hookspecs, protocol))
        if not name.startswith("_")
        and (inspect.isfunction(member) or isinstance(member, property))
        and f"{prefix}{name}" not in _LEFT_OUT
    }


async def call_member(member: Member, method: Any, params: Any, ctx: PiContext) -> Any:
    """Return the result of a call, as JSON data.

    Raises:
        UnknownName: There is no such member.
        PiError: It is not granted, or an argument does not fit; or whatever the member raises.
    """
    if method == _KEYS and member.manifest.entry is not None and isinstance(params, dict):
        return await ctx.models.get_api_key(str(params.get("providerId")))
    if not isinstance(method, str) or method not in known_members():
        raise UnknownName("member of ctx for plugins in processes", str(method), known_members())
    _check_permitted(member, method, params)
    function = known_members()[method]
    arguments = _arguments(method, function, {} if params is None else params)
    value: Any = member if method.startswith("pi.") else ctx
    for part in method.split("."):
        value = getattr(value, part)
    if inspect.isfunction(function):
        positional, by_keyword = arguments
        value = value(*positional, **by_keyword)
        if method in _NOT_AWAITED:
            return None
        if inspect.isawaitable(value):
            value = await value
    return to_wire(value)


def _check_permitted(member: Member, method: str, params: Any) -> None:
    """Check grants, and what a process may not do although plugins in pi's own process may.

    Raises:
        PiError: It may not make this call.
    """
    needed = [name for name in method.split(".") if name in GATED] + ["settings"] * (method == "settings.set")
    missing = next((name for name in needed if not is_granted(member.manifest.grants, "ctx", name)), None)
    if missing is not None:
        raise PiError(f"grants.ctx in {FILE} of plugin {member.name!r} does not name {missing!r}")
    command = command_in(params) if method == "pi.register_mcp_server" else None
    if command is not None:
        raise PiError(command)
    if method == "pi.append_entry" and len(json.dumps(params)) > _LONGEST_ENTRY:
        raise PiError(f"an entry of a plugin in a process has at most {_LONGEST_ENTRY // 1000} kB")


def _arguments(method: str, member: Any, params: Any) -> tuple[list[Any], dict[str, Any]]:
    """Return the arguments of a call, by position and by keyword.

    Raises:
        PiError: One is unknown, missing, or of a wrong type.
    """
    if not isinstance(params, dict):
        raise PiError(f"params of {method} must be an object, not {params!r:.80}")
    known = _parameters(member) if inspect.isfunction(member) else {}
    unknown = sorted(params.keys() - known)
    if unknown:
        raise PiError(f"{method} takes {', '.join(known) or 'no parameters'}, not {', '.join(unknown)}")
    positional: list[Any] = []
    by_keyword: dict[str, Any] = {}
    for key, parameter in known.items():
        if key not in params:
            if parameter.default is Parameter.empty:
                raise PiError(f"{method} needs the parameter {key}")
            continue
        value = _read(parameter, params[key])
        if parameter.kind is Parameter.POSITIONAL_ONLY:
            positional.append(value)
        else:
            by_keyword[parameter.name] = value
    return positional, by_keyword


def _parameters(member: Any) -> dict[str, Parameter]:
    kinds = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)
    _self, *found = inspect.signature(member).parameters.values()
    return {
        wire_name(each.name): each for each in found if each.kind in kinds and each.name not in _PARAMETERS_LEFT_OUT
    }


def _read(parameter: Parameter, value: Any) -> Any:
    """Return an argument as an instance of its annotation, if that is a single class of the contract, or as content."""
    if isinstance(value, list) and "UserContent" in str(parameter.annotation):
        return from_wire({"content": value}, pi_hookspecs.UserMessage).content
    for name in re.findall(r"\w+", str(parameter.annotation)):
        if name in _REQUESTS and isinstance(value, dict):
            return _REQUESTS[name](value)
        cls = getattr(pi_hookspecs, name, None)
        if isinstance(value, dict) and isinstance(cls, type) and attrs.has(cls):
            return from_wire(value, cls)
    return value


def _context(value: Mapping[str, Any]) -> Context:
    """Return the content of a request; its tools are declared, and cannot be run."""
    messages = tuple(message_from_wire(each) for each in value.get("messages", ()))
    tools = tuple(
        Tool(
            name=str(each["name"]),
            description=str(each.get("description", "")),
            parameters=each.get("parameters", {"type": "object"}),
            execute=_declared_only,
        )
        for each in value.get("tools", ())
    )
    return Context(system_prompt=str(value.get("systemPrompt") or ""), messages=messages, tools=tools)  # type: ignore[arg-type]


async def _declared_only(*_: Any) -> Any:
    raise PiError("a tool of a side request is only declared; run what the answer asks for yourself")


def _side_request(value: Mapping[str, Any]) -> SideRequest:
    names = {"maxTokens": "max_tokens", "reasoning": "reasoning", "reason": "reason"}
    given: dict[str, Any] = {ours: value[theirs] for theirs, ours in names.items() if value.get(theirs) is not None}
    given["purpose"] = str(value.get("purpose", "plugin"))
    model = value.get("model")
    return SideRequest(**given, model=model_from_wire(model) if isinstance(model, dict) else None)


_REQUESTS: dict[str, Callable[[Mapping[str, Any]], Any]] = {"Context": _context, "SideRequest": _side_request}
"""Readers of arguments whose classes also have functions."""
