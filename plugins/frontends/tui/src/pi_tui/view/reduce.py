"""The reducer: applies an event of a session, or of the front end itself, to the state.

No reducer queries the session: the state is the same in its process, in a client over RPC, and in a test that replays
events. The event contains everything that a reducer needs, except for the time, which the caller passes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_tui.view import of_messages, of_plugins, of_session, of_tools
from pi_tui.view.changes import NOTHING, Changes

if TYPE_CHECKING:
    from collections.abc import Callable

    from pi_tui.view.state import State

__all__ = ["reduce"]

_REDUCERS: dict[str, Callable[[State, Any], Changes]] = {
    "message_update": of_messages.message_update,
    "message_start": of_messages.message_start,
    "message_end": of_messages.message_end,
    "tool_execution_start": of_tools.execution_start,
    "tool_execution_update": of_tools.execution_update,
    "tool_execution_end": of_tools.execution_end,
    "agent_start": of_session.agent_start,
    "agent_settled": of_session.agent_settled,
    "queue_update": of_session.queue_update,
    "auto_retry_start": of_session.retry_start,
    "auto_retry_end": of_session.retry_end,
    "compaction_start": of_session.compaction_start,
    "compaction_end": of_session.compaction_end,
    "summarization_retry_scheduled": of_session.summary_retry,
    "summarization_retry_attempt_start": of_session.summary_retry,
    "summarization_retry_finished": of_session.summary_retry_finished,
    "session_info_changed": of_session.info_changed,
    "thinking_level_changed": of_session.level_changed,
    "model_dispatched": of_session.model_dispatched,
    "entry_appended": of_session.entry_appended,
    "bash_execution_update": of_session.bash_update,
    "session_start": of_session.replaced,
    "session_tree": of_session.replaced,
    "extension_error": of_plugins.extension_error,
    "remote_answer_received": of_messages.answer_received,
    "local_bash_started": of_session.bash_started,
    "local_bash_ended": of_session.bash_ended,
    "local_command_running": of_session.command_running,
    "local_facts": of_session.facts,
    "local_notice": of_plugins.notice,
    "local_status": of_plugins.status,
    "local_widget": of_plugins.widget,
    "local_activity": of_plugins.activity,
    "local_title": of_plugins.title,
    "local_work_message": of_plugins.work_message,
    "local_dialog_opened": of_plugins.dialog_opened,
    "local_dialog_closed": of_plugins.dialog_closed,
}


def reduce(state: State, event: Any, now: float = 0.0) -> Changes:
    """Apply one event to the state, and return what must be redrawn.

    Args:
        state: The state to change.
        event: An event of ``pi_hookspecs`` or of ``local_events``; events of other types change nothing.
        now: Seconds of the caller's clock, for elapsed times.
    """
    state.now = now
    reducer = _REDUCERS.get(event.type)
    return NOTHING if reducer is None else reducer(state, event)
