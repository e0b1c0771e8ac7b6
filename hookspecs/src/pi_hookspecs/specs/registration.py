"""Registration hooks: synchronous, called once when a plugin is loaded. Methods of what they return may be async."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_hookspecs._markers import hookspec

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_hookspecs.api import PiAPI
    from pi_hookspecs.approvals import PermissionStore
    from pi_hookspecs.exports import Exporter
    from pi_hookspecs.front_ends import Mode, Subcommand
    from pi_hookspecs.interface_registrations import Renderer, Shortcut, Theme
    from pi_hookspecs.logins import CredentialSource, Login
    from pi_hookspecs.models import ProviderInfo
    from pi_hookspecs.provider import Provider
    from pi_hookspecs.registrations import Command, Flag, PluginSetting, ProjectFile
    from pi_hookspecs.renderers import MarkdownTransform, ToolRenderer
    from pi_hookspecs.resources import ResourceKind
    from pi_hookspecs.services import Service
    from pi_hookspecs.session_store import SessionStore
    from pi_hookspecs.tools import Tool
    from pi_hookspecs.virtual_models import VirtualModel


@hookspec
def register_providers() -> Sequence[Provider]:  # type: ignore[empty-body]
    """Add implementations of API ids: objects with ``api`` and ``stream(model, context, options)``.

    When: once per load of the plugin.
    Answers: collect; if two have the same API id, the later one wins.
    On error: reported; the plugin registers no provider.
    Since: 1.0
    """


@hookspec
def register_models() -> Sequence[ProviderInfo | VirtualModel]:  # type: ignore[empty-body]
    """Add providers and their models, which are data: base URL, key variables, API id, prices.

    A ``VirtualModel`` answers no request itself: its plugin chooses the model that answers each of them.

    When: once per load of the plugin.
    Answers: collect; if two have the same provider id, the later one wins.
    On error: reported; the plugin adds no models.
    Since: 1.0
    """


@hookspec
def register_tools() -> Sequence[Tool]:  # type: ignore[empty-body]
    """Add tools that the model may call.

    When: once per load of the plugin.
    Answers: collect; if two have the same name, the later one wins.
    On error: reported; the plugin adds no tools.
    Since: 1.0
    """


@hookspec
def register_commands() -> Sequence[Command]:  # type: ignore[empty-body]
    """Add slash commands.

    When: once per load of the plugin.
    Answers: collect; if two have the same name, the later one wins.
    On error: reported; the plugin adds no commands.
    Since: 1.0
    """


@hookspec
def register_flags() -> Sequence[Flag]:  # type: ignore[empty-body]
    """Add options to the command line.

    When: once per load of the plugin; at start-up the plugin index is used instead.
    Answers: collect; if two have the same name, the later one wins.
    On error: reported; the plugin adds no options.
    Since: 1.0
    """


@hookspec
def register_shortcuts() -> Sequence[Shortcut]:  # type: ignore[empty-body]
    """Add keyboard shortcuts to interactive front ends.

    When: once per load of the plugin.
    Answers: collect; if two have the same key, the later one wins.
    On error: reported; the plugin adds no keys.
    Since: 1.0
    """


@hookspec
def register_modes() -> Sequence[Mode]:  # type: ignore[empty-body]
    """Add front ends.

    When: once per load of the plugin; at start-up their names come from the plugin index.
    Answers: collect; if two have the same name, the later one wins.
    On error: reported; the plugin adds no front end.
    Since: 1.0
    """


@hookspec
def register_subcommands() -> Sequence[Subcommand]:  # type: ignore[empty-body]
    """Add subcommands of ``pi``.

    When: once per load of the plugin; at start-up their names come from the plugin index.
    Answers: collect; if two have the same name, the later one wins.
    On error: reported; the plugin adds no subcommands.
    Since: 1.0
    """


@hookspec
def register_session_stores() -> Sequence[type[SessionStore]]:  # type: ignore[empty-body]
    """Add session stores.

    When: once per load of the plugin.
    Answers: collect; if two have the same name, the later one wins.
    On error: reported; the plugin adds no store.
    Since: 1.0
    """


@hookspec
def register_services() -> Sequence[Service]:  # type: ignore[empty-body]
    """Provide a policy, such as a ``Compactor``, a ``Retrier`` or ``ToolOperations``.

    Each object implements one of the protocols below; return several objects to provide several.

    When: once per load of the plugin.
    Answers: collect; for each kind, the service that was registered last is used, except that every
        ``ToolOperations`` (the last first) and every ``Launcher`` is asked.
    On error: reported; the plugin provides nothing.
    Since: 1.0
    """


@hookspec
def register_credentials() -> Sequence[CredentialSource]:  # type: ignore[empty-body]
    """Add sources of keys and tokens, asked after everything that the user configured.

    When: once per load of the plugin.
    Answers: collect; sources are asked in order, the first key wins.
    On error: reported; the plugin adds no source.
    Since: 1.0
    """


@hookspec
def register_renderers() -> Sequence[Renderer | ToolRenderer | MarkdownTransform]:  # type: ignore[empty-body]
    """Add renderers for custom messages, entries and tools (``ToolRenderer``), and transforms of Markdown.

    When: once per load of the plugin.
    Answers: collect; if two are for the same custom type or tool, the later one wins; all transforms run.
    On error: reported; the plugin adds no renderer.
    Since: 1.0
    """


@hookspec
def register_themes() -> Sequence[Theme]:  # type: ignore[empty-body]
    """Add themes.

    When: once per load of the plugin.
    Answers: collect; if two have the same name, the later one wins.
    On error: reported; the plugin adds no theme.
    Since: 1.0
    """


@hookspec
def register_exporters() -> Sequence[Exporter]:  # type: ignore[empty-body]
    """Add export formats of sessions: HTML, Markdown.

    When: once per load of the plugin; at start-up formats and suffixes come from the plugin index.
    Answers: collect; if two are for the same format, the later one wins.
    On error: reported; the plugin adds no format.
    Since: 1.0
    """


@hookspec
def register_resource_kinds() -> Sequence[ResourceKind]:  # type: ignore[empty-body]
    """Add kinds of files that pi finds and reads: skills, prompt templates, context files.

    When: once per load of the plugin.
    Answers: collect; if two have the same name, the later one wins.
    On error: reported; the plugin adds no kind.
    Since: 1.0
    """


@hookspec
def register_logins() -> Sequence[Login]:  # type: ignore[empty-body]
    """Add ways to sign in to a provider.

    When: once per load of the plugin.
    Answers: collect; if two are for the same provider, the later one wins.
    On error: reported; the plugin adds no login.
    Since: 1.0
    """


@hookspec
def register_settings() -> Sequence[PluginSetting]:  # type: ignore[empty-body]
    """Declare the plugin's own settings: ``pi config``, ``/settings`` and ``ctx.settings.set`` list and validate them.

    The plugin reads a setting with ``SETTING.read(ctx.settings)``, which returns the default of its schema if the user
    has not set it. Declarations are kept in the plugin index, so that listing settings imports no plugin.

    When: once, when the plugin is indexed.
    Answers: collect; a value must fit every declaration of its name.
    On error: reported; the plugin declares no settings.
    Since: 1.1
    """


@hookspec
def register_project_files() -> Sequence[ProjectFile]:  # type: ignore[empty-body]
    """Name the files of a project that the plugin runs or follows because they exist, such as ``AGENTS.md``.

    Guards protect them from the model: their content decides what later sessions do. ``ctx.project_files``
    returns the names of all plugins, including those that are not loaded because their files do not exist.

    When: once per load of the plugin; guards use the plugin index.
    Answers: collect; the names of all plugins.
    On error: reported; the plugin names no files.
    Since: 1.1
    """


@hookspec
def register_permissions() -> Sequence[PermissionStore]:  # type: ignore[empty-body]
    """Add the user's decisions that the plugin remembers, such as what an "always" has allowed.

    ``/permissions`` and ``pi permissions`` list them and undo them, ``ctx.list_permissions`` returns them. The question
    itself is ``ctx.ui.approve``.

    When: once per load of the plugin, when permissions are listed.
    Answers: collect; if two have the same name, the later one wins.
    On error: reported; the plugin adds no permissions.
    Since: 1.1
    """


@hookspec
def activate(pi: PiAPI) -> None:
    """Get ``pi``, for everything that is registered at run time: ``pi.on(...)``, ``pi.register_tool(...)``.

    A plugin that is useful only where it is configured can declare a condition next to its hooks:
    ``pi_when = {"files": ["acme.json"], "env": ["ACME_*"], "settings": ["acme.on"], "flags": ["acme"]}``. When a
    session starts or is reloaded, at least one of these must be true:

    - one of the files exists: in the agent directory, in the project's ``.pi`` or, written ``./acme.json``, in the
      working directory (``.../acme.json``: or in a folder above it);
    - one of the files of ``"texts": ["mcp.json: acme"]`` contains the text behind its name (since 1.2);
    - one of the variables is set;
    - one of the settings, or of the command-line options of plugins (``--acme``), has a value other than null and
      false. While a settings file cannot be read, its settings count as set, so that a guard is loaded and can refuse.

    Otherwise an installed plugin is not imported; what it registers by name, such as a subcommand, is still available
    from the index. A local extension is run to read its condition.

    Args:
        pi: This plugin's registrations and actions in one session.

    When: once per session, before ``session_start``.
    Answers: notify; the return value is ignored.
    On error: reported; what was registered before the error is kept.
    Since: 1.0
    """
