"""Return types of the ``register_*`` hooks, except tools, providers, models and front ends.

Names are shared by all plugins. Two of one name are not an error: the later plugin in load order wins, settings can
prefer another, and the other one is available as ``plugin:name`` where the user gives a name: in a slash command,
``--mode``, ``--tools``; a tool delegates to it by ``ctx.execute_tool``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Protocol, runtime_checkable

from attrs import field, frozen

from pi_hookspecs.keys import canonical_key
from pi_hookspecs.values import ReprMixin, Value

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from pi_hookspecs.completions import Completer
    from pi_hookspecs.context import PiContext
    from pi_hookspecs.lines import Line
    from pi_hookspecs.tools import Tool
    from pi_hookspecs.views import SessionView

__all__ = [
    "Command",
    "CredentialSource",
    "ExportRequest",
    "Exporter",
    "Flag",
    "Login",
    "PluginSetting",
    "Renderer",
    "Shortcut",
    "Theme",
]


@frozen(eq=False, repr=False)
class Command(ReprMixin):
    """A slash command: ``handler(args, ctx)`` gets the text after its name. Runs at once, even during an answer.

    Attributes:
        name: Without the slash.
        handler: Plain or ``async``. The user reads the message of a ``UserError`` that it raises, such as one of
            ``ctx.settings.set``; any other exception is reported as a failure of the plugin.
        description: One line, for lists.
        complete: Gets the arguments typed so far, returns the completed arguments: texts, or ``Completion`` values
            with a description. Plain, and done within 100 ms, or ``async`` and done within 2 seconds; front ends call
            ``session.complete_arguments(name, text)``.
    """

    name: str
    handler: Callable[[str, PiContext], Awaitable[None] | None] = field(kw_only=True)
    description: str = field(default="", kw_only=True)
    complete: Completer | None = field(default=None, kw_only=True)


@frozen(eq=False, repr=False)
class Flag(Value):
    """A command line option ``--name``: a boolean flag, or one with a string value. Read with ``get_flag``."""

    name: str
    type: Literal["boolean", "string"] = field(default="boolean", kw_only=True)
    default: bool | str | None = field(default=None, kw_only=True)
    description: str = field(default="", kw_only=True)


@frozen(eq=False, repr=False)
class PluginSetting(Value):
    """A setting of a plugin in ``settings.json``, so that it can be validated and changed (``ctx.settings.set``).

    Attributes:
        name: Its dotted name; the first part is best the plugin's: ``budgets.perDay``.
        schema: JSON schema (2020-12) of its values.
        description: One line, for lists.
        protected: Only the user, and this plugin, may change it: a setting that another plugin could switch a guard
            off with.
    """

    name: str
    schema: dict[str, Any] = field(factory=dict, kw_only=True)
    description: str = field(default="", kw_only=True)
    protected: bool = field(default=False, kw_only=True)


@frozen(eq=False, repr=False)
class Shortcut(ReprMixin):
    """A keyboard shortcut of an interactive front end, and its handler; called with ``session.press_key(name)``.

    Attributes:
        name: The key with its modifiers: ``f5``, ``ctrl+g``, ``ctrl+alt+p``, ``shift+tab``. It is kept in lower case,
            with the modifiers in the order ``ctrl``, ``shift``, ``alt``, ``super``. A front end keeps the keys that
            it needs itself, and reports a conflict.
        handler: ``handler(ctx)``, plain or ``async``.
        description: One line, for lists.
        plugin: The plugin that registered it, in what ``session.get_shortcuts()`` returns; None before.
    """

    name: str = field(converter=canonical_key)
    handler: Callable[[PiContext], Awaitable[None] | None] = field(kw_only=True)
    description: str = field(default="", kw_only=True)
    plugin: str | None = field(default=None, kw_only=True)


@frozen(eq=False, repr=False)
class Theme(Value):
    """Colours by role, as in a theme file. A front end gets them resolved from ``session.get_themes()``.

    A colour is ``#rrggbb``, ``oklch(70% 0.1 200)``, an index from 0 to 255, empty for the terminal's own, or the name
    of a variable.

    Attributes:
        name: Its name.
        colors: One for each of ``REQUIRED_THEME_ROLES``; ``OPTIONAL_THEME_ROLES`` may be left out.
        vars: Colours, or names of other variables, by name.
        export: Colours of exported pages, which count before those of ``colors`` there.
        appearance: Whether it is for dark or for light screens; None where that is not known.
    """

    name: str
    colors: dict[str, str | int] = field(kw_only=True)
    vars: dict[str, str | int] = field(factory=dict, kw_only=True)
    export: dict[str, str | int] = field(factory=dict, kw_only=True)
    appearance: Literal["dark", "light"] | None = field(default=None, kw_only=True)


@runtime_checkable
class Renderer(Protocol):
    """Renders one kind of custom message or entry; front ends call ``session.render_custom(value)``.

    It may also have ``kind``, which is ``message`` or ``entry`` where it renders only one of the two; it counts before
    one of the same name without a kind. ``render`` may take ``theme``, too: the current ``Theme``, or None.
    """

    name: str
    """The ``custom_type`` that it renders."""

    def render(self, value: Any, *, width: int, expanded: bool) -> Sequence[str | Line]:
        """Return the rows, each at most ``width`` cells wide."""
        ...


@frozen(kw_only=True, eq=False, repr=False)
class ExportRequest(ReprMixin):
    """Further input of an export, in addition to the session's entries.

    Attributes:
        system_prompt: That of the next request; None for a stored session that is not open.
        tools: The active tools; None where they are not known.
        light: Colours of the light theme; None leaves the choice to the exporter.
        dark: Colours of the dark theme; None likewise.
        renderers: Renderers of plugins' messages and entries, by ``custom_type``; those with a kind by
            ``message/custom_type`` or ``entry/custom_type``.
    """

    system_prompt: str | None = None
    tools: Sequence[Tool] | None = None
    light: Theme | None = None
    dark: Theme | None = None
    renderers: Mapping[str, Renderer] = field(factory=dict)


@runtime_checkable
class Exporter(Protocol):
    """Writes a session as one document. Session content is untrusted and must be escaped."""

    format: str
    """Its name, in lower case: ``html``."""

    @property
    def suffixes(self) -> Sequence[str]:
        """File suffixes of this format, ``(".html", ".htm")``; the first is the default."""
        ...

    def export(self, session: SessionView, request: ExportRequest) -> bytes:
        """Return the document. May be called in a worker thread; it must not change the session."""
        ...


@runtime_checkable
class CredentialSource(Protocol):
    """Provides a provider's key or token; asked last, after the configured sources.

    It may also have ``available(provider) -> bool | None``: whether it has a credential, without using the
    network or a command. For None (not known) it is asked when a request is made, and its provider is never selected
    automatically.
    """

    name: str
    """The provider id, or ``*`` for all."""

    async def credential(self, provider: str) -> str | None:
        """Return a key or token that is valid now, or None."""
        ...


@runtime_checkable
class Login(Protocol):
    """Signs in to a provider and keeps its token fresh. Credentials are plain data, as stored in auth.json.

    It may also have ``base_url(credential, base_url) -> str``: the base URL for requests with this credential, given
    that of the model; for vendors whose token contains a host. And ``headers(credential) -> dict[str, str]``:
    additional headers of every request.
    """

    name: str
    """The provider id."""

    async def login(self, ui: Any) -> dict[str, Any]:
        """Run the login dialog and return the credential to store.

        Args:
            ui: A ``UserInterface``. Where pi runs on the same computer as the user's browser it also has
                ``open_url(url) -> bool``, which opens a page and returns whether that worked.
        """
        ...

    async def refresh(self, credential: dict[str, Any]) -> dict[str, Any]:
        """Return a fresh credential for one that has expired."""
        ...

    def api_key(self, credential: dict[str, Any]) -> str:
        """Return the key or token to send to the provider."""
        ...
