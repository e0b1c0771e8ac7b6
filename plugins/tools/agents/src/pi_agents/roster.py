"""The agents that a session can use, and why others cannot be used."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from attrs import field, frozen

from pi_agents.kind import KIND
from pi_core import escaped
from pi_hookspecs import PromptSection, SystemPromptResult, UnknownName, UserError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pi_hookspecs import PiContext, Resource

__all__ = ["GENERAL", "Agent", "Roster", "roster", "section"]

GENERAL = "general"
"""Name of the agent that has no file: with the model and the tools of the session that calls it."""

_LONGEST = 500
"""Characters of a description in the list for the model."""


@frozen
class Agent:
    """An agent that can be used.

    Attributes:
        path: Its file; empty for the general one.
        data: What its front matter asks for, see ``read_agent``.
    """

    name: str
    path: str = ""
    description: str = ""
    data: Mapping[str, Any] = field(factory=dict)

    def tools(self, known: Sequence[str], active: Sequence[str]) -> list[str]:
        """Return the names of its tools.

        Args:
            known: All tools that can be activated.
            active: Those of the session that calls it, which it gets if its file names none.
        """
        chosen = list(active)
        if "tools" in self.data:
            wanted = [*self.data["tools"], *self.data["optionalTools"]]
            chosen = [name for each in wanted for name in known if fnmatchcase(name, each)]
        without = self.data.get("withoutTools", ())
        return [name for name in dict.fromkeys(chosen) if not any(fnmatchcase(name, each) for each in without)]


@frozen
class Roster:
    """The agents that can be used, and by name why others cannot."""

    agents: tuple[Agent, ...] = ()
    problems: Mapping[str, str] = field(factory=dict)

    def get(self, name: str | None) -> Agent:
        """Return the agent of a name; the general one for None.

        Raises:
            UserError: There is none; the message names those that there are.
        """
        found = next((each for each in self.agents if each.name == (name or GENERAL)), None)
        if found is not None:
            return found
        if name in (None, GENERAL):
            return Agent(GENERAL)
        if name in self.problems:
            raise UserError(self.problems[name])
        known = [*(each.name for each in self.agents), GENERAL]
        raise UserError(f"{UnknownName('agent', str(name), known)} Use one of {', '.join(known)}")


async def roster(ctx: PiContext, tools: Sequence[str]) -> Roster:
    """Return the agents of a session whose tools are all there."""
    agents, problems = [], {}
    for resource in (await ctx.resources.load(KIND)).resources:
        missing = _missing_tools(resource, tools)
        if missing:
            problems[resource.name] = f"{resource.path}: the agent {resource.name!r} is not offered: " + "; ".join(
                str(UnknownName("tool", each, tools)) for each in missing
            )
        else:
            agents.append(Agent(resource.name, resource.path, resource.description, resource.data))
    return Roster(tuple(agents), problems)


def _missing_tools(resource: Resource, tools: Sequence[str]) -> list[str]:
    """Return the tools that an agent needs and that are not installed."""
    return [each for each in resource.data.get("tools", ()) if each not in tools]


def section(found: Roster) -> SystemPromptResult | None:
    """Return the list of agents for the system prompt; None without any."""
    if not found.agents:
        return None
    lines = [
        "Agents for the tool task, each good at one kind of work; without an agent a general one does it:",
        "",
        "<agents>",
        *(f"{each.name}: {_shortened(each.description)}" for each in found.agents),
        "</agents>",
    ]
    return SystemPromptResult(sections=[PromptSection(name="agents", text="\n".join(lines))])


def _shortened(description: str) -> str:
    text = escaped(description)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3].rsplit(' ', 1)[0]}..."
