"""What a program may ask of a session: its file and name, its numbers, its last words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_hookspecs import AssistantMessage

if TYPE_CHECKING:
    from pathlib import Path

    from pi_core.agent.agent import Agent
    from pi_core.models.registry import ModelRegistry
    from pi_core.session import SessionManager
    from pi_core.session.stats import SessionStats
    from pi_core.settings import Settings
    from pi_hookspecs import ContextUsage, Resource, ResourceLoader

__all__ = ["SessionQueries"]


class SessionQueries:
    """Methods of ``AgentSession`` that change nothing; ``..._manager`` and the like are the contract's names."""

    agent: Agent
    models: ModelRegistry
    resources: ResourceLoader
    session_manager: SessionManager
    settings: Settings

    # What it is made of

    @property
    def model_registry(self) -> ModelRegistry:
        """Return ``models``."""
        return self.models

    @property
    def resource_loader(self) -> ResourceLoader:
        """Return ``resources``."""
        return self.resources

    @property
    def settings_manager(self) -> Settings:
        """Return ``settings``."""
        return self.settings

    async def get_prompt_templates(self) -> tuple[Resource, ...]:
        """Return the prompt templates that there are; reading them takes a moment the first time."""
        return tuple((await self.resources.load("prompt")).resources)

    # Which one it is

    @property
    def session_id(self) -> str:
        """The session's id."""
        return self.session_manager.id

    @property
    def session_file(self) -> Path | None:
        """Where it is stored; None for one that is in memory only."""
        return self.session_manager.file

    @property
    def session_name(self) -> str | None:
        """What the user calls it."""
        return self.session_manager.name

    # How large it is

    def get_session_stats(self) -> SessionStats:
        """Count messages, tokens and dollars of all branches, and tell how full the window is."""
        from attrs import evolve

        return evolve(self.session_manager.stats(), context_usage=self.get_context_usage())

    def context_tokens(self) -> int | None:
        """Tokens of the context: the last answer's own count and an estimate of what followed; None before the first.

        After a compaction None until the next answer.
        """
        from pi_core.models.token_estimate import context_tokens

        return context_tokens(self.agent.state.messages)

    def get_context_usage(self) -> ContextUsage | None:
        """Tell how full the window is, by the last answer's own count and an estimate of what followed.

        Returns:
            None without a model; ``tokens`` and ``percent`` are None where they are not known, as after a compaction.
        """
        from pi_hookspecs import ContextUsage

        model = self.agent.state.model
        if model is None:
            return None
        tokens, window = self.context_tokens(), model.context_window
        percent = None if tokens is None or not window else 100 * tokens / window
        return ContextUsage(tokens=tokens, context_window=window, percent=percent)

    # What was said

    def get_last_assistant_text(self) -> str | None:
        """Return the last answer's text without space around it; None where there is none.

        An answer that was aborted before it began counts as none was given.
        """
        answers = (each for each in reversed(self.agent.state.messages) if isinstance(each, AssistantMessage))
        said = next((each for each in answers if each.content or each.stop_reason != "aborted"), None)
        return (said.text.strip() or None) if said is not None else None
