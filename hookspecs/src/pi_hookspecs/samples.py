"""A sample event for each hook, from a short session: for documentation and for trying hooks out.

``docs/events`` holds them as JSON; ``pi hooks fire`` uses them when no file is given.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_hookspecs import (
    AbortSignal,
    AfterProviderResponseEvent,
    AgentBeforeSettleEvent,
    AgentEndEvent,
    AgentSettledEvent,
    AgentStartEvent,
    AssistantMessage,
    BeforeAgentStartEvent,
    BeforeModelRequestEvent,
    BeforeProviderRequestEvent,
    CachedPrompt,
    CacheWarmingDecisionEvent,
    CacheWarmingPlan,
    ChildEnvironmentEvent,
    ChildSession,
    ChildSessionEndEvent,
    ChildSessionStartEvent,
    ChildSessionUpdateEvent,
    CommandsDiscoverEvent,
    CompactionEntry,
    CompactionPreparation,
    CompleteMentionEvent,
    ContextEvent,
    ExpandPromptEvent,
    InputEvent,
    McpServer,
    McpServersChangeEvent,
    MessageBuilder,
    MessageEndEvent,
    MessageEntry,
    MessageStartEvent,
    MessageUpdateEvent,
    Model,
    ModelSelectEvent,
    ModelUsageEvent,
    ProjectTrustEvent,
    ProviderStreamEvent,
    ResourcesDiscoverEvent,
    SessionBeforeAppendEvent,
    SessionBeforeCompactEvent,
    SessionBeforeForkEvent,
    SessionBeforeSwitchEvent,
    SessionBeforeTreeEvent,
    SessionCompactEvent,
    SessionCompactFailedEvent,
    SessionForkEvent,
    SessionShutdownEvent,
    SessionStartEvent,
    SessionSwitchEvent,
    SessionTreeEvent,
    SystemPromptEvent,
    TextContent,
    ThinkingLevelSelectEvent,
    ToolAnnotations,
    ToolCall,
    ToolCallEvent,
    ToolExecutionEndEvent,
    ToolExecutionStartEvent,
    ToolExecutionUpdateEvent,
    ToolInfo,
    ToolResult,
    ToolResultEvent,
    ToolResultMessage,
    TurnEndEvent,
    TurnStartEvent,
    UIPromptEndEvent,
    UIPromptStartEvent,
    UnknownName,
    Usage,
    UserBashEvent,
    UserMessage,
)

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["sample_event", "sampled_hooks"]

_TIME = 1_767_225_600_000
_STAMP = "2026-01-01T00:00:00.000Z"
_FOLDER = "/home/ada/tides"
_FILE = "/home/ada/.pi/agent/sessions/--home-ada-tides--/2026-01-01T00-00-00-000Z_5f0c.jsonl"
_MODEL = Model(id="rules", name="Rules", api="offline-rules", provider="offline")
_OTHER_MODEL = Model(id="large", name="Large", api="acme-messages", provider="acme", context_window=200_000)
_REQUEST = "5f0c3a91d27be846"
_COMMAND = {"command": "rm -rf build"}
_PROMPT = "Clean up the build folder"
_SYSTEM_PROMPT = "You are a coding agent. Work with the tools that you have."


def sampled_hooks() -> tuple[str, ...]:
    """Return the names of the hooks that have a sample: all that get an event."""
    return tuple(_SAMPLES)


def sample_event(hook: str) -> Any:
    """Return an event of this hook; a new object each time, because a handler may change it.

    Raises:
        UnknownName: No hook of this name gets an event.
    """
    if hook not in _SAMPLES:
        raise UnknownName("event", hook, _SAMPLES)
    return _SAMPLES[hook]()


# Parts of the events


def _user_message() -> UserMessage:
    return UserMessage(content=_PROMPT, timestamp=_TIME)


def _assistant_message() -> AssistantMessage:
    call = ToolCall(id="call-1", name="bash", arguments=dict(_COMMAND))
    return AssistantMessage(
        content=(TextContent("I will delete it."), call),
        api=_MODEL.api,
        provider=_MODEL.provider,
        model=_MODEL.id,
        stop_reason="toolUse",
        timestamp=_TIME + 1000,
    )


def _tool_result_message() -> ToolResultMessage:
    return ToolResultMessage(
        tool_call_id="call-1", tool_name="bash", content=(TextContent("(no output)"),), timestamp=_TIME + 2000
    )


def _entries() -> tuple[MessageEntry, ...]:
    return (
        MessageEntry(id="0000000a", parent_id=None, timestamp=_STAMP, message=_user_message()),
        MessageEntry(id="0000000b", parent_id="0000000a", timestamp=_STAMP, message=_assistant_message()),
        MessageEntry(id="0000000c", parent_id="0000000b", timestamp=_STAMP, message=_tool_result_message()),
    )


# Session


def _compaction() -> SessionCompactEvent:
    entry = CompactionEntry(
        id="0000000d",
        parent_id="0000000c",
        timestamp=_STAMP,
        summary="The user wanted the build folder deleted.",
        first_kept_entry_id="0000000c",
        tokens_before=120_000,
    )
    return SessionCompactEvent(compaction_entry=entry)


def _before_compact() -> SessionBeforeCompactEvent:
    entries = _entries()
    preparation = CompactionPreparation(
        first_kept_entry_id="0000000c", entries_to_summarize=entries[:2], tokens_before=120_000
    )
    return SessionBeforeCompactEvent(preparation=preparation, branch_entries=entries, signal=AbortSignal())


def _before_tree() -> SessionBeforeTreeEvent:
    return SessionBeforeTreeEvent(
        target_id="0000000a",
        old_leaf_id="0000000c",
        common_ancestor_id="0000000a",
        entries_to_summarize=_entries()[1:],
        user_wants_summary=True,
        signal=AbortSignal(),
    )


def _child(**now: Any) -> ChildSession:
    return ChildSession(id="5f0d", file=_FILE.replace("5f0c", "5f0d"), label="scout", parent_call="call-1", **now)


# Agent


def _message_update() -> MessageUpdateEvent:
    builder = MessageBuilder(_MODEL)
    builder.start()
    start = builder.text_start()
    return MessageUpdateEvent(assistant_message_event=builder.text(start.content_index, "I will "))


_SAMPLES: dict[str, Callable[[], Any]] = {
    "project_trust": lambda: ProjectTrustEvent(cwd=_FOLDER, resources=(f"{_FOLDER}/.pi/settings.json",)),
    "session_start": SessionStartEvent,
    "session_shutdown": SessionShutdownEvent,
    "session_switch": lambda: SessionSwitchEvent(reason="resume", previous_session_file=_FILE),
    "session_fork": lambda: SessionForkEvent(previous_session_file=_FILE),
    "session_before_append": lambda: SessionBeforeAppendEvent(entries=_entries()),
    "child_session_start": lambda: ChildSessionStartEvent(child=_child()),
    "child_session_update": lambda: ChildSessionUpdateEvent(child=_child(usage=Usage(input=900, output=40))),
    "child_session_end": lambda: ChildSessionEndEvent(child=_child(status="done", usage=Usage(input=2100, output=130))),
    "session_before_switch": lambda: SessionBeforeSwitchEvent(reason="resume", target_session_file=_FILE),
    "session_before_fork": lambda: SessionBeforeForkEvent(entry_id="0000000a"),
    "session_before_compact": _before_compact,
    "session_compact": _compaction,
    "session_compact_failed": lambda: SessionCompactFailedEvent(reason="threshold", error_message="529 overloaded"),
    "session_before_tree": _before_tree,
    "session_tree": lambda: SessionTreeEvent(new_leaf_id="0000000a", old_leaf_id="0000000c"),
    "resources_discover": lambda: ResourcesDiscoverEvent(cwd=_FOLDER),
    "input": lambda: InputEvent(text=_PROMPT),
    "expand_prompt": lambda: ExpandPromptEvent(text="/review tides.py"),
    "commands_discover": CommandsDiscoverEvent,
    "system_prompt": lambda: SystemPromptEvent(cwd=_FOLDER, tools=("read", "bash", "edit", "write")),
    "before_agent_start": lambda: BeforeAgentStartEvent(prompt=_PROMPT, system_prompt=_SYSTEM_PROMPT),
    "agent_start": AgentStartEvent,
    "agent_end": lambda: AgentEndEvent(messages=(_user_message(), _assistant_message(), _tool_result_message())),
    "turn_start": lambda: TurnStartEvent(timestamp=_TIME),
    "turn_end": lambda: TurnEndEvent(message=_assistant_message(), tool_results=(_tool_result_message(),)),
    "message_start": lambda: MessageStartEvent(message=_user_message()),
    "message_update": _message_update,
    "message_end": lambda: MessageEndEvent(message=_assistant_message()),
    "agent_before_settle": lambda: AgentBeforeSettleEvent(
        outcome="completed",
        messages=(_user_message(), _assistant_message(), _tool_result_message()),
        entries=_entries(),
    ),
    "agent_settled": AgentSettledEvent,
    "mcp_servers_change": lambda: McpServersChangeEvent(
        servers=(McpServer(name="docs", config={"url": "https://docs.example/mcp"}, plugin="acme"),)
    ),
    "model_select": lambda: ModelSelectEvent(model=_OTHER_MODEL, previous_model=_MODEL),
    "thinking_level_select": lambda: ThinkingLevelSelectEvent(level="high", previous_level="medium"),
    "context": lambda: ContextEvent(messages=(_user_message(), _assistant_message(), _tool_result_message())),
    "before_model_request": lambda: BeforeModelRequestEvent(
        request_id=_REQUEST, model=_OTHER_MODEL, estimated_tokens=12_500
    ),
    "before_provider_request": lambda: BeforeProviderRequestEvent(
        payload={"model": "large", "max_tokens": 8192, "messages": [{"role": "user", "content": _PROMPT}]},
        model=_OTHER_MODEL,
        request_id=_REQUEST,
        base_url="https://api.acme.example",
    ),
    "after_provider_response": lambda: AfterProviderResponseEvent(
        status=200,
        headers={"content-type": "text/event-stream", "x-ratelimit-remaining-requests": "49"},
        request_id=_REQUEST,
        base_url="https://api.acme.example",
    ),
    "provider_stream_event": lambda: ProviderStreamEvent(
        provider=_OTHER_MODEL.provider,
        api=_OTHER_MODEL.api,
        model=_OTHER_MODEL.id,
        data={"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "The tide"}},
        request_id=_REQUEST,
    ),
    "model_usage": lambda: ModelUsageEvent(
        request_id=_REQUEST,
        model=_OTHER_MODEL,
        usage=Usage(input=12_480, output=310, total_tokens=12_790),
        duration_ms=4_200,
        payload={"model": "large", "max_tokens": 8192, "messages": [{"role": "user", "content": _PROMPT}]},
    ),
    "cache_warming_decision": lambda: CacheWarmingDecisionEvent(
        prompt=CachedPrompt(
            model=_OTHER_MODEL,
            thinking_level="medium",
            has_thinking_budget=False,
            usage=Usage(cache_read=180_000, output=310, total_tokens=180_310),
            retention="short",
            lifetime=300,
            phase="run",
            phase_seconds=270.0,
        ),
        plan=CacheWarmingPlan(
            warm=True, after_seconds=270.0, probability=1.0, miss_cost=1.03, refresh_cost=0.09, savings=0.94
        ),
    ),
    "ui_prompt_start": lambda: UIPromptStartEvent(kind="confirm", title="Push to main?"),
    "ui_prompt_end": lambda: UIPromptEndEvent(kind="confirm", title="Push to main?"),
    "complete_mention": lambda: CompleteMentionEvent(text="docs:ti"),
    "tool_call": lambda: ToolCallEvent(
        tool_call_id="call-1",
        tool_name="bash",
        input=dict(_COMMAND),
        tool=ToolInfo(
            name="bash",
            description="Run a command.",
            parameters={"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]},
            plugin="tools",
            active=True,
            annotations=ToolAnnotations(read_only=False, destructive=True),
        ),
    ),
    "tool_execution_start": lambda: ToolExecutionStartEvent(
        tool_call_id="call-1", tool_name="bash", args=dict(_COMMAND)
    ),
    "tool_execution_update": lambda: ToolExecutionUpdateEvent(
        tool_call_id="call-1", tool_name="bash", args=dict(_COMMAND), partial_result=ToolResult.text("removing")
    ),
    "tool_result": lambda: ToolResultEvent(
        tool_call_id="call-1", tool_name="bash", input=dict(_COMMAND), content=(TextContent("(no output)"),)
    ),
    "tool_execution_end": lambda: ToolExecutionEndEvent(
        tool_call_id="call-1", tool_name="bash", result=ToolResult.text("(no output)"), is_error=False, duration_ms=12
    ),
    "user_bash": lambda: UserBashEvent(command="git status", exclude_from_context=False, cwd=_FOLDER),
    "child_environment": lambda: ChildEnvironmentEvent(
        env={"HOME": "/home/user", "PATH": "/usr/bin:/bin", "GITHUB_TOKEN": "ghp_example"},
        purpose="bash",
        command="git push",
    ),
}
