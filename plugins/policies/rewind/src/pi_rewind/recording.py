"""Makes a session's checkpoints in a thread while the model works; the next tool that may write waits."""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING, Any

from pi_hookspecs import PiError

if TYPE_CHECKING:
    from pi_hookspecs import (
        BeforeAgentStartEvent,
        MessageStartEvent,
        PiAPI,
        PiContext,
        SessionStartEvent,
        ToolCallEvent,
        TurnEndEvent,
    )
    from pi_rewind.checkpoints import Checkpoint, Checkpoints

__all__ = ["Recording"]

_ENTRY = "rewind"  # as in ``points``, which is not imported for it

FILES_CHANGED = "files_changed"
"""Channel of ``pi.events`` on which plugins report that one of their commands changed files of the work tree."""
_PATIENCE = 5.0
"""Seconds for which a tool waits for a checkpoint."""


class Recording:
    """The checkpoints of one session.

    Args:
        pi: Where the hooks are added, and entries are stored.
    """

    def __init__(self, pi: PiAPI) -> None:
        self._pi = pi
        self._off = False
        self._checkpoints: Checkpoints | None = None
        self._making: asyncio.Task[None] | None = None
        self._tree = ""
        self._ctx: PiContext | None = None
        self._wrote = False
        self._paths: set[str] | None = set()
        self._prompted: asyncio.Future[str | None] | None = None

    def listen(self) -> None:
        """Follow the session, and provide ``/rewind``."""
        about = "Restore files, conversation or both to before a prompt; undo reverts it"
        self._pi.register_command("rewind", self._rewind, complete=_complete, description=about, touches=("files",))
        for name in (
            "session_start",
            "before_agent_start",
            "message_start",
            "tool_call",
            "turn_end",
            "session_shutdown",
        ):
            self._pi.on(name, getattr(self, name))
        self._pi.events.on(FILES_CHANGED, self._files_changed)

    def session_start(self, _event: SessionStartEvent, ctx: PiContext) -> None:
        """Discard the state of the previous conversation, and finish a rewind that was killed."""
        self._off, self._checkpoints, self._tree, self._ctx = False, None, "", None
        folder = ctx.settings.agent_dir / "rewind"
        if os.path.isdir(folder):
            from pi_rewind.journal import has_journals

            if has_journals(folder, ctx.session.id):
                self._making = asyncio.create_task(self._recover(ctx))

    async def _recover(self, ctx: PiContext) -> None:
        from pathlib import Path

        from pi_rewind.journal import Journal
        from pi_rewind.places import checkpoints_of
        from pi_rewind.points import Points
        from pi_rewind.recovery import recover

        restored = Points.of(ctx.session.entries(), ()).restored
        try:
            checkpoints = await asyncio.to_thread(checkpoints_of, ctx.settings, Path(ctx.cwd), ctx.session.id)
            found = await asyncio.to_thread(recover, checkpoints, restored)
        except (PiError, OSError) as error:
            ctx.ui.notify(str(error), "warning")
            return
        if found.entry is not None:
            self._tree = found.entry["tree"]
            self._pi.append_entry(_ENTRY, found.entry)
        Journal(checkpoints.git.store).recorded(ctx.session.id)
        if found.notice is not None:
            ctx.ui.notify(found.notice, "info")

    def _files_changed(self, _data: object) -> None:
        """Start a checkpoint after a plugin's command changed files, so that they do not count as the user's."""
        if self._ctx is not None and not self._off:
            self._begin(self._ctx, "after")

    def before_agent_start(self, _event: BeforeAgentStartEvent, ctx: PiContext) -> None:
        """Start the checkpoint before a prompt."""
        from pathlib import Path

        from pi_rewind.places import why_none

        cwd, self._ctx = Path(ctx.cwd), ctx
        self._off = self._off or why_none(ctx.settings, cwd) is not None
        self._answer_prompt(None)  # that of a prompt that was refused before its first turn
        if not self._off:
            self._prompted = asyncio.get_running_loop().create_future()
            self._begin(ctx, "before", self._prompted)

    def message_start(self, event: MessageStartEvent, ctx: PiContext) -> None:
        """Record the prompt's entry id when its answer begins."""
        if event.message.role == "assistant" and self._prompted is not None and not self._prompted.done():
            self._answer_prompt(_last_prompt(ctx))

    async def tool_call(self, event: ToolCallEvent, ctx: PiContext) -> None:
        """Wait for the checkpoint before a tool writes."""
        read_only = event.tool is not None and event.tool.annotations.read_only
        if self._off or read_only:
            return
        self._wrote = True
        path = _written_path(event, ctx)
        if path is None:
            self._paths = None  # it may change any file
        elif self._paths is not None:
            self._paths.add(path)
        making = self._making
        if making is not None and not making.done():
            await asyncio.wait({making}, timeout=_PATIENCE)
            if not making.done():  # the thread goes on, but its tree is not that of any moment
                making.cancel()
                ctx.ui.notify(
                    "The checkpoint of this turn takes too long, so /rewind does not cover the turn.", "warning"
                )
                return
        if path is not None and self._checkpoints is not None and self._checkpoints.touched is not None:
            await asyncio.to_thread(self._keep, path)

    def _keep(self, path: str) -> None:
        """In a folder that is too large to store whole, store a file before it is written."""
        checkpoints = self._checkpoints
        if checkpoints is not None and (name := checkpoints.relative(path)) is not None:
            checkpoints.keep(name)

    def turn_end(self, _event: TurnEndEvent, ctx: PiContext) -> None:
        """Start the checkpoint after a turn that may have written files."""
        if self._wrote and not self._off:
            self._begin(ctx, "after", paths=self._paths)
        self._wrote, self._paths = False, set()

    async def session_shutdown(self) -> None:
        """Wait for the last checkpoint."""
        self._answer_prompt(None)
        if self._making is not None:
            await asyncio.wait({self._making}, timeout=_PATIENCE)

    async def _rewind(self, args: str, ctx: PiContext) -> None:
        from pi_rewind.command import rewind

        if self._making is not None:
            await asyncio.wait({self._making})
        done = await rewind(args, ctx, lambda: self._pi.append_entry(_ENTRY, {"kind": "left"}))
        if done is not None:
            from pi_rewind.journal import Journal

            self._tree = done.entry["tree"]
            self._pi.append_entry(_ENTRY, done.entry)
            Journal(done.store).recorded(ctx.session.id)

    def _answer_prompt(self, entry: str | None) -> None:
        if self._prompted is not None and not self._prompted.done():
            self._prompted.set_result(entry)

    def _begin(
        self,
        ctx: PiContext,
        kind: str,
        prompted: asyncio.Future[str | None] | None = None,
        paths: set[str] | None = None,
    ) -> None:
        self._making = asyncio.create_task(self._make(ctx, kind, self._making, prompted, paths))

    async def _make(
        self,
        ctx: PiContext,
        kind: str,
        before: asyncio.Task[None] | None,
        prompted: asyncio.Future[str | None] | None,
        paths: set[str] | None,
    ) -> None:
        if before is not None:
            await asyncio.wait({before})
        is_first = self._checkpoints is None
        try:
            made, ignored = await asyncio.to_thread(self._stored, ctx, kind, paths)
        except (PiError, OSError) as error:
            self._off = True
            ctx.ui.notify(f"No checkpoints are made in this session: {error}", "warning")
            return
        if is_first and self._checkpoints is not None and self._checkpoints.touched is not None:
            from pi_rewind.places import LIMITED

            ctx.ui.notify(LIMITED, "info")
        if kind == "after" and made.tree == self._tree:
            return
        self._tree = made.tree
        data: dict[str, Any] = {"kind": kind, "tree": made.tree}
        if kind == "before":
            data["entry"] = await prompted if prompted is not None else None
            if data["entry"] is None:
                return
        if ignored is not None:
            data["ignored"] = ignored
        if made.left_out:
            data["leftOut"] = list(made.left_out[:20])
        self._pi.append_entry(_ENTRY, data)

    def _stored(self, ctx: PiContext, kind: str, paths: set[str] | None) -> tuple[Checkpoint, str | None]:
        """Make a checkpoint; return it, and before a prompt also the list of ignored files."""
        from pathlib import Path

        from pi_rewind.ignored import note_ignored
        from pi_rewind.places import checkpoints_of
        from pi_rewind.pruning import prune

        is_first = self._checkpoints is None
        if self._checkpoints is None:
            self._checkpoints = checkpoints_of(ctx.settings, Path(ctx.cwd), ctx.session.id)
        names = None if paths is None else [*map(self._checkpoints.relative, paths)]
        made = self._checkpoints.make(None if names is None else [each for each in names if each is not None])
        if is_first:
            prune(self._checkpoints.git)
        return made, note_ignored(self._checkpoints, made.left_out) if kind == "before" else None


def _complete(text: str) -> list[str]:
    words = ("undo", "both", "files", "conversation", "--force")
    before, space, typed = text.rpartition(" ")
    return [f"{before}{space}{each}" for each in words if each.startswith(typed)]


def _written_path(event: ToolCallEvent, ctx: PiContext) -> str | None:
    """Return the one file that a call writes; None if it may write others, or if the path is not a plain one."""
    path = event.input.get("path")
    if event.tool is None or event.tool.plugin != "tools" or event.tool_name not in ("write", "edit"):
        return None
    if not isinstance(path, str) or path.startswith(("@", "file://")) or any(map(_is_odd, path)):
        return None
    found = os.path.normpath(os.path.join(ctx.cwd, os.path.expanduser(path)))
    return found if event.tool_name == "write" or os.path.exists(found) else None


def _is_odd(character: str) -> bool:
    """Whether the tools may normalise a character of the path, such as a Unicode space."""
    return character == "\0" or (character.isspace() and character != " ")


def _last_prompt(ctx: PiContext) -> str | None:
    """Return the id of the prompt that is being answered."""
    from pi_hookspecs import MessageEntry

    messages = (entry for entry in reversed(ctx.session.branch()) if isinstance(entry, MessageEntry))
    return next((entry.id for entry in messages if entry.message.role == "user"), None)
