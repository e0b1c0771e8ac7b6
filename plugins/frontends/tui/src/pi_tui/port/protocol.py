"""The interface of a session for a front end, which hides whether the session is in the same process."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from pi_hookspecs import Completion, FormField, ImageContent, SettingsView, Shortcut
    from pi_tui.lines.foreign import Drawings
    from pi_tui.port.about import About
    from pi_tui.port.lists import Lists

__all__ = ["Known", "Port", "Queued"]

Queued = Literal["started", "queued", "handled"]


class Known(NamedTuple):
    """A slash command of the session.

    Attributes:
        name: The name without the slash.
        description: One line of description.
        expands: Whether it is a template or skill, whose text replaces the command and goes to the model.
    """

    name: str
    description: str
    expands: bool


class Port(Protocol):
    """A session. Methods that fail raise ``PiError``, whose text says what happened."""

    @property
    def settings(self) -> SettingsView:
        """The settings of the user."""
        ...

    @property
    def drawings(self) -> Drawings | None:
        """The methods that let plugins draw parts of the conversation."""
        ...

    @property
    def lists(self) -> Lists:
        """The interface for lists."""
        ...

    @property
    def about(self) -> About:
        """The interface for commands that concern pi itself."""
        ...

    @property
    def cwd(self) -> str:
        """The working directory."""
        ...

    def text_of(self, path: str) -> str | None:
        """Return the text of a file of the session; None if it is large, no text, or on another computer."""
        ...

    # State

    def subscribe(self, listener: Callable[[Any], object]) -> Callable[[], None]:
        """Call a listener with every event; returns a function that unsubscribes."""
        ...

    def entries(self) -> Iterable[Any]:
        """Return the entries of the current branch, from its first one."""
        ...

    def facts(self) -> dict[str, Any]:
        """Return the fields of the footer that no event contains."""
        ...

    def usage(self) -> dict[str, Any]:
        """Return the footer's totals: tokens and cost of all entries."""
        ...

    def problems(self) -> Iterable[str]:
        """Return messages about plugins and settings for the user; each call returns the same messages again."""
        ...

    def why_no_model(self) -> str | None:
        """Return sentences on why no model is selected and what to do; None if there is a model."""
        ...

    # Prompts

    @property
    def is_streaming(self) -> bool:
        """Whether a prompt is being answered."""
        ...

    @property
    def is_bash_running(self) -> bool:
        """Whether a command of the user is running."""
        ...

    @property
    def is_retrying(self) -> bool:
        """Whether the session waits before a retry."""
        ...

    @property
    def is_compacting(self) -> bool:
        """Whether a compaction is running."""
        ...

    async def prompt(
        self,
        text: str,
        images: Sequence[ImageContent] = (),
        *,
        follow_up: bool = False,
        accepted: Callable[[], object] = bool,
    ) -> None:
        """Send a prompt, or queue it while another one is answered; returns when it is answered or queued.

        Args:
            text: What the user typed.
            images: Images that belong to it.
            follow_up: Whether to queue it until the end of the run; otherwise it is delivered before the next request.
            accepted: Called when the prompt is started, queued or handled by a command.
        """
        ...

    def take_queued(self) -> list[str]:
        """Remove and return the user's queued messages; those of plugins stay queued."""
        ...

    def abort(self) -> None:
        """Stop the current answer."""
        ...

    def skip_waiting(self) -> bool:
        """Skip the hooks that have been waited for; return whether there were any."""
        ...

    def abort_bash(self) -> None:
        """Stop running commands of the user."""
        ...

    def abort_retry(self) -> None:
        """Cancel the repetition of a failed request."""
        ...

    def abort_compaction(self) -> None:
        """Stop a running compaction."""
        ...

    async def bash(self, command: str, command_id: str, *, excluded: bool) -> Any:
        """Run a command of the user and return its message; its output arrives as events with this id."""
        ...

    # Commands and completion

    async def commands(self) -> Sequence[Known]:
        """Return the commands of plugins, templates and skills."""
        ...

    async def complete_arguments(self, name: str, typed: str) -> Sequence[Completion]:
        """Return completions for the arguments of a command."""
        ...

    async def complete_mention(self, typed: str) -> Sequence[Completion]:
        """Return the mentions that plugins offer after an ``@``."""
        ...

    def walk(self, folder: str) -> Iterable[str]:
        """Yield the files below a folder as relative paths; call this in a thread."""
        ...

    def shortcuts(self) -> Sequence[Shortcut]:
        """Return the shortcuts of plugins."""
        ...

    def form_values(
        self, fields: Sequence[FormField], entered: Mapping[str, Any]
    ) -> tuple[dict[str, Any], dict[str, str]]:
        """Return the values of a form and the problems with what was entered, both by field name."""
        ...

    def acting_plugin(self) -> str | None:
        """Return the plugin on whose behalf the current task runs; None for pi itself."""
        ...

    def report_drawing(self, plugin: str | None, message: str, stack: str) -> None:
        """Report that drawing code of a plugin has failed."""
        ...

    async def press_key(self, key: str) -> bool:
        """Call the plugin that registered this key; return False if there is none."""
        ...

    # Changes

    def models(self) -> list[str]:
        """Return the available models, as ``provider/id``."""
        ...

    async def set_model(self, name: str) -> str:
        """Use a model, by its name or a part of it, with its thinking level after a colon; return its full name."""
        ...

    async def cycle_model(self, *, forward: bool) -> str | None:
        """Use the next model and return its name; None if there is no other."""
        ...

    def thinking_levels(self) -> list[str]:
        """Return the thinking levels of the model."""
        ...

    async def set_thinking_level(self, level: str) -> None:
        """Set the thinking level."""
        ...

    async def cycle_thinking_level(self) -> str | None:
        """Use the next thinking level and return it; None if there is no other."""
        ...

    async def set_name(self, name: str) -> None:
        """Name the session."""
        ...

    async def compact(self, instructions: str | None) -> None:
        """Replace the older part of the conversation with a summary."""
        ...

    async def sign_in(self, provider: str | None) -> str | None:
        """Sign in to a provider, or store its key; the user interface asks what is missing.

        Returns:
            The full name of the model that is used now, if there was none before.
        """
        ...

    async def sign_out(self, provider: str | None) -> None:
        """Delete the stored credentials of a provider."""
        ...

    def providers(self, *, stored: bool = False) -> list[str]:
        """Return the providers to which the user can sign in, or those with stored credentials."""
        ...

    async def reload(self) -> None:
        """Reload extensions, skills, prompts and themes."""
        ...

    def last_answer(self) -> str | None:
        """Return the text of the last answer; None before the first."""
        ...

    def session_info(self) -> list[str]:
        """Return lines about the session's file, size and cost."""
        ...

    # Other conversations: these return False or None if a plugin prevented it

    async def new_session(self) -> bool:
        """Start a new session."""
        ...

    async def switch_session(self, path: str) -> bool:
        """Continue a stored session."""
        ...

    def user_messages(self) -> list[tuple[str, str]]:
        """Return the id and the text of each message of the user."""
        ...

    async def fork(self, entry_id: str) -> str | None:
        """Continue in a new session that ends before a message of the user; return the message's text."""
        ...

    async def clone(self) -> bool:
        """Continue in a copy of the session."""
        ...

    async def import_session(self, path: str) -> bool:
        """Copy a session file into the store, and continue with it; a relative path refers to the working directory."""
        ...

    # The end

    def clean(self, text: str) -> str | None:
        """Return a text without secrets, so that it may be written to a file; None if it may not be written."""
        ...

    def shut_down(self) -> None:
        """Request the end of the session."""
        ...

    async def until_shut_down(self) -> None:
        """Wait until the user or a plugin requests the end of the session."""
        ...

    def set_user_interface(self, ui: Any) -> None:
        """Set the user interface that answers dialogs of plugins."""
        ...

    def resume_hint(self) -> str | None:
        """Return the command that continues the session later, for a shell; None if it is not stored.

        Lines before the last one are about the command.
        """
        ...
