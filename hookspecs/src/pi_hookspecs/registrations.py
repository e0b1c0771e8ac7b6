"""What the ``register_*`` hooks return, beside tools, providers, models and front ends.

Each is found by its name, across all plugins. Two of one name are no error: the later plugin in load
order wins, settings can prefer another, and the loser is found as ``plugin:name`` by those who look names up: a command
of the user, ``--mode``, ``--tools``. ``ctx.execute_tool`` takes what the model is offered, and no other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Protocol, runtime_checkable

from attrs import field, frozen

from pi_hookspecs.values import Shown, Value

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from pi_hookspecs.context import PiContext
    from pi_hookspecs.tools import Tool
    from pi_hookspecs.views import SessionView

__all__ = [
    "Command",
    "CredentialSource",
    "ExportRequest",
    "Exporter",
    "Flag",
    "Login",
    "Renderer",
    "Shortcut",
    "Theme",
]


@frozen(eq=False, repr=False)
class Command(Shown):
    """A slash command: ``handler(args, ctx)`` gets what follows its name, as text. Runs at once, even mid-answer.

    Attributes:
        name: Without the slash.
        handler: Plain or ``async``.
        description: One line, for lists.
        complete: Gets what is typed of the arguments, returns what all of it could become; front ends ask with
            ``session.complete_command(name, text)``.
    """

    name: str
    handler: Callable[[str, PiContext], Awaitable[None] | None] = field(kw_only=True)
    description: str = field(default="", kw_only=True)
    complete: Callable[[str], Sequence[str]] | None = field(default=None, kw_only=True)


@frozen(eq=False, repr=False)
class Flag(Value):
    """A command line option ``--name``: present or not, or with a text. Read with ``get_flag``."""

    name: str
    type: Literal["boolean", "string"] = field(default="boolean", kw_only=True)
    default: bool | str | None = field(default=None, kw_only=True)
    description: str = field(default="", kw_only=True)


@frozen(eq=False, repr=False)
class Shortcut(Shown):
    """A key of an interactive front end, and what it does; front ends call it with ``session.press_key(name)``.

    Attributes:
        name: The key, with what is held before it: ``f5``, ``ctrl+g``, ``ctrl+alt+p``, ``shift+tab``. Keys that a
            front end needs itself stay its own, which it says.
        handler: ``handler(ctx)``, plain or ``async``.
        description: One line, for lists.
    """

    name: str
    handler: Callable[[PiContext], Awaitable[None] | None] = field(kw_only=True)
    description: str = field(default="", kw_only=True)


@frozen(eq=False, repr=False)
class Theme(Value):
    """Colours by role, as a theme file has them."""

    name: str
    colors: dict[str, str | int] = field(kw_only=True)
    vars: dict[str, str | int] = field(factory=dict, kw_only=True)


@runtime_checkable
class Renderer(Protocol):
    """Shows one kind of custom message or entry as plain lines; front ends call ``session.render_custom(value)``."""

    name: str
    """The ``custom_type`` that it shows."""

    def render(self, value: Any, *, width: int, expanded: bool) -> Sequence[str]:
        """Return the lines."""
        ...


@frozen(kw_only=True, eq=False, repr=False)
class ExportRequest(Shown):
    """What belongs to an exported session beside its entries.

    Attributes:
        system_prompt: As the next request would send it; None for a stored session that nobody talks in.
        tools: What the model is offered; None where that is not known.
        light: Colours for readers who prefer a light page; None leaves the choice to the exporter.
        dark: Colours for those who prefer a dark one.
        renderers: Who shows the messages and entries of plugins, by their ``custom_type``.
    """

    system_prompt: str | None = None
    tools: Sequence[Tool] | None = None
    light: Theme | None = None
    dark: Theme | None = None
    renderers: Mapping[str, Renderer] = field(factory=dict)


@runtime_checkable
class Exporter(Protocol):
    """Writes a session as one document. What stands in a session is nobody's to trust: it must come out as text."""

    format: str
    """What it is called, in small letters: ``html``."""

    @property
    def suffixes(self) -> Sequence[str]:
        """Ends of the file names that ask for this format, ``(".html", ".htm")``; the first for names that pi makes."""
        ...

    def export(self, session: SessionView, request: ExportRequest) -> bytes:
        """Return the document. May be called in a thread of its own, and changes nothing."""
        ...


@runtime_checkable
class CredentialSource(Protocol):
    """Answers for a provider's key or token; asked last in the key order.

    It may also have ``available(provider) -> bool | None``: whether it could answer, told at once, without a network or
    a command. A source that cannot tell (None) is asked when a request is made; its provider is never chosen unasked.
    """

    name: str
    """The provider id that it answers for, or ``*`` for all."""

    async def credential(self, provider: str) -> str | None:
        """Return a key or token that is valid now, or None."""
        ...


@runtime_checkable
class Login(Protocol):
    """Signs in to a provider and keeps its token fresh. Credentials are plain data, as auth.json has them.

    It may also have ``base_url(credential, base_url) -> str``: where requests with this credential go, given where the
    model says; for vendors whose token names a host. And ``headers(credential) -> dict[str, str]``: what goes along
    with every request beside the key.
    """

    name: str
    """The provider id."""

    async def login(self, ui: Any) -> dict[str, Any]:
        """Ask what must be asked and return the credential to store.

        Args:
            ui: A ``UserInterface``. Where pi and the user's browser share a computer it also has ``open_url(url) ->
                bool``, which opens a page and tells whether a browser took it.
        """
        ...

    async def refresh(self, credential: dict[str, Any]) -> dict[str, Any]:
        """Return a fresh credential for one that has expired."""
        ...

    def api_key(self, credential: dict[str, Any]) -> str:
        """Return what the provider is to be sent."""
        ...
