"""What a front end may do to a session beside prompting: its model, its size, its place in the tree, its retries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pi_core.conversation.exports import SessionExports

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pi_core.agent.agent import Agent
    from pi_core.conversation.model_selection import ModelCycle, ScopedModel
    from pi_core.conversation.parts import SessionParts
    from pi_core.conversation.retry import Retry
    from pi_core.session import SessionManager
    from pi_core.settings import Settings
    from pi_hookspecs import Compaction, Model, PiContext, ThinkingLevel, TreeNavigation

__all__ = ["SessionControls"]


class SessionControls(SessionExports):
    """Methods of ``AgentSession`` that change how it goes on."""

    agent: Agent
    ctx: PiContext
    retry: Retry
    session_manager: SessionManager
    settings: Settings
    parts: SessionParts

    # Compaction

    @property
    def is_compacting(self) -> bool:
        """Whether a compaction is going on."""
        return self.parts.compacting.is_running

    @property
    def auto_compaction_enabled(self) -> bool:
        """Whether the conversation may be compacted without being asked."""
        return self.parts.compacting.enabled

    def set_auto_compaction_enabled(self, enabled: bool) -> None:  # noqa: FBT001 - the contract's shape
        """Allow or forbid compactions that nobody asked for, in this session."""
        self.parts.compacting.enabled = enabled

    async def compact(self, custom_instructions: str | None = None) -> Compaction:
        """Compact the conversation; a run that is going on is aborted first.

        Raises:
            UserError: There is nothing to compact, or nobody who could.
            Aborted: A plugin or ``abort_compaction`` stopped it.
            PiError: It failed; the session is as it was.
        """
        compaction = await self.ctx.compact(custom_instructions)
        assert compaction is not None  # noqa: S101 - by hand, nothing to do is an error
        return compaction

    def abort_compaction(self) -> None:
        """Stop the compaction that is going on."""
        self.parts.compacting.abort()

    # Retries

    @property
    def is_retrying(self) -> bool:
        """Whether the time before the next try of a failed request is running."""
        return self.retry.is_waiting

    @property
    def retry_attempt(self) -> int:
        """Which retry is going on, from 1; 0 when none is."""
        return self.retry.attempt

    @property
    def auto_retry_enabled(self) -> bool:
        """Whether failed requests are repeated."""
        return self.retry.enabled

    def set_auto_retry_enabled(self, enabled: bool) -> None:  # noqa: FBT001 - as above
        """Allow or forbid retries in this session."""
        self.retry.enabled = enabled

    def abort_retry(self) -> None:
        """Give up the retry that is being waited for; the prompt ends with the failed answer."""
        self.retry.abort()

    # The tree

    async def navigate_tree(
        self,
        target_id: str,
        *,
        summarize: bool = False,
        custom_instructions: str | None = None,
        replace_instructions: bool = False,
        label: str | None = None,
    ) -> TreeNavigation:
        """Go on from another entry; from before it when the user said it, with what they said for editing.

        Args:
            target_id: The entry.
            summarize: Have what is left behind summed up where the conversation goes on.
            custom_instructions: What the summary should look at.
            replace_instructions: They stand in place of the summariser's own.
            label: A name for the place.

        Raises:
            AgentBusy: A prompt is being answered.
            UserError: No such entry, or nobody who could sum up.
            PiError: The summary failed; the conversation is where it was.
        """
        return await self.parts.tree.navigate(
            target_id,
            summarize=summarize,
            custom_instructions=custom_instructions,
            replace_instructions=replace_instructions,
            label=label,
        )

    def abort_branch_summary(self) -> None:
        """Stop the summary that is being made; the conversation stays where it is."""
        self.parts.tree.abort()

    def set_label(self, entry_id: str, label: str | None = None) -> str:
        """Name an entry, or take its name away; returns the id of the entry that says so.

        Raises:
            UserError: No such entry.
        """
        return self.session_manager.append_label_change(entry_id, label)

    # Choices

    async def set_model(
        self, model: Model, source: Literal["set", "cycle", "restore"] = "set", *, persist: bool | None = None
    ) -> None:
        """Let another model answer from the next run on, and note it in the session.

        The thinking level becomes the nearest that the model has.

        Args:
            model: Who answers.
            source: Why; plugins are told.
            persist: Make it the default, too; the setting ``persistModelChoice`` when None.

        Raises:
            MissingKey: Its provider has no key.
        """
        await self.parts.choices.set_model(model, source, persist=self._persists(persist))

    async def set_thinking_level(self, level: ThinkingLevel, *, persist: bool | None = None) -> None:
        """Let the model think more or less from the next run on, as far as it can, and note it in the session."""
        await self.parts.choices.set_level(level, persist=self._persists(persist))

    async def cycle_model(self, direction: Literal["forward", "backward"] = "forward") -> ModelCycle | None:
        """Go to the next model, of ``scoped_models`` or of all that can be used; None where there is no other."""
        return await self.parts.choices.cycle_model(direction)

    async def cycle_thinking_level(self) -> ThinkingLevel | None:
        """Go to the next thinking level that the model has; None where it has no other."""
        return await self.parts.choices.cycle_level()

    @property
    def scoped_models(self) -> tuple[ScopedModel, ...]:
        """The models to cycle through; empty for all that can be used."""
        return self.parts.choices.scoped

    def set_scoped_models(self, models: Iterable[ScopedModel]) -> None:
        """Cycle through these models only; none means all that can be used."""
        self.parts.choices.scope(models)

    def get_available_thinking_levels(self) -> tuple[ThinkingLevel, ...]:
        """Return the thinking levels that the model has.

        Raises:
            UserError: There is no model.
        """
        return self.parts.choices.levels()

    def supports_thinking(self) -> bool:
        """Whether the model can think."""
        model = self.agent.state.model
        return model is not None and model.reasoning

    def supports_xhigh_thinking(self) -> bool:
        """Whether the model can think harder than ``high``."""
        return self.agent.state.model is not None and "xhigh" in self.get_available_thinking_levels()

    def _persists(self, persist: bool | None) -> bool:  # noqa: FBT001 - passed on as it came
        return self.settings.get_bool("persistModelChoice", default=False) if persist is None else persist
