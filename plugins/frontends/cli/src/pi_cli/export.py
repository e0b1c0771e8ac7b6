"""``--export IN [OUT]``: exports a stored session as a document."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_cli.report import print_lines, warn
from pi_cli.session_choice import stored_session
from pi_core.session.exporting import export_session
from pi_hookspecs import PiError, UserError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from pi_cli.options import Options
    from pi_core import PluginHost

__all__ = ["export"]


def export(options: Options, host: PluginHost, cwd: Path, environ: Mapping[str, str]) -> int:
    """Write the session, print the path of the file, and return the exit code.

    Raises:
        UserError: There is no such session, no exporter for the format, or the file cannot be written.
    """
    if len(options.messages) > 1 or options.files:
        given = [*options.messages, *(f"@{file}" for file in options.files)]
        raise UserError(f"--export takes a session and at most one file to write, not {' '.join(map(repr, given))}")
    session = stored_session(options.export or "", options, host, cwd, environ)
    for notice in session.notices:
        warn(notice)
    try:
        path = export_session(session, *options.messages, host=host, cwd=cwd, clean=_cleaner(host))
    except PiError:
        for problem in host.problems:  # the missing exporter may belong to a plugin that failed to load
            warn(problem)
        raise
    finally:
        session.close()
    print_lines(str(path))
    return 0


def _cleaner(host: PluginHost) -> Callable[[str], str]:
    """Return a function that removes secrets from a text, for use outside a conversation."""
    from pi_core import PluginSecrets

    return PluginSecrets.of_host(host).clean
