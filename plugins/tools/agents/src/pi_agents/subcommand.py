"""``pi agents``: lists and checks agent files, makes new ones; lists, applies and drops worktrees."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import frozen

from pi_agents.agent_file import KEYS, line_of, read_agent
from pi_agents.kind import agent_kind, folders
from pi_core import clean_text, one_line
from pi_hookspecs import ResourceRequest, UserError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_hookspecs import ResourceContent, ResourceFile

__all__ = ["run_subcommand"]

_USAGE = """\
Usage: pi agents list [--json]
       pi agents check [FILE ...]
       pi agents new NAME [--project]
       pi agents worktrees
       pi agents apply ID [--json]
       pi agents drop ID [--json]
       pi agents undo [ID] [--json]
       pi agents empty

list       List the agents of this folder and of the user, with their files
check      Report what pi cannot use in agent files; exit code 1 if an agent
           cannot be used at all
new        Create an agent file to fill in: for the user, or with --project in
           .pi/agents of this folder
worktrees  List the worktrees of this repository that agents left behind, and
           those of pi -w
apply      Apply the changes of a worktree to your files, without a commit;
           exit code 1 and the names of the files if they conflict
drop       Move a worktree, its branch and its changes to the trash
undo       Bring a dropped worktree back, the last one if none is named
empty      Remove the dropped worktrees of this repository for good
"""

_UNDO_LAST = (("undo",), ("undo", "--json"))

_NEW = """\
---
name: {name}
description: Say when to use this agent. The model chooses by this line.
# tools: read, grep, find, ls         (all tools of the session when left out)
# model: inherit                      (or a model as pi --model takes it)
# thinking: medium
# maxTurns: 30
# maxCost: 0.50                       (dollars)
# isolation: worktree                 (a git worktree of its own)
---

Say how the agent works: what it looks at, what it leaves alone, what its
answer contains. It sees nothing of the conversation but the task.
"""


@frozen
class _Found:
    """An agent file and what was read in it; ``used`` is False if another file has its name."""

    file: ResourceFile
    content: ResourceContent
    used: bool = True


def run_subcommand(arguments: list[str], host: Any) -> int:
    """Run ``pi agents``; return the exit code.

    Raises:
        UserError: A file cannot be read or written, or there is no git repository.
    """
    match arguments:
        case ["list"] | ["list", "--json"]:
            return _list_json(host) if "--json" in arguments else _list(host)
        case ["check", *paths]:
            return _check(paths, host)
        case ["new", name] | ["new", name, "--project"] | ["new", "--project", name] if not name.startswith("-"):
            return _new(name, host, project="--project" in arguments)
        case [("worktrees" | "empty") as word]:
            return (_worktrees if word == "worktrees" else _empty)(host)
        case [("apply" | "drop" | "undo") as word, *rest] if _one_name(rest) or (word, *rest) in _UNDO_LAST:
            change = {"apply": _apply, "drop": _drop, "undo": _undo}[word]
            return change(_one_name(rest), host, as_json="--json" in rest)
        case _:
            return _usage(arguments)


def _one_name(rest: list[str]) -> str:
    """Return the id among arguments that are one id and perhaps ``--json``; otherwise an empty text."""
    names = [each for each in rest if each != "--json"]
    return names[0] if len(names) == 1 and len(rest) - len(names) <= 1 and not names[0].startswith("-") else ""


def _usage(arguments: list[str]) -> int:
    if not arguments or arguments[0] in ("-h", "--help"):
        sys.stdout.write(_USAGE)
        return 0
    if arguments[0] in ("apply", "drop") and not [each for each in arguments[1:] if each != "--json"]:
        usage = f"pi agents {arguments[0]} ID [--json]"
        sys.stderr.write(f"{usage} needs the id of a worktree; pi agents worktrees lists them\n")
    else:
        sys.stderr.write(f"Unknown arguments: {' '.join(arguments)}\n\n{_USAGE}")
    return 2


def _found(host: Any) -> list[_Found]:
    """Return the agent files of this folder and the user's."""
    settings, cwd = host.settings, Path.cwd()
    kind = agent_kind()
    assert kind.find is not None  # noqa: S101 - for type checkers
    trusted = settings.trust_of(cwd).is_trusted
    request = ResourceRequest(cwd=cwd, agent_dir=Path(settings.agent_dir), project_trusted=trusted)
    found: list[_Found] = []
    names: set[str] = set()
    for file in kind.find(request):
        content = read_agent(file, _text(file.path))  # type: ignore[arg-type] # this kind finds no problems
        found.append(_Found(file, content, content.name not in names))  # type: ignore[arg-type] # as above
        names |= {content.name} if content.name is not None else set()
    return found


def _text(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8-sig", errors="replace")
    except OSError as error:
        raise UserError(f"{path}: {error.strerror or error}") from error


def _list(host: Any) -> int:
    found = [each for each in _found(host) if each.content.name is not None and each.used]
    width = max((len(str(each.content.name)) for each in found), default=0)
    room = _columns()
    for each in found:
        line = one_line(str(each.content.description))
        sys.stdout.write(f"{f'{str(each.content.name).ljust(width)}  {line}'[:room]}\n")
        sys.stdout.write(f"{' ' * width}  {clean_text(each.file.path)}\n")
    if not found:
        sys.stdout.write("There are no agents. pi agents new NAME creates one.\n")
    _report_untrusted(host)
    return 0


def _list_json(host: Any) -> int:
    rows = [
        {
            "name": each.content.name,
            "description": each.content.description,
            "path": each.file.path,
            "scope": each.file.scope,
            **{key: value for key, value in each.content.data.items() if key != "notes"},
        }
        for each in _found(host)
        if each.content.name is not None and each.used
    ]
    _print_json(rows)
    return 0


def _report_untrusted(host: Any) -> None:
    """Say which folders are left out."""
    cwd = Path.cwd()
    if host.settings.trust_of(cwd).is_trusted:
        return
    agent_dir = Path(host.settings.agent_dir)
    used = {path for path, _ in folders(cwd, agent_dir, trusted=False)}
    left_out = [str(path) for path, _ in folders(cwd, agent_dir, trusted=True) if path not in used and path.is_dir()]
    if left_out:
        folders_left_out = clean_text(", ".join(left_out))
        sys.stderr.write(f"Not used: {folders_left_out}: the folder is not trusted. Run pi trust\n")


def _check(paths: Sequence[str], host: Any) -> int:
    """Report problems and notes of agent files, those given or all."""
    from pi_hookspecs import ResourceFile

    if paths:
        files = [ResourceFile(path=each, scope="user", source="cli", base_dir=os.path.dirname(each)) for each in paths]  # noqa: PTH120
        found = [_Found(file, read_agent(file, _text(file.path))) for file in files]
    else:
        found = _found(host)
    tools = set(host.registered_names("register_tools"))
    failed = False
    for each in found:
        problems = [f"{problem.line or 1}: {problem.message}" for problem in each.content.problems]
        unknown = [tool for tool in each.content.data.get("tools", ()) if tool not in tools]
        line = line_of(_text(each.file.path), "tools") if unknown else 1
        problems += [f"{line}: there is no tool {tool!r}. The agent is not offered" for tool in unknown]
        failed = failed or bool(problems)
        notes = [f"note: {note}" for note in each.content.data.get("notes", ())]
        if not each.used:
            notes.append(f"note: another file has the name {each.content.name!r} and is used")
        sys.stdout.writelines(clean_text(f"{each.file.path}:{line}\n") for line in problems)
        sys.stdout.writelines(clean_text(f"{each.file.path}: {line}\n") for line in notes)
    count = f"{len(found)} {'file' if len(found) == 1 else 'files'}"
    sys.stdout.write(f"{count} checked. The keys with a meaning are {', '.join(KEYS)}.\n" if found else "No files.\n")
    if not paths:
        _report_untrusted(host)
    return 1 if failed else 0


def _new(name: str, host: Any, *, project: bool) -> int:
    folder = Path.cwd() / ".pi" / "agents" if project else Path(host.settings.agent_dir) / "agents"
    path = folder / f"{name}.md"
    if read_agent(_file(path), _NEW.format(name=name)).name != name or "/" in name:
        raise UserError(f"{name!r} is not a valid name for an agent: use letters, digits and hyphens")
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(_NEW.format(name=name))
    except FileExistsError as error:
        raise UserError(f"{path} already exists; it was not changed") from error
    sys.stdout.write(f"{clean_text(str(path))}\n")
    return 0


def _file(path: Path) -> ResourceFile:
    from pi_hookspecs import ResourceFile

    return ResourceFile(path=str(path), scope="user", source="cli", base_dir=str(path.parent))


def _worktrees(host: Any) -> int:
    from pi_agents.commands import worktrees_text
    from pi_agents.kept import repository
    from pi_agents.settings import caches

    git, agent_dir = repository(Path.cwd()), Path(host.settings.agent_dir)
    text = worktrees_text(git, agent_dir, caches(host.settings), "pi agents undo")
    sys.stdout.write(f"{clean_text(text)}\n")
    return 0


def _apply(name: str, host: Any, *, as_json: bool) -> int:
    """Apply the changes of a worktree; exit code 1 if they conflict with the user's files."""
    from pi_agents.commands import applied_text
    from pi_agents.kept import find, repository
    from pi_agents.merging import Conflict, apply, merge
    from pi_agents.settings import caches

    git = repository(Path.cwd())
    kept = find(git, Path(host.settings.agent_dir), name)
    try:
        merged = merge(git, kept, caches(host.settings))
    except Conflict as error:
        if as_json:
            _print_json({"id": kept.id, "applied": False, "files": [], "conflicts": error.files})
        else:
            sys.stderr.write(f"{clean_text(str(error))}\n")
        return 1
    left = apply(merged)
    if as_json:
        rows = [line.strip() for line in left]
        _print_json({"id": kept.id, "applied": True, "files": merged.files, "conflicts": [], "left": rows})
        return 0
    then = f"\npi agents drop {name} removes the worktree." if merged.stat else ""
    sys.stdout.write(f"{clean_text(applied_text(name, merged.stat, left))}{then}\n")
    return 0


def _drop(name: str, host: Any, *, as_json: bool) -> int:
    from pi_agents.commands import dropped_text
    from pi_agents.kept import find, repository
    from pi_agents.settings import trash_limits
    from pi_agents.trash import drop

    git, limits = repository(Path.cwd()), trash_limits(host.settings)
    kept = find(git, Path(host.settings.agent_dir), name)
    dropped = drop(git, kept, limits)
    if as_json:
        trash = None if dropped is None else str(dropped.folder)
        secrets = [] if dropped is None else [*dropped.secrets]
        row = {"id": kept.id, "path": str(kept.path), "branch": kept.branch, "dropped": True}
        _print_json({**row, "trash": trash, "secrets": secrets})
    else:
        sys.stdout.write(f"{clean_text(dropped_text(kept, dropped, limits.days, 'pi agents undo'))}\n")
    return 0


def _undo(name: str, host: Any, *, as_json: bool) -> int:
    from pi_agents.kept import repository
    from pi_agents.trash import undo_drop

    kept = undo_drop(repository(Path.cwd()), Path(host.settings.agent_dir), name)
    if as_json:
        _print_json({"id": kept.id, "path": str(kept.path), "branch": kept.branch})
    else:
        sys.stdout.write(f"{clean_text(f'{kept.path} and the branch {kept.branch} are back.')}\n")
    return 0


def _empty(host: Any) -> int:
    from pi_agents.kept import repository
    from pi_agents.trash import empty_trash

    removed = empty_trash(repository(Path.cwd()), Path(host.settings.agent_dir))
    names = ", ".join(each.kept.id for each in removed)
    sys.stdout.write(f"Removed for good: {names}.\n" if removed else "The trash is empty.\n")
    return 0


def _print_json(value: object) -> None:
    sys.stdout.write(f"{json.dumps(value, indent=2, ensure_ascii=False)}\n")


def _columns() -> int | None:
    """Return the width of a line at a terminal; output to a pipe is not cut."""
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns
    except (OSError, ValueError):
        return None
