"""Validates the arguments of ``pi``, so that a wrong type raises at the plugin's call, not when it is used later."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_core.agent.safe_text import safe_repr
from pi_hookspecs import ImageContent, PluginError, TextContent, UnknownName

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = [
    "check_delivery",
    "check_event",
    "check_event_object",
    "check_message",
    "check_session_name",
    "check_text",
    "entry_data",
    "flag_name",
    "texts",
    "user_content",
]


def check_text(method: str, what: str, value: object) -> None:
    """Raise ``TypeError`` for a value that is not a text, such as the function when a decorator was not called."""
    if not isinstance(value, str):
        raise TypeError(
            f"{method} takes its {what} as the first argument, a string, as in @{method}(...); it got "
            f"{safe_repr(value)}"
        )


def check_session_name(name: object) -> None:
    """Raise ``TypeError`` for a name that is neither a text nor None."""
    if name is not None and not isinstance(name, str):
        raise TypeError(f"set_session_name takes a string or None, not {safe_repr(name)}")


def check_event(name: str) -> Callable[..., Any]:
    """Return the specification of an event hook; raise ``UnknownName`` for an unknown event."""
    from pi_hookspecs import answers_of
    from pi_hookspecs.specs import all_hookspecs

    specs = all_hookspecs()
    spec = specs.get(name)
    if spec is None or answers_of(spec) is None:
        raise UnknownName("event", name, [each for each, known in specs.items() if answers_of(known) is not None])
    return spec


def flag_name(plugin: str, name: str) -> str:
    """Return an option's name without leading dashes.

    Raises:
        PluginError: The name cannot be typed on a command line.
    """
    plain = name.removeprefix("--")
    if not plain or plain.startswith("-") or "=" in plain or any(map(str.isspace, plain)):
        raise PluginError(plugin, f"flag {name!r} cannot be typed: use a name without spaces and '='")
    return plain


def texts(method: str, what: str, values: Sequence[str]) -> list[str]:
    """Return a list of texts; a single text is refused, because it would be split into letters.

    Raises:
        TypeError: It is not a list of texts.
    """
    if isinstance(values, str) or not all(isinstance(each, str) for each in values):
        raise TypeError(f"{method} takes a list of {what}, not {safe_repr(values)}")
    return list(values)


def check_message(message: object) -> None:
    """Raise ``TypeError`` for a value that is not a custom message."""
    from pi_hookspecs import CustomMessage

    if not isinstance(message, CustomMessage):
        raise TypeError(
            f"send_message takes a CustomMessage, as in CustomMessage(custom_type='note', content='...'),"
            f" not {safe_repr(message)}"
        )


def user_content(content: Any) -> str | tuple[TextContent | ImageContent, ...]:
    """Return the content of a user message.

    Raises:
        TypeError: It is neither a text nor a list of blocks.
    """
    if isinstance(content, str):
        return content
    blocks = tuple(content) if isinstance(content, list | tuple) else (content,)
    if not all(isinstance(each, TextContent | ImageContent) for each in blocks):
        raise TypeError(
            f"send_user_message takes a string, or a list of text and image blocks, not {safe_repr(content)}"
        )
    return blocks


def check_delivery(deliver_as: object, *ways: str) -> None:
    """Raise ``ValueError`` for an unknown value of ``deliver_as``."""
    if deliver_as is not None and deliver_as not in ways:
        raise ValueError(f"deliver_as is {safe_repr(deliver_as)}; it must be one of {', '.join(map(repr, ways))}")


def entry_data(plugin: str, custom_type: str, data: object) -> Any:
    """Return a copy of a plugin's data to store; it must be JSON, so that it can be read back unchanged.

    Raises:
        PluginError: It cannot be represented as JSON.
    """
    from pi_core.agent.json_values import NotJson, json_copy

    try:
        return json_copy(data)
    except NotJson as error:
        problem = str(error)
    except RecursionError:
        problem = "it is nested too deeply, or contains itself"
    raise PluginError(
        plugin,
        f"plugin {plugin!r} cannot store a {safe_repr(custom_type)} entry of {safe_repr(data)}: {problem}."
        " append_entry takes JSON values: strings, finite numbers, booleans, None, lists, and dicts whose keys are "
        "strings",
    )


def check_event_object(event: object) -> None:
    """Raise ``TypeError`` for an event without a ``type``, by which subscribers distinguish events."""
    if not isinstance(getattr(event, "type", None), str):
        raise TypeError(
            f"emit takes an event, an object of a class with a type and attrs fields, not {safe_repr(event)}"
        )
