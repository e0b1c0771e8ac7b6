"""The contract between pi and its plugins: values, protocols and hook specifications.

Everything public is importable from here and loaded on first use, one theme at a time: a run pays
only for the classes that it touches (defining one costs about half a millisecond).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_hookspecs.lazy import lazy_exports

if TYPE_CHECKING:  # for type checkers; a test checks that ``_HOMES`` agrees with these imports
    from pi_hookspecs._markers import *
    from pi_hookspecs.abort import *
    from pi_hookspecs.actions import *
    from pi_hookspecs.activities import *
    from pi_hookspecs.api import *
    from pi_hookspecs.approvals import *
    from pi_hookspecs.completions import *
    from pi_hookspecs.content import *
    from pi_hookspecs.context import *
    from pi_hookspecs.counters import *
    from pi_hookspecs.entries import *
    from pi_hookspecs.errors import *
    from pi_hookspecs.events.agent import *
    from pi_hookspecs.events.boundaries import *
    from pi_hookspecs.events.cache_warming import *
    from pi_hookspecs.events.child_sessions import *
    from pi_hookspecs.events.choices import *
    from pi_hookspecs.events.commands import *
    from pi_hookspecs.events.expansion import *
    from pi_hookspecs.events.interface import *
    from pi_hookspecs.events.mcp import *
    from pi_hookspecs.events.notices import *
    from pi_hookspecs.events.project import *
    from pi_hookspecs.events.prompt import *
    from pi_hookspecs.events.request import *
    from pi_hookspecs.events.run_start import *
    from pi_hookspecs.events.session import *
    from pi_hookspecs.events.session_changes import *
    from pi_hookspecs.events.storing import *
    from pi_hookspecs.events.tools import *
    from pi_hookspecs.exports import *
    from pi_hookspecs.forms import *
    from pi_hookspecs.front_ends import *
    from pi_hookspecs.full_ui import *
    from pi_hookspecs.interface_registrations import *
    from pi_hookspecs.keys import *
    from pi_hookspecs.lines import *
    from pi_hookspecs.logins import *
    from pi_hookspecs.mcp import *
    from pi_hookspecs.messages import *
    from pi_hookspecs.model_answers import *
    from pi_hookspecs.model_files import *
    from pi_hookspecs.models import *
    from pi_hookspecs.operations import *
    from pi_hookspecs.processes import *
    from pi_hookspecs.programs import *
    from pi_hookspecs.provider import *
    from pi_hookspecs.rare_entries import *
    from pi_hookspecs.rare_messages import *
    from pi_hookspecs.registrations import *
    from pi_hookspecs.renderers import *
    from pi_hookspecs.resource_files import *
    from pi_hookspecs.resources import *
    from pi_hookspecs.screen import *
    from pi_hookspecs.secrets import *
    from pi_hookspecs.service_values import *
    from pi_hookspecs.services import *
    from pi_hookspecs.session_context import *
    from pi_hookspecs.session_store import *
    from pi_hookspecs.shapes import *
    from pi_hookspecs.stored_sessions import *
    from pi_hookspecs.stream import *
    from pi_hookspecs.theme_roles import *
    from pi_hookspecs.tool_context import *
    from pi_hookspecs.tools import *
    from pi_hookspecs.traces import *
    from pi_hookspecs.ui import *
    from pi_hookspecs.unanswered import *
    from pi_hookspecs.views import *
    from pi_hookspecs.virtual_models import *

_HOMES: dict[str, str] = {
    "_markers": "Answers Deadline Deprecated OnFailure Order Rule answers answers_of deprecated hookimpl hookspec",
    "abort": "ABORT_GRACE AbortController AbortSignal",
    "actions": "CommandActions EventBus ExecResult ModelCatalog SessionChange ToolInfo",
    "activities": "Activity ActivityItem",
    "api": "PiAPI",
    "approvals": "Approval ApprovalChoice Permission PermissionPlace PermissionStore approval_choices",
    "completions": "Completer Completion",
    "content": "Content ImageContent TextContent ThinkingContent ToolCall UnknownContent",
    "context": "PiContext RunMode SideRequest StartContext",
    "entries": "MessageEntry ModelChangeEntry SessionHeader ThinkingLevelChangeEntry",
    "errors": (
        "Aborted AgentBusy InvalidArguments InvalidOutput MissingKey NoModel PiError PluginError RequestFailed "
        "StaleObject UnknownName UsageLimitExceeded UserError WrongUse"
    ),
    "events.agent": (
        "AgentEndEvent AgentEvent AgentSettledEvent AgentStartEvent MessageEndEvent MessageStartEvent "
        "MessageUpdateEvent TurnEndEvent TurnStartEvent"
    ),
    "events.child_sessions": "ChildSessionEndEvent ChildSessionStartEvent ChildSessionUpdateEvent",
    "events.choices": "InputEvent InputResult ModelSelectEvent ThinkingLevelSelectEvent",
    "events.boundaries": ("AgentBeforeSettleEvent AgentBeforeSettleResult MessageEndResult NewEntry TurnEndResult"),
    "events.cache_warming": "CacheWarmingDecisionEvent CacheWarmingDecisionResult",
    "events.commands": "CommandInfo CommandsDiscoverEvent CommandsDiscoverResult SourceInfo",
    "events.expansion": "ExpandPromptEvent ExpandPromptResult",
    "events.interface": ("CompleteMentionEvent CompleteMentionResult UIPromptEndEvent UIPromptKind UIPromptStartEvent"),
    "events.mcp": "McpServersChangeEvent",
    "events.notices": (
        "AutoRetryEndEvent AutoRetryStartEvent BashExecutionUpdateEvent CompactionEndEvent CompactionStartEvent "
        "EntryAppendedEvent ExtensionErrorEvent ModelDispatchedEvent QueueUpdateEvent SessionInfoChangedEvent "
        "SummarizationRetryAttemptStartEvent SummarizationRetryFinishedEvent SummarizationRetryScheduledEvent "
        "ThinkingLevelChangedEvent"
    ),
    "events.prompt": "PROMPT_SECTIONS PromptPart PromptSection SystemPromptEvent SystemPromptResult",
    "events.request": (
        "AfterProviderResponseEvent BeforeModelRequestEvent BeforeModelRequestResult BeforeProviderRequestEvent "
        "ContextEvent ContextResult ModelUsageEvent ProviderStreamEvent"
    ),
    "events.run_start": "BeforeAgentStartEvent BeforeAgentStartResult",
    "events.session": "SessionShutdownEvent SessionStartEvent",
    "events.session_changes": (
        "SessionBeforeCompactEvent SessionBeforeCompactResult SessionBeforeForkEvent "
        "SessionBeforeForkResult SessionBeforeSwitchEvent SessionBeforeSwitchResult "
        "SessionBeforeTreeEvent SessionBeforeTreeResult SessionCompactEvent SessionCompactFailedEvent "
        "SessionForkEvent SessionSwitchEvent SessionTreeEvent"
    ),
    "events.project": "ProjectTrustEvent ProjectTrustResult ResourcesDiscoverEvent ResourcesDiscoverResult",
    "events.storing": "SessionBeforeAppendEvent SessionBeforeAppendResult",
    "events.tools": (
        "ChildEnvironmentEvent ToolCallEvent ToolCallResult ToolExecutionEndEvent ToolExecutionStartEvent "
        "ToolExecutionUpdateEvent ToolResultEvent ToolResultResult UserBashEvent UserBashResult"
    ),
    "forms": "FieldType FormField FormOption",
    "front_ends": "Mode StartFacts Subcommand",
    "full_ui": "AutocompleteProvider FullUserInterface TerminalInputHandler",
    "keys": "canonical_key",
    "lines": "Line Run",
    "mcp": "McpServer",
    "messages": (
        "AssistantMessage Cost Message StopReason SystemMessage ToolResultMessage Usage UserMessage now_ms text_of"
    ),
    "model_files": "load_models",
    "model_answers": "Classification GeneratedImages",
    "models": "Model ModelCost ModelType PriceTier ProviderInfo THINKING_LEVELS ThinkingLevel",
    "operations": (
        "CommandOperations EditOperations FileOperations FindOperations GrepOperations LsOperations ReadOperations "
        "SomeFileOperations WriteOperations"
    ),
    "processes": "ManagedProcess ProcessOutput ProcessStatus Processes",
    "programs": "PluginManifest SpawnRequest",
    "provider": "Context ModelDiscovery Provider StreamFunction StreamOptions",
    "rare_entries": (
        "BranchSummaryEntry CompactionEntry ContextEditEntry CustomEntry CustomMessageEntry EditedContent "
        "LabelEntry SessionEntry SessionInfoEntry UnknownEntry UsageEntry"
    ),
    "rare_messages": (
        "AgentMessage BashExecutionMessage BranchSummaryMessage CompactionSummaryMessage CustomMessage UnknownMessage"
    ),
    "registrations": "Command Flag PluginSetting ProjectFile ProjectMay Touch",
    "counters": "HookCounters",
    "exports": "Exporter ExportRequest",
    "interface_registrations": "Renderer Shortcut Theme",
    "logins": "CredentialSource Login",
    "renderers": "MarkdownTransform RenderToolCall RenderToolResult ToolRenderer",
    "resource_files": "Resource ResourceContent ResourceFile ResourceProblem ResourceScope Shadowed",
    "resources": "ResourceKind ResourceLoader ResourceRequest ResourceSet",
    "secrets": "KnownSecret SecretValues TextStream is_secret_name is_secret_variable",
    "screen": (
        "Component ComponentFactory MouseEvent Overlay OverlayAnchor OverlayHandle ScreenHandle ScreenKind ScreenSize"
    ),
    "service_values": (
        "BranchSummary BranchSummaryRequest CacheWarmingPlan CacheWarmingState CachedPrompt CommandRequest "
        "Compaction CompactionPreparation CompactionReason CompactionRequest LeftOut RetryDecision"
    ),
    "services": (
        "AnswerFilter BranchSummarizer CacheWarmer CommandRunner Compactor ExtensionLanguage Launcher PluginRunner "
        "ProcessKeeper Retrier Service SessionSearch TextRedactor ToolOperations TraceContext"
    ),
    "shapes": "Shape UnsupportedAnnotation shape_of",
    "session_context": "ModelChoice SessionContext",
    "session_store": (
        "EntryIndex IndexedEntries Progress SessionInfo SessionPlace SessionStore StoredSession SyncPolicy"
    ),
    "stored_sessions": "ChildSession DeletingStore SearchableStore SessionMatch Sessions StoredActions",
    "stream": (
        "AssistantMessageEvent Done Error MessageBuilder PartialSource Start TextDelta TextEnd TextStart "
        "ThinkingDelta ThinkingEnd ThinkingStart ToolCallDelta ToolCallEnd ToolCallStart"
    ),
    "theme_roles": "OPTIONAL_THEME_ROLES REQUIRED_THEME_ROLES",
    "tool_context": "ToolContext",
    "tools": (
        "ConstrainedSampling ExecutionMode Tool ToolAnnotations ToolExecute ToolExposure ToolResult ToolUpdate tool"
    ),
    "traces": "HookOutcome HookTrace",
    "views": "ChangeableSettings ContextUsage SessionTreeNode SessionView SettingsView TreeNavigation",
    "virtual_models": "Route RouteReason RouteRequest VirtualModel",
    "ui": "NoticeLevel UserInterface WidgetPlacement",
    "unanswered": "mark_unanswered unanswered_reason",
}
"""Module of this package to the public names that live there."""

__all__ = sorted(" ".join(_HOMES.values()).split())  # noqa: PLE0605 - computed, so that a name is written once


__getattr__ = lazy_exports(__name__, _HOMES)


def __dir__() -> list[str]:
    return [*__all__]
