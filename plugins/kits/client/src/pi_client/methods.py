"""The commands as methods, one each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeVar

from pi_client import commands

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_client import values
    from pi_client.commands import Request
    from pi_client.values import Image, JsonObject, QueueMode, ThinkingLevel

__all__ = ["CommandMethods"]

R = TypeVar("R")


class CommandMethods:
    """The commands of the protocol. Every method raises as ``call``."""

    async def call(self, request: Request[R]) -> R:
        """Send a command and return its result.

        Raises:
            CommandFailed: pi reports that it failed.
            ConnectionLost: pi has ended.
            ProtocolError: The response does not follow the protocol.
        """
        raise NotImplementedError

    # Prompting

    async def prompt(
        self,
        message: str,
        images: Sequence[Image] = (),
        *,
        streaming_behavior: Literal["steer", "followUp"] | None = None,
    ) -> Literal["started", "queued", "handled"]:
        """Send a prompt and return how it is handled, as soon as that is decided. The answer comes as events."""
        request = commands.Prompt(message=message, images=tuple(images), streaming_behavior=streaming_behavior)
        return (await self.call(request)).disposition

    async def steer(self, message: str, images: Sequence[Image] = ()) -> None:
        """Queue a message for before the next request."""
        await self.call(commands.Steer(message=message, images=tuple(images)))

    async def follow_up(self, message: str, images: Sequence[Image] = ()) -> None:
        """Queue a message for when the agent would otherwise stop."""
        await self.call(commands.FollowUp(message=message, images=tuple(images)))

    async def abort(self) -> None:
        """Stop the prompt that is being answered and wait until it has settled."""
        await self.call(commands.Abort())

    async def clear_queue(self) -> values.Queue:
        """Clear the queues and return their messages."""
        return await self.call(commands.ClearQueue())

    # State

    async def get_state(self) -> values.State:
        """Return the session's state."""
        return await self.call(commands.GetState())

    async def get_messages(self) -> tuple[JsonObject, ...]:
        """Return the conversation."""
        return (await self.call(commands.GetMessages())).messages

    async def get_session_stats(self) -> values.Stats:
        """Return the session's tokens and cost."""
        return await self.call(commands.GetSessionStats())

    async def get_last_assistant_text(self) -> str | None:
        """Return the text of the last answer; None when there is none."""
        return (await self.call(commands.GetLastAssistantText())).text

    async def get_commands(self) -> tuple[values.Command, ...]:
        """Return the slash commands."""
        return (await self.call(commands.GetCommands())).commands

    # Model and thinking

    async def set_model(self, provider: str, model_id: str) -> JsonObject:
        """Select a model and return it."""
        return await self.call(commands.SetModel(provider=provider, model_id=model_id))

    async def cycle_model(self) -> values.ModelCycle | None:
        """Select the next model; None if there is no other."""
        return await self.call(commands.CycleModel())

    async def get_available_models(self) -> tuple[JsonObject, ...]:
        """Return the models that can be used."""
        return (await self.call(commands.GetAvailableModels())).models

    async def set_thinking_level(self, level: ThinkingLevel) -> None:
        """Set the reasoning effort."""
        await self.call(commands.SetThinkingLevel(level=level))

    async def cycle_thinking_level(self) -> ThinkingLevel | None:
        """Select the next thinking level; None if there is no other."""
        choice = await self.call(commands.CycleThinkingLevel())
        return None if choice is None else choice.level

    async def get_available_thinking_levels(self) -> tuple[ThinkingLevel, ...]:
        """Return the thinking levels that the model supports."""
        return (await self.call(commands.GetAvailableThinkingLevels())).levels

    # Queues, compaction, retries

    async def set_steering_mode(self, mode: QueueMode) -> None:
        """Deliver queued steering messages one per turn, or all at once."""
        await self.call(commands.SetSteeringMode(mode=mode))

    async def set_follow_up_mode(self, mode: QueueMode) -> None:
        """Deliver queued follow-ups one per turn, or all at once."""
        await self.call(commands.SetFollowUpMode(mode=mode))

    async def compact(self, custom_instructions: str | None = None) -> values.Compaction:
        """Compact the conversation."""
        return await self.call(commands.Compact(custom_instructions=custom_instructions))

    async def set_auto_compaction(self, enabled: bool) -> None:  # noqa: FBT001 - the command's one field
        """Turn automatic compaction on or off."""
        await self.call(commands.SetAutoCompaction(enabled=enabled))

    async def set_auto_retry(self, enabled: bool) -> None:  # noqa: FBT001 - as above
        """Turn automatic retries of failed requests on or off."""
        await self.call(commands.SetAutoRetry(enabled=enabled))

    async def abort_retry(self) -> None:
        """Cancel the pending retry."""
        await self.call(commands.AbortRetry())

    async def bash(self, command: str, *, exclude_from_context: bool = False) -> values.BashResult:
        """Run a command of the user and return its output."""
        return await self.call(commands.Bash(command=command, exclude_from_context=exclude_from_context))

    async def abort_bash(self) -> None:
        """Stop the user's running commands."""
        await self.call(commands.AbortBash())

    # Sessions

    async def new_session(self, parent_session: str | None = None) -> bool:
        """Start a new session; False when a plugin cancelled it."""
        return not (await self.call(commands.NewSession(parent_session=parent_session))).cancelled

    async def switch_session(self, session_path: str) -> bool:
        """Switch to a stored session; False when a plugin cancelled it."""
        return not (await self.call(commands.SwitchSession(session_path=session_path))).cancelled

    async def fork(self, entry_id: str) -> values.Fork:
        """Switch to a copy that ends before a user message."""
        return await self.call(commands.Fork(entry_id=entry_id))

    async def clone(self) -> bool:
        """Switch to a copy of the active branch; False when a plugin cancelled it."""
        return not (await self.call(commands.Clone())).cancelled

    async def get_fork_messages(self) -> tuple[values.ForkMessage, ...]:
        """Return the user messages that can be forked from."""
        return (await self.call(commands.GetForkMessages())).messages

    async def get_entries(self, since: str | None = None) -> values.Entries:
        """Return the session's entries, all or those after ``since``."""
        return await self.call(commands.GetEntries(since=since))

    async def get_tree(self) -> values.Tree:
        """Return the session's tree; that of a very long conversation is too deep for Python, see ``get_entries``."""
        return await self.call(commands.GetTree())

    async def set_session_name(self, name: str) -> None:
        """Name the session."""
        await self.call(commands.SetSessionName(name=name))

    async def export_html(self, output_path: str | None = None) -> str:
        """Write the session as an HTML page and return its path."""
        return (await self.call(commands.ExportHtml(output_path=output_path))).path
