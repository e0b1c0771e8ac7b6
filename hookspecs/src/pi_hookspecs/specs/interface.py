"""Hooks of the user interface: dialogs, and completion while the user types."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_hookspecs._markers import Deadline, Rule, answers, hookspec

if TYPE_CHECKING:
    from pi_hookspecs.context import PiContext
    from pi_hookspecs.events.interface import (
        CompleteMentionEvent,
        CompleteMentionResult,
        UIPromptEndEvent,
        UIPromptStartEvent,
    )


@hookspec
@answers(Rule.NOTIFY)
async def ui_prompt_start(event: UIPromptStartEvent, ctx: PiContext) -> None:
    """Called when pi begins to wait for the user, who may be looking elsewhere: ring a bell, change a title.

    Args:
        event: The kind of dialog, and its title.
        ctx: The session.

    When: after a plugin has opened a dialog of ``ctx.ui``, if there is a user; the dialog does not wait for the hook.
        If several dialogs are open at the same time, it is called for the first one only.
    Answers: notify; the return value is ignored.
    On error: reported.
    Since: 1.1
    """


@hookspec
@answers(Rule.NOTIFY)
async def ui_prompt_end(event: UIPromptEndEvent, ctx: PiContext) -> None:
    """Called when pi no longer waits for the user.

    Args:
        event: The kind and title of the ``ui_prompt_start`` before it.
        ctx: The session.

    When: after the last open dialog was answered or dismissed, or has timed out; always after its ``ui_prompt_start``.
    Answers: notify; the return value is ignored.
    On error: reported.
    Since: 1.1
    """


@hookspec
@answers(completions=Rule.COLLECT, deadline=Deadline.TYPING)
async def complete_mention(event: CompleteMentionEvent, ctx: PiContext) -> CompleteMentionResult | None:
    """Offer completions for ``@`` and what is typed after it.

    Front ends offer the files of the project after these. The hook ``input`` decides what a mention means when the
    prompt is sent.

    Args:
        event: The text after the ``@``.
        ctx: The session.

    When: while the user types a mention, in front ends with completion; the deadline is 2 seconds.
    Answers: collect; all completions, in order.
    On error: reported; the plugin offers nothing.
    Since: 1.1
    """
