"""A session's life: it begins, is left, forked, compacted, walked, and ends."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_hookspecs._markers import Deadline, Rule, answers, hookspec

if TYPE_CHECKING:
    from pi_hookspecs.context import PiContext, StartContext
    from pi_hookspecs.events.project import (
        ProjectTrustEvent,
        ProjectTrustResult,
        ResourcesDiscoverEvent,
        ResourcesDiscoverResult,
    )
    from pi_hookspecs.events.session import SessionShutdownEvent, SessionStartEvent
    from pi_hookspecs.events.session_changes import (
        SessionBeforeCompactEvent,
        SessionBeforeCompactResult,
        SessionBeforeForkEvent,
        SessionBeforeForkResult,
        SessionBeforeSwitchEvent,
        SessionBeforeSwitchResult,
        SessionBeforeTreeEvent,
        SessionBeforeTreeResult,
        SessionCompactEvent,
        SessionCompactFailedEvent,
        SessionForkEvent,
        SessionSwitchEvent,
        SessionTreeEvent,
    )


@hookspec
@answers(Rule.FIRST, deadline=Deadline.LONG)
async def project_trust(event: ProjectTrustEvent, ctx: StartContext) -> ProjectTrustResult | None:
    """Decide whether a project's own settings, extensions, skills, prompts and themes may be used.

    Installed plugins and the user's own extensions are asked, never the project's.

    Args:
        event: The project's folder, and what in it needs trust.
        ctx: What is there before a session: folder, front end, the user's settings without the project's.

    When: before the session is made, where the project has such files and neither ``--approve`` nor ``--no-approve``
        was given; before ``trust.json`` and the setting ``defaultProjectTrust`` are looked at.
    Answers: first; ``None`` and ``undecided`` are no opinion.
    On error: reported; counts as no opinion.
    Since: 1.0
    """


@hookspec
@answers(Rule.NOTIFY, deadline=Deadline.LONG)
async def session_start(event: SessionStartEvent, ctx: PiContext) -> None:
    """Get ready: a session begins or was loaded.

    Args:
        event: Why it begins, and the file of the session before.
        ctx: The session as it is now.

    When: after ``activate``, before the first prompt.
    Answers: notify; what is returned is ignored.
    On error: reported; the session begins all the same.
    Since: 1.0
    """


@hookspec
@answers(Rule.NOTIFY, deadline=Deadline.LONG)
async def session_shutdown(event: SessionShutdownEvent, ctx: PiContext) -> None:
    """Put things away: the session ends, for good or for another one.

    Args:
        event: Why it ends, and the file of the session that follows.
        ctx: The session for the last time.

    When: when the process ends in good order, and before every change of session or reload.
    Answers: notify; what is returned is ignored.
    On error: reported; the session ends all the same.
    Since: 1.0
    """


@hookspec
@answers(Rule.NOTIFY)
async def session_switch(event: SessionSwitchEvent, ctx: PiContext) -> None:
    """Learn that another session is in place.

    Args:
        event: Whether it is new or resumed, and the file of the one before.
        ctx: The session as it is now.

    When: after the change; ``session_start`` follows with the same reason.
    Answers: notify; what is returned is ignored.
    On error: reported.
    Since: 1.0
    """


@hookspec
@answers(Rule.NOTIFY)
async def session_fork(event: SessionForkEvent, ctx: PiContext) -> None:
    """Learn that the session is a fork now.

    Args:
        event: The file of the session that was forked.
        ctx: The fork.

    When: after the fork; ``session_start`` follows with reason ``fork``.
    Answers: notify; what is returned is ignored.
    On error: reported.
    Since: 1.0
    """


@hookspec
@answers(cancel=Rule.VETO, deadline=Deadline.LONG)
async def session_before_switch(event: SessionBeforeSwitchEvent, ctx: PiContext) -> SessionBeforeSwitchResult | None:
    """Keep the present session, or let it go.

    Args:
        event: Whether a new or a stored session is wanted, and which file.
        ctx: The session that would be left.

    When: before a new session or a change to a stored one.
    Answers: veto; the first ``cancel`` wins and later plugins are not asked. ``None`` is no opinion.
    On error: reported; counts as no opinion.
    Since: 1.0
    """


@hookspec
@answers(cancel=Rule.VETO, skip_conversation_restore=Rule.FIRST, deadline=Deadline.LONG)
async def session_before_fork(event: SessionBeforeForkEvent, ctx: PiContext) -> SessionBeforeForkResult | None:
    """Keep the session whole, or let it be forked.

    Args:
        event: The entry to fork from, and whether before or at it.
        ctx: The session that would be forked.

    When: before a fork.
    Answers: veto for ``cancel``, the first wins. ``skip_conversation_restore``: first.
    On error: reported; counts as no opinion.
    Since: 1.0
    """


@hookspec
@answers(cancel=Rule.VETO, compaction=Rule.FIRST, deadline=Deadline.LONG)
async def session_before_compact(event: SessionBeforeCompactEvent, ctx: PiContext) -> SessionBeforeCompactResult | None:
    """Prevent a compaction, or supply one.

    Args:
        event: What would be summarised and what kept, why, and the abort signal.
        ctx: The session before the compaction.

    When: before each compaction, asked for by hand or by the size of the context.
    Answers: veto for ``cancel``, the first wins. ``compaction``: first.
    On error: reported; counts as no opinion.
    Since: 1.0
    """


@hookspec
@answers(Rule.NOTIFY)
async def session_compact(event: SessionCompactEvent, ctx: PiContext) -> None:
    """Learn that the conversation was compacted.

    Args:
        event: The entry that holds the summary, and whether a plugin supplied it.
        ctx: The session after the compaction.

    When: after the compaction is in the session.
    Answers: notify; what is returned is ignored.
    On error: reported.
    Since: 1.0
    """


@hookspec
@answers(Rule.NOTIFY)
async def session_compact_failed(event: SessionCompactFailedEvent, ctx: PiContext) -> None:
    """Learn that a compaction came to nothing.

    Args:
        event: Why it was wanted, and what went wrong; ``aborted`` when somebody stopped it.
        ctx: The session, which is as it was.

    When: after the attempt, also when a plugin cancelled it.
    Answers: notify; what is returned is ignored.
    On error: reported.
    Since: 1.0
    """


@hookspec
@answers(
    cancel=Rule.VETO,
    summary=Rule.FIRST,
    details=Rule.FIRST,
    custom_instructions=Rule.PIPE,
    replace_instructions=Rule.PIPE,
    label=Rule.PIPE,
    deadline=Deadline.LONG,
)
async def session_before_tree(event: SessionBeforeTreeEvent, ctx: PiContext) -> SessionBeforeTreeResult | None:
    """Stay where the conversation is, supply the summary of what is left behind, or change how it is made.

    Args:
        event: Where the user wants to go, what would be left behind, and the abort signal.
        ctx: The session before the change.

    When: before the conversation goes on from another place in the tree.
    Answers: veto for ``cancel``, the first wins. ``summary`` and ``details``: first. The rest is piped.
    On error: reported; counts as no opinion.
    Since: 1.0
    """


@hookspec
@answers(Rule.NOTIFY)
async def session_tree(event: SessionTreeEvent, ctx: PiContext) -> None:
    """Learn that the conversation goes on from another place in the tree.

    Args:
        event: The leaf now and before, and the summary that was added.
        ctx: The session at its new leaf.

    When: after the change.
    Answers: notify; what is returned is ignored.
    On error: reported.
    Since: 1.0
    """


@hookspec
@answers(skill_paths=Rule.COLLECT, prompt_paths=Rule.COLLECT, theme_paths=Rule.COLLECT)
async def resources_discover(event: ResourcesDiscoverEvent, ctx: PiContext) -> ResourcesDiscoverResult | None:
    """Name further places with skills, prompt templates and themes.

    Args:
        event: The working directory, and whether this is the start or a reload.
        ctx: The session.

    When: after ``session_start`` and at every reload.
    Answers: collect; all paths, in order.
    On error: reported; the plugin adds no paths.
    Since: 1.0
    """
