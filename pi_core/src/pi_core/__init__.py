"""The engine of pi: loop, agent, hook dispatch, plugin host, session. Loaded on first use, part by part."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pi_core._json_file import change_text
    from pi_core.agent import Agent, AgentState
    from pi_core.agent_session import AgentSession
    from pi_core.agent_session.choices import ScopedModel
    from pi_core.agent_session_runtime import (
        AgentSessionRuntime,
        AgentSessionServices,
        create_agent_session_runtime,
    )
    from pi_core.convert import convert_to_llm
    from pi_core.create import create_agent_session, run
    from pi_core.event_stream import EventStream
    from pi_core.frontmatter import Frontmatter, parse_frontmatter
    from pi_core.hooks.dispatcher import HookDispatcher, HookFailure, HookTrace, Timeouts
    from pi_core.host import PluginHost, PluginRecord, Problem
    from pi_core.loop import AgentContext, LoopCallbacks, LoopConfig, agent_loop, agent_loop_continue
    from pi_core.models.auth_storage import AuthStorage
    from pi_core.models.registry import ModelRegistry
    from pi_core.overflow import is_context_overflow, is_recoverable_length, is_throttling
    from pi_core.resources import DefaultResourceLoader
    from pi_core.session import SessionManager
    from pi_core.session.context import edited_message, entry_message
    from pi_core.settings import Settings, SettingsManager
    from pi_core.system_prompt import PromptPart, SystemPrompt
    from pi_core.token_estimate import context_tokens, estimate_tokens
    from pi_core.trust import ProjectTrust, TrustStore
    from pi_core.trust_asking import ask_for_trust, confirm_trust

_HOMES = {
    "_json_file": "change_text",
    "agent": "Agent AgentState",
    "agent_session": "AgentSession",
    "agent_session.choices": "ScopedModel",
    "agent_session_runtime": "AgentSessionRuntime AgentSessionServices create_agent_session_runtime",
    "models.auth_storage": "AuthStorage",
    "convert": "convert_to_llm",
    "create": "create_agent_session run",
    "event_stream": "EventStream",
    "frontmatter": "Frontmatter parse_frontmatter",
    "hooks.dispatcher": "HookDispatcher HookFailure HookTrace Timeouts",
    "host": "PluginHost PluginRecord Problem",
    "loop": "AgentContext LoopCallbacks LoopConfig agent_loop agent_loop_continue",
    "models.registry": "ModelRegistry",
    "overflow": "is_context_overflow is_recoverable_length is_throttling",
    "resources": "DefaultResourceLoader",
    "session": "SessionManager",
    "session.context": "edited_message entry_message",
    "settings": "Settings SettingsManager",
    "system_prompt": "PromptPart SystemPrompt",
    "token_estimate": "context_tokens estimate_tokens",
    "trust": "ProjectTrust TrustStore",
    "trust_asking": "ask_for_trust confirm_trust",
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names.split()}

__all__ = [  # literal, because type checkers read it
    "Agent",
    "AgentContext",
    "AgentSession",
    "AgentSessionRuntime",
    "AgentSessionServices",
    "AgentState",
    "AuthStorage",
    "DefaultResourceLoader",
    "EventStream",
    "Frontmatter",
    "HookDispatcher",
    "HookFailure",
    "HookTrace",
    "LoopCallbacks",
    "LoopConfig",
    "ModelRegistry",
    "PluginHost",
    "PluginRecord",
    "Problem",
    "ProjectTrust",
    "PromptPart",
    "ScopedModel",
    "SessionManager",
    "Settings",
    "SettingsManager",
    "SystemPrompt",
    "Timeouts",
    "TrustStore",
    "agent_loop",
    "agent_loop_continue",
    "ask_for_trust",
    "change_text",
    "confirm_trust",
    "context_tokens",
    "convert_to_llm",
    "create_agent_session",
    "create_agent_session_runtime",
    "edited_message",
    "entry_message",
    "estimate_tokens",
    "is_context_overflow",
    "is_recoverable_length",
    "is_throttling",
    "parse_frontmatter",
    "run",
]


def __getattr__(name: str) -> Any:
    home = _HOME_OF.get(name)
    if home is None:
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    value = getattr(import_module(f"{__name__}.{home}"), name)
    globals()[name] = value
    return value
