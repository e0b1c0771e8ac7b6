"""Validation of a tool call's arguments against the tool's JSON schema, with error messages for the model.

Two mistakes that models often make are accepted: a number in quotes, and a null that means "not given".
"""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from pi_core.agent.json_values import NotJson, json_copy
from pi_core.agent.plain_schemas import fits, is_plain
from pi_core.agent.safe_text import exception_message
from pi_hookspecs.errors import InvalidArguments

if TYPE_CHECKING:
    from pi_core.agent.schema import CompiledSchema
    from pi_hookspecs.content import ToolCall
    from pi_hookspecs.tools import Tool

__all__ = ["ArgumentValidator"]

_MAX_ERRORS = 8
"""Limit of reported errors, the same as in the TypeScript pi: a wrong list could cause a thousand errors."""


class ArgumentValidator:
    """Validates tool calls; reads a tool's schema at the first call and caches it as long as the tool exists."""

    def __init__(self) -> None:
        self._plain: WeakKeyDictionary[Tool, dict[str, Any] | None] = WeakKeyDictionary()
        self._compiled: WeakKeyDictionary[Tool, CompiledSchema] = WeakKeyDictionary()
        self._loading: asyncio.Future[Any] | None = None

    def load_soon(self, tool: Tool) -> None:
        """Import jsonschema in a thread while a call's arguments are streamed, if the tool's schema needs it."""
        if self._loading is None and self._plain_schema(tool) is None:
            self._loading = asyncio.get_running_loop().run_in_executor(None, import_module, "jsonschema")

    def validate(self, tool: Tool, call: ToolCall) -> dict[str, Any]:
        """Return the arguments with which to run the tool: a deep copy, prepared and coerced.

        If they are not valid unchanged, scalars are coerced to the type in the schema, by AJV's table (``"2"`` to 2, 12
        to ``"12"``, ``"true"`` to true, null to 0, ``""`` or false), and a null for an optional property that cannot be
        null is removed, as in the TypeScript pi.

        Raises:
            InvalidArguments: The arguments or the schema itself are invalid; the message is written for the model.
        """
        if call.arguments_error is not None:
            raise InvalidArguments(_unreadable(tool, call))
        arguments, errors = self._fit(tool, call)
        if errors:
            raise InvalidArguments(_report(tool, call, errors))
        return arguments

    def check_schema(self, tool: Tool) -> str | None:
        """Return what is wrong with the tool's own schema; None if it is valid."""
        if self._plain_schema(tool) is not None:
            return None
        try:
            self._schema(tool)
        except InvalidArguments as problem:
            return str(problem)
        return None

    def _fit(self, tool: Tool, call: ToolCall) -> tuple[dict[str, Any], list[str]]:
        """Return the arguments and what is wrong with them, each error as ``path: message``."""
        try:
            arguments = json_copy(self._prepared(tool, call))
            if not isinstance(arguments, dict):
                return {}, ["root: must be object"]
            plain = self._plain_schema(tool)
            if plain is not None and fits(arguments, plain):
                return arguments, []
            return self._schema(tool).fit(arguments)
        except NotJson as problem:
            return {}, [str(problem)]
        except RecursionError:
            return {}, ["root: must not be nested so deeply"]

    def _prepared(self, tool: Tool, call: ToolCall) -> Any:
        if tool.prepare_arguments is None:
            return call.arguments
        try:
            return tool.prepare_arguments(json_copy(call.arguments))
        except (InvalidArguments, RecursionError, NotJson):
            raise
        except Exception as error:
            raise InvalidArguments(exception_message(error)) from error

    def _plain_schema(self, tool: Tool) -> dict[str, Any] | None:
        """Return a copy of the tool's schema if it can be checked without jsonschema."""
        if tool not in self._plain:
            schema = None
            with suppress(NotJson, RecursionError):  # the module that uses jsonschema describes the error
                copy = json_copy(tool.parameters)
                schema = copy if is_plain(copy) else None
            self._plain[tool] = schema
        return self._plain[tool]

    def _schema(self, tool: Tool) -> CompiledSchema:
        compiled = self._compiled.get(tool)
        if compiled is None:
            from pi_core.agent.schema import CompiledSchema  # imports jsonschema

            plain = self._plain_schema(tool)
            compiled = CompiledSchema(tool.name, tool.parameters if plain is None else plain)
            self._compiled[tool] = compiled
        return compiled


def _report(tool: Tool, call: ToolCall, errors: list[str]) -> str:
    lines = "\n".join(f"  - {error}" for error in errors[:_MAX_ERRORS])
    return f'Validation failed for tool "{tool.name}":\n{lines}\n\nReceived arguments:\n{_pretty(call.arguments)}'


def _unreadable(tool: Tool, call: ToolCall) -> str:
    """Return the error for arguments that are no JSON object, with their text, so that the model sees its slip."""
    from pi_hookspecs.stream import ARGUMENTS_TEXT  # a request is sent before the classes of its stream are needed

    words = f'Invalid arguments for tool "{tool.name}": {call.arguments_error}'
    text = call.extra.get(ARGUMENTS_TEXT)
    if not isinstance(text, str) or not text:
        return words
    shown = text.encode("utf-8", "backslashreplace").decode()
    return f"{words}\n\nReceived arguments:\n{shown}"


def _pretty(arguments: Any) -> str:
    try:
        text = json.dumps(arguments, indent=2, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):  # keys that are not strings, a cycle, a number with 5,000 digits
        return "(cannot be shown as JSON)"
    return text.encode("utf-8", "backslashreplace").decode()  # a lone surrogate cannot be sent
