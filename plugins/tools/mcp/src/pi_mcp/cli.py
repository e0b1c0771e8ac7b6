"""``pi mcp``: lists and tests configured servers, and edits ``mcp.json``."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pi_core import clean_text, one_line, run_until_signal
from pi_hookspecs import PiError, UserError
from pi_mcp.config import project_files, user_file
from pi_mcp.edit import change_entry, entries_in, has_entry, put_entries
from pi_mcp.entries import EXPOSURES, read_entry
from pi_mcp.imports import CLIENTS, files_of, rows_of, servers_in, servers_of_folder

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_mcp.hub import Hub

__all__ = ["run_mcp"]

_OAUTH = {
    "--oauth-client-id": ("clientId", "ID", "the client that you registered with the operator of the server"),
    "--oauth-client-secret": ("clientSecret", "SECRET", "its secret; '${NAME}' leaves it in a variable"),
    "--oauth-callback-port": ("callbackPort", "PORT", "the port to which the browser returns"),
    "--oauth-client-name": ("clientName", "NAME", "the name under which pi registers itself"),
    "--oauth-client-registration": ("clientRegistration", "HOW", "auto, dcr or cimd"),
}
"""Options of ``pi mcp add`` with their keys in ``oauth`` of the entry."""


def run_mcp(arguments: Sequence[str], host: Any) -> int:
    """Run the command and return the exit code: 0 done, 1 failed or nothing found, 2 wrong use.

    Raises:
        UserError: A file cannot be used.
    """
    words = [*arguments]
    at = words.index("--") if "--" in words else len(words)
    try:
        given = _parser().parse_args(words[:at])
    except SystemExit as end:  # argparse has printed why
        return int(end.code or 0)
    given.command = words[at + 1 :]
    run = {
        "list": _list, "add": _add, "remove": _remove, "enable": _enable, "disable": _enable, "test": _test,
        "tools": _tools, "import": _import, "login": _login, "logout": _login, "serve": _serve,
    }[given.verb]  # fmt: skip
    return run(given, host)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="pi mcp", description="List, test and configure MCP servers.")
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    verb = verbs.add_parser("list", help="connect to every server and report the result; exit code 1 if one fails")
    verb.add_argument("--json", action="store_true", help="print an object with servers and errors")
    verb = verbs.add_parser(
        "add",
        help="configure a server, by its program or its --url",
        usage="pi mcp add NAME [OPTIONS] -- COMMAND [ARGUMENTS]\n       pi mcp add NAME [OPTIONS] --url URL",
    )
    verb.add_argument("name")
    _where(verb)
    verb.add_argument("--env", action="append", default=[], metavar="NAME=VALUE", help="set a variable of the program")
    verb.add_argument("--cwd", help="where the program runs")
    verb.add_argument("--url", help="the address of a server over HTTP")
    verb.add_argument("--header", action="append", default=[], metavar="NAME: VALUE")
    verb.add_argument("--bearer-token-env-var", metavar="VARIABLE", help="the variable that has the token")
    verb.add_argument("--exposure", choices=EXPOSURES, help="when the model is offered the tools")
    verb.add_argument("--description", metavar="TEXT", help="a line for the model about the server")
    for option, (_, metavar, what) in _OAUTH.items():
        verb.add_argument(option, metavar=metavar, type=int if metavar == "PORT" else str, help=what)
    for name, what in (
        ("remove", "remove a server"),
        ("enable", "use a server again"),
        ("disable", "keep a server, unused"),
    ):
        verb = verbs.add_parser(name, help=what)
        verb.add_argument("name")
        _where(verb)
    verb = verbs.add_parser("test", help="connect to a server, and call one of its tools")
    verb.add_argument("name")
    verb.add_argument("tool", nargs="?", help="its name at the server")
    verb.add_argument("arguments", nargs="?", default="{}", metavar="JSON", help="the tool's arguments")
    verb = verbs.add_parser("tools", help="list a server's tools with their names for the model")
    verb.add_argument("name")
    verb.add_argument("--json", action="store_true", help="print a list of objects")
    for name, what in (("login", "sign in to a server over HTTP"), ("logout", "delete the sign-in of a server")):
        verb = verbs.add_parser(name, help=what)
        verb.add_argument("name")
        verb.add_argument("-l", "--local", action="store_true", help="the server of the project's .pi/mcp.json")
        if name == "login":
            verb.add_argument("--timeout", type=_seconds, default=300.0, metavar="SECONDS", help="how long it may take")
    verb = verbs.add_parser("import", help="copy the servers of another program")
    verb.add_argument("client", choices=sorted(CLIENTS))
    _where(verb)
    verb.add_argument("--only", choices=("user", "project"), help="its files in your home folder, or in the project")
    verb.add_argument("--approve", action="store_true", help="trust the project's files for this run")
    verb.add_argument("--dry-run", action="store_true", help="print what would be copied")
    verb.add_argument("--json", action="store_true", help="print a list of objects, without entries")
    verb = verbs.add_parser("serve", help="run as a server on standard input and output, for other agents")
    verb.add_argument("--read-only", action="store_true", help="offer only tools that change nothing")
    verb.add_argument("--model", help="the model that answers; your default one if not given")
    return parser


def _seconds(text: str) -> float:
    """Return a number of seconds above 0; what it raises, argparse words."""
    seconds = float(text)
    if not 0 < seconds < float("inf"):
        raise ValueError(text)
    return seconds


_seconds.__name__ = "number of seconds"
"""As argparse calls it when the text is none."""


def _where(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("-l", "--local", action="store_true", help="in the project's .pi/mcp.json, not in your own")


def _file(given: argparse.Namespace, host: Any) -> Path:
    return project_files(Path.cwd())[1] if given.local else user_file(Path(host.settings.agent_dir))


def _add(given: argparse.Namespace, host: Any) -> int:
    entry = _entry(given)
    if bool(given.command) == bool(given.url):
        _say("Give either the command to start, after --, or the address of the server, with --url.")
        return 2
    try:
        read_entry(given.name, entry, scope="user", origin="")
    except ValueError as error:
        _say(f"{given.name}: {error}.")
        return 2
    file = _file(given, host)
    if has_entry(file, given.name):
        raise UserError(
            f"{file} already has a server {given.name!r}. Choose another name, or remove it first:"
            f" pi mcp remove {given.name}{' -l' if given.local else ''}"
        )
    change_entry(file, given.name, lambda _: entry)
    _print(f"Added {given.name} to {file}. Test it with pi mcp test {given.name}.")
    return 0


def _entry(given: argparse.Namespace) -> dict[str, Any]:
    """Return the entry that the options of ``pi mcp add`` describe."""
    entry: dict[str, Any] = {}
    if given.command:
        entry["command"], *entry["args"] = given.command
    if given.url:
        entry["url"] = given.url
    if given.cwd:
        entry["cwd"] = given.cwd
    if given.env:
        entry["env"] = dict(_pair(each, "=", "--env NAME=VALUE") for each in given.env)
    headers = dict(_pair(each, ":", "--header 'NAME: VALUE'") for each in given.header)
    if given.bearer_token_env_var:
        headers["Authorization"] = f"Bearer ${{{given.bearer_token_env_var}}}"
    if headers:
        entry["headers"] = headers
    entry |= {key: value for key in ("exposure", "description") if (value := getattr(given, key)) is not None}
    oauth = {key: getattr(given, option[2:].replace("-", "_")) for option, (key, *_) in _OAUTH.items()}
    if any(value is not None for value in oauth.values()):
        entry["oauth"] = {key: value for key, value in oauth.items() if value is not None}
    return entry


def _pair(text: str, mark: str, form: str) -> tuple[str, str]:
    name, found, value = text.partition(mark)
    if not found or not name.strip():
        raise UserError(f"{name!r} is not of the form {form}.")
    return name.strip(), value.strip() if mark == ":" else value


def _remove(given: argparse.Namespace, host: Any) -> int:
    file = _file(given, host)
    _check_entry(file, given, host)
    change_entry(file, given.name, lambda _: None)
    _print(f"Removed {given.name} from {file}.")
    return 0


def _enable(given: argparse.Namespace, host: Any) -> int:
    file, on = _file(given, host), given.verb == "enable"
    _check_entry(file, given, host)

    def change(entry: dict[str, Any] | None) -> dict[str, Any]:
        kept = {key: value for key, value in (entry or {}).items() if key not in ("disabled", "enabled")}
        return kept if on else {**kept, "enabled": False}

    change_entry(file, given.name, change)
    _print(f"{given.name} is {'enabled' if on else 'disabled'} in {file}.")
    return 0


def _check_entry(file: Path, given: argparse.Namespace, host: Any) -> None:
    if has_entry(file, given.name):
        return
    files = [user_file(Path(host.settings.agent_dir)), *project_files(Path.cwd())]
    other = next((each for each in files if each != file and has_entry(each, given.name)), None)
    hint = f" It is in {other}{'' if given.local or other.name.startswith('.') else '; add -l'}." if other else ""
    raise UserError(f"{file} has no server {given.name!r}.{hint}")


_LOCAL = "it was for this folder alone, and starts in every folder here"


def _import(given: argparse.Namespace, host: Any) -> int:
    own, project = files_of(given.client, Path.home(), Path.cwd(), optional=given.json)
    target = _file(given, host)
    rows: list[dict[str, Any]] = []
    for file in [*(own if given.only != "project" else ()), *(project if given.only != "user" else ())]:
        if file in project and not (given.approve or host.settings.project_trust.is_trusted):
            _say(f"{file} is not read, because this project is not trusted. Run pi trust first.")
            continue
        found = servers_in(file, Path.cwd() if file in own else None)
        more = rows_of(file, found, entries_in(target), target)
        local = servers_of_folder(file, Path.cwd()) if file in own else set()
        more = [{**row, "notes": [*row["notes"], _LOCAL]} if row["name"] in local else row for row in more]
        if file.name == ".mcp.json":  # pi reads it itself
            more = [{**row, "state": "same", "target": str(file)} if given.local else row for row in more]
        may_copy = file in own or given.local or given.dry_run or _may_copy(file, found, target)
        added = {row["name"]: row["entry"] for row in more if row["state"] == "free"} if may_copy else {}
        if added and not given.dry_run:
            put_entries(target, added)
        if may_copy:
            rows += more
        if may_copy and not given.json:
            _report_copies(file, target, more)
    if given.json:
        _print(json.dumps([{key: row[key] for key in row if key != "entry"} for row in rows], indent=2))
        return 0
    return 0 if rows else 1


def _report_copies(file: Path, target: Path, rows: list[dict[str, Any]]) -> None:
    what = {"free": "added", "same": "is already there", "other": "not added, another one has this name"}
    for row in rows:
        notes = f" ({'; '.join(row['notes'])})" if row["notes"] else ""
        _print(f"{row['name']}: {what.get(row['state'], 'not added, its entry is not valid')}{notes}")
    _print(f"From {file} to {target}.")


def _may_copy(file: Path, found: dict[str, dict[str, Any]], target: Path) -> bool:
    """Ask the user whether a project's servers may be copied to the user's own file, and so run in every folder."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        _say(
            f"{file} is not copied to {target}, because there is no terminal to ask you. With -l it needs no question."
        )
        return False
    for name, entry in found.items():
        _say(f"{name}: {entry.get('url') or ' '.join(map(str, [entry.get('command'), *(entry.get('args') or ())]))}")
    sys.stderr.write(clean_text(f"Copy these servers of {file} to {target}? They then run in every folder. [y/N] "))
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _list(given: argparse.Namespace, host: Any) -> int:
    return run_until_signal(_list_all(given, host))


async def _list_all(given: argparse.Namespace, host: Any) -> int:
    from pi_mcp.probe import probe
    from pi_mcp.states import report_of, row_of, rows_text

    async with probe(host) as hub:
        await asyncio.gather(*(hub.connect(name) for name in hub.remotes), return_exceptions=True)
        rows = [row_of(hub, name) for name in hub.servers]
        reports = [report_of(hub, row) for row in rows] if given.json else []
        problems, unused = hub.problems, _unused_files(host)
    if given.json:
        _print(json.dumps({"servers": reports, "errors": [*problems, *unused]}, indent=2))
    elif rows:
        _print(rows_text(rows))
    elif not problems and not unused:
        _print("No MCP servers are configured. Add one with pi mcp add.")
    for text in (*problems, *unused) if not given.json else ():
        _say(text)
    return 1 if problems or any(row["state"] == "failed" for row in rows) else 0


def _test(given: argparse.Namespace, host: Any) -> int:
    try:
        arguments = json.loads(given.arguments)
    except ValueError as error:
        _say(f"The arguments are not JSON: {error}.")
        return 2
    if not isinstance(arguments, dict):
        _say('The arguments must be an object, such as {"text": "hello"}.')
        return 2
    return run_until_signal(_try(given, arguments, host))


async def _try(given: argparse.Namespace, arguments: dict[str, Any], host: Any) -> int:
    from pi_mcp.probe import probe

    async with probe(host) as hub:
        remote = _remote(hub, given.name, host)
        try:
            about = await hub.connect(given.name)
            result = await hub.request(given.name, "call", tool=given.tool, arguments=arguments) if given.tool else None
        except PiError as error:
            _say(f"{given.name}: {error}")
            if remote.tail:
                _say(f"It printed:\n{remote.tail}")
            return 1
    if result is None:
        names = ", ".join(one_line(each["name"]) for each in about["tools"])
        _print(f"{given.name}: {one_line(about['server'])}, protocol {about['protocol']}, tools: {names}")
        return 0
    for block in result["content"]:
        _print(block["text"] if block["type"] == "text" else f"[image {block['mimeType']}]")
    return 1 if result["isError"] else 0


def _remote(hub: Hub, name: str, host: Any) -> Any:
    if name in hub.remotes:
        return hub.remotes[name]
    if name in hub.refused:
        raise UserError(f"The MCP server {name!r} is not approved. Start pi in a terminal to be asked about it.")
    if name in hub.servers:
        raise UserError(f"The MCP server {name!r} is disabled in {hub.servers[name].origin}.")
    known = ", ".join(hub.servers) or "none"
    notes = "".join(f"\n{each}" for each in (*hub.problems, *_unused_files(host)))
    raise UserError(f"The MCP server {name!r} is not configured; configured: {known}.{notes}")


def _unused_files(host: Any) -> list[str]:
    """Return a sentence for each file of the project that is not read, because the project is not trusted."""
    if host.settings.project_trust.is_trusted:
        return []
    files = [each for each in project_files(Path.cwd()) if each.exists()]
    return [f"{each} is not used, because the project is not trusted. Run pi trust to use it." for each in files]


def _tools(given: argparse.Namespace, host: Any) -> int:
    return run_until_signal(_list_tools(given, host))


async def _list_tools(given: argparse.Namespace, host: Any) -> int:
    from pi_mcp.probe import probe
    from pi_mcp.states import tool_lines

    async with probe(host) as hub:
        _remote(hub, given.name, host)
        try:
            about = await hub.connect(given.name)
        except PiError as error:
            _say(f"{given.name}: {error}")
            return 1
        hub.offer.apply()
        lines, offered = tool_lines(hub, given.name), hub.offer.tools_of(given.name)
    if given.json:
        rows = [
            {"name": name, "tool": tool, "exposure": exposure, "description": _description(about, tool)}
            for tool, (name, exposure) in offered.items()
        ]
        _print(json.dumps(rows, indent=2))
    else:
        _print("\n".join(lines) or "It has no tools.")
    if about.get("left_out"):
        _say(f"{about['left_out']:,} more tools are not used; disabledTools or maxTools in its entry change that.")
    return 0


def _serve(given: argparse.Namespace, host: Any) -> int:
    from pi_mcp.serve import serve

    asyncio.run(serve(host, model=given.model, read_only=given.read_only))
    return 0


def _login(given: argparse.Namespace, host: Any) -> int:
    return run_until_signal(_sign(given, host))


async def _sign(given: argparse.Namespace, host: Any) -> int:
    from pi_mcp.probe import probe
    from pi_mcp.states import tools_counted

    async def page(url: str) -> None:
        import webbrowser

        _print(f"Sign in here:\n{url}")
        await asyncio.to_thread(webbrowser.open, url)

    async with probe(host) as hub:
        server = _remote(hub, given.name, host).server
        if given.local and server.scope != "project":
            raise UserError(f"The project has no MCP server {given.name!r}; it is in {server.origin}. Leave out -l.")
        try:
            if given.verb == "logout":
                forgot = await hub.logout(given.name)
                _print(f"{given.name}: {'signed out' if forgot else 'there was no sign-in'}.")
                return 0 if forgot else 1
            async with asyncio.timeout(given.timeout):
                about = await hub.login(given.name, page, given.timeout)
        except TimeoutError:
            more = f"pi mcp login {given.name} --timeout {given.timeout * 2:g}"
            _say(f"{given.name}: the sign-in was not finished within {given.timeout:g} s. To have longer: {more}")
            return 1
        except PiError as error:
            _say(f"{given.name}: {error}")
            return 1
    _print(f"{given.name}: signed in, {tools_counted(len(about['tools']))}.")
    return 0


def _description(about: dict[str, Any], tool: str) -> str:
    return next((each.get("description") or "" for each in about["tools"] if each["name"] == tool), "")


def _print(text: str) -> None:
    """Print the output of the command, which can contain what servers, folders and files say."""
    sys.stdout.write(f"{clean_text(text)}\n")


def _say(text: str) -> None:
    """Print a message of the command."""
    sys.stderr.write(f"{clean_text(text)}\n")
