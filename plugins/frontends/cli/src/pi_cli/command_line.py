"""The outermost error handling: every outcome becomes an exit code and at most one line on stderr."""

from __future__ import annotations

import errno
import os
import sys
from typing import TYPE_CHECKING

from pi_cli.report import say, warn
from pi_cli.words import one_line, sentences
from pi_core.base.process.signals import Stopped, raising_on_signals

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["run"]

_PIPE_CLOSED = 141
"""Exit code of a program that SIGPIPE ended, as shells report it: 128 + 13."""

_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""Errors of other files are handled where they occur; what remains is stdout."""


def run(arguments: Sequence[str], environ: Mapping[str, str]) -> int:
    """Run the command line and return the exit code.

    Args:
        arguments: The command line, without the program's name.
        environ: The environment; nothing below reads the process's own.
    """
    _prepare_streams()
    if not environ.get("HOME"):
        _name_home()
    try:
        with raising_on_signals():
            return _run(arguments, environ)
    except Stopped as stopped:
        return stopped.exit_code
    except KeyboardInterrupt:  # before our handlers are installed, or after
        return 130


def _run(arguments: Sequence[str], environ: Mapping[str, str]) -> int:
    from pi_hookspecs import NoModel, PiError

    try:
        from pi_cli.start import start

        code = start(arguments, environ)
        sys.stdout.flush()
    except BrokenPipeError:
        _drop_stdout()
        return _PIPE_CLOSED
    except NoModel as error:
        first, *more = sentences(str(error))  # the error that most users see first
        say(f"Error: {one_line(first)}", *map(one_line, more))
        code = 1
    except PiError as error:
        say(f"Error: {one_line(str(error))}")
        code = getattr(error, "exit_code", 1)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - last resort: a bug of pi, a plugin that cancels or exits
        _report_unexpected(error, verbose="--verbose" in arguments)
        code = 1
    _flush_or_drop()
    return code


def _report_unexpected(error: BaseException, *, verbose: bool) -> None:
    if isinstance(error, OSError) and error.errno in _NO_ROOM and error.filename is None:
        say(f"Error: The output cannot be written: {error.strerror}. Free some space, or redirect it")
        return
    name = type(error).__name__
    hint = "" if verbose else ". Run again with --verbose to see where"
    notes = "".join(f" ({one_line(note)})" for note in getattr(error, "__notes__", ()))
    say(f"Error: unexpected {name}: {one_line(str(error)) or '(no message)'}{notes}{hint}")
    if verbose:
        import traceback

        say(*"".join(traceback.format_exception(error)).rstrip("\n").split("\n"))


def _name_home() -> None:
    """Set ``HOME`` where it is missing: much that pi uses fails without it, or makes a folder named ``~``."""
    from pi_core.base.paths import NO_HOME, home_dir, user_name

    if os.name != "posix":
        return
    os.environ.pop("HOME", None)  # empty, it would mean the root folder
    home = os.environ["HOME"] = str(home_dir())
    if home == NO_HOME and not os.environ.get("PI_CODING_AGENT_DIR"):
        warn(
            f"HOME is not set, and user {user_name()} has no entry in the list of users: no settings, keys or sessions"
            " are read or stored. Set HOME, or PI_CODING_AGENT_DIR to a folder for them"
        )


def _prepare_streams() -> None:
    """Make sure that stdout and stderr exist and accept every character."""
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115 - for as long as the process lives
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115 - as above
    reconfigure = getattr(sys.stdout, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="replace")  # an answer may have characters that the encoding lacks


def _flush_or_drop() -> None:
    try:
        sys.stdout.flush()
    except OSError:
        _drop_stdout()


def _drop_stdout() -> None:
    """Discard the interpreter's last flush, which would print an error."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError):
        return
