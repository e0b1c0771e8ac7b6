"""Puts a session's system prompt together: core's own sections, and what plugins answer to ``system_prompt``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_core.system_prompt.given import given_section
from pi_core.system_prompt.own import base_sections, closing_sections
from pi_core.system_prompt.rendered import Contribution, SystemPrompt, render
from pi_hookspecs import PromptSection
from pi_hookspecs.specs import agent as agent_specs

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pi_core.conversation import AgentSession

__all__ = ["SystemPromptBuilder"]

_REPLACED = frozenset({"preamble", "tools", "rules", "docs"})
"""What a custom prompt stands in place of."""


class SystemPromptBuilder:
    """Builds the system prompt of one session.

    Args:
        session: Whose: its tools, its plugins, its working directory.
        custom: Stands in place of pi's own words: a text or a file.
        append: Further paragraphs, texts or files.

    Raises:
        UserError: A file cannot be used.
    """

    def __init__(self, session: AgentSession, custom: str | None = None, append: Sequence[str] = ()) -> None:
        self._session = session
        self._custom = None if custom is None else given_section("preamble", custom)
        self._append = tuple(given_section("addendum", each) for each in append)
        self._from_plugins: tuple[Contribution, ...] = ()
        self._base: Contribution | None = None
        self._built: tuple[tuple[Contribution, ...], SystemPrompt] | None = None

    async def build(self) -> SystemPrompt:
        """Ask the plugins and return the prompt; the same object while nothing changed."""
        hooks = self._session.hooks
        if hooks.listens("system_prompt"):
            from pi_hookspecs import SystemPromptEvent

            event = SystemPromptEvent(
                cwd=str(self._session.cwd),
                tools=tuple(tool.name for tool in self._session.agent.state.tools),
                custom_prompt=None if self._custom is None else self._custom.text,
                append=tuple(each.text for each in self._append),
            )
            answers = await hooks.call_each(agent_specs.system_prompt, event, self._session.ctx)
            given = [(plugin, section) for plugin, answer in answers for section in answer.sections]
            self._from_plugins = tuple(_from_plugin(plugin, section) for plugin, section in given)
            bases = ((plugin, answer.base) for plugin, answer in answers)
            self._base = next((_from_plugin(plugin, base, bare=True) for plugin, base in bases if base), None)
        return self.known()

    def known(self) -> SystemPrompt:
        """Return the prompt for the active tools, with what plugins said when they were last asked."""
        contributions = tuple(self._contributions())
        if self._built is None or self._built[0] != contributions:
            self._built = contributions, render(contributions)
        return self._built[1]

    def _contributions(self) -> Iterator[Contribution]:
        session = self._session
        custom = self._base if self._custom is None else _option("--system-prompt", self._custom, bare=True)
        if custom is None:
            yield from base_sections(session.agent.state.tools, session.toolbox.owner)
            yield from self._from_plugins
        else:
            yield custom
            yield from (each for each in self._from_plugins if each.section.name not in _REPLACED)
        yield from (_option("--append-system-prompt", each) for each in self._append)
        yield from closing_sections(
            session.cwd, date=bool(session.settings.get_bool("systemPrompt.date", default=False))
        )


def _from_plugin(plugin: str, section: PromptSection, *, bare: bool = False) -> Contribution:
    if bare:
        section = PromptSection(name="preamble", text=section.text, source=section.source)
    return Contribution(section=section, hook="system_prompt", plugin=plugin, bare=bare)


def _option(option: str, section: PromptSection, *, bare: bool = False) -> Contribution:
    return Contribution(section=section, hook=option, bare=bare)
