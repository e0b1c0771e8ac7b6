"""A conversation with everything around it: prompts from text to settled, hooks, plugins, and the session's tree."""

from pi_core.conversation.session import AgentSession

__all__ = ["AgentSession"]
