"""Hooks of a session: start, switch, fork, compaction, navigation in the tree, and shutdown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_hookspecs._markers import Deadline, OnFailure, Rule, answers, hookspec

if TYPE_CHECKING:
    from pi_hookspecs.context import PiContext, StartContext
    from pi_hookspecs.events.child_sessions import (
        ChildSessionEndEvent,
        ChildSessionStartEvent,
        ChildSessionUpdateEvent,
    )
    from pi_hookspecs.events.mcp import McpServersChangeEvent
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
    from pi_hookspecs.events.storing import SessionBeforeAppendEvent, SessionBeforeAppendResult


@hookspec
@answers(Rule.FIRST, deadline=Deadline.LONG)
async def project_trust(event: ProjectTrustEvent, ctx: StartContext) -> ProjectTrustResult | None:
    """Decide whether a project's own settings, extensions, skills, prompts and themes may be used.

    Installed plugins and the user's own extensions are asked, never the project's.

    Args:
        event: The project's folder, and what in it needs trust.
        ctx: The part of the context that exists before a session: folder, front end, the user's settings without the
            project's.

    When: before the session is created, if the project has such files and neither ``--approve`` nor ``--no-approve``
        was given; before ``trust.json`` and the setting ``defaultProjectTrust`` are consulted.
    Answers: first; ``None`` and ``undecided`` are no opinion.
    On error: reported; counts as no opinion.
    Since: 1.0
    """


@hookspec
@answers(Rule.NOTIFY, deadline=Deadline.LONG)
async def session_start(event: SessionStartEvent, ctx: PiContext) -> None:
    """Called when a session begins or has been loaded.

    Args:
        event: Why it begins, and the file of the previous session.
        ctx: The current session.

    When: after ``activate``, before the first prompt.
    Answers: notify; the return value is ignored.
    On error: reported; the session begins anyway.
    Since: 1.0
    """


@hookspec
@answers(Rule.NOTIFY, deadline=Deadline.LONG)
async def session_shutdown(event: SessionShutdownEvent, ctx: PiContext) -> None:
    """Clean up: the session ends, or another one replaces it.

    Args:
        event: Why it ends, and the file of the next session.
        ctx: The session; it is stale afterwards.

    When: when the process exits normally, and before every change of session or reload.
    Answers: notify; the return value is ignored.
    On error: reported; the session ends anyway, also after 5 s (setting ``hooks.shutdownTimeout``).
    Since: 1.0
    """


@hookspec
@answers(Rule.NOTIFY)
async def session_switch(event: SessionSwitchEvent, ctx: PiContext) -> None:
    """Called after a switch to another session.

    Args:
        event: Whether it is new or resumed, and the file of the previous one.
        ctx: The current session.

    When: after the change; ``session_start`` follows with the same reason.
    Answers: notify; the return value is ignored.
    On error: reported.
    Since: 1.0
    """


@hookspec
@answers(Rule.NOTIFY)
async def session_fork(event: SessionForkEvent, ctx: PiContext) -> None:
    """Called after the session has been forked.

    Args:
        event: The file of the session that was forked.
        ctx: The fork.

    When: after the fork; ``session_start`` follows with reason ``fork``.
    Answers: notify; the return value is ignored.
    On error: reported.
    Since: 1.0
    """


@hookspec
@answers(cancel=Rule.VETO, deadline=Deadline.LONG)
async def session_before_switch(event: SessionBeforeSwitchEvent, ctx: PiContext) -> SessionBeforeSwitchResult | None:
    """Allow or prevent a switch to another session.

    Args:
        event: Whether it is to a new or a stored session, and its file.
        ctx: The session that would be left.

    When: before a new session or a change to a stored one.
    Answers: veto; the first ``cancel`` wins and later plugins are not asked. ``None`` is no opinion.
    On error: reported; counts as no opinion.
    Since: 1.0
    """


@hookspec
@answers(cancel=Rule.VETO, skip_conversation_restore=Rule.FIRST, deadline=Deadline.LONG)
async def session_before_fork(event: SessionBeforeForkEvent, ctx: PiContext) -> SessionBeforeForkResult | None:
    """Allow or prevent a fork.

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

    When: before each compaction, manual or automatic.
    Answers: veto for ``cancel``, the first wins. ``compaction``: first.
    On error: reported; counts as no opinion.
    Since: 1.0
    """


@hookspec
@answers(Rule.NOTIFY)
async def session_compact(event: SessionCompactEvent, ctx: PiContext) -> None:
    """Called after the conversation has been compacted.

    Args:
        event: The entry that holds the summary, and whether a plugin supplied it.
        ctx: The session after the compaction.

    When: after the compaction is in the session.
    Answers: notify; the return value is ignored.
    On error: reported.
    Since: 1.0
    """


@hookspec
@answers(Rule.NOTIFY)
async def session_compact_failed(event: SessionCompactFailedEvent, ctx: PiContext) -> None:
    """Called after a compaction failed or was cancelled.

    Args:
        event: The reason of the compaction, and the error; ``aborted`` when it was stopped.
        ctx: The session, unchanged.

    When: after the attempt, even if a plugin cancelled it.
    Answers: notify; the return value is ignored.
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
    """Prevent navigation in the tree, supply the summary of the abandoned branch, or change how it is created.

    Args:
        event: The target entry, the entries that would be abandoned, and the abort signal.
        ctx: The session before the change.

    When: before the conversation continues from another entry of the tree.
    Answers: veto for ``cancel``, the first wins. ``summary`` and ``details``: first. The rest is piped.
    On error: reported; counts as no opinion.
    Since: 1.0
    """


@hookspec
@answers(Rule.NOTIFY)
async def session_tree(event: SessionTreeEvent, ctx: PiContext) -> None:
    """Called when the conversation continues from another entry of the tree.

    Args:
        event: The new and the previous leaf, and the summary that was added.
        ctx: The session at its new leaf.

    When: after the change.
    Answers: notify; the return value is ignored.
    On error: reported.
    Since: 1.0
    """


@hookspec
@answers(entries=Rule.PIPE, on_failure=OnFailure.REFUSE)
def session_before_append(event: SessionBeforeAppendEvent, ctx: PiContext) -> SessionBeforeAppendResult | None:
    """Change how entries are stored, for example to remove secrets. The conversation continues with the originals.

    It is a plain function, because entries are stored where nothing can be awaited; an ``async def`` is rejected when
    the plugin is loaded. Entries that it appends itself are stored with the next ones.

    Args:
        event: The entries, oldest first.
        ctx: The session, with these entries in it.

    When: before entries go to the session's store: all at once with the first prompt, then one by one. Not for a
        session in memory.
    Answers: pipe for ``entries``; each keeps its id, its parent and its type. ``None`` stores them unchanged.
    On error: reported, with a notice; nothing is stored. The entries stay in memory and are tried again with the next.
    Since: 1.1
    """


@hookspec
@answers(Rule.NOTIFY)
async def child_session_start(event: ChildSessionStartEvent, ctx: PiContext) -> None:
    """Called when a session that a plugin created with ``ctx.create_session`` has started.

    Args:
        event: The child session: id, file, label, the call that it works for.
        ctx: The session that the child session works for.

    When: when the child session has started, before its first prompt.
    Answers: notify; the return value is ignored.
    On error: reported.
    Since: 1.1
    """


@hookspec
@answers(Rule.NOTIFY)
async def child_session_update(event: ChildSessionUpdateEvent, ctx: PiContext) -> None:
    """Called when a child session has received another answer.

    Args:
        event: The child session, with its usage so far.
        ctx: The session that the child session works for.

    When: after each answer of the child session, including those with tool calls.
    Answers: notify; the return value is ignored.
    On error: reported.
    Since: 1.1
    """


@hookspec
@answers(Rule.NOTIFY)
async def child_session_end(event: ChildSessionEndEvent, ctx: PiContext) -> None:
    """Called when a child session has ended.

    Args:
        event: The child session, with its status and usage.
        ctx: The session that the child session works for.

    When: when the child session is closed, even after an error or an abort, or when its parent ends.
    Answers: notify; the return value is ignored.
    On error: reported.
    Since: 1.1
    """


@hookspec
@answers(skill_paths=Rule.COLLECT, prompt_paths=Rule.COLLECT, theme_paths=Rule.COLLECT)
async def resources_discover(event: ResourcesDiscoverEvent, ctx: PiContext) -> ResourcesDiscoverResult | None:
    """Add paths of skills, prompt templates and themes.

    Args:
        event: The working directory, and whether this is the start or a reload.
        ctx: The session.

    When: after ``session_start`` and at every reload.
    Answers: collect; all paths, in order.
    On error: reported; the plugin adds no paths.
    Since: 1.0
    """


@hookspec
@answers(Rule.NOTIFY)
async def mcp_servers_change(event: McpServersChangeEvent, ctx: PiContext) -> None:
    """Called when plugins have registered or removed MCP servers, so that a client can connect and disconnect.

    ``pi.register_mcp_server(name, config)`` registers one, ``pi.get_mcp_servers()`` returns those that are registered.
    pi itself does not connect to any.

    Args:
        event: All servers that are registered now.
        ctx: The session.

    When: after the change, once for changes that are made together. Servers that are registered in ``activate`` are
        available in ``session_start``.
    Answers: notify; the return value is ignored.
    On error: reported.
    Since: 1.1
    """
