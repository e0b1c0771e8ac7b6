"""The engine of pi: agent loop, agent, hook dispatch, plugin host and session. Each part is imported on first use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_hookspecs.lazy import lazy_exports

if TYPE_CHECKING:
    from pi_core.agent.agent import Agent, AgentState
    from pi_core.agent.convert import convert_to_llm
    from pi_core.agent.loop import agent_loop, agent_loop_continue
    from pi_core.agent.patterns import pattern_matches
    from pi_core.agent.safe_text import exception_message, without_secrets
    from pi_core.agent.schema import CompiledSchema
    from pi_core.agent.stream import EventStream
    from pi_core.agent.subscribers import Listener
    from pi_core.agent.types import AgentContext, LoopCallbacks, LoopConfig
    from pi_core.agent.validation import ArgumentValidator
    from pi_core.base.error_text import ErrorText, error_sentence, error_text
    from pi_core.base.frontmatter import Frontmatter, parse_frontmatter
    from pi_core.base.images.fitting import FittedImage, decode_base64, fit_image
    from pi_core.base.images.header import image_type
    from pi_core.base.images.limits import ImageLimits, limits_of
    from pi_core.base.incomplete import incomplete_answer
    from pi_core.base.json_file import change_text
    from pi_core.base.lenient_json import read_json
    from pi_core.base.mapped_texts import map_texts
    from pi_core.base.paths import agent_dir, below_home, expand_home, home_dir, make_cache
    from pi_core.base.process.signals import OrderlyEnd, Stopped, handling_signals, is_running, run_until_signal
    from pi_core.base.process.stray_output import terminal_descriptor
    from pi_core.base.process.streams import own_streams, print_warning
    from pi_core.base.replacing import check_output_file, replace_file, save_file, write_output_file
    from pi_core.base.terminal_text import clean_text, hidden_characters, one_line
    from pi_core.base.urls import url_problem
    from pi_core.base.worktrees import worktree_folder
    from pi_core.conversation import AgentSession
    from pi_core.conversation.answer import Answer
    from pi_core.conversation.left_out import picture_key
    from pi_core.conversation.model_selection import ModelCycle, ScopedModel
    from pi_core.conversation.only_local import not_over_connection, require_local
    from pi_core.conversation.protocol import Session
    from pi_core.conversation.structured_output import OutputType, output_converter
    from pi_core.conversation.switching import ForkOutcome
    from pi_core.conversation.toolbox import with_mcp_tools
    from pi_core.conversation.usage_limits import UsageLimits
    from pi_core.create import create_agent_session
    from pi_core.hooks.dispatcher import HookDispatcher, Timeouts
    from pi_core.hooks.reports import HookFailure, HookTrace
    from pi_core.host import PluginHost, PluginRecord, Problem
    from pi_core.host.advice import install_command
    from pi_core.host.discovery import find_plugins
    from pi_core.host.extensions import LocalExtensions
    from pi_core.host.installers import NPM_SHORT_WAITS, is_offline, npm_command, run_installer
    from pi_core.host.plugin_manager import PluginManager
    from pi_core.host.without import host_without, require_plugins
    from pi_core.models.auth_storage import AuthStorage
    from pi_core.models.other_requests import OtherRequests
    from pi_core.models.overflow import failure_kind, is_context_overflow, is_recoverable_length, is_throttling
    from pi_core.models.patterns import ModelMatch
    from pi_core.models.registry import ModelRegistry
    from pi_core.models.thinking import thinking_levels
    from pi_core.models.token_estimate import context_tokens, estimate_tokens
    from pi_core.one_shot import arun, run
    from pi_core.plugin_api.activation import register_providers
    from pi_core.plugin_api.activities import activity_from_wire, activity_to_wire
    from pi_core.plugin_api.approvals import approval_from_wire, approval_to_wire, label_of
    from pi_core.plugin_api.clean_lines import CleanLines
    from pi_core.plugin_api.dialogs import DialogRequest, DialogUI
    from pi_core.plugin_api.fan_out import FanOutUI
    from pi_core.plugin_api.forms import ask_fields, field_problem
    from pi_core.plugin_api.local_web import LocalGate, read_token
    from pi_core.plugin_api.project_trust import ask_for_trust, confirm_trust
    from pi_core.plugin_api.secrets import PluginSecrets
    from pi_core.plugin_api.stored_sessions import StoredSessions
    from pi_core.resources import DefaultResourceLoader
    from pi_core.resources.escapes import escapes_root, leads_out
    from pi_core.resources.imports import imported_files
    from pi_core.session import ReadOnlySession, SessionManager
    from pi_core.session.context import edited_message, entry_message
    from pi_core.session.lazy_messages import paused_gc
    from pi_core.session.lookup import find_by_prefix, find_session, list_sessions, new_header
    from pi_core.session.memory import MemoryStore
    from pi_core.session.nesting import nested_sessions
    from pi_core.session.stats import SessionStats, TokenTotals
    from pi_core.session.stores import DEFAULT_STORE, resolve_store
    from pi_core.session_runtime import (
        AgentSessionRuntime,
        AgentSessionServices,
        create_agent_session_from_services,
        create_agent_session_runtime,
        create_agent_session_services,
    )
    from pi_core.settings import Settings, SettingsManager
    from pi_core.settings.trust import ProjectTrust, TrustStore
    from pi_core.system_prompt import PromptPart, SystemPrompt
    from pi_core.system_prompt.elements import escaped, prompt_element
    from pi_core.wire import (
        dumps,
        entry_from_wire,
        from_wire,
        header_from_wire,
        is_on_wire,
        message_from_wire,
        model_from_wire,
        to_wire,
        wire_name,
    )
    from pi_core.wire.events import event_from_wire

_HOMES = {
    "base.json_file": "change_text",
    "base.replacing": "check_output_file replace_file save_file write_output_file",
    "base.worktrees": "worktree_folder",
    "agent.agent": "Agent AgentState",
    "conversation": "AgentSession",
    "conversation.model_selection": "ModelCycle ScopedModel",
    "conversation.only_local": "require_local not_over_connection",
    "conversation.protocol": "Session",
    "conversation.structured_output": "OutputType output_converter",
    "conversation.usage_limits": "UsageLimits",
    "models.auth_storage": "AuthStorage",
    "conversation.answer": "Answer",
    "agent.convert": "convert_to_llm",
    "create": "create_agent_session",
    "base.error_text": "ErrorText error_sentence error_text",
    "agent.patterns": "pattern_matches",
    "agent.stream": "EventStream",
    "base.urls": "url_problem",
    "base.frontmatter": "Frontmatter parse_frontmatter",
    "base.images.fitting": "FittedImage decode_base64 fit_image",
    "base.images.header": "image_type",
    "base.incomplete": "incomplete_answer",
    "base.images.limits": "ImageLimits limits_of",
    "hooks.dispatcher": "HookDispatcher Timeouts",
    "hooks.reports": "HookFailure HookTrace",
    "host": "PluginHost PluginRecord Problem",
    "agent.types": "AgentContext LoopCallbacks LoopConfig",
    "agent.loop": "agent_loop agent_loop_continue",
    "models.registry": "ModelRegistry",
    "one_shot": "arun run",
    "conversation.left_out": "picture_key",
    "models.overflow": "failure_kind is_context_overflow is_recoverable_length is_throttling",
    "base.process.signals": "OrderlyEnd Stopped handling_signals is_running run_until_signal",
    "resources": "DefaultResourceLoader",
    "resources.escapes": "escapes_root leads_out",
    "resources.imports": "imported_files",
    "session": "ReadOnlySession SessionManager",
    "session.context": "edited_message entry_message",
    "session_runtime": (
        "AgentSessionRuntime AgentSessionServices create_agent_session_from_services"
        " create_agent_session_runtime create_agent_session_services"
    ),
    "settings": "Settings SettingsManager",
    "system_prompt": "PromptPart SystemPrompt",
    "system_prompt.elements": "escaped prompt_element",
    "base.terminal_text": "clean_text hidden_characters one_line",
    "models.token_estimate": "context_tokens estimate_tokens",
    "settings.trust": "ProjectTrust TrustStore",
    "plugin_api.dialogs": "DialogRequest DialogUI",
    "plugin_api.fan_out": "FanOutUI",
    "plugin_api.project_trust": "ask_for_trust confirm_trust",
    "base.lenient_json": "read_json",
    "agent.safe_text": "exception_message without_secrets",
    "host.installers": "NPM_SHORT_WAITS is_offline npm_command run_installer",
    "base.paths": "agent_dir below_home expand_home home_dir make_cache",
    "session.lookup": "find_by_prefix find_session list_sessions new_header",
    "plugin_api.stored_sessions": "StoredSessions",
    "session.stores": "DEFAULT_STORE resolve_store",
    "wire": (
        "dumps entry_from_wire from_wire header_from_wire is_on_wire message_from_wire model_from_wire"
        " to_wire wire_name"
    ),
    "host.advice": "install_command",
    "plugin_api.secrets": "PluginSecrets",
    "session.lazy_messages": "paused_gc",
    "base.mapped_texts": "map_texts",
    "host.without": "host_without require_plugins",
    "plugin_api.activation": "register_providers",
    "session.nesting": "nested_sessions",
    "base.process.stray_output": "terminal_descriptor",
    "base.process.streams": "own_streams print_warning",
    "plugin_api.clean_lines": "CleanLines",
    "plugin_api.activities": "activity_from_wire activity_to_wire",
    "plugin_api.approvals": "approval_from_wire approval_to_wire label_of",
    "plugin_api.local_web": "LocalGate read_token",
    "session.memory": "MemoryStore",
    "agent.schema": "CompiledSchema",
    "agent.validation": "ArgumentValidator",
    "host.plugin_manager": "PluginManager",
    "host.extensions": "LocalExtensions",
    "models.other_requests": "OtherRequests",
    "host.discovery": "find_plugins",
    "plugin_api.forms": "ask_fields field_problem",
    "models.thinking": "thinking_levels",
    "wire.events": "event_from_wire",
    "session.stats": "SessionStats TokenTotals",
    "conversation.switching": "ForkOutcome",
    "models.patterns": "ModelMatch",
    "agent.subscribers": "Listener",
    "conversation.toolbox": "with_mcp_tools",
}
__all__ = [  # literal, because type checkers read it
    "DEFAULT_STORE",
    "NPM_SHORT_WAITS",
    "Agent",
    "AgentContext",
    "AgentSession",
    "AgentSessionRuntime",
    "AgentSessionServices",
    "AgentState",
    "Answer",
    "ArgumentValidator",
    "AuthStorage",
    "CleanLines",
    "CompiledSchema",
    "DefaultResourceLoader",
    "DialogRequest",
    "DialogUI",
    "ErrorText",
    "EventStream",
    "FanOutUI",
    "FittedImage",
    "ForkOutcome",
    "Frontmatter",
    "HookDispatcher",
    "HookFailure",
    "HookTrace",
    "ImageLimits",
    "Listener",
    "LocalExtensions",
    "LocalGate",
    "LoopCallbacks",
    "LoopConfig",
    "MemoryStore",
    "ModelCycle",
    "ModelMatch",
    "ModelRegistry",
    "OrderlyEnd",
    "OtherRequests",
    "OutputType",
    "PluginHost",
    "PluginManager",
    "PluginRecord",
    "PluginSecrets",
    "Problem",
    "ProjectTrust",
    "PromptPart",
    "ReadOnlySession",
    "ScopedModel",
    "Session",
    "SessionManager",
    "SessionStats",
    "Settings",
    "SettingsManager",
    "Stopped",
    "StoredSessions",
    "SystemPrompt",
    "Timeouts",
    "TokenTotals",
    "TrustStore",
    "UsageLimits",
    "activity_from_wire",
    "activity_to_wire",
    "agent_dir",
    "agent_loop",
    "agent_loop_continue",
    "approval_from_wire",
    "approval_to_wire",
    "arun",
    "ask_fields",
    "ask_for_trust",
    "below_home",
    "change_text",
    "check_output_file",
    "clean_text",
    "confirm_trust",
    "context_tokens",
    "convert_to_llm",
    "create_agent_session",
    "create_agent_session_from_services",
    "create_agent_session_runtime",
    "create_agent_session_services",
    "decode_base64",
    "dumps",
    "edited_message",
    "entry_from_wire",
    "entry_message",
    "error_sentence",
    "error_text",
    "escaped",
    "escapes_root",
    "estimate_tokens",
    "event_from_wire",
    "exception_message",
    "expand_home",
    "failure_kind",
    "field_problem",
    "find_by_prefix",
    "find_plugins",
    "find_session",
    "fit_image",
    "from_wire",
    "handling_signals",
    "header_from_wire",
    "hidden_characters",
    "home_dir",
    "host_without",
    "image_type",
    "imported_files",
    "incomplete_answer",
    "install_command",
    "is_context_overflow",
    "is_offline",
    "is_on_wire",
    "is_recoverable_length",
    "is_running",
    "is_throttling",
    "label_of",
    "leads_out",
    "limits_of",
    "list_sessions",
    "make_cache",
    "map_texts",
    "message_from_wire",
    "model_from_wire",
    "nested_sessions",
    "new_header",
    "not_over_connection",
    "npm_command",
    "one_line",
    "output_converter",
    "own_streams",
    "parse_frontmatter",
    "pattern_matches",
    "paused_gc",
    "picture_key",
    "print_warning",
    "prompt_element",
    "read_json",
    "read_token",
    "register_providers",
    "replace_file",
    "require_local",
    "require_plugins",
    "resolve_store",
    "run",
    "run_installer",
    "run_until_signal",
    "save_file",
    "terminal_descriptor",
    "thinking_levels",
    "to_wire",
    "url_problem",
    "wire_name",
    "with_mcp_tools",
    "without_secrets",
    "worktree_folder",
    "write_output_file",
]


__getattr__ = lazy_exports(__name__, _HOMES)


def __dir__() -> list[str]:
    return [*__all__]
