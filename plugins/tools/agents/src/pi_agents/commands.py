"""``/agents``: lists, opens and stops agents, and applies or drops the changes that they left in worktrees."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pi_agents.kept import find, kept_worktrees, look_at, repository
from pi_agents.member import rows_of
from pi_agents.merging import apply, merge
from pi_agents.settings import caches, trash_limits
from pi_agents.trash import drop, dropped_worktrees, undo_drop
from pi_git_kit import ask_plugins
from pi_hookspecs import Completion, UnknownName, UserError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pi_agents.crew import Crew
    from pi_agents.kept import Kept
    from pi_agents.trash import Dropped
    from pi_git_kit import Git
    from pi_hookspecs import PiContext

__all__ = ["applied_text", "command_options", "dropped_text", "explain_none", "worktrees_text"]

_WORDS = {
    "list": "List the agents of this conversation",
    "open": "Show what an agent is doing",
    "stop": "Stop an agent",
    "worktrees": "List the worktrees that have changes",
    "apply": "Apply the changes of a worktree to your files, after a preview",
    "drop": "Move a worktree and its changes to the trash",
    "undo": "Bring a dropped worktree back, the last one if none is named",
}
_THEN = "\n/agents drop {} removes the worktree."
_MOST_SECRETS = 5
_TOO_MANY = 2
_PREVIEW = 60
"""Lines of a patch in a preview."""


def explain_none(ctx: Any) -> None:
    """Explain how to create agents."""
    ctx.ui.notify(
        "There are no agents here. pi agents new NAME creates one; with the setting agents.enabled the model can use a"
        " general one (pi config set agents.enabled true)."
    )


def command_options(crew: Crew) -> tuple[Callable[..., Any], dict[str, Any]]:
    """Return the command's handler, and the other arguments of ``pi.register_command``."""

    async def handler(args: str, ctx: PiContext) -> None:
        await _run(crew, args.split(), ctx)

    def complete(typed: str) -> list[Completion]:
        word, space, _ = typed.partition(" ")
        if not space:
            return [Completion(each, description=text) for each, text in _WORDS.items() if each.startswith(word)]
        return [
            Completion(f"{word} {each.id}", description=each.summary())
            for each in crew.members.values()
            if f"{word} {each.id}".startswith(typed)
        ]

    return handler, {
        "description": "List agents, inspect or stop them, apply their changes",
        "complete": complete,
        "touches": ("files", "programs"),
    }


async def _run(crew: Crew, words: list[str], ctx: PiContext) -> None:
    match words:
        case [] if ctx.has_ui:
            await _choose(crew, ctx)
        case [] | ["list"]:
            lines = rows_of(crew.records(ctx)[::-1])
            ctx.ui.notify("\n".join(lines) or "No agent has worked in this conversation yet.")
        case ["worktrees"]:
            git = await _repository(ctx)
            text = await asyncio.to_thread(
                worktrees_text, git, Path(ctx.settings.agent_dir), caches(ctx.settings), "/agents undo"
            )
            ctx.ui.notify(text)
        case ["open", member_id]:
            from pi_agents.view import open_view

            await open_view(crew, member_id, ctx)
        case ["stop", member_id]:
            result = await crew.stop(member_id, "The user stopped it")
            ctx.ui.notify(result.content[0].text)  # type: ignore[union-attr]
        case [("apply" | "drop") as word, name]:
            await (_apply if word == "apply" else _drop)(crew, name, ctx)
        case ["undo", *names] if len(names) < _TOO_MANY:
            await _undo("".join(names), ctx)
        case [word, *_] if word in _WORDS:
            needs = "takes nothing more" if word in ("list", "worktrees") else "needs the id of one agent"
            needs = "takes one id at most" if word == "undo" else needs
            raise UserError(f"/agents {word} {needs}")
        case [word, *_]:
            raise UserError(str(UnknownName("word after /agents", word, _WORDS, f"Use one of {', '.join(_WORDS)}.")))


async def _choose(crew: Crew, ctx: PiContext) -> None:
    """Let the user choose an agent, and then what to do with it."""
    records = crew.records(ctx)
    if not records:
        ctx.ui.notify("No agent has worked in this conversation yet.")
        return
    newest = records[::-1]
    lines = dict(zip(rows_of(newest), newest, strict=True))
    chosen = await ctx.ui.select("Agents", list(lines))
    if chosen is None:
        return
    record = lines[chosen]
    actions = {"Look at it": "open"}
    member = crew.members.get(record["id"])
    if member is not None and member.is_active:
        actions["Stop it"] = "stop"
    elif record.get("worktree"):
        actions |= {"Apply its changes": "apply", "Drop its worktree": "drop"}
    action = await ctx.ui.select(chosen, list(actions))
    if action is not None:
        await _run(crew, [actions[action], record["id"]], ctx)


def worktrees_text(git: Git, agent_dir: Path, names: Sequence[str], undo: str) -> str:
    """Return the worktrees of a repository as text; blocks.

    Args:
        git: The repository.
        agent_dir: pi's folder.
        names: Patterns of names of caches.
        undo: The command that brings a dropped worktree back.
    """
    kept = kept_worktrees(git, agent_dir)
    parts = [f"{each.id}  {each.branch}  {each.path}\n{_changes(git, each, names)}" for each in kept]
    if dropped := dropped_worktrees(git, agent_dir):
        parts += [f"In the trash ({undo} ID brings one back):", *(each.row() for each in dropped)]
    return "\n".join(parts if kept else [f"{git.top} has no worktrees of agents.", *parts])


def _changes(git: Git, kept: Kept, names: Sequence[str]) -> str:
    """Return what was changed in a worktree; one that cannot be read does not hide the others."""
    try:
        return look_at(git, kept, names).stat or " (no changes)"
    except UserError as error:
        return f" {error}"


def dropped_text(kept: Kept, dropped: Dropped | None, days: float, undo: str) -> str:
    """Return what has become of a dropped worktree.

    Args:
        kept: The worktree.
        dropped: It in the trash; None if it was removed for good.
        days: How long the trash keeps it.
        undo: The command that brings it back.
    """
    text = f"Removed {kept.path} and the branch {kept.branch}."
    if dropped is None:
        return text
    text = f"{text} {undo} {kept.id} brings them back within {days:g} days."
    if dropped.secrets:
        names = ", ".join(dropped.secrets[:_MOST_SECRETS])
        more = len(dropped.secrets) - _MOST_SECRETS
        names += f" and {more} more" if more > 0 else ""
        text += (
            f" Until then {dropped.folder} has the secrets in {names}, readable by you alone;"
            f" pi agents empty removes them now."
        )
    return text


async def _repository(ctx: PiContext) -> Git:
    return await asyncio.to_thread(repository, ctx.cwd, ask_plugins(ctx))


async def _kept(crew: Crew, name: str, ctx: PiContext) -> tuple[Git, Kept]:
    """Return the repository and a worktree in which no agent of this session works.

    Raises:
        UserError: There is no worktree of this name, or its agent is still running.
    """
    member = crew.members.get(name)
    if member is not None and member.is_active:
        raise UserError(f"The agent {name} is still working. /agents stop {name} stops it")
    git = await _repository(ctx)
    return git, await asyncio.to_thread(find, git, Path(ctx.settings.agent_dir), name)


async def _apply(crew: Crew, name: str, ctx: PiContext) -> None:
    git, kept = await _kept(crew, name, ctx)
    merged = await asyncio.to_thread(merge, git, kept, caches(ctx.settings))
    if not merged.stat:
        ctx.ui.notify(f"{applied_text(name, '', merged.left)}{_THEN.format(name)}")
        return
    preview = "\n".join(filter(None, [merged.stat, not_brought(merged.left), "", _preview(merged.patch)]))
    if ctx.has_ui and not await ctx.ui.confirm(f"Apply the work of {name}?", preview):
        ctx.ui.notify("Nothing was changed.")
        return
    left = await asyncio.to_thread(apply, merged)
    # Plugins that watch over the files, such as rewind, know that it was a command.
    crew.pi.events.emit("files_changed")
    ctx.ui.notify(f"{applied_text(name, merged.stat, left)}{_THEN.format(name)}")


def applied_text(name: str, stat: str, left: Sequence[str]) -> str:
    """Return what was applied, and what was not.

    Args:
        name: The worktree's id.
        stat: The changes that were applied; empty if the user's files had all of them.
        left: Lines about what was not brought.
    """
    head = f"Applied to your files, and not committed:\n{stat}" if stat else (
        f"Your files already have the changes of {name}{' but for what follows' if left else ''}."
    )  # fmt: skip
    return "\n".join(filter(None, [head, not_brought(left)]))


def not_brought(left: Sequence[str]) -> str:
    """Return what was not brought, as text; empty if everything was."""
    return "\n".join(["Not brought; the worktree still has it:", *left]) if left else ""


def _preview(patch: bytes) -> str:
    lines = patch.decode("utf-8", "replace").splitlines()
    more = [f"({len(lines) - _PREVIEW} more lines)"] if len(lines) > _PREVIEW else []
    return "\n".join([*lines[:_PREVIEW], *more])


async def _drop(crew: Crew, name: str, ctx: PiContext) -> None:
    git, kept = await _kept(crew, name, ctx)
    stat = await asyncio.to_thread(_changes, git, kept, caches(ctx.settings))
    if stat != " (no changes)" and ctx.has_ui and not await ctx.ui.confirm(
        f"Remove the worktree {name} with its changes?", stat
    ):  # fmt: skip
        ctx.ui.notify("Nothing was removed.")
        return
    limits = trash_limits(ctx.settings)
    dropped = await asyncio.to_thread(drop, git, kept, limits)
    ctx.ui.notify(dropped_text(kept, dropped, limits.days, "/agents undo"))


async def _undo(name: str, ctx: PiContext) -> None:
    git = await _repository(ctx)
    kept = await asyncio.to_thread(undo_drop, git, Path(ctx.settings.agent_dir), name)
    ctx.ui.notify(f"{kept.path} and the branch {kept.branch} are back.")
