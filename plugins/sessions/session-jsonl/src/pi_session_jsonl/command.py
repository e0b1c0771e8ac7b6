"""``pi sessions``: list the stored sessions, find one, check and repair a file.

Lists come from the store of the setting ``sessionStore``, which may be another plugin's; checks are for files of this
one. Other plugins add commands as subcommands of the name ``sessions NAME``.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from pi_core import clean_text, one_line
from pi_hookspecs.errors import UnknownName, UserError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pi_core import PluginHost
    from pi_hookspecs.session_store import SessionInfo, SessionStore
    from pi_session_jsonl.check import Checked

__all__ = ["run_sessions"]

_USAGE = """\
Usage: pi sessions list [--all] [--tree] [--session-dir DIR]
       pi sessions path ID [--session-dir DIR]
       pi sessions fsck FILE [--repair]

List and check stored sessions, in the store that the setting sessionStore names.

  list         List the sessions of this directory, the newest first
    --all      List the sessions of all directories
    --tree     List forks and the sessions of agents under their parent,
               including those in other directories
  path ID      Print the path of the session whose id begins with ID, or what
               the store uses in place of a path
  fsck FILE    Check a session file: header, damaged lines, ids, parents, tool
               calls. Exit code 0 if nothing is wrong, else 1
    --repair   Write a repaired copy next to it and print its path; the file
               itself is not changed. Exit code 0 if the copy can be used
  --session-dir DIR
               Look in this folder
  -h, --help   Print this help and exit
"""

_FOLDER = "--session-dir"
_SWITCHES = {"list": ("--all", "--tree", _FOLDER), "path": (_FOLDER,), "fsck": ("--repair",)}
_WITH_FOLDER = ("list", "path")
_WORDS = {"list": (), "path": ("ID",), "fsck": ("FILE",)}
_MOST_COLUMNS = 1000
_HOOK = "register_subcommands"


def run_sessions(arguments: Sequence[str], host: PluginHost) -> int:
    """Run the command and return the exit code.

    Raises:
        UserError: The arguments are invalid, or name no session.
    """
    given = list(_without_common(arguments))
    added = host.find(_HOOK, f"sessions {given[0]}") if given and given[0] not in _WORDS else None
    if added is not None:
        return int(added.thing.run(given[1:], host))
    if not given or {"-h", "--help"} & set(given):
        sys.stdout.write(_USAGE + "".join(_added(host)))
        return 0
    given, folder = _without_folder(given) if given[0] in _WITH_FOLDER else (given, None)
    verb, words, switches = _parsed(given)
    if verb == "fsck":
        return _fsck(words[0], repair="--repair" in switches)
    from pi_core import resolve_store

    store = resolve_store(session_dir=folder, host=host).store
    if verb == "path":
        return _path(store, words[0])
    return _list(store, everywhere="--all" in switches, tree="--tree" in switches)


def _added(host: PluginHost) -> Iterator[str]:
    """Yield lines of help for the commands that other plugins add as subcommands ``sessions NAME``."""
    for record in host.records.values():
        for name in record.names(_HOOK):
            if name.startswith("sessions ") and record.name not in host.disabled:
                yield f"\nThe plugin {record.name} adds pi {name}; see pi {name} --help\n"


def _without_common(arguments: Sequence[str]) -> Iterator[str]:
    """Yield the arguments without the options common to all subcommands."""
    rest = iter(arguments)
    for argument in rest:
        if argument == "--":
            yield argument
            yield from rest  # words, whatever they look like
        elif argument == "--disable":
            next(rest, None)
        elif argument != "--verbose" and not argument.startswith("--disable="):
            yield argument


def _without_folder(arguments: list[str]) -> tuple[list[str], str | None]:
    """Return the arguments without ``--session-dir DIR``, and the folder.

    Raises:
        UserError: The folder is missing.
    """
    kept, folder = [], None
    rest = iter(arguments)
    for argument in rest:
        name, equals, value = argument.partition("=")
        if argument == "--":
            kept += [argument, *rest]
        elif name == _FOLDER:
            folder = value if equals else next(rest, "")
            if not folder:
                raise UserError(f"{_FOLDER} needs a folder. See pi sessions --help")
        else:
            kept.append(argument)
    return kept, folder


def _parsed(arguments: list[str]) -> tuple[str, list[str], set[str]]:
    verb, *rest = arguments
    if verb not in _WORDS:
        raise UnknownName("command of pi sessions", verb, _WORDS, "See pi sessions --help")
    literal = rest.index("--") if "--" in rest else len(rest)
    switches = {each for each in rest[:literal] if each.startswith("-") and each != "-"}
    words = [each for each in rest[:literal] if each not in switches] + rest[literal + 1 :]
    for switch in sorted(switches - set(_SWITCHES[verb])):
        raise UnknownName("option", switch, _SWITCHES[verb], "See pi sessions --help")
    wanted = _WORDS[verb]
    if len(words) < len(wanted):
        raise UserError(f"pi sessions {verb} needs {wanted[len(words)]}. See pi sessions --help")
    if len(words) > len(wanted):
        raise UserError(f"pi sessions {verb} takes no argument {words[len(wanted)]!r}. See pi sessions --help")
    return verb, words, switches


# list and path


def _list(store: SessionStore, *, everywhere: bool, tree: bool) -> int:
    found = store.list(None if everywhere else str(Path.cwd()))
    if not found:
        other = "" if store.name == "jsonl" else f" in the session store {store.name!r}"
        where = "" if everywhere else " for this directory; --all looks everywhere"
        sys.stdout.write(f"No sessions are stored{other}{where}.\n")
    from pi_core import nested_sessions

    levels = (
        nested_sessions(found, found if everywhere else store.list(None)) if tree else [(info, 0) for info in found]
    )
    sys.stdout.writelines(f"{line}\n" for line in _table(levels, with_cwd=everywhere))
    return 0


def _table(found: Sequence[tuple[SessionInfo, int]], *, with_cwd: bool) -> Iterator[str]:
    rows = [_row(info, depth, with_cwd=with_cwd) for info, depth in found]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    room = _columns()
    for row in rows:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()[:room]


def _row(info: SessionInfo, depth: int, *, with_cwd: bool) -> tuple[str, ...]:
    modified = info.modified.astimezone().strftime("%Y-%m-%d %H:%M")
    from pi_terminal_kit.words import session_title

    title = session_title(info.name, info.first_message)
    cells = (modified, info.id, str(info.message_count))
    plain = tuple(map(one_line, (*cells, *((info.cwd,) if with_cwd else ()), title[:_MOST_COLUMNS])))
    branch = f"{'   ' * (depth - 1)}└─ " if depth else ""
    return (*plain[:-1], f"{branch}{plain[-1]}")


def _columns() -> int:
    """Return the width of a line; output to a pipe is not cut."""
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns or _MOST_COLUMNS
    except (OSError, ValueError):
        return _MOST_COLUMNS


def _path(store: SessionStore, wanted: str) -> int:
    from pi_core import find_by_prefix

    _print_path(find_by_prefix(wanted, store.list(), str(Path.cwd())).path)
    return 0


def _print_path(path: object) -> None:
    """Print a path: unchanged to a pipe, for ``$(...)``, cleaned at a terminal."""
    sys.stdout.write(f"{clean_text(str(path)) if sys.stdout.isatty() else path}\n")


# fsck


def _fsck(name: str, *, repair: bool) -> int:
    from pi_session_jsonl.check import check_session
    from pi_session_kit.lines import NoSession

    path = Path(name)
    try:
        checked = check_session(path.read_bytes())
    except OSError as error:
        raise UserError(f"Cannot read {name!r}: {error.strerror or error}") from error
    except NoSession as error:
        raise UserError(f"{name!r} contains no session: {error}") from None
    for finding in checked.findings:
        sys.stdout.write(f"line {finding.line}: {one_line(finding.message)}\n")
    if not checked.findings:
        count = len(checked.lines.ids)
        sys.stdout.write(f"Nothing is wrong: {count} {'entry' if count == 1 else 'entries'}.\n")
        return 0
    return _repair(path, checked) if repair else 1


def _repair(path: Path, checked: Checked) -> int:
    from pi_session_jsonl.check import check_session
    from pi_session_jsonl.repair import repaired, write_copy

    if not any(finding.mendable for finding in checked.findings):
        sys.stdout.write("A repaired copy would be no different; the file can be used as it is.\n")
        return 0
    data = repaired(checked)
    try:
        copy = write_copy(path, data)
    except OSError as error:
        raise UserError(f"Cannot write a repaired copy next to {str(path)!r}: {error.strerror or error}") from error
    _print_path(copy)
    return int(any(finding.mendable for finding in check_session(data).findings))
