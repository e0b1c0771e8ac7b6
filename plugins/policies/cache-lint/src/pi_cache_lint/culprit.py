"""Who broke a chain: the owner of a tool or of a section, or the plugin whose hook changed what was sent."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from attrs import frozen

from pi_cache_lint.difference import first_change
from pi_hookspecs.values import ReprMixin

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_cache_lint.difference import Difference
    from pi_cache_lint.line import Line, Section
    from pi_hookspecs import AgentMessage, SessionEntry

__all__ = ["Culprit", "find_culprit", "reason_of_moved_messages"]

_TOOLS = ("payload.tools", "payload.toolConfig", "payload.request.tools")
_SYSTEM = (
    "payload.system",
    "payload.instructions",
    "payload.messages[0]",
    "payload.input[0]",
    "payload.request.system",
)
_MESSAGES = ("payload.messages", "payload.input", "payload.contents", "payload.request.contents")
"""Where a link is found in the providers' payloads, as path prefixes."""

_THINKING = frozenset({"thinking", "reasoning", "reasoning_effort", "output_config"})


@frozen(kw_only=True, eq=False, repr=False)
class Culprit(ReprMixin):
    """Who broke the chain, and where.

    Attributes:
        link: The broken link, for people: ``system[clock]``.
        plugin: The plugin; None if it was pi itself or is unknown.
        hook: Its hook.
        reason: Why the break is expected; empty if it is avoidable.
    """

    link: str
    plugin: str | None = None
    hook: str | None = None
    reason: str = ""


def find_culprit(found: Difference, before: Line, now: Line) -> Culprit:
    """Return who broke a link other than a message that compaction or navigation moved.

    A change that a plugin makes identically in each request breaks nothing. So the stages of a request are compared,
    too: if prompt, tools or messages already differ before the payload is built, no payload hook is at fault.
    """
    if found.area == "parameter":
        return _of_parameter(found.name, before, now)
    if found.area == "tools":
        return _of_tool(found, before, now)
    if found.area == "system":
        return _of_system(before, now)
    if found.area == "marker":
        return _blamed("cache markers", "before_provider_request", before, now, ("payload.",))
    return _of_message(found, before, now)


def _of_parameter(name: str, before: Line, now: Line) -> Culprit:
    paths = (f"payload.{name}", f"payload.request.{name}")
    blamed = _blamed(name, "before_provider_request", before, now, paths)
    if blamed.plugin is not None:
        return blamed
    if name == "model":
        return Culprit(link=name, reason="another model")
    if name in _THINKING and before.level != now.level:
        return Culprit(link=name, reason=f"thinking level {before.level} -> {now.level}")
    return blamed


def _of_tool(found: Difference, before: Line, now: Line) -> Culprit:
    link = f"tools[{found.name}]: {found.what}"
    if before.offered and before.offered == now.offered:
        return _blamed(link, "before_provider_request", before, now, _TOOLS)
    owner = {**before.owners, **now.owners}.get(found.name)
    return Culprit(link=link, plugin=owner, hook="register_tools")


def _of_system(before: Line, now: Line) -> Culprit:
    number = first_change(before.sections, now.sections)
    if number < max(len(before.sections), len(now.sections)):
        section = _section_at_fault(before.sections, now.sections, number)
        return Culprit(link=f"system[{section.name}]", plugin=section.plugin, hook=section.hook)
    if before.prompt != now.prompt:
        return _blamed("system", "before_agent_start", before, now, ("system_prompt",))
    return _blamed("system", "before_provider_request", before, now, _SYSTEM)


def _section_at_fault(before: Sequence[Section], now: Sequence[Section], number: int) -> Section:
    """Return the section that was removed, or else the one that is new or has changed."""
    if number == len(now):
        return before[number]
    is_gone = number < len(before) and all(before[number].name != each.name for each in now)
    return before[number] if is_gone else now[number]


def _of_message(found: Difference, before: Line, now: Line) -> Culprit:
    in_context = _blamed("messages", "context", before, now, ("messages",))
    if before.messages is not None and now.messages is not None:
        number = first_change([*map(_content, before.messages)], [*map(_content, now.messages)])
        if number < min(len(before.messages), len(now.messages)):
            return in_context
        return _blamed("messages", "before_provider_request", before, now, _MESSAGES)
    there = tuple(f"{path}[{found.message}" for path in _MESSAGES)
    in_payload = _blamed("messages", "before_provider_request", before, now, there)
    return in_payload if in_payload.plugin is not None or in_context.plugin is None else in_context


def _content(message: AgentMessage) -> tuple[str, object]:
    """Return the part of a message that a model reads; the timestamp of a generated message differs in each request."""
    return message.role, getattr(message, "content", message)


def _blamed(link: str, hook: str, before: Line, now: Line, beginnings: tuple[str, ...]) -> Culprit:
    """Return the plugin whose hook changed this place; no plugin if none did.

    Of several, prefer those that changed something else than in the previous request, and of these the one with the
    earliest change.
    """
    then, latest = (
        [(plugin, path) for plugin, path in line.changes.get(hook, ()) if path.startswith(beginnings)]
        for line in (before, now)
    )
    everything = [*latest, *then]
    different = [each for each in everything if (each in latest) != (each in then)] or everything
    if not different:
        return Culprit(link=link)
    first = min(_index(path) for _, path in different)
    plugins = dict.fromkeys(plugin for plugin, path in different if _index(path) == first)
    return Culprit(link=link, plugin=", ".join(plugins), hook=hook)


def _index(path: str) -> int:
    """Return the first index in a path, 0 if it has none."""
    found = re.search(r"\[(\d+)", path)
    return int(found[1]) if found is not None else 0


def reason_of_moved_messages(entries: Sequence[SessionEntry], leaf: str | None) -> str:
    """Return why earlier messages are gone; empty if neither compaction nor navigation explains it.

    Args:
        entries: The branch.
        leaf: The latest entry when the previous request was sent.
    """
    types: set[str] = set()
    for each in reversed(entries):  # only what is new since then is read
        if each.id == leaf:
            break
        types.add(each.type)
    else:
        if leaf is not None:
            return "navigation"
    return "compaction" if "compaction" in types else "navigation" if "branch_summary" in types else ""
