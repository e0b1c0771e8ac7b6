"""The commands as methods of a client: each takes the fields of its command's class, and sends it."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Protocol, TypeVar, overload

from pi_client import commands

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from pi_client.commands import Request

__all__ = ["Caller", "CommandMethods", "sends"]

P = ParamSpec("P")
R = TypeVar("R")
V = TypeVar("V")


class Caller(Protocol):
    """Sends commands."""

    async def call(self, request: Request[R]) -> R:
        """Send a command and return its result."""
        ...


@overload
def sends(
    request: Callable[P, Request[R]], value: None = None
) -> Callable[Concatenate[Caller, P], Coroutine[Any, Any, R]]: ...
@overload
def sends(
    request: Callable[P, Request[R]], value: Callable[[R], V]
) -> Callable[Concatenate[Caller, P], Coroutine[Any, Any, V]]: ...
def sends(request: Any, value: Any = None) -> Any:
    """Return a method that sends a command.

    Args:
        request: The command's class; the method has the arguments of its constructor.
        value: Returns the method's result for that of the command; None returns it unchanged.
    """

    async def method(self: Caller, *args: Any, **fields: Any) -> Any:
        answer = await self.call(request(*args, **fields))
        return answer if value is None else value(answer)

    signature = inspect.signature(request)
    me = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    method.__signature__ = signature.replace(  # type: ignore[attr-defined]
        parameters=[me, *signature.parameters.values()], return_annotation=inspect.Signature.empty
    )
    method.__name__, method.__doc__ = request.type, request.__doc__
    return method


class CommandMethods:
    """The commands of the protocol, with what each returns. Every method raises as ``call``."""

    async def call(self, request: Request[R]) -> R:
        """Send a command and return its result.

        Raises:
            CommandFailed: pi reports that it failed.
            ConnectionLost: pi has ended.
            ProtocolError: The response does not follow the protocol.
        """
        raise NotImplementedError

    prompt = sends(commands.Prompt, lambda answer: answer.disposition)
    steer = sends(commands.Steer, lambda _queued: None)
    follow_up = sends(commands.FollowUp, lambda _queued: None)
    abort = sends(commands.Abort)
    clear_queue = sends(commands.ClearQueue)
    take_queued = sends(commands.TakeQueued)

    get_state = sends(commands.GetState)
    get_messages = sends(commands.GetMessages, lambda answer: answer.messages)
    get_session_stats = sends(commands.GetSessionStats)
    get_last_assistant_text = sends(commands.GetLastAssistantText, lambda answer: answer.text)
    get_commands = sends(commands.GetCommands, lambda answer: answer.commands)

    set_model = sends(commands.SetModel)
    cycle_model = sends(commands.CycleModel)
    get_available_models = sends(commands.GetAvailableModels, lambda answer: answer.models)
    set_thinking_level = sends(commands.SetThinkingLevel)
    cycle_thinking_level = sends(commands.CycleThinkingLevel, lambda answer: None if answer is None else answer.level)
    get_available_thinking_levels = sends(commands.GetAvailableThinkingLevels, lambda answer: answer.levels)

    set_steering_mode = sends(commands.SetSteeringMode)
    set_follow_up_mode = sends(commands.SetFollowUpMode)
    compact = sends(commands.Compact)
    set_auto_compaction = sends(commands.SetAutoCompaction)
    set_auto_retry = sends(commands.SetAutoRetry)
    abort_retry = sends(commands.AbortRetry)
    bash = sends(commands.Bash)
    abort_bash = sends(commands.AbortBash)

    new_session = sends(commands.NewSession, lambda answer: not answer.cancelled)
    switch_session = sends(commands.SwitchSession, lambda answer: not answer.cancelled)
    fork = sends(commands.Fork)
    clone = sends(commands.Clone, lambda answer: not answer.cancelled)
    get_fork_messages = sends(commands.GetForkMessages, lambda answer: answer.messages)
    get_entries = sends(commands.GetEntries)
    get_tree = sends(commands.GetTree)
    navigate_tree = sends(commands.NavigateTree)
    set_session_name = sends(commands.SetSessionName)
    export_html = sends(commands.ExportHtml, lambda answer: answer.path)
