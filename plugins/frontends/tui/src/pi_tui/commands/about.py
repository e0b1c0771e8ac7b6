"""Commands about pi itself: plugins, trust in the folder, export, changes between versions, a debug report."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from pi_tui.commands.chosen import choose
from pi_tui.commands.table import Command
from pi_tui.selectors.picks import Option, Pick

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pi_tui.screen.talk import Talk
    from pi_tui.session.about import PluginRow, TrustAnswer

__all__ = ["COMMANDS"]

_SIGNS = {"enabled": " ", "disabled": "-", "waiting": "~", "broken": "!"}


async def _plugins(talk: Talk, argument: str) -> None:
    rows = [row for row in talk.about.plugins() if argument in row.name]
    if not rows:
        talk.notice(f"No plugin has {argument!r} in its name." if argument else "No plugins are installed.")
        return
    if argument in {row.name for row in rows}:
        await talk.page("\n".join([*_plugin_rows(rows, argument), "", talk.about.plugin(argument)]))
    else:
        await talk.page("\n".join([*_plugin_rows(rows), *_LEGEND]))


_LEGEND = (
    "",
    "- disabled   ~ waits for a file, variable or setting   ! has a problem",
    "/plugins NAME describes one in full: what it registers and costs.",
)


def _plugin_rows(rows: Sequence[PluginRow], name: str = "") -> Iterator[str]:
    """Yield the rows of a table: state, name, version, load time and hook calls in milliseconds, and problems.

    Args:
        rows: The plugins.
        name: The only plugin of the table; empty for all.
    """
    rows = [row for row in rows if name in ("", row.name)]
    names, versions = max(len(row.name) for row in rows), max(len(row.version) for row in rows)
    for row in rows:
        loaded = "" if row.load_ms is None else f"loaded in {row.load_ms:.0f} ms"
        many = "" if row.calls == 1 else "s"
        calls = f"{row.calls:,} hook call{many}, {row.calls_ms:.1f} ms" if row.calls else ""
        state = row.state if row.state != "enabled" else ", ".join(filter(None, [loaded, calls])) or "loaded"
        sign = "!" if row.problems else _SIGNS[row.state]
        yield f"{sign} {row.name:<{names}}  {row.version:<{versions}}  {state}".rstrip()
        yield from (f"    {problem}" for problem in row.problems)


async def _trust(talk: Talk, _argument: str) -> None:
    about = talk.about
    found = about.trust()
    options = [
        Option("trust", "Trust this folder", key="t"),
        Option("parent", f"Trust the parent folder, {found.parent}", key="p"),
        Option("refuse", "Do not trust this folder", key="d"),
        Option("forget", "Forget the decision: pi asks again", key="f"),
    ]
    state = f"It is {'trusted' if found.is_trusted else 'not trusted'} ({found.why})."
    allows = (
        "Settings, extensions, MCP servers, skills and prompts of a trusted folder can run code and instruct the model."
    )
    message = f"{state} {allows} Here: {found.resources or 'nothing yet'}."
    outcome = await choose(talk, Pick(f"Trust {found.folder}?", options, message=message, searched=False))
    if outcome is None:
        return
    about.decide_trust(cast("TrustAnswer", outcome.value.value))
    now = about.trust()
    word = "trusted" if now.is_trusted else "not trusted"
    talk.notice(f"{now.folder} is {word} ({now.why}). It takes effect when pi is restarted.")


async def _changelog(talk: Talk, argument: str) -> None:
    from pi_terminal_kit.changelog import changes

    text = changes(argument)
    if text.startswith("#"):
        await talk.page(text, markdown=True)
    else:
        talk.notice(text, "warning")


async def _export(talk: Talk, argument: str) -> None:
    name = argument
    if len(name) > 1 and name[0] == name[-1] and name[0] in "'\"":
        name = name[1:-1]  # quoted as in a shell
    talk.notice(f"Session exported to: {await talk.about.export(name or None)}")


async def _debug(talk: Talk, _argument: str) -> None:
    path = talk.about.write_debug(talk.screen.drawn())
    talk.notice(
        f"The screen and the messages are in {path}. The file has the whole conversation: read it before you share it."
    )


COMMANDS = {
    "plugins": Command("List the plugins, their cost and problems: /plugins NAME", _plugins),
    "trust": Command("Trust this folder's settings and code, or not", _trust),
    "export": Command("Export the session to a file: /export [FILE.html | FILE.md | FILE.jsonl]", _export),
    "changelog": Command("Show what has changed in this version, or another: /changelog VERSION", _changelog),
    "debug": Command("Write the screen and the messages to a file", _debug),
}
