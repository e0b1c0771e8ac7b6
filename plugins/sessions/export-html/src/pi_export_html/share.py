"""``/share``: the session as a page for other people, in a secret gist or a file; first it asks, with what is in it."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from pi_hookspecs import (
    AssistantMessage,
    Command,
    Completion,
    ImageContent,
    MessageEntry,
    PiError,
    PluginSetting,
    ToolResultMessage,
    UserError,
    UserMessage,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from pi_hookspecs import PiContext, SessionEntry

__all__ = ["DESTINATION", "share_command"]

_PLACES = {
    "gist": "a secret gist on GitHub, created by the program gh",
    "file": "an HTML file in this folder, to share yourself",
}

DESTINATION = PluginSetting(
    "shareDestination",
    schema={"enum": [*_PLACES, None], "default": None},
    description="Where /share puts the page: gist or file; by default gist where the program gh is installed",
    protected=True,
    project="nothing",
)

_PROGRAM = "gh"
_VIEWER = "PI_SHARE_VIEWER_URL"
_SECONDS = 120.0
"""After which an upload is stopped."""

_LINK = re.compile(r"https://\S+")


def share_command() -> Command:
    """Return the command."""
    return Command(
        name="share",
        handler=_run,
        description="Share the session as a page, after asking you: /share [gist | file]",
        complete=_complete,
        touches=("files", "programs", "network"),
    )


def _complete(text: str) -> Sequence[Completion]:
    return [Completion(name, description=about) for name, about in _PLACES.items() if name.startswith(text)]


async def _run(args: str, ctx: PiContext) -> None:
    try:
        place = _place(args.strip(), ctx)
        if not ctx.has_ui:
            raise UserError("/share asks before it shares, but there is no user to ask. Use pi --export SESSION")
        shared = await (_share_gist(ctx) if place == "gist" else _share_file(ctx))
    except PiError as error:
        ctx.ui.notify(str(error), "error")
    else:
        ctx.ui.notify(shared or "Nothing was shared")


def _place(name: str, ctx: PiContext) -> str:
    """Return where to share: as named, as the settings say, or by what is installed.

    Raises:
        UserError: There is no such place, or its program is not installed.
    """
    from shutil import which

    name = name or ctx.settings.get_str(DESTINATION.name, "") or ("gist" if which(_PROGRAM) else "file")
    if name not in _PLACES:
        raise UserError(f"/share has no destination {name!r}: use /share gist or /share file")
    if name == "gist" and not which(_PROGRAM):
        raise UserError(
            "A gist needs the program 'gh', which is not installed (https://cli.github.com). Use /share file"
        )
    return name


async def _share_file(ctx: PiContext) -> str | None:
    """Write the page into the working directory; None if the user does not agree."""
    if not await ctx.ui.confirm("Write this session to a page that you can share?", "\n".join(_contents(ctx))):
        return None
    return f"The page is {await ctx.export()}"


async def _share_gist(ctx: PiContext) -> str | None:
    """Upload the page; None if the user does not agree.

    Raises:
        PiError: The page could not be made, or the upload failed.
    """
    from tempfile import TemporaryDirectory

    with TemporaryDirectory(prefix="pi-share-") as folder:
        page = await ctx.export(Path(folder, "session.html"))
        audience = "Everyone who has the link can read it, and secret gists cannot be found without it."
        message = "\n".join((*_contents(ctx), f"- as a file of {page.stat().st_size / 1000:,.0f} kB", "", audience))
        if not await ctx.ui.confirm("Upload this session to GitHub, as a secret gist?", message):
            return None
        done = await ctx.exec(_PROGRAM, _arguments(ctx, page), timeout=_SECONDS)
    link = _LINK.search(done.stdout)
    if done.code or link is None:
        why = (done.stderr or done.stdout).strip() or f"gh ended with code {done.code}"
        raise PiError(f"The gist was not created: {why}\nCheck the login with gh auth status, or use /share file")
    return "\n".join(_links(link[0]))


def _arguments(ctx: PiContext, page: Path) -> list[str]:
    about = ctx.secrets.clean(f"pi: {ctx.session.name or f'session {ctx.session.id}'}")
    return ["gist", "create", "--public=false", "--desc", about, os.fspath(page)]


def _links(link: str) -> Iterator[str]:
    """Yield lines with the addresses of a gist, and how to look at it and delete it."""
    gist = link.rstrip("/").rpartition("/")[2]
    yield f"Shared as {link}"
    if viewer := os.environ.get(_VIEWER):
        yield f"As a page: {viewer}#{gist}"
    else:
        yield f"To read it as a page: gh gist view {gist} --raw > session.html"
    yield f"To delete it: gh gist delete {gist}"


# What the page contains


def _contents(ctx: PiContext) -> Iterator[str]:
    """Yield lines with what the page will contain, so that the user can decide."""
    messages, on_branch = _messages(ctx.session.entries()), _messages(ctx.session.branch())
    calls = sum(len(each.tool_calls) for each in messages if isinstance(each, AssistantMessage))
    images = sum(isinstance(each, ImageContent) for each in _blocks(messages))
    yield "It will contain the whole session:"
    asked, answered = _count(messages, UserMessage), _count(messages, AssistantMessage)
    yield f"- your messages ({asked}), the answers ({answered}), thinking"
    yield f"- tool calls ({calls}) with their output: files that were read, what commands printed, images ({images})"
    if others := len(messages) - len(on_branch):
        yield f"- the other branches of the conversation (messages in them: {others})"
    yield f"- the system prompt, the tools, and the folder {str(ctx.cwd)!r}"
    if ctx.settings.get("redact.enabled") is not False:
        yield "- no keys, tokens and passwords that pi recognizes: they are replaced. Other private facts stay"
    else:
        yield "- all keys and passwords in it: redact.enabled is false, so nothing is replaced"


def _messages(entries: Iterable[SessionEntry]) -> list[object]:
    found = [each.message for each in entries if isinstance(each, MessageEntry)]
    return [each for each in found if isinstance(each, UserMessage | AssistantMessage | ToolResultMessage)]


def _count(messages: Iterable[object], kind: type) -> int:
    return sum(isinstance(each, kind) for each in messages)


def _blocks(messages: Iterable[object]) -> Iterator[object]:
    for each in messages:
        if isinstance(each, UserMessage | ToolResultMessage) and not isinstance(each.content, str):
            yield from each.content
