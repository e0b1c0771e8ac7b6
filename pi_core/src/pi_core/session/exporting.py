"""Exports a session as a document: selects the exporter, builds its request, and resolves the path of the file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from attrs import evolve

from pi_core.base.paths import expand_home
from pi_core.session.jsonl import NOTHING_TO_EXPORT, export_jsonl, write_whole
from pi_core.session.view import ReadOnlySession
from pi_hookspecs.errors import PiError, UserError
from pi_hookspecs.exports import ExportRequest

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pi_core.host import PluginHost
    from pi_core.host.registry import Registered
    from pi_core.session.open_session import OpenSession
    from pi_core.settings import Settings
    from pi_hookspecs import Renderer, Theme, Tool

__all__ = ["HTML", "JSONL", "custom_renderers", "export_session", "theme_names"]

HTML = "html"
"""The format of a file whose name has no suffix."""

JSONL = "jsonl"
"""The format that needs no exporter."""

_HOOK = "register_exporters"


def export_session(
    session: OpenSession,
    path: str | Path | None = None,
    *,
    host: PluginHost | None = None,
    cwd: str | Path | None = None,
    export_format: str | None = None,
    system_prompt: str | None = None,
    tools: Sequence[Tool] | None = None,
    themes: Mapping[str, Theme] | None = None,
    renderers: Mapping[str, Renderer] | None = None,
    clean: Callable[[str], str] = str,
) -> Path:
    """Write a session into a file and return its path.

    Args:
        session: The session, usually a ``SessionManager``.
        path: The file; its suffix selects the format, and ``.jsonl`` writes the branch as a separate session file. None
            uses a file ``pi-session-...`` named after the session's own file.
        host: The plugins; None uses the host with which the session was created.
        cwd: The folder for relative paths; None uses the working directory of the process.
        export_format: The format; None selects it by the suffix.
        system_prompt: See ``ExportRequest``.
        tools: See ``ExportRequest``.
        themes: Themes by name, which take precedence over those of plugins.
        renderers: Renderers for the messages and entries of plugins; None uses the plugins' own renderers.
        clean: Returns a text without secrets; by default it returns the text unchanged.

    Raises:
        UserError: There is nothing to export, no plugin writes the format, or the file cannot be written.
        PiError: The exporter failed.
    """
    host = host or session.plugin_host
    export_format = export_format or _format_of_suffix(path, host)
    if export_format == JSONL:
        return export_jsonl(session, _resolve_path(path or f"pi-session-{session.id}.jsonl", cwd), clean)
    exporter = _exporter(host, export_format)
    _check_exportable(session, exporter.name)
    assert host is not None  # noqa: S101 - an exporter was found
    light, dark = (_theme(name, themes or {}, host) for name in theme_names(host.settings))
    if renderers is None:
        renderers = custom_renderers(host.find_all("register_renderers"))
    request = ExportRequest(system_prompt=system_prompt, tools=tools, light=light, dark=dark, renderers=renderers)
    document = _cleaned(_run_exporter(exporter, session, request), clean)
    return write_whole(_resolve_path(path or _default_name(session, exporter), cwd), [document])


def _cleaned(document: bytes, clean: Callable[[str], str]) -> bytes:
    """Return a document without secrets; a document that is not text is returned unchanged."""
    try:
        text = document.decode()
    except UnicodeDecodeError:
        return document
    cleaned = clean(text)
    return document if cleaned == text else cleaned.encode()


def _format_of_suffix(path: str | Path | None, host: PluginHost | None) -> str:
    """Return the format of a file's suffix, HTML for a name without one.

    Raises:
        UserError: No plugin writes files with such a suffix.
    """
    name = Path(path).name.lower() if path is not None else ""
    if name.endswith(".jsonl"):
        return JSONL
    exporters = host.find_all(_HOOK) if host is not None else {}
    for export_format, found in exporters.items():
        if any(name.endswith(suffix.lower()) for suffix in found.thing.suffixes):
            return export_format
    suffix = Path(name).suffix
    if exporters and suffix:
        known = [each for found in exporters.values() for each in found.thing.suffixes] + [f".{JSONL}"]
        raise UserError(f"No plugin exports a session to a file *{suffix}. Known suffixes: {', '.join(known)}.")
    return HTML


def _exporter(host: PluginHost | None, export_format: str) -> Registered:
    found = host.find(_HOOK, export_format) if host is not None else None
    if found is not None:
        return found
    written, todo = repr(export_format), "Install one that can."
    if export_format == HTML:
        from pi_core.host.advice import plugin_for

        written = "HTML"
        todo = plugin_for("Exporter")
    raise UserError(
        f"No plugin in this session can write sessions as {written}. {todo} Or export to a file named *.jsonl."
    )


def _check_exportable(session: OpenSession, export_format: str) -> None:
    if export_format == HTML and not session.is_persisted:  # like the original, whose clients expect this
        raise UserError("Cannot export in-memory session to HTML")
    if not any(True for _ in session.entries().of_type("message")):
        raise UserError(NOTHING_TO_EXPORT)


def _run_exporter(exporter: Registered, session: OpenSession, request: ExportRequest) -> bytes:
    try:
        document = exporter.thing.export(ReadOnlySession(session), request)
    except PiError:
        raise
    except Exception as error:
        message = f"Plugin {exporter.plugin!r} failed to export the session: {type(error).__name__}: {error}"
        raise PiError(message) from error
    if not isinstance(document, bytes):
        kind = type(document).__name__
        raise PiError(f"Plugin {exporter.plugin!r} failed to export the session: it returned {kind}, not bytes")
    return document


def custom_renderers(found: Mapping[str, Registered]) -> dict[str, Renderer]:
    """Return the renderers of messages and entries that plugins registered."""
    return {name: each.thing for name, each in found.items() if hasattr(each.thing, "render")}


def theme_names(settings: Settings) -> tuple[str, str]:
    """Return the names of the themes for light and for dark pages; the setting ``theme`` may be ``light/dark``."""
    light, _, dark = (settings.get_str("theme", None) or "").partition("/")
    return light, dark or light


def _theme(name: str, themes: Mapping[str, Theme], host: PluginHost) -> Theme | None:
    found = host.find("register_themes", name) if name and name not in themes else None
    theme = found.thing if found is not None else themes.get(name)
    return (
        evolve(theme, colors={**theme.colors, **theme.export}, export={})
        if theme is not None and theme.export
        else theme
    )


def _default_name(session: OpenSession, exporter: Registered) -> str:
    stem = session.file.stem if session.file is not None else session.id
    return f"pi-session-{stem}{exporter.thing.suffixes[0]}"


def _resolve_path(path: str | Path, cwd: str | Path | None) -> Path:
    """Return the path of a file in ``cwd``; if ``cwd`` is the process's own, it stays relative, as in RPC results."""
    target = expand_home(path)
    return target if cwd is None or Path(cwd) == Path.cwd() else Path(cwd) / target
