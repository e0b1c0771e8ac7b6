"""``/agents``: lists, opens and stops agents, and applies or drops the changes that they left in worktrees."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pi_agents.member import rows_of
from pi_agents.worktree import apply, changes, drop, find, kept_worktrees, merge, repository
from pi_git_kit import ask_plugins
from pi_hookspecs import Completion, UnknownName, UserError

if TYPE_CHECKING:
    from collections.abc import Callable

    from pi_agents.crew import Crew
    from pi_agents.worktree import Kept
    from pi_git_kit import Git
    from pi_hookspecs import PiContext

__all__ = ["command_options", "explain_none"]

_WORDS = {
    "list": "List the agents of this conversation",
    "open": "Show what an agent is doing",
    "stop": "Stop an agent",
    "worktrees": "List the worktrees that have changes",
    "apply": "Apply the changes of a worktree to your files, after a preview",
    "drop": "Remove a worktree and its changes",
}
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
            ctx.ui.notify(await asyncio.to_thread(worktrees_text, git, Path(ctx.settings.agent_dir)))
        case ["open", member_id]:
            from pi_agents.view import open_view

            await open_view(crew, member_id, ctx)
        case ["stop", member_id]:
            result = await crew.stop(member_id, "The user stopped it")
            ctx.ui.notify(result.content[0].text)  # type: ignore[union-attr]
        case ["apply", name]:
            await _apply(crew, name, ctx)
        case ["drop", name]:
            await _drop(crew, name, ctx)
        case [word, *_] if word in _WORDS:
            needs = "takes nothing more" if word in ("list", "worktrees") else "needs the id of one agent"
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


def worktrees_text(git: Git, agent_dir: Path) -> str:
    """Return the worktrees of a repository as text; blocks."""
    kept = kept_worktrees(git, agent_dir)
    if not kept:
        return f"{git.top} has no worktrees of agents."
    parts = [f"{each.id}  {each.branch}  {each.path}\n{changes(git, each) or ' (no changes)'}" for each in kept]
    return "\n".join(parts)


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
    merged = await asyncio.to_thread(merge, git, kept)
    if not merged.stat:
        ctx.ui.notify(f"Your files already have the changes of {name}. /agents drop {name} removes its worktree.")
        return
    preview = f"{merged.stat}\n\n{_preview(merged.patch)}"
    if ctx.has_ui and not await ctx.ui.confirm(f"Apply the work of {name}?", preview):
        ctx.ui.notify("Nothing was changed.")
        return
    await asyncio.to_thread(apply, git, merged)
    # Plugins that watch over the files, such as rewind, know that it was a command.
    crew.pi.events.emit("files_changed")
    ctx.ui.notify(
        f"Applied to your files, and not committed:\n{merged.stat}\n/agents drop {name} removes the worktree."
    )


def _preview(patch: bytes) -> str:
    lines = patch.decode("utf-8", "replace").splitlines()
    more = [f"({len(lines) - _PREVIEW} more lines)"] if len(lines) > _PREVIEW else []
    return "\n".join([*lines[:_PREVIEW], *more])


async def _drop(crew: Crew, name: str, ctx: PiContext) -> None:
    git, kept = await _kept(crew, name, ctx)
    stat = await asyncio.to_thread(changes, git, kept)
    if stat and ctx.has_ui and not await ctx.ui.confirm(f"Remove the worktree {name} with its changes?", stat):
        ctx.ui.notify("Nothing was removed.")
        return
    await asyncio.to_thread(drop, git, kept)
    ctx.ui.notify(f"Removed {kept.path} and the branch {kept.branch}.")
