"""Actions of ``pi`` and ``ctx``: the values that they return, and those that only commands may use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar, overload, runtime_checkable

from attrs import Factory

from pi_hookspecs.deferred import field, frozen
from pi_hookspecs.tools import ToolAnnotations
from pi_hookspecs.values import Value

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
    from pathlib import Path

    from pi_hookspecs.abort import AbortSignal
    from pi_hookspecs.content import ImageContent
    from pi_hookspecs.model_answers import Classification, GeneratedImages
    from pi_hookspecs.models import Model, ModelType
    from pi_hookspecs.provider import Context, StreamOptions
    from pi_hookspecs.stream import AssistantMessageEvent
    from pi_hookspecs.tools import ToolExposure
    from pi_hookspecs.views import TreeNavigation

__all__ = ["CommandActions", "EventBus", "ExecResult", "ModelCatalog", "SessionChange", "ToolInfo"]

_F = TypeVar("_F", bound="Callable[..., Any]")


@frozen(kw_only=True, eq=False, repr=False)
class ExecResult(Value):
    """Output and exit status of a program: the result of ``exec``.

    Attributes:
        code: Its exit code; 128 plus the signal's number if a signal ended it, 127 if it could not be started.
        killed: Whether an abort or a timeout ended it.
        truncated: Whether it printed more than is kept.
    """

    stdout: str
    stderr: str
    code: int
    killed: bool = False
    truncated: bool = False


@frozen(kw_only=True, eq=False, repr=False)
class ToolInfo(Value):
    """A tool of a session, for listing and choosing.

    Attributes:
        plugin: The plugin that registered it; None for a tool of the program itself.
        active: Whether it is offered to the model.
        annotations: What its author declares about its effects; nothing verifies it.
        output_schema: JSON schema of its result's ``details``, if any.
        exposure: When it is offered to the model, see ``ToolExposure``.
        namespace: The group that it belongs to, such as the name of an MCP server.
    """

    name: str
    label: str = ""
    description: str
    parameters: dict[str, Any] = field(repr=False)
    plugin: str | None = None
    active: bool
    annotations: ToolAnnotations = Factory(ToolAnnotations)
    output_schema: dict[str, Any] | None = field(default=None, repr=False)
    exposure: ToolExposure = "direct"
    namespace: str | None = None

    @property
    def reference(self) -> str:
        """The name that selects this tool in ``ctx.execute_tool``, whichever one of its name the model is offered."""
        return self.name if self.plugin is None else f"{self.plugin}:{self.name}"


@frozen(kw_only=True, eq=False, repr=False)
class SessionChange(Value):
    """Result of switching to another session.

    Attributes:
        cancelled: A plugin cancelled the switch.
        selected_text: After a fork, the text of the user's message there, for editing.
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
        """Call ``handler(data)`` for a channel; return a function that unsubscribes. Without a handler, a decorator."""
        ...

    def emit(self, channel: str, data: Any = None, /) -> None:
        """Call the channel's handlers now; ``async`` ones run as tasks, errors are reported."""
        ...


@runtime_checkable
class ModelCatalog(Protocol):
    """The known models."""

    def get_models(self, provider: str | None = None) -> Sequence[Model]:
        """Return a provider's models, or all."""
        ...

    def get_model(self, provider: str, model_id: str) -> Model | None:
        """Return a provider's model; None if there is none."""
        ...

    def available(self) -> Sequence[Model]:
        """Return the models whose provider has a key, and whose API a provider plugin implements."""
        ...

    def find(self, reference: str, provider: str | None = None) -> Model:
        """Return the model for a name as ``--model`` takes it.

        Raises:
            UserError: No model matches, or several do.
        """
        ...

    async def get_api_key(self, provider_id: str) -> str | None:
        """Return a provider's key, or the current token of its login; None for a provider that needs none.

        Raises:
            MissingKey: It needs one and has none; the message names what to set.
            UserError: The key could not be obtained: a command failed, or a login could not be refreshed.
            UnknownName: The provider is not known.
        """
        ...

    def stream(self, model: Model, context: Context, options: StreamOptions) -> AsyncIterator[AssistantMessageEvent]:
        """Ask a model and yield its answer as ``Provider.stream`` does, for a provider that forwards requests.

        Key and headers come from the model's own provider, not from ``options``; the thinking level is
        replaced by the nearest one that the model supports.

        Raises:
            MissingKey: Its provider has no key.
            UnknownName: Its provider is not known, or no plugin implements its API.
        """
        ...

    def get_models_of_type(self, model_type: ModelType) -> Sequence[Model]:
        """Return the models of the type ``image`` or ``classifier``, those of providers with a key first."""
        ...

    async def generate_image(
        self,
        model: Model | str,
        prompt: str,
        *,
        images: Sequence[ImageContent] = (),
        options: Mapping[str, Any] | None = None,
        signal: AbortSignal | None = None,
    ) -> GeneratedImages:
        """Return what an image model draws; the request counts in the session's totals and budgets.

        Args:
            model: An image model, or its name; ``""`` is the first one whose provider has a key.
            prompt: What to draw.
            images: Images to start from, for models that accept any.
            options: See ``StreamOptions.image_options``; None asks for one image of the model's own size.
            signal: Aborts the request, in addition to the prompt's own signal.

        Raises:
            UserError: There is no such image model, or it accepts no images.
            PiError: The request failed or was refused, or the answer contains no usable image.
        """
        ...

    async def classify(
        self, model: Model | str, text: str, labels: Sequence[str], *, signal: AbortSignal | None = None
    ) -> Classification:
        """Return how well labels fit a text; the request counts in the session's totals and budgets.

        Args:
            model: A classifier, or a conversational model, which is asked to choose one of the labels; or the name of
                one.
            text: The text. It is data for the model: instructions in it are not to be followed.
            labels: The labels, at least two; may be empty for a classifier with labels of its own.
            signal: Aborts the request, in addition to the prompt's own signal.

        Raises:
            UserError: There is no such model, or there are too few labels.
            PiError: The request failed or was refused, or the answer has none of the labels.
        """
        ...


@runtime_checkable
class CommandActions(Protocol):
    """The part of ``ctx`` for commands, which run while no prompt waits for them.

    In tools, and in hooks inside a prompt, these raise ``AgentBusy``, because the prompt would wait for itself.
    """

    async def wait_for_idle(self) -> None:
        """Return when no prompt is being answered."""
        ...

    async def new_session(
        self, *, parent_session: str | None = None, setup: Callable[[Any], Awaitable[None] | None] | None = None
    ) -> SessionChange:
        """Start a new session; a run in progress is aborted.

        Args:
            parent_session: File recorded as the new session's parent.
            setup: Called with the ``SessionManager`` before ``session_start``, to add entries.
        """
        ...

    async def fork(self, entry_id: str, *, position: Literal["before", "at"] = "before") -> SessionChange:
        """Switch to a copy of the conversation that ends before a user message, or ``at`` any entry.

        Raises:
            UserError: No such entry, or it is not a user message.
        """
        ...

    async def switch_session(self, session_path: str | Path) -> SessionChange:
        """Switch to a stored session.

        Raises:
            UserError: The file is not a session; the current session stays open.
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
        """Continue from another entry, or from before it if it is a user message.

        Args:
            target_id: The entry.
            summarize: Add a summary of the abandoned branch at the place where the conversation continues.
            custom_instructions: What the summary should focus on.
            replace_instructions: Use them instead of the summariser's own.
            label: A label for the entry.

        Raises:
            AgentBusy: A prompt is being answered.
            UserError: No such entry, or no summariser is installed.
            PiError: The summary failed; the conversation stays where it was.
        """
        ...

    async def reload(self) -> None:
        """Reload local extensions and activate all plugins again; this ``ctx`` is stale afterwards.

        Raises:
            UserError: A prompt is being answered, or the conversation is being compacted.
        """
        ...
