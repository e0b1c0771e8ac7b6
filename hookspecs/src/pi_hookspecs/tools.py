"""Tools that the model may call: their definition, the ``tool`` decorator, and their results."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias, overload

from attrs import Factory

from pi_hookspecs.content import ImageContent, TextContent
from pi_hookspecs.deferred import field, frozen
from pi_hookspecs.values import ReprMixin, Value

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable

    from pi_hookspecs.abort import AbortSignal
    from pi_hookspecs.messages import Usage
    from pi_hookspecs.renderers import ToolRenderer
    from pi_hookspecs.tool_context import ToolContext

__all__ = [
    "ConstrainedSampling",
    "ExecutionMode",
    "Tool",
    "ToolAnnotations",
    "ToolExecute",
    "ToolExposure",
    "ToolResult",
    "ToolUpdate",
    "tool",
]

ExecutionMode: TypeAlias = Literal["parallel", "sequential"]
"""Whether a tool's calls run concurrently with others; one sequential tool makes its whole batch sequential."""


ConstrainedSampling: TypeAlias = Literal["prefer", "require"]
"""Whether sampling of a tool's calls is constrained to its schema.

``prefer``: where API, model and schema support it. ``require``: a request that does not support it fails. On the wire
it is ``{"type": "json_schema", "strict": "prefer"}``.
"""

ToolExposure: TypeAlias = Literal["direct", "deferred", "hidden", "code"]
"""When the model is offered a tool.

``direct``: while the tool is active. ``deferred``: once it was activated by its name, with ``pi.set_active_tools`` or
``--tools``; a pattern does not activate it. ``hidden``: never; other tools call it with ``ctx.execute_tool``. ``code``:
never, as ``hidden``, but scripts of code mode can call it, and the model knows its name.
"""


@frozen(kw_only=True, eq=False, repr=False)
class ToolAnnotations(Value):
    """What the author of a tool declares about its effects, for guards and front ends; nothing verifies it.

    None means that the author declares nothing. A tool of another program, such as an MCP server, may declare what is
    not true: do not relax a guard because of it.

    Attributes:
        title: Display name.
        read_only: It changes nothing.
        destructive: It may delete or overwrite; False if it only adds. Meaningless for a read-only tool.
        idempotent: A second call with the same arguments has no further effect.
        open_world: It reaches beyond this computer, such as a search of the web.
        waits: It waits for something, so that the same call again is no repetition (since 1.2).
    """

    title: str | None = None
    read_only: bool | None = None
    destructive: bool | None = None
    idempotent: bool | None = None
    open_world: bool | None = None
    waits: bool | None = None


@frozen(kw_only=True, eq=False, repr=False)
class ToolResult(Value):
    """Result of a tool call.

    Attributes:
        content: Text and images for the model.
        details: For display and programs; plain data, stored in the session.
        is_error: Whether the call failed; raising an exception has the same effect.
        terminate: Asks the agent to stop after this batch; it does so if every call of the batch asks for it.
        usage: Tokens and cost of model requests that the tool made.
    """

    content: tuple[TextContent | ImageContent, ...] = ()
    details: Any = None
    is_error: bool = False
    terminate: bool = False
    usage: Usage | None = None

    @classmethod
    def text(cls, text: str, **fields: Any) -> ToolResult:
        """Return a result of one text block; ``fields`` are the other attributes."""
        return cls(content=(TextContent(text),), **fields)


ToolUpdate: TypeAlias = "Callable[[ToolResult], None]"
"""Callback for partial results while the tool runs; calls after it has finished are ignored."""

ToolExecute: TypeAlias = "Callable[[str, dict[str, Any], AbortSignal, ToolUpdate, ToolContext], Awaitable[ToolResult]]"
"""``async def execute(call_id, params, signal, on_update, ctx)``, called by position; returns a ``ToolResult``.

An exception is a failed call; its message goes to the model.

Args:
    call_id: The model's id of the call.
    params: The arguments, valid against the tool's schema.
    signal: The run's abort signal: ``signal.aborted``, ``await signal.wait()``.
    on_update: Callback for a partial ``ToolResult`` while the tool runs.
    ctx: The ``ToolContext``: the session so far, ``cwd``, ``exec``, the user interface.
"""


def _lines(value: Iterable[str]) -> tuple[str, ...]:
    return tuple(value)


def _constrained(value: Any) -> ConstrainedSampling | None:
    """Return how calls are constrained; also accepts the form on the wire."""
    strict = value
    if isinstance(value, dict) and value.get("type") == "json_schema":
        strict = value.get("strict")
    if value is None or value is False:
        return None
    if strict in ("prefer", "require"):
        return strict  # type: ignore[no-any-return] # compared above
    raise ValueError(f"constrained_sampling must be 'prefer', 'require' or None, not {value!r}")


def _exposure(value: ToolExposure) -> ToolExposure:
    if value not in ("direct", "deferred", "hidden", "code"):
        raise ValueError(f"exposure must be 'direct', 'deferred', 'hidden' or 'code', not {value!r}")
    return value


@frozen(kw_only=True, eq=False, repr=False)
class Tool(ReprMixin):
    """A tool in its explicit form; the ``tool`` decorator creates one from a function.

    Attributes:
        name: Name for the model.
        label: Display name.
        description: Description for the model.
        parameters: JSON schema of the arguments, an object.
        execute: ``async def execute(call_id, params, signal, on_update, ctx)``, see ``ToolExecute``: the model's id of
            the call, the arguments as a dict, the abort signal, ``on_update(ToolResult)`` for partial results, and the
            ``ToolContext``; returns a ``ToolResult``.
        prompt_snippet: One line for the prompt's list of tools; without it the tool is not listed there.
        prompt_guidelines: Lines for the prompt while the tool is active.
        execution_mode: None follows the agent's setting.
        default_active: Whether it is active when the user did not select tools.
        prepare_arguments: Converts raw arguments of older schemas to the current one, before validation.
        constrained_sampling: Whether sampling of calls is constrained to the schema, ``prefer`` or ``require``; None
            for no constraint. With it the model passes null for a missing optional argument, which is removed before
            ``execute``.
        annotations: What its author declares about its effects; None declares nothing.
        output_schema: JSON schema of its result's ``details``, for programs; the model does not see it.
        exposure: Whether it is offered to the model while it is active, only once it has been activated, or never; see
            ``ToolExposure``.
        namespace: The group that it belongs to, such as the name of an MCP server; the model does not see it.
        renderer: Displays its calls and results; None leaves that to the front end.
    """

    name: str
    description: str
    parameters: dict[str, Any] = field(repr=False)
    execute: ToolExecute = field(repr=False)
    label: str = field(default="")
    prompt_snippet: str | None = None
    prompt_guidelines: tuple[str, ...] = field(default=(), converter=_lines)
    execution_mode: ExecutionMode | None = None
    default_active: bool = True
    prepare_arguments: Callable[[Any], Any] | None = field(default=None, repr=False)
    constrained_sampling: ConstrainedSampling | None = field(default=None, converter=_constrained)
    annotations: ToolAnnotations | None = None
    output_schema: dict[str, Any] | None = field(default=None, repr=False)
    exposure: ToolExposure = field(default="direct", converter=_exposure)
    namespace: str | None = None
    renderer: ToolRenderer | None = field(default=None, repr=False)
    extra: dict[str, Any] = Factory(dict)

    def __attrs_post_init__(self) -> None:
        if not self.label:
            object.__setattr__(self, "label", self.name)


@overload
def tool(function: Callable[..., Any], /) -> Tool: ...
@overload
def tool(
    *,
    name: str | None = None,
    label: str | None = None,
    execution_mode: ExecutionMode | None = None,
    prompt_snippet: str | None = None,
    prompt_guidelines: tuple[str, ...] | list[str] = (),
    default_active: bool = True,
    constrained_sampling: ConstrainedSampling | None = None,
    annotations: ToolAnnotations | None = None,
    output_schema: dict[str, Any] | None = None,
    exposure: ToolExposure = "direct",
    namespace: str | None = None,
    renderer: ToolRenderer | None = None,
) -> Callable[[Callable[..., Any]], Tool]: ...
def tool(
    function: Callable[..., Any] | None = None,
    /,
    *,
    name: str | None = None,
    label: str | None = None,
    execution_mode: ExecutionMode | None = None,
    prompt_snippet: str | None = None,
    prompt_guidelines: tuple[str, ...] | list[str] = (),
    default_active: bool = True,
    constrained_sampling: ConstrainedSampling | None = None,
    annotations: ToolAnnotations | None = None,
    output_schema: dict[str, Any] | None = None,
    exposure: ToolExposure = "direct",
    namespace: str | None = None,
    renderer: ToolRenderer | None = None,
) -> Tool | Callable[[Callable[..., Any]], Tool]:
    """Make a ``Tool`` from a typed function, plain or ``async``.

    The schema comes from the annotations, the description from the docstring's text, each parameter's
    from its ``Args:`` section. A parameter named ``ctx`` gets the ``ToolContext`` and is not in the
    schema. A ``str``, a block, a list of blocks or a ``ToolResult`` may be returned. A plain function
    runs in a thread, so that it cannot block the agent.

    Raises:
        TypeError: The function has no docstring, it yields, its return annotation is another type than these, or a
            parameter has no annotation, or one without a JSON schema.
    """
    from pi_hookspecs._function_tool import tool_from_function  # inspect and typing come with the first tool

    def decorate(target: Callable[..., Any]) -> Tool:
        return tool_from_function(
            target,
            name=name,
            label=label,
            execution_mode=execution_mode,
            prompt_snippet=prompt_snippet,
            prompt_guidelines=tuple(prompt_guidelines),
            default_active=default_active,
            constrained_sampling=constrained_sampling,
            annotations=annotations,
            output_schema=output_schema,
            exposure=exposure,
            namespace=namespace,
            renderer=renderer,
        )

    return decorate if function is None else decorate(function)
