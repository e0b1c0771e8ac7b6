"""Tools: what the model may call, how a plugin writes one, and what it answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias, overload

from attrs import Factory, field, frozen

from pi_hookspecs.content import ImageContent, TextContent
from pi_hookspecs.values import Shown, Value

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable

    from pi_hookspecs.abort import AbortSignal
    from pi_hookspecs.context import ToolContext
    from pi_hookspecs.messages import Usage

__all__ = ["ConstrainedSampling", "ExecutionMode", "Tool", "ToolExecute", "ToolResult", "ToolUpdate", "tool"]

ExecutionMode: TypeAlias = Literal["parallel", "sequential"]
"""How a tool's calls run beside others; one sequential tool makes its whole batch of calls sequential."""


ConstrainedSampling: TypeAlias = Literal["prefer", "require"]
"""Whether a model's calls of a tool are held to its schema while they are sampled.

``prefer``: where API and model can and the schema can be made strict. ``require``: a request that cannot fails. On the
wire it is ``{"type": "json_schema", "strict": "prefer"}``.
"""


@frozen(kw_only=True, eq=False, repr=False)
class ToolResult(Value):
    """What a tool call gave.

    Attributes:
        content: What the model reads: text and images.
        details: What people and programs read; plain data, stored in the session.
        is_error: The call failed; raising does the same with less to say.
        terminate: Asks the agent to stop after this batch; it does when every call of the batch asks.
        usage: Tokens and cost of model work that the tool did.
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
"""Shows a partial result while the tool runs; what comes after it has settled is ignored."""

ToolExecute: TypeAlias = "Callable[[str, dict[str, Any], AbortSignal, ToolUpdate, ToolContext], Awaitable[ToolResult]]"
"""``async def execute(call_id, params, signal, on_update, ctx)``, called by position; returns a ``ToolResult``.

Raising is a failed call; the message goes to the model.

Args:
    call_id: The model's id of the call.
    params: The arguments, valid against the tool's schema.
    signal: The run's abort: ``signal.aborted``, ``await signal.wait()``.
    on_update: Shows a partial ``ToolResult`` while the tool runs.
    ctx: The ``ToolContext``: the session so far, ``cwd``, ``exec``, the user interface.
"""


def _lines(value: Iterable[str]) -> tuple[str, ...]:
    return tuple(value)


def _constrained(value: Any) -> ConstrainedSampling | None:
    """Return how calls are constrained; the form of the wire is taken, too."""
    strict = value
    if isinstance(value, dict) and value.get("type") == "json_schema":
        strict = value.get("strict")
    if value is None or value is False:
        return None
    if strict in ("prefer", "require"):
        return strict  # type: ignore[no-any-return] # as was just compared
    raise ValueError(f"constrained_sampling must be 'prefer', 'require' or None, not {value!r}")


@frozen(kw_only=True, eq=False, repr=False)
class Tool(Shown):
    """A tool in its explicit form; the ``tool`` decorator makes one from a function.

    Attributes:
        name: What the model calls.
        label: For people.
        description: For the model.
        parameters: JSON schema of the arguments, an object.
        execute: ``async def execute(call_id, params, signal, on_update, ctx)``, see ``ToolExecute``: the model's id of
            the call, the arguments as a dict, the run's abort, ``on_update(ToolResult)`` for partial results, and the
            ``ToolContext``; returns a ``ToolResult``.
        prompt_snippet: One line for the prompt's list of tools; without it the tool is not listed there.
        prompt_guidelines: Lines for the prompt while the tool is active.
        execution_mode: None follows the agent's setting.
        default_active: Whether it is active when the user did not choose tools.
        prepare_arguments: Folds older shapes of the raw arguments into the schema's, before validation.
        constrained_sampling: Whether calls are held to the schema while they are sampled, ``prefer`` or ``require``;
            None leaves the model free. An optional argument is then null where it is not given, which is taken out
            before ``execute``.
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
) -> Tool | Callable[[Callable[..., Any]], Tool]:
    """Make a ``Tool`` of a typed function, plain or ``async``.

    The schema comes from the annotations, the description from the docstring's text, each parameter's
    from its ``Args:`` section. A parameter named ``ctx`` gets the ``ToolContext`` and is not in the
    schema. A ``str``, a block, a list of blocks or a ``ToolResult`` may be returned. A plain function
    runs in a thread, so that it cannot hold up the agent.

    Raises:
        TypeError: The function has no docstring, it yields, its annotation says that it returns something else than
            these, or a parameter has no annotation that JSON schema can say.
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
        )

    return decorate if function is None else decorate(function)
