"""Builds a tool from a typed function: its schema, its description, and the adapter that calls it."""

from __future__ import annotations

import asyncio
import functools
import inspect
from contextlib import suppress
from types import UnionType
from typing import TYPE_CHECKING, Any, Union, get_args, get_origin

from pi_hookspecs import _docstring
from pi_hookspecs._annotations import REQUIRED, Parameter, UnsupportedAnnotation, describe_all, resolve
from pi_hookspecs.content import ImageContent, TextContent
from pi_hookspecs.tools import Tool, ToolResult

if TYPE_CHECKING:
    from collections.abc import Callable

    from pi_hookspecs._annotations import Shape
    from pi_hookspecs.abort import AbortSignal
    from pi_hookspecs.tool_context import ToolContext
    from pi_hookspecs.tools import ToolExecute, ToolUpdate

__all__ = ["tool_from_function"]

_CONTEXT = "ctx"
"""Name of the parameter that gets the ``ToolContext``."""


def tool_from_function(
    function: Callable[..., Any],
    *,
    name: str | None,
    label: str | None,
    **fields: Any,
) -> Tool:
    """Return a tool built from a function; arguments and errors are those of ``tool``.

    Args:
        function: The function.
        name: The tool's name; that of the function when None.
        label: Display name; made of the name when None.
        fields: Other fields of ``Tool``, as they are.
    """
    tool_name = name or str(getattr(function, "__name__", ""))
    if not tool_name:
        raise TypeError(f"{function!r} has no name; give the tool one: @tool(name=...)")
    routine = _routine(function)
    if inspect.isgeneratorfunction(routine) or inspect.isasyncgenfunction(routine):
        raise TypeError(
            f"Tool function {tool_name!r} is a generator; a tool returns its result, and shows partial results with "
            f"ctx.update."
        )
    needs_result = _check_result(routine, tool_name)
    docstring = _docstring.parse(inspect.getdoc(routine))
    if not docstring.text:
        raise TypeError(f"Tool function {tool_name!r} has no docstring, which tells the model what the tool is for.")
    signature = inspect.signature(function)
    try:
        schema, shapes = describe_all(_parameters(routine, signature), docstring.names)
    except UnsupportedAnnotation as error:
        raise TypeError(f"Tool function {tool_name!r}: parameter {error}.") from error
    return Tool(
        name=tool_name,
        label=label or _to_label(tool_name),
        description=docstring.text,
        parameters=schema,
        execute=_execute(
            function,
            tool_name,
            shapes,
            is_async=inspect.iscoroutinefunction(routine),
            needs_result=needs_result,
            wants_context=_CONTEXT in signature.parameters,
        ),
        **fields,
    )


def _to_label(name: str) -> str:
    words = name.replace("_", " ").strip()
    return words[:1].upper() + words[1:]


def _routine(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function that has docstring and annotations: unwraps a partial, or takes ``__call__`` of an object."""
    while isinstance(function, functools.partial):
        function = function.func
    return function if inspect.isroutine(function) else type(function).__call__


def _parameters(routine: Callable[..., Any], signature: inspect.Signature) -> list[Parameter]:
    """Return the parameters that the model fills in, annotations resolved; that of ``ctx`` is never evaluated."""
    named = {key: one for key, one in signature.parameters.items() if key != _CONTEXT}
    for key, one in named.items():
        if one.kind not in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY):
            raise UnsupportedAnnotation(
                f"{str(one).partition(':')[0]!r} is positional-only, but arguments are passed by name"
            )
        if one.annotation is one.empty:
            raise UnsupportedAnnotation(f"{key!r} has no annotation; its schema is generated from it")
    names = getattr(inspect.unwrap(routine), "__globals__", {})
    hints = resolve({key: one.annotation for key, one in named.items()}, names)
    return [
        Parameter(key, hints[key], REQUIRED if one.default is one.empty else one.default) for key, one in named.items()
    ]


def _check_result(routine: Callable[..., Any], tool_name: str) -> bool:
    """Raise where the annotation of the result names a type that no tool can return.

    Returns whether None would be a mistake: the function is to return a ``ToolResult`` or blocks, which have no empty
    form as texts have.

    An annotation that cannot be resolved here, as when only type checkers import it, is not checked.
    """
    function = inspect.unwrap(routine)
    annotation = getattr(function, "__annotations__", {}).get("return")
    with suppress(UnsupportedAnnotation):
        annotation = resolve({"return": annotation}, getattr(function, "__globals__", {}))["return"]
        members = get_args(annotation) if get_origin(annotation) in (Union, UnionType) else (annotation,)
        wrong = next(filter(_is_no_result, members), None)
        if wrong is not None:
            name = wrong.__name__ if type(wrong) is type else str(wrong)
            raise TypeError(f"Tool function {tool_name!r} returns {name}; {_RESULTS}")
        return all((get_origin(each) or each) in _WHOLE_RESULTS for each in members)
    return False


def _is_no_result(annotation: Any) -> bool:
    kind = get_origin(annotation) or annotation
    if kind in (list, tuple):
        return any(each is str or _is_no_result(each) for each in get_args(annotation))
    return kind in _NO_RESULTS


_NO_RESULTS = (bool, int, float, complex, bytes, bytearray, dict, set, frozenset)
_WHOLE_RESULTS = (ToolResult, TextContent, ImageContent, list, tuple)
_RESULTS = "return a str, a text or image block, a list of blocks, or a ToolResult."


def _execute(
    function: Callable[..., Any],
    tool_name: str,
    shapes: dict[str, Shape],
    *,
    is_async: bool,
    needs_result: bool,
    wants_context: bool,
) -> ToolExecute:
    async def execute(
        _call_id: str, params: dict[str, Any], _signal: AbortSignal, _on_update: ToolUpdate, ctx: ToolContext | None
    ) -> ToolResult:
        if wants_context and ctx is None:
            raise RuntimeError(
                f"Tool {tool_name!r} takes ctx, but this agent has no session that could provide it. "
                "Run it in a session, or set tool_context in the agent's LoopCallbacks."
            )
        arguments = {key: shapes[key].load(value) if key in shapes else value for key, value in params.items()}
        if wants_context:
            arguments[_CONTEXT] = ctx
        answer = function(**arguments) if is_async else await asyncio.to_thread(_call, function, arguments)
        answer = await answer if inspect.isawaitable(answer) else answer
        if answer is None and needs_result:
            raise TypeError(f"Tool {tool_name!r} returned None; {_RESULTS}")
        return _result(tool_name, answer)

    return execute


def _call(function: Callable[..., Any], arguments: dict[str, Any]) -> Any:
    try:
        return function(**arguments)
    except StopIteration as error:  # a future cannot carry one: up to Python 3.11 the caller would wait forever
        raise RuntimeError("the tool raised StopIteration") from error


def _result(tool_name: str, answer: Any) -> ToolResult:
    if isinstance(answer, ToolResult):
        return answer
    if answer is None:
        answer = ""
    if isinstance(answer, str):
        return ToolResult.text(answer)
    blocks = tuple(answer) if isinstance(answer, list | tuple) else (answer,)
    for block in blocks:
        if not isinstance(block, TextContent | ImageContent):
            raise TypeError(f"Tool {tool_name!r} returned {type(block).__name__}; {_RESULTS}")
    return ToolResult(content=blocks)
