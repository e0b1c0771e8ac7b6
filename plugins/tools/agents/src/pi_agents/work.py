"""Runs one agent: its session, its limits and its result."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import field, frozen

from pi_agents.result import limited
from pi_agents.settings import MAX_DEPTH
from pi_agents.tools import NAMES
from pi_core import UsageLimits, parse_frontmatter
from pi_hookspecs import PiError, ToolResult, UsageLimitExceeded, UserError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

    from pi_agents.crew import Crew
    from pi_agents.member import Member
    from pi_agents.roster import Agent
    from pi_agents.worktree import Worktree
    from pi_hookspecs import AssistantMessage, MessageEndEvent, Model, ToolContext

__all__ = ["work"]

_ALIASES = frozenset({"sonnet", "opus", "haiku", "opusplan"})
"""Claude Code's names of model families; each means the current model of the family."""

_WORKTREE = (
    "You work in a git worktree of your own, {}: change files below it only. It begins with the user's uncommitted"
    " changes. You need not commit: your changes are kept, and the user decides whether to apply them."
)
_PARTS = (
    "The files of the repositories within it are here, but not their history, so git in them acts on the outer"
    " repository: {}."
)
_MISSING = "These folders are empty, because their repositories could not be brought: {}."


@frozen
class _Plan:
    """The configuration of an agent's session.

    Attributes:
        options: The options of ``ctx.create_session``.
        limits: The usage limits of its prompt.
        notes: Sentences about deviations from its file.
    """

    options: dict[str, Any]
    limits: UsageLimits
    notes: list[str] = field(factory=list)


async def work(crew: Crew, member: Member, ctx: ToolContext) -> ToolResult:
    """Run an agent and return its result; its worktree is kept or removed afterwards.

    Raises:
        PiError: The agent could not be started.
    """
    if member.stopping.is_set():
        raise PiError(f"The agent had not started: {member.why}")
    plan = await _plan(member.agent, ctx, crew.known_tools())
    async with _workplace(member, plan, ctx):
        failure, text = await _run(member, plan, ctx)
    member.state = "stopped" if member.stopping.is_set() else "failed" if failure else "done"
    left = _left_behind(member)
    parts = [limited(text, member.id, ctx.secrets), failure, *plan.notes, left, member.last_line()]
    return ToolResult.text("\n\n".join(filter(None, parts)), details=member.record(), is_error=bool(failure))


@asynccontextmanager
async def _workplace(member: Member, plan: _Plan, ctx: ToolContext) -> AsyncIterator[None]:
    """Provide the agent's worktree, if it uses one, and clear the reference if the worktree is not kept."""
    if member.isolation != "worktree":
        yield
        return
    from pi_agents.worktree import worktree
    from pi_git_kit import ask_plugins

    try:
        async with worktree(ask_plugins(ctx), member, ctx) as place:
            member.worktree = place
            plan.options["cwd"] = place.cwd
            plan.options["append_system_prompt"].append(_about(place))
            plan.notes.extend([_MISSING.format(_listed(place.missing))] if place.missing else [])
            yield
    finally:
        if member.worktree is not None and not member.worktree.stat:
            member.worktree = None


def _about(place: Worktree) -> str:
    """Return what the agent is told about its worktree."""
    sentences = [_WORKTREE.format(place.path)]
    if place.parts:
        sentences.append(_PARTS.format(", ".join(place.parts)))
    if place.missing:
        sentences.append(_MISSING.format(_listed(place.missing)))
    return " ".join(sentences)


def _listed(missing: Mapping[str, str]) -> str:
    return "; ".join(f"{path} ({reason})" for path, reason in missing.items())


def _left_behind(member: Member) -> str:
    """Return a description of what happened to the agent's worktree."""
    place = member.worktree
    if place is None:
        return "It changed no files; its worktree is removed." if member.isolation == "worktree" else ""
    return (
        f"Its changes are kept in {place.path}, branch {place.branch}; the user applies them with"
        f" /agents apply {member.id}:\n{place.stat}"
    )


# The configuration of the session


async def _plan(agent: Agent, ctx: ToolContext, known: list[str]) -> _Plan:
    """Return the session configuration that an agent's file requests.

    Raises:
        PiError: Its model cannot be used, one of its skills is missing, or its file cannot be read.
    """
    data = agent.data
    tools = agent.tools(known, ctx.tools)
    if ctx.depth + 1 >= MAX_DEPTH:
        tools = [name for name in tools if name not in NAMES]
    append = [await _instructions(agent)] if agent.path else []
    append += [await _skill(name, agent, ctx) for name in data.get("skills", ())]
    options: dict[str, Any] = {"tools": tools, "append_system_prompt": append}
    model, notes = _model(data.get("model", "inherit"), agent, ctx)
    if model is not None:
        options["model"] = model
    if "thinking" in data:
        options["thinking_level"] = data["thinking"]
    limits = UsageLimits(requests=data.get("maxTurns"), cost=data.get("maxCost"))
    return _Plan(options, limits, notes)


async def _instructions(agent: Agent) -> str:
    try:
        text = await asyncio.to_thread(Path(agent.path).read_text, encoding="utf-8-sig", errors="replace")
    except OSError as error:
        raise UserError(f"{agent.path}: the agent cannot be read: {error.strerror}") from error
    return parse_frontmatter(text).body.strip()


async def _skill(name: str, agent: Agent, ctx: ToolContext) -> str:
    """Return the text of a skill that is always loaded for an agent."""
    found = await ctx.resources.load("skill")
    skill = found.get(name)
    if skill is None:
        known = ", ".join(each.name for each in found.resources) or "none"
        raise UserError(f"{agent.path}: there is no skill {name!r}. Known skills: {known}")
    text = await asyncio.to_thread(Path(skill.path).read_text, encoding="utf-8-sig", errors="replace")
    return f"# Skill {name} ({skill.path})\n\n{parse_frontmatter(text).body.strip()}"


def _model(name: str, agent: Agent, ctx: ToolContext) -> tuple[Model | None, list[str]]:
    """Return the model that the file names (None: the session's model), and notes about deviations from it."""
    wanted = name.strip().partition("[")[0]
    if wanted.casefold() in ("", "inherit", "default"):
        return None, []
    if wanted.casefold() not in _ALIASES:
        try:
            return ctx.find_model(wanted), []
        except PiError as error:
            raise UserError(
                f"{agent.path}: model {name!r} of the agent {agent.name!r} cannot be used: {error}"
            ) from error
    family = wanted.casefold().removesuffix("plan")
    mine = ctx.model.provider if ctx.model is not None else None
    for provider in dict.fromkeys((mine, None)):  # the session's provider first: the user already pays there
        with suppress(PiError):
            found = ctx.models.find(family, provider)
            if family in found.id.casefold() and found in ctx.models.available():
                return found, []
    used = ctx.model.reference if ctx.model is not None else "that of the session"
    return None, [f"(No model {name!r} can be used; the agent worked with {used}.)"]


# Its session


async def _run(member: Member, plan: _Plan, ctx: ToolContext) -> tuple[str, str]:
    """Run the agent's session; return why it has no full answer, empty if it has, and its last text."""
    session = ctx.create_session(persist=True, label=member.name, **plan.options)
    member.session, member.state = session, "running"
    member.file = str(session.session_file) if session.session_file is not None else None
    async with session:
        session.session_manager.append_session_info(f"{member.name}: {member.description}")

        def count(event: MessageEndEvent) -> None:
            member.turns += event.message.role == "assistant"
            _account(member, session, ctx)
            member.on_progress()

        def check(_event: object) -> None:
            if member.stopping.is_set():  # while the session started: there was no prompt to abort
                session.request_abort(member.why)

        session.subscribe(count, "message_end")
        session.subscribe(check, "agent_start")
        if not member.background:
            session.subscribe(ctx.relay)
        try:
            answer = await session.prompt(
                member.prompt, source="extension", expand_prompt_templates=False, limits=plan.limits
            )
            failure = _failure(answer, member)
        except UsageLimitExceeded as error:
            failure = f"The agent reached its limit: {error}"
        except PiError as error:
            failure = f"The agent failed: {error}"
        finally:
            _account(member, session, ctx)
            member.session = None
        texts = (each.text for each in reversed(session.messages) if each.role == "assistant")
        return failure, next((text for text in texts if text.strip()), "")


def _failure(answer: AssistantMessage | None, member: Member) -> str:
    if member.stopping.is_set():
        return f"The agent was stopped: {member.why}"
    if answer is None:
        return "The agent gave no answer: a plugin handled its prompt"
    if answer.stop_reason in ("error", "aborted"):
        return f"The agent failed: {answer.error_message or answer.stop_reason}"
    if answer.stop_reason == "length":
        return "The agent's answer was cut at its model's output token limit"
    return "" if answer.text.strip() else "The agent gave no answer"


def _account(member: Member, session: Any, ctx: ToolContext) -> None:
    """Record the usage of the agent so far."""
    child = next((each for each in ctx.children if each.id == session.session_id), None)
    if child is not None:
        member.usage = child.usage
