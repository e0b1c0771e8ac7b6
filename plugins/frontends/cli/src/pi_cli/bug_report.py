"""``/bug``: what happened, the versions and the last errors, in a file that the user reads before anything leaves.

Nothing is sent. The file has no text of the conversation: of messages only their errors, of settings only their names.
"""

from __future__ import annotations

import os
import platform
import sys
import time
from importlib.metadata import PackageNotFoundError, metadata
from typing import TYPE_CHECKING, Any

from pi_hookspecs import AssistantMessage, MessageEntry, PiError, ToolResultMessage

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pi_hookspecs import PiContext

__all__ = ["write_report"]

_MOST_ERRORS = 10
_MOST_LINES = 50
"""Lines of the debug log."""

_LONGEST = 500
"""Characters of an error."""

_MOST_LOG = 65_536
"""Bytes at the end of the log that are read."""

_VARIABLES = ("TERM", "TERM_PROGRAM", "COLORTERM", "LANG")


async def write_report(args: str, ctx: PiContext) -> None:
    """Write the report, and notify the user of its place."""
    try:
        path = _write("\n".join(_lines(args.strip(), ctx)), ctx)
    except (OSError, PiError) as error:
        reason = error.strerror or error if isinstance(error, OSError) else error
        ctx.ui.notify(f"The report was not written: {reason}", "error")
        return
    place = _issues()
    then = f"If it may be public, open an issue at {place} with it." if place else "Share it if you like."
    ctx.ui.notify(f"The report is in {path}. Nothing was sent: read it, and remove what is private. {then}")


def _write(text: str, ctx: PiContext) -> Path:
    folder: Path = ctx.settings.agent_dir / "logs"
    path = folder / f"bug-{time.strftime('%Y%m%d-%H%M%S')}.md"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    cleaned = _clean(text, ctx).encode("utf-8", "backslashreplace")  # an error may have half a surrogate pair
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.write(cleaned)
    return path


def _lines(text: str, ctx: PiContext) -> Iterator[str]:
    yield from ("# Bug report", "", "## What happened", "", text or "(what did you do, expect and get?)", "")
    yield from ("## Versions", "", *_versions(ctx), "")
    yield from ("## Plugins", "", *_plugins(), "")
    yield from ("## Settings that are set", "", ", ".join(_setting_names(ctx)) or "none", "")
    yield from ("## Last errors of this session", "", *(_errors(ctx) or ["none"]), "")
    log = _log_lines()
    yield from ("## Last lines of the debug log", "", *(log or ["There is none: PI_LOG=debug writes one."]), "")


def _versions(ctx: PiContext) -> Iterator[str]:
    from pi_cli import __version__

    model = ctx.model
    yield f"- pi {__version__}, Python {platform.python_version()}, {platform.platform()}"
    yield f"- front end: {ctx.mode}"
    yield f"- model: {f'{model.reference} ({model.api}), {ctx.thinking_level}' if model is not None else 'none'}"
    yield f"- terminal: {', '.join(f'{name}={os.environ[name]}' for name in _VARIABLES if os.environ.get(name))}"


def _plugins() -> Iterator[str]:
    """Yield the distributions with plugins; those of pi's own version in one row."""
    from pi_cli import __version__
    from pi_core import find_plugins

    found = {each.distribution: each.version for each in find_plugins()[0]}
    ours = [name for name, version in found.items() if name.startswith("pluggypi-") and version == __version__]
    yield f"- {len(ours)} distributions of pi {__version__}"
    yield from sorted(f"- {name} {version}" for name, version in found.items() if name not in ours)


def _setting_names(ctx: PiContext) -> list[str]:
    from pi_core.settings.values import leaves, name_of

    settings: Any = ctx.settings  # pi's own have more than plugins are promised
    return [name_of(steps) for steps, _ in leaves(settings.all())]


def _errors(ctx: PiContext) -> list[str]:
    found = []
    for entry in ctx.session.branch():
        message = entry.message if isinstance(entry, MessageEntry) else None
        if isinstance(message, AssistantMessage) and message.error_message:
            found.append(f"- {message.provider}/{message.model}: {_short(message.error_message, ctx)}")
        elif isinstance(message, ToolResultMessage) and message.is_error:
            found.append(f"- the tool {message.tool_name} failed")
    return found[-_MOST_ERRORS:]


def _clean(text: str, ctx: PiContext) -> str:
    """Return a text without secrets; known ones are replaced even where ``redact.enabled`` is false."""
    return ctx.secrets.redact(ctx.secrets.clean(text))


def _short(text: str, ctx: PiContext) -> str:
    """Return a text in one line; secrets are replaced before the cut, because the rest of one is not recognized."""
    line = " ".join(_clean(text, ctx).split())
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}..."


def _log_lines() -> list[str]:
    """Return the end of this process's debug log as a code block; nothing without a log."""
    logging: Any = sys.modules.get("logging")
    handlers = logging.getLogger("pi").handlers if logging is not None else ()
    files = [each.baseFilename for each in handlers if isinstance(each, logging.FileHandler)]
    if not files:
        return []
    try:
        with open(files[-1], "rb") as file:  # noqa: PTH123 - to seek from the end
            file.seek(max(os.fstat(file.fileno()).st_size - _MOST_LOG, 0))
            lines = file.read().decode("utf-8", "replace").splitlines()
    except OSError:
        return []
    return ["```text", *(line.replace("```", "'''") for line in lines[-_MOST_LINES:]), "```"]


def _issues() -> str | None:
    """Return the address for issues, from the metadata of the distribution; None if it has none."""
    try:
        urls = metadata("pluggypi-cli").get_all("Project-URL") or ()
    except PackageNotFoundError:
        return None
    rows = (url.partition(",") for url in urls)
    return next((address.strip() for name, _, address in rows if name.strip() == "Issues"), None)
