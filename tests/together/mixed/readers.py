"""Everything in the project that reads the entries of a session.

A reader fails by raising: it took an entry for another kind, or it lost what it knows. Readers that change nothing
share one open session; the others open the session for themselves.
"""

from __future__ import annotations

import asyncio
import io
import json
import shlex
from contextlib import redirect_stderr, redirect_stdout
from typing import TYPE_CHECKING, Any

import click

from pi_core.wire import dumps
from pi_hookspecs import PiError, UserError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable

    from mixed.opened import Home, Opened
    from pi_core import PluginHost

__all__ = [
    "COMMANDS",
    "NO_READERS",
    "OPENERS",
    "READERS",
    "RPC_THAT_CHANGES",
    "RPC_WITHOUT_ENTRIES",
    "SHOWING",
    "SUBCOMMANDS",
    "next_prompt",
    "subcommands",
]


def assert_has(found: str, wanted: Iterable[str]) -> None:
    """Raise an ``AssertionError`` if a text lacks one of others."""
    missing = [each for each in wanted if each not in found]
    assert not missing, f"{missing} is not in {found[:2000]!r}"


# Of an open session


def tree_of_screen(opened: Opened) -> None:
    from pi_tui.session.tree import read_tree

    tree = read_tree(opened.session.session_manager)
    rows = tree.rows(lambda _: True)
    assert len(rows) == len(opened.session.session_manager.get_entries())
    assert_has("\n".join(f"{row.lines}{row.entry.text}" for row in rows), opened.drawn.prompts)


def tree_of_lines(opened: Opened) -> None:
    from pi_cli.line.tree import FILTERS, tree_rows

    for wanted in FILTERS:
        text = "\n".join(row.drawn(100) for row in tree_rows(opened.session.session_manager, wanted))
        assert_has(text, [] if wanted == "labeled-only" else opened.drawn.prompts)


def transcript_of_screen(opened: Opened) -> None:
    from pi_tui.lines.layout import lay_out
    from pi_tui.lines.line import join
    from pi_tui.lines.look import Look
    from pi_tui.session.facts import facts_of, problems_of, usage_of
    from pi_tui.session.plugins import drawings
    from pi_tui.view.of_entries import load_entries
    from pi_tui.view.state import State

    session, state = opened.session, State()
    load_entries(state, session.get_branch())
    drawn = drawings(session)
    for look in (Look(width=80, drawings=drawn), Look(width=20, expanded=True, drawings=drawn)):
        rows = [lay_out(block, look) for block in state.blocks]
        assert_has("\n".join(join(each.window(0, len(each))) for each in rows), opened.drawn.branch)
    usage_of(session)
    facts_of(session)
    list(problems_of(session))


def end_in_line_mode(opened: Opened) -> None:
    from pi_cli.line.tail import show_tail
    from pi_cli.screen import Screen

    out = io.StringIO()
    show_tail(Screen(out, io.StringIO()), opened.session.messages)


def rpc(opened: Opened) -> None:
    """Every ``get_`` command, and the answer is what the client expects."""
    from pi_client.commands import COMMANDS as REQUESTS
    from pi_rpc_kit.handlers import HANDLERS

    answers: dict[str, Any] = {}
    for name in HANDLERS:
        if name.startswith("get_") and name not in RPC_WITHOUT_ENTRIES:
            answer = HANDLERS[name](opened.session, REQUESTS[name](), {})
            data = json.loads(answer if isinstance(answer, bytes) else dumps(answer))
            answers[name] = data
            REQUESTS[name]().read_answer(data)
    assert len(answers["get_entries"]["entries"]) == len(opened.session.session_manager.get_entries())
    assert_has(json.dumps(answers["get_tree"]), opened.drawn.prompts)
    assert_has(json.dumps(answers["get_fork_messages"]), opened.drawn.branch)


RPC_THAT_CHANGES = (
    *("steer", "follow_up", "abort", "clear_queue", "set_model", "cycle_model", "set_thinking_level"),
    *("cycle_thinking_level", "set_steering_mode", "set_follow_up_mode", "compact", "set_auto_compaction"),
    *("set_auto_retry", "abort_retry", "bash", "abort_bash", "new_session", "switch_session", "fork", "clone"),
    *("set_session_name", "export_html", "take_queued", "navigate_tree"),
)
"""They do what the other readers call on the session."""

RPC_WITHOUT_ENTRIES = ("get_available_models", "get_available_thinking_levels", "get_commands")


def acp(opened: Opened) -> None:
    from pi_acp.replay import replayed

    updates = list(replayed(opened.session.session_manager, opened.home.cwd))
    assert_has(dumps(updates).decode(), opened.drawn.branch)


def serve(opened: Opened) -> None:
    from pi_serve.feed import Feed

    feed = Feed(opened.session)
    lines = [json.loads(line) for line in (*feed.reset(), *feed.catch_up(None), *feed.new_entries())]
    assert_has(json.dumps(lines), opened.drawn.prompts)


def json_mode(opened: Opened) -> None:
    assert json.loads(dumps(opened.session.session_manager.header))["type"] == "session"


async def exports(opened: Opened) -> None:
    """Every registered exporter, and JSON lines."""
    for name in (*opened.session.host.find_all("register_exporters"), "jsonl"):
        path = opened.home.folder / f"exported.{name}"
        try:
            await opened.session.export(path, export_format=name)
        except UserError as error:
            if "Nothing to export" not in str(error) or opened.drawn.branch:
                raise
            continue
        whole = name == "html"
        assert_has(path.read_text(encoding="utf-8"), opened.drawn.prompts if whole else opened.drawn.branch)


def replay(opened: Opened) -> None:
    from pi_replay.recording import Recording

    for entry in (None, *(each.id for each in opened.session.session_manager.get_entries()[-3:])):
        try:
            Recording.of(opened.session.ctx.session, entry).moved("/a", "/b")
        except UserError:
            continue


def numbers(opened: Opened) -> None:
    dumps(opened.session.get_session_stats())
    dumps(opened.session.usage)
    opened.session.get_context_usage()
    opened.session.get_last_assistant_text()


def memory(opened: Opened) -> None:
    from pi_memory.outside import outside_sources

    outside_sources(opened.session.ctx)


def rewind_points(opened: Opened) -> None:
    from datetime import UTC, datetime
    from pathlib import Path

    from pi_rewind.places import checkpoints_of
    from pi_rewind.points import Points, rows_of

    session = opened.session.ctx.session
    points = Points.of(session.entries(), session.branch())
    checkpoints = checkpoints_of(opened.session.settings, Path(opened.home.cwd), session.id)
    if points.points:
        rows_of(points, checkpoints, datetime.now(UTC))


async def commands(opened: Opened) -> None:
    """The slash commands of plugins that read entries."""
    for line in COMMANDS:
        await opened.command(line)


COMMANDS = (
    "/agents",
    "/agents list",
    "/bug",
    "/budget",
    "/cache",
    "/export copy.html",
    "/processes",
    "/redact",
    "/rewind",
    "/rewind undo",
    "/sandbox",
    "/search prompt0x",
    "/todo",
)
"""What ``commands`` runs; a command of a plugin is here or in ``NO_READERS``."""


async def ask(opened: Opened) -> None:
    """A prompt is answered."""
    await opened.session.prompt("One more")
    last = opened.session.last_answer()
    assert last is not None
    assert last.stop_reason == "stop", last.error_message
    assert "scripted answer" in last.text
    opened.check()


READERS: tuple[Callable[[Opened], Awaitable[None] | None], ...] = (
    tree_of_screen,
    tree_of_lines,
    transcript_of_screen,
    end_in_line_mode,
    rpc,
    acp,
    serve,
    json_mode,
    exports,
    replay,
    numbers,
    memory,
    rewind_points,
    commands,
    ask,
)
"""What reads an open session, without changing it before the last of them."""


SHOWING = (tree_of_screen, tree_of_lines, transcript_of_screen, end_in_line_mode, rpc, acp, exports)
"""Those of them that show calls of tools."""


# From the command line


def run(host: PluginHost, line: str) -> str:
    """Run a subcommand in this process and return its output; it may refuse."""
    name, *words = shlex.split(line)
    found = host.find("register_subcommands", name)
    assert found is not None, f"no subcommand {name}"
    out = io.StringIO()
    with redirect_stdout(out), redirect_stderr(out):
        try:
            found.thing.run(words, host)
        except (UserError, click.ClickException) as error:
            out.write(str(error))
    assert "nexpected" not in out.getvalue(), out.getvalue()
    return out.getvalue()


SUBCOMMANDS = {
    "cache": "cache {file} --json",
    "cache as text": "cache {file}",
    "redact": "redact scan {file}",
    "rewind": "rewind {file} --list",
    "rewind undo": "rewind {file} --undo --yes --files",
    "sessions": "sessions list --all --tree",
    "sessions fsck": "sessions fsck {file} --repair",
    "sessions search": "sessions search prompt0x --json",
    "usage": "usage --by model",
}
"""The subcommands that read stored sessions; a subcommand is here or in ``NO_READERS``."""

NO_READERS = {
    *("acp", "attach", "attach lines", "batch", "eval", "serve", "web"),  # open a session as a front end does
    *("agents", "auth", "completion", "config", "doctor", "help", "hooks", "import", "info", "install", "list"),
    "mcp",
    *("models", "permissions", "plugin", "plugins", "prompt", "remove", "resources", "sandbox", "search", "sync"),
    "trust",
    *("uninstall", "update"),
    "replay",  # the reader of this name
    "sessions convert",  # the opener stores
    *("/compact", "/diagnostics", "/llama", "/permissions"),
    "/share",  # stores a page, which the reader exports makes
}


async def subcommands(home: Home) -> None:
    """The command line, with the session's file."""
    host = home.host()
    for line in SUBCOMMANDS.values():
        output = await asyncio.to_thread(run, host, line.format(file=shlex.quote(str(home.file))))
        if line.startswith("sessions search"):
            assert "c0ffee00" in output, f"the search finds no prompt: {output}"


# Each opens the session for itself


async def stores(home: Home) -> None:
    """Every store, and conversion from each to the next: nothing is lost, and a prompt is answered."""
    host = home.host()
    before = [dumps(each) for each in home.manager(host).get_entries()]
    for name in host.find_all("register_session_stores"):
        if name != "jsonl":
            await asyncio.to_thread(run, host, f"sessions convert --to {name} {shlex.quote(str(home.file))}")
        other = home.host(sessionStore=name)
        [found] = home.listed(other)
        async with home.opened(other, found.path) as opened:
            entries = opened.session.session_manager.get_entries()
            assert [dumps(each) for each in entries[: len(before)]] == before, f"{name} stores other entries"
    original = home.file.read_bytes()
    home.file.rename(home.folder / "kept.jsonl")
    await asyncio.to_thread(run, home.host(sessionStore="sqlite"), "sessions convert --to jsonl c0ffee00")
    assert original in home.file.read_bytes() or home.file.read_bytes().startswith(original)


async def forks(home: Home) -> None:
    """Fork at each of the last prompts, and clone."""
    async with home.opened(home.host()) as opened:
        session = opened.session
        places = session.get_user_messages_for_forking()
        assert [text for _, text in places] == opened.drawn.branch
        for entry, text in places[-2:]:
            outcome = await session.fork(entry)
            assert outcome.selected_text == text
            tree_of_screen_of_copy(opened)
            await session.switch_session(home.file)
        await session.clone()
        assert [text for _, text in session.get_user_messages_for_forking()] == opened.drawn.branch


def tree_of_screen_of_copy(opened: Opened) -> None:
    from pi_tui.session.tree import read_tree

    read_tree(opened.session.session_manager).rows(lambda _: True)


async def summaries(home: Home) -> None:
    """A branch summary, a compaction, and undoing it; after each a prompt is answered."""
    async with home.opened(home.host()) as opened:
        session = opened.session
        await session.navigate_tree(session.session_manager.get_entries()[0].id, summarize=True)
        await ask(opened)
        await session.navigate_tree(home.drawn.lines[-1]["id"])
        await ask(opened)
        try:
            await session.compact()
        except PiError as error:
            if "Nothing to compact" not in str(error) and "not shorter" not in str(error):
                raise
            return
        await ask(opened)
        await opened.command("/compact undo")


async def next_prompt(home: Home) -> None:
    """A resumed session answers where some plugins are disabled."""
    for disable in (("rewind", "cache-lint", "redact"), ("compaction", "agents", "budgets", "todo-list")):
        async with home.opened(home.host(), disable=disable) as opened:
            await ask(opened)


OPENERS: tuple[Callable[[Home], Awaitable[None]], ...] = (subcommands, stores, forks, summaries, next_prompt)
"""What reads a stored session, opens it for itself, or changes it."""
