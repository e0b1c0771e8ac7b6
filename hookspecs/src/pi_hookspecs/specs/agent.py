"""Hooks of a prompt: input, run, turns, messages, and the boundaries where plugins may act."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_hookspecs._markers import Deadline, Rule, answers, hookspec

if TYPE_CHECKING:
    from pi_hookspecs.context import PiContext
    from pi_hookspecs.events.agent import (
        AgentEndEvent,
        AgentSettledEvent,
        AgentStartEvent,
        MessageEndEvent,
        MessageStartEvent,
        MessageUpdateEvent,
        TurnEndEvent,
        TurnStartEvent,
    )
    from pi_hookspecs.events.boundaries import (
        AgentBeforeSettleEvent,
        AgentBeforeSettleResult,
        MessageEndResult,
        TurnEndResult,
    )
    from pi_hookspecs.events.choices import InputEvent, InputResult, ModelSelectEvent, ThinkingLevelSelectEvent
    from pi_hookspecs.events.commands import CommandsDiscoverEvent, CommandsDiscoverResult
    from pi_hookspecs.events.expansion import ExpandPromptEvent, ExpandPromptResult
    from pi_hookspecs.events.prompt import SystemPromptEvent, SystemPromptResult
    from pi_hookspecs.events.run_start import BeforeAgentStartEvent, BeforeAgentStartResult


@hookspec
@answers(text=Rule.PIPE, images=Rule.PIPE, handled=Rule.VETO, deadline=Deadline.LONG)
async def input(event: InputEvent, ctx: PiContext) -> InputResult | None:  # noqa: A001 - the event's name
    """Change the user's input, or handle it so that no model is asked.

    Args:
        event: The text, its images, and where it came from.
        ctx: The session before the prompt.

    When: after slash commands, before skills and templates are expanded.
    Answers: ``text`` and ``images`` are piped; ``handled`` ends the prompt and later plugins are not asked.
    On error: reported; the input is passed on unchanged.
    Since: 1.0
    """


@hookspec
@answers(text=Rule.PIPE)
async def expand_prompt(event: ExpandPromptEvent, ctx: PiContext) -> ExpandPromptResult | None:
    """Expand a prompt that begins with a slash, such as a skill or a template.

    Args:
        event: The text as the ``input`` hook left it.
        ctx: The session before the prompt.

    When: after commands and ``input``, before the text is queued or run; this includes texts that ``steer`` and
        ``follow_up`` queue. Not if the caller disables expansion.
    Answers: ``text`` is piped.
    On error: reported; the text is not changed.
    Since: 1.0
    """


@hookspec
@answers(commands=Rule.COLLECT)
async def commands_discover(event: CommandsDiscoverEvent, ctx: PiContext) -> CommandsDiscoverResult | None:
    """List the commands that ``expand_prompt`` of this plugin expands, for completion and lists in front ends.

    Args:
        event: Nothing beyond its type.
        ctx: The session.

    When: whenever a front end lists the commands.
    Answers: collect, after the commands that plugins registered.
    On error: reported; the plugin lists nothing.
    Since: 1.0
    """


@hookspec
@answers(sections=Rule.COLLECT, base=Rule.FIRST)
async def system_prompt(event: SystemPromptEvent, ctx: PiContext) -> SystemPromptResult | None:
    """Add sections to the system prompt.

    Keep it cheap and its text stable: it is called before every prompt, and a changed text invalidates the provider's
    prompt cache.

    Args:
        event: The active tools, and the user's replacement of pi's own prompt.
        ctx: The session before the prompt.

    When: before every prompt, and when the system prompt is displayed; ``before_agent_start`` follows.
    Answers: collect for ``sections``; ``base``: first.
    On error: reported; the plugin adds nothing.
    Since: 1.0
    """


@hookspec
@answers(messages=Rule.COLLECT, system_prompt=Rule.PIPE, deadline=Deadline.LONG)
async def before_agent_start(event: BeforeAgentStartEvent, ctx: PiContext) -> BeforeAgentStartResult | None:
    """Add messages after the user's, or change the system prompt, for this run.

    With ``@hookimpl(observe=True)`` it is called after all others and changes nothing: ``event.changes`` says which
    plugins changed the system prompt.

    Args:
        event: The prompt with its images, and the system prompt.
        ctx: The session before the run.

    When: after the input is expanded and checked, before the agent starts.
    Answers: ``messages`` are collected, ``system_prompt`` is piped.
    On error: reported; the plugin adds nothing.
    Since: 1.0
    """


@hookspec
@answers(Rule.NOTIFY)
async def agent_start(event: AgentStartEvent, ctx: PiContext) -> None:
    """Called when a run begins.

    Args:
        event: Nothing beyond its type.
        ctx: The session and the run's abort signal.

    When: first event of every run, including retries.
    Answers: notify; the return value is ignored.
    On error: reported.
    Since: 1.0
    """


@hookspec
@answers(Rule.NOTIFY, deadline=Deadline.LONG)
async def agent_end(event: AgentEndEvent, ctx: PiContext) -> None:
    """Called when a run is over. The agent is idle only when every plugin has returned.

    Args:
        event: The run's messages, whether another run follows, and the error that ended it.
        ctx: The session after the run.

    When: last event of every run; ``agent_before_settle`` follows when nothing is queued.
    Answers: notify; the return value is ignored.
    On error: reported.
    Since: 1.0
    """


@hookspec
@answers(Rule.NOTIFY, deadline=Deadline.LONG)
async def turn_start(event: TurnStartEvent, ctx: PiContext) -> None:
    """Called when a turn begins: one request and the tool calls of its answer.

    Args:
        event: The turn's number within the run and its time.
        ctx: The session before the turn.

    When: before the messages and the request of a turn.
    Answers: notify; the return value is ignored.
    On error: reported.
    Since: 1.0
    """


@hookspec
@answers(entries=Rule.COLLECT, continue_=Rule.FIRST, deadline=Deadline.LONG)
async def turn_end(event: TurnEndEvent, ctx: PiContext) -> TurnEndResult | None:
    """Act between turns: append entries, or make sure that one more request follows.

    Args:
        event: The answer and the results of its calls.
        ctx: The session, with the turn's messages in it.

    When: after the turn's messages are in the session, before subscribers see the event.
    Answers: ``entries`` are collected; ``continue_``: first.
    On error: reported; the plugin adds nothing.
    Since: 1.0
    """


@hookspec
@answers(Rule.NOTIFY)
async def message_start(event: MessageStartEvent, ctx: PiContext) -> None:
    """Called when a message begins.

    Args:
        event: The message; that of an assistant is still pending.
        ctx: The session so far.

    When: once for every user, assistant, tool result and custom message.
    Answers: notify; the return value is ignored.
    On error: reported.
    Since: 1.0
    """


@hookspec
@answers(Rule.NOTIFY)
async def message_update(event: MessageUpdateEvent, ctx: PiContext) -> None:
    """Called for every event of a streaming answer, that is for every delta: be quick.

    Args:
        event: The stream's event; ``event.message`` is built on access.
        ctx: The session so far.

    When: for every event of the model's stream between start and end. The answer does not wait for a slow
        implementation: deltas of a block that come while it runs are joined into its next event. It has handled the
        last one before ``message_end``.
    Answers: notify; the return value is ignored.
    On error: reported.
    Since: 1.0
    """


@hookspec
@answers(message=Rule.PIPE)
async def message_end(event: MessageEndEvent, ctx: PiContext) -> MessageEndResult | None:
    """Change a message before it is stored, keeping its role.

    Args:
        event: The message.
        ctx: The session without it.

    When: when a message is complete, before it is in the session.
    Answers: ``message`` is piped; one of another role is an error.
    On error: reported; the message is not changed.
    Since: 1.0
    """


@hookspec
@answers(entries=Rule.COLLECT, continue_=Rule.FIRST, deadline=Deadline.LONG)
async def agent_before_settle(event: AgentBeforeSettleEvent, ctx: PiContext) -> AgentBeforeSettleResult | None:
    """Act before the prompt resolves: compact, append entries, or continue the run.

    Args:
        event: How the run ended, its messages and the branch's entries.
        ctx: The session after the run.

    When: after ``agent_end``, when nothing is queued.
    Answers: ``entries`` are collected; ``continue_``: first.
    On error: reported; the plugin adds nothing.
    Since: 1.0
    """


@hookspec
@answers(Rule.NOTIFY, deadline=Deadline.LONG)
async def agent_settled(event: AgentSettledEvent, ctx: PiContext) -> None:
    """Called when the prompt has been processed completely.

    Args:
        event: Whether it was aborted.
        ctx: The session, idle.

    When: once per prompt, after retries and queued messages.
    Answers: notify; the return value is ignored.
    On error: reported.
    Since: 1.0
    """


@hookspec
@answers(Rule.NOTIFY)
async def model_select(event: ModelSelectEvent, ctx: PiContext) -> None:
    """Called when another model has been selected.

    Args:
        event: The new and the previous model, and how it was selected.
        ctx: The session.

    When: after the change.
    Answers: notify; the return value is ignored.
    On error: reported.
    Since: 1.0
    """


@hookspec
@answers(Rule.NOTIFY)
async def thinking_level_select(event: ThinkingLevelSelectEvent, ctx: PiContext) -> None:
    """Called when the reasoning effort has changed.

    Args:
        event: The new and the previous level.
        ctx: The session.

    When: after the change.
    Answers: notify; the return value is ignored.
    On error: reported.
    Since: 1.0
    """
