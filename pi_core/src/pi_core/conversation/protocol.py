"""``Session``: what a front end knows of a session, whether it runs in this process or in another one.

``AgentSession`` has these members, and is a session in this process. ``pi_rpc_kit.remote`` makes one of a connection to
another process. A front end takes a ``Session`` and nothing else.

The properties, and the methods that are not ``async``, return what is known now: here the state itself, elsewhere a
copy that events keep up to date. The ``async`` methods act, and end when that is done.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Awaitable, Callable, Iterable, Sequence
    from pathlib import Path

    from pi_core.agent.queue import QueueMode
    from pi_core.agent.subscribers import Listener
    from pi_core.conversation.model_selection import ModelCycle
    from pi_core.conversation.session import AgentSession
    from pi_core.conversation.switching import ForkOutcome
    from pi_core.models.patterns import ModelMatch
    from pi_core.session.stats import SessionStats
    from pi_hookspecs import (
        AssistantMessage,
        BashExecutionMessage,
        CommandInfo,
        Compaction,
        ImageContent,
        Model,
        SessionEntry,
        SettingsView,
        ThinkingLevel,
        TreeNavigation,
        UserInterface,
    )

__all__ = ["Session"]


class Session(Protocol):
    """A session. A method that fails raises ``PiError``, whose text says what happened.

    Over a connection, what the other process does not offer raises ``UserError``.

    Attributes:
        has_ui: Whether a user can answer dialogs.
    """

    has_ui: bool

    @property
    def local(self) -> AgentSession | None:
        """The session itself, for what only its process can do: files, plugins, drawing. None over a connection."""
        ...

    # State

    @property
    def settings(self) -> SettingsView:
        """The settings of this process's user."""
        ...

    @property
    def ui(self) -> UserInterface:
        """Answers dialogs."""
        ...

    @ui.setter
    def ui(self, value: UserInterface) -> None: ...

    @property
    def shutdown_requested(self) -> asyncio.Event:
        """Set when the user or a plugin wants the session to end; over a connection, also when the connection ends."""
        ...

    @property
    def is_streaming(self) -> bool:
        """Whether a prompt is being answered."""
        ...

    @property
    def is_retrying(self) -> bool:
        """Whether the delay before a retry is running."""
        ...

    @property
    def is_compacting(self) -> bool:
        """Whether a compaction is running."""
        ...

    @property
    def is_bash_running(self) -> bool:
        """Whether a command of the user is running; over a connection, one that was sent from here."""
        ...

    @property
    def model(self) -> Model | None:
        """The current model."""
        ...

    @property
    def thinking_level(self) -> ThinkingLevel:
        """The current reasoning effort."""
        ...

    @property
    def auto_compaction_enabled(self) -> bool:
        """Whether plugins may compact automatically."""
        ...

    @property
    def steering_mode(self) -> QueueMode:
        """Steering messages per delivery."""
        ...

    @property
    def follow_up_mode(self) -> QueueMode:
        """Follow-ups per delivery."""
        ...

    @property
    def pending_message_count(self) -> int:
        """How many messages are queued."""
        ...

    @property
    def session_id(self) -> str:
        """The session's id."""
        ...

    @property
    def session_file(self) -> Path | None:
        """The session's file, where it runs; None if it is kept in memory."""
        ...

    @property
    def session_name(self) -> str | None:
        """The name that the user gave the session."""
        ...

    @property
    def cache_warming(self) -> object:
        """The next decision on keeping the prompt in the provider's cache, in words; None if there is none to make."""
        ...

    def subscribe(self, listener: Listener, *types: str) -> Callable[[], None]:
        """Call a listener with every event, or with events of the given types; return a function that unsubscribes."""
        ...

    def problems(self) -> Iterable[str]:
        """Return what the user should know; each call returns the same sentences again."""
        ...

    def get_branch(self) -> Sequence[SessionEntry]:
        """Return the entries of the current branch, from its first one."""
        ...

    def get_available_models(self) -> Sequence[Model]:
        """Return the models that can be used."""
        ...

    def get_available_thinking_levels(self) -> Sequence[ThinkingLevel]:
        """Return the thinking levels of the model.

        Raises:
            NoModel: No model is selected.
        """
        ...

    def get_session_stats(self) -> SessionStats:
        """Return messages, tokens and dollars of all branches, and how full the window is."""
        ...

    def get_last_assistant_text(self) -> str | None:
        """Return the last answer's text without surrounding whitespace; None if there is none."""
        ...

    def get_user_messages_for_forking(self) -> Sequence[tuple[str, str]]:
        """Return the id and the text of every user message on the branch, oldest first."""
        ...

    async def get_commands(self) -> Sequence[CommandInfo]:
        """Return the commands of plugins, the prompt templates, and the skills."""
        ...

    # Prompts

    async def prompt(
        self,
        prompt: str,
        *,
        images: Sequence[ImageContent] = (),
        streaming_behavior: Literal["steer", "followUp"] | None = None,
        source: str = "interactive",
        on_accepted: Callable[[Literal["started", "queued", "handled"]], object] = bool,
    ) -> AssistantMessage | None:
        """Send a prompt and return once the run has settled, or the prompt is queued or handled.

        Args:
            prompt: The text.
            images: Images to send with it.
            streaming_behavior: How to queue it while another prompt is answered.
            source: Who sends it, for plugins; over a connection it is the other process that says so.
            on_accepted: Called once, with the disposition of the prompt.

        Raises:
            AgentBusy: A run is in progress, and ``streaming_behavior`` is not given.
        """
        ...

    def steer(self, text: str, images: Sequence[ImageContent] = (), /) -> Awaitable[None]:
        """Queue a text for the next request."""
        ...

    def follow_up(self, text: str, images: Sequence[ImageContent] = (), /) -> Awaitable[None]:
        """Queue a text to be delivered when the agent would otherwise stop."""
        ...

    def take_user_texts(self) -> list[str]:
        """Remove the user's queued messages and return their texts."""
        ...

    def get_steering_messages(self) -> tuple[str, ...]:
        """Return the texts that are queued for the next request."""
        ...

    def get_follow_up_messages(self) -> tuple[str, ...]:
        """Return the texts that are queued for the end of the run."""
        ...

    def clear_queue(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Remove all queued messages and return the texts for the next request, and those for the end of the run."""
        ...

    def set_steering_mode(self, mode: QueueMode) -> None:
        """Set how many steering messages are delivered at a time in this session."""
        ...

    def set_follow_up_mode(self, mode: QueueMode) -> None:
        """Set how many follow-ups are delivered at a time in this session."""
        ...

    async def abort(self) -> None:
        """Abort the current prompt, and wait until it has settled."""
        ...

    def request_abort(self, reason: str = "Operation aborted") -> None:
        """Abort the current prompt, without waiting."""
        ...

    async def execute_bash(
        self,
        command: str,
        *,
        exclude_from_context: bool = False,
        id: str | None = None,  # noqa: A002 - its name in RPC
    ) -> BashExecutionMessage:
        """Run a command of the user; its output comes as events with this id."""
        ...

    def abort_bash(self) -> None:
        """Stop the running commands, without waiting."""
        ...

    def abort_retry(self) -> None:
        """Cancel the pending retry."""
        ...

    def set_auto_retry_enabled(self, enabled: bool, /) -> None:  # noqa: FBT001 - as in ``AgentSession``
        """Allow or forbid retries in this session."""
        ...

    def set_auto_compaction_enabled(self, enabled: bool, /) -> None:  # noqa: FBT001 - as in ``AgentSession``
        """Allow or forbid compactions other than manual ones in this session."""
        ...

    def abort_compaction(self) -> None:
        """Stop the running compaction, without waiting."""
        ...

    # Model

    async def resolve_model(self, reference: str) -> ModelMatch:
        """Return the model that a name or a part of it means, with the thinking level after a colon, if there is one.

        Raises:
            UserError: No model is meant, or several are.
        """
        ...

    async def set_model(self, model: Model) -> None:
        """Set the model, starting with the next run."""
        ...

    async def cycle_model(self, direction: Literal["forward", "backward"] = "forward") -> ModelCycle | None:
        """Select the next model; None if there is no other."""
        ...

    async def set_thinking_level(self, level: ThinkingLevel) -> None:
        """Set the reasoning effort, starting with the next run."""
        ...

    async def cycle_thinking_level(self) -> ThinkingLevel | None:
        """Select the next thinking level of the model; None if it has no other level."""
        ...

    # The conversation; these return False, or say ``cancelled``, if a plugin prevented it

    async def set_session_name(self, name: str) -> None:
        """Name the session."""
        ...

    async def compact(self, custom_instructions: str | None = None) -> Compaction:
        """Replace the older part of the conversation with a summary; a running prompt is aborted first."""
        ...

    async def new_session(self, *, parent_session: str | None = None) -> bool:
        """Begin a new conversation, which may name the file of another session as its parent."""
        ...

    async def switch_session(self, session_path: str) -> bool:
        """Open a stored conversation."""
        ...

    async def import_from_jsonl(self, path: str) -> bool:
        """Copy a session file into the store and open it."""
        ...

    async def fork(self, entry_id: str) -> ForkOutcome:
        """Open a copy of the conversation that ends before a message of the user."""
        ...

    async def clone(self) -> bool:
        """Open a copy of the active branch."""
        ...

    async def navigate_tree(
        self, target_id: str, *, summarize: bool = False, custom_instructions: str | None = None
    ) -> TreeNavigation:
        """Continue from another entry; for a user message, from before it, with its text for editing."""
        ...

    async def export(self, path: str | None = None) -> Path:
        """Write the session into a file where it runs, in the format of the file's suffix, HTML by default."""
        ...

    async def reload(self) -> None:
        """Reload local extensions, settings and resources."""
        ...
