"""What a front end may ask of a session. Nothing else of the front end knows where the session is."""

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
    """A command that the session has.

    Attributes:
        name: Without the slash.
        description: One line.
        expands: Whether it is replaced by a text, as a template and a skill do: the text goes to the model.
    """

    name: str
    description: str
    expands: bool


class Port(Protocol):
    """A session. Methods that fail raise ``PiError``, whose text says what happened."""

    @property
    def settings(self) -> SettingsView:
        """The user's settings."""
        ...

    @property
    def drawings(self) -> Drawings | None:
        """What plugins draw of the conversation."""
        ...

    @property
    def lists(self) -> Lists:
        """What lists ask of the session."""
        ...

    @property
    def about(self) -> About:
        """What commands ask about pi itself."""
        ...

    @property
    def cwd(self) -> str:
        """The working directory."""
        ...

    # What is there

    def subscribe(self, listener: Callable[[Any], object]) -> Callable[[], None]:
        """Call a listener with every event; returns a function that unsubscribes."""
        ...

    def entries(self) -> Iterable[Any]:
        """Return the entries of the current branch, from its first one."""
        ...

    def facts(self) -> dict[str, Any]:
        """Return the fields of the footer that no event has."""
        ...

    def usage(self) -> dict[str, Any]:
        """Return the footer's totals: tokens and cost of all entries."""
        ...

    def problems(self) -> Iterable[str]:
        """Return all that the user should know about plugins and settings; the same ones again each time."""
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
        """Whether the time before a retry is running."""
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
            follow_up: Queue it until the end of the run; else it is delivered before the next request.
            accepted: Called when the prompt is started, queued or handled by a command.
        """
        ...

    def take_queued(self) -> list[str]:
        """Remove and return the user's queued messages; those of plugins stay queued."""
        ...

    def abort(self) -> None:
        """Stop the answer."""
        ...

    def abort_bash(self) -> None:
        """Stop commands of the user."""
        ...

    def abort_retry(self) -> None:
        """Do not repeat the failed request."""
        ...

    def abort_compaction(self) -> None:
        """Stop a compaction."""
        ...

    async def bash(self, command: str, command_id: str, *, excluded: bool) -> Any:
        """Run a command of the user; its output comes as events with this id. Returns its message."""
        ...

    # Commands and completion

    async def commands(self) -> Sequence[Known]:
        """Return commands of plugins, templates and skills."""
        ...

    async def complete_arguments(self, name: str, typed: str) -> Sequence[Completion]:
        """Return what the arguments of a command may become."""
        ...

    async def complete_mention(self, typed: str) -> Sequence[Completion]:
        """Return what plugins offer after an ``@``."""
        ...

    def walk(self, folder: str) -> Iterable[str]:
        """Yield the files below a folder as relative paths; called in a thread."""
        ...

    def shortcuts(self) -> Sequence[Shortcut]:
        """Return plugins' keys."""
        ...

    def form_values(
        self, fields: Sequence[FormField], entered: Mapping[str, Any]
    ) -> tuple[dict[str, Any], dict[str, str]]:
        """Return the values of a form by the names of its fields, and what is wrong with what was entered."""
        ...

    def acting_plugin(self) -> str | None:
        """Return the plugin that the present task works for; None for the program."""
        ...

    def report_drawing(self, plugin: str | None, message: str, stack: str) -> None:
        """Report that what a plugin draws has failed."""
        ...

    async def press_key(self, key: str) -> bool:
        """Call the plugin that has this key; False if none has."""
        ...

    # Changes

    def models(self) -> list[str]:
        """Return the models that can be used, as ``provider/id``."""
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
        """Use one of the thinking levels."""
        ...

    async def cycle_thinking_level(self) -> str | None:
        """Use the next thinking level and return it; None if there is no other."""
        ...

    async def set_name(self, name: str) -> None:
        """Name the session."""
        ...

    async def compact(self, instructions: str | None) -> None:
        """Replace the older part of the conversation by a summary."""
        ...

    async def sign_in(self, provider: str | None) -> None:
        """Sign in to a provider, or store its key; the user interface asks what is missing."""
        ...

    async def sign_out(self, provider: str | None) -> None:
        """Forget what is stored for a provider."""
        ...

    def providers(self, *, stored: bool = False) -> list[str]:
        """Return providers that one can sign in to, or those for which something is stored."""
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

    # Other conversations: False or None where a plugin did not allow it

    async def new_session(self) -> bool:
        """Start a new session."""
        ...

    async def switch_session(self, path: str) -> bool:
        """Go on with a stored session."""
        ...

    def user_messages(self) -> list[tuple[str, str]]:
        """Return id and text of the messages of the user."""
        ...

    async def fork(self, entry_id: str) -> str | None:
        """Go on in a new session that ends before a message of the user; return the message's text."""
        ...

    async def clone(self) -> bool:
        """Go on in a copy of the session."""
        ...

    async def import_session(self, path: str) -> bool:
        """Copy a session file into the store, and go on with it; a relative path is one of the working directory."""
        ...

    # The end

    def clean(self, text: str) -> str | None:
        """Return a text without secrets, as it may be written to a file; None where it may not."""
        ...

    def shut_down(self) -> None:
        """End the session as soon as it can be."""
        ...

    async def until_shut_down(self) -> None:
        """Return when the session is to be ended, by the user or by a plugin."""
        ...

    def set_user_interface(self, ui: Any) -> None:
        """Let dialogs of plugins be answered here."""
        ...

    def resume_hint(self) -> str | None:
        """Return how to go on with the session later; None for one that is not stored."""
        ...
