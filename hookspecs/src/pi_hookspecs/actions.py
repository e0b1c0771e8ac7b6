"""What plugins do through ``pi`` and ``ctx``: the values that come back, and what only commands may do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar, overload, runtime_checkable

from attrs import field, frozen

from pi_hookspecs.values import Value

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
    from pathlib import Path

    from pi_hookspecs.models import Model
    from pi_hookspecs.provider import Context, StreamOptions
    from pi_hookspecs.stream import AssistantMessageEvent
    from pi_hookspecs.views import TreeNavigation

__all__ = ["CommandActions", "EventBus", "ExecResult", "ModelCatalog", "SessionChange", "ToolInfo"]

_F = TypeVar("_F", bound="Callable[..., Any]")


@frozen(kw_only=True, eq=False, repr=False)
class ExecResult(Value):
    """What a program printed and how it ended: the answer of ``exec``.

    Attributes:
        code: Its exit code; 128 and the signal's number where a signal ended it, 127 where it could not be started.
        killed: It was ended by an abort or a timeout.
        truncated: It printed more than is kept.
    """

    stdout: str
    stderr: str
    code: int
    killed: bool = False
    truncated: bool = False


@frozen(kw_only=True, eq=False, repr=False)
class ToolInfo(Value):
    """A tool of a session, for people and for choosing among them.

    Attributes:
        plugin: Who brought it; None for one of the program's own.
        active: Whether the model is offered it.
    """

    name: str
    label: str = ""
    description: str
    parameters: dict[str, Any] = field(repr=False)
    plugin: str | None = None
    active: bool


@frozen(kw_only=True, eq=False, repr=False)
class SessionChange(Value):
    """What came of going over to another session.

    Attributes:
        cancelled: A plugin kept the present one.
        selected_text: After a fork, what the user had said there, for editing.
    """

    cancelled: bool = False
    selected_text: str = ""


@runtime_checkable
class EventBus(Protocol):
    """Plain data between plugins, by channel; one bus per session."""

    @overload
    def on(self, channel: str, /) -> Callable[[_F], _F]: ...
    @overload
    def on(self, channel: str, handler: Callable[[Any], Any], /) -> Callable[[], None]: ...
    def on(self, channel: str, handler: Any = None, /) -> Any:
        """Hear a channel: a decorator, and a function that returns the way to unsubscribe. Handlers get the data."""
        ...

    def emit(self, channel: str, data: Any = None, /) -> None:
        """Tell everybody who hears the channel, at once; those that are ``async`` run as tasks, errors are reported."""
        ...


@runtime_checkable
class ModelCatalog(Protocol):
    """The models that there are."""

    def get_models(self, provider: str | None = None) -> Sequence[Model]:
        """Return a provider's models, or all."""
        ...

    def get_model(self, provider: str, model_id: str) -> Model | None:
        """Return a provider's model; None where there is none."""
        ...

    def available(self) -> Sequence[Model]:
        """Return the models whose provider has a key, and whose API somebody speaks."""
        ...

    def find(self, reference: str, provider: str | None = None) -> Model:
        """Return the model that a name means, as ``--model`` takes it.

        Raises:
            UserError: None, or several.
        """
        ...

    async def get_api_key(self, provider_id: str) -> str | None:
        """Return a provider's key, or the token of its login, fresh; None for a provider that needs none.

        Raises:
            MissingKey: It needs one and has none; the message names what to set.
            UserError: The key could not be had: a command failed, or a login could not be refreshed.
            UnknownName: Nobody knows the provider.
        """
        ...

    def stream(self, model: Model, context: Context, options: StreamOptions) -> AsyncIterator[AssistantMessageEvent]:
        """Ask a model and yield its answer as ``Provider.stream`` does, for a provider that hands requests on.

        Key and headers are those of the model's own provider, not of ``options``; the thinking level becomes the
        nearest that the model has.

        Raises:
            MissingKey: Its provider has no key.
            UnknownName: Nobody knows its provider, or speaks its API.
        """
        ...


@runtime_checkable
class CommandActions(Protocol):
    """The part of ``ctx`` for commands, which run while no prompt waits for them.

    In a tool, and in a hook inside a prompt, these raise ``AgentBusy``: the prompt would wait for itself.
    """

    async def wait_for_idle(self) -> None:
        """Return when no prompt is being answered."""
        ...

    async def new_session(
        self, *, parent_session: str | None = None, setup: Callable[[Any], Awaitable[None] | None] | None = None
    ) -> SessionChange:
        """Begin a new conversation; a run that is going on is aborted.

        Args:
            parent_session: File that the new session says it comes from.
            setup: Gets the ``SessionManager`` before plugins are told of the session, to put entries in.
        """
        ...

    async def fork(self, entry_id: str, *, position: Literal["before", "at"] = "before") -> SessionChange:
        """Go over to a copy of the conversation that ends before a message of the user, or ``at`` any entry.

        Raises:
            UserError: No such entry, or none of the user's.
        """
        ...

    async def switch_session(self, session_path: str | Path) -> SessionChange:
        """Go over to a stored conversation.

        Raises:
            UserError: It is no session; the present one stays.
        """
        ...

    async def navigate_tree(
        self,
        target_id: str,
        *,
        summarize: bool = False,
        custom_instructions: str | None = None,
        replace_instructions: bool = False,
        label: str | None = None,
    ) -> TreeNavigation:
        """Go on from another entry; from before it when the user said it.

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
        ...

    async def reload(self) -> None:
        """Load local extensions anew and activate all plugins again; this ``ctx`` is stale afterwards.

        Raises:
            UserError: A prompt is being answered, or the conversation compacted.
        """
        ...
