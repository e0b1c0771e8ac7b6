"""A conversation and its parts: prompts from their text until they settle, hooks, plugins, the session's tree."""

from pi_core.conversation.session import AgentSession

__all__ = ["AgentSession"]
