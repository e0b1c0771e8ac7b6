"""A prompt's way: input, run, turns, messages, and the boundaries where plugins may act."""

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
    from pi_hookspecs.events.prompt import (
        ExpandPromptEvent,
        ExpandPromptResult,
        SystemPromptEvent,
        SystemPromptResult,
    )
    from pi_hookspecs.events.run_start import BeforeAgentStartEvent, BeforeAgentStartResult


@hookspec
@answers(text=Rule.PIPE, images=Rule.PIPE, handled=Rule.VETO, deadline=Deadline.LONG)
async def input(event: InputEvent, ctx: PiContext) -> InputResult | None:  # noqa: A001 - the event's name
    """Change what the user said, or deal with it so that no model is asked.

    Args:
        event: The text, its images, and where it came from.
        ctx: The session before the prompt.

    When: after slash commands, before skills and templates are expanded.
    Answers: ``text`` and ``images`` are piped; ``handled`` ends the prompt and later plugins are not asked.
    On error: reported; the input goes on unchanged.
    Since: 1.0
    """


@hookspec
@answers(text=Rule.PIPE)
async def expand_prompt(event: ExpandPromptEvent, ctx: PiContext) -> ExpandPromptResult | None:
    """Say what a text of the user that begins with a slash stands for: a skill, a template.

    Args:
        event: The text as the ``input`` hook left it.
        ctx: The session before the prompt.

    When: after commands and ``input``, before the text is queued or run, and for what ``steer`` and ``follow_up``
        queue; not where the caller wants the text as it is.
    Answers: ``text`` is piped.
    On error: reported; the text stays as it was.
    Since: 1.0
    """


@hookspec
@answers(commands=Rule.COLLECT)
async def commands_discover(event: CommandsDiscoverEvent, ctx: PiContext) -> CommandsDiscoverResult | None:
    """List what ``expand_prompt`` of this plugin knows, for front ends that complete or list it.

    Args:
        event: Nothing beyond its type.
        ctx: The session.

    When: whenever a front end lists the commands.
    Answers: collect, behind the commands that plugins registered.
    On error: reported; the plugin lists nothing.
    Since: 1.0
    """


@hookspec
@answers(sections=Rule.COLLECT, base=Rule.FIRST)
async def system_prompt(event: SystemPromptEvent, ctx: PiContext) -> SystemPromptResult | None:
    """Add sections to the system prompt.

    Answer from what is known, and look only whether that changed: it is asked before every prompt, and a text that
    changes costs the provider's cache.

    Args:
        event: The active tools, and what the user put in place of pi's own words.
        ctx: The session before the prompt.

    When: before every prompt, and when the prompt is shown; ``before_agent_start`` follows.
    Answers: collect for ``sections``; ``base``: first.
    On error: reported; the plugin adds nothing.
    Since: 1.0
    """


@hookspec
@answers(messages=Rule.COLLECT, system_prompt=Rule.PIPE, deadline=Deadline.LONG)
async def before_agent_start(event: BeforeAgentStartEvent, ctx: PiContext) -> BeforeAgentStartResult | None:
    """Add messages after the user's, or change the system prompt, for this run.

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
    """Learn that a run begins.

    Args:
        event: Nothing beyond its type.
        ctx: The session and the run's abort signal.

    When: first event of every run, retries included.
    Answers: notify; what is returned is ignored.
    On error: reported.
    Since: 1.0
    """


@hookspec
@answers(Rule.NOTIFY, deadline=Deadline.LONG)
async def agent_end(event: AgentEndEvent, ctx: PiContext) -> None:
    """Learn that a run is over. The agent is idle only when every plugin has answered.

    Args:
        event: The run's messages, whether another run follows, and the error it ended in.
        ctx: The session after the run.

    When: last event of every run; ``agent_before_settle`` follows when nothing is queued.
    Answers: notify; what is returned is ignored.
    On error: reported.
    Since: 1.0
    """


@hookspec
@answers(Rule.NOTIFY, deadline=Deadline.LONG)
async def turn_start(event: TurnStartEvent, ctx: PiContext) -> None:
    """Learn that a turn begins: one request and the calls it leads to.

    Args:
        event: The turn's number within the run and its time.
        ctx: The session before the turn.

    When: before the messages and the request of a turn.
    Answers: notify; what is returned is ignored.
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
    """Learn that a message begins.

    Args:
        event: The message; an assistant's is still pending.
        ctx: The session so far.

    When: once for every user, assistant, tool result and custom message.
    Answers: notify; what is returned is ignored.
    On error: reported.
    Since: 1.0
    """


@hookspec
@answers(Rule.NOTIFY)
async def message_update(event: MessageUpdateEvent, ctx: PiContext) -> None:
    """Watch the answer grow. Runs for every delta: be quick.

    Args:
        event: The stream's event; ``event.message`` is made when it is looked at.
        ctx: The session so far.

    When: for every event of the model's stream between start and end.
    Answers: notify; what is returned is ignored.
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
    Answers: ``message`` is piped; one of another role is a failure.
    On error: reported; the message stays as it was.
    Since: 1.0
    """


@hookspec
@answers(entries=Rule.COLLECT, continue_=Rule.FIRST, deadline=Deadline.LONG)
async def agent_before_settle(event: AgentBeforeSettleEvent, ctx: PiContext) -> AgentBeforeSettleResult | None:
    """Act before the prompt resolves: compact, append entries, or run on.

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
    """Learn that the prompt is done.

    Args:
        event: Whether it was aborted.
        ctx: The session at rest.

    When: once per prompt, after retries and queued messages.
    Answers: notify; what is returned is ignored.
    On error: reported.
    Since: 1.0
    """


@hookspec
@answers(Rule.NOTIFY)
async def model_select(event: ModelSelectEvent, ctx: PiContext) -> None:
    """Learn that another model answers from now on.

    Args:
        event: The model now and before, and who chose it.
        ctx: The session.

    When: after the change.
    Answers: notify; what is returned is ignored.
    On error: reported.
    Since: 1.0
    """


@hookspec
@answers(Rule.NOTIFY)
async def thinking_level_select(event: ThinkingLevelSelectEvent, ctx: PiContext) -> None:
    """Learn that the model thinks more or less from now on.

    Args:
        event: The level now and before.
        ctx: The session.

    When: after the change.
    Answers: notify; what is returned is ignored.
    On error: reported.
    Since: 1.0
    """
