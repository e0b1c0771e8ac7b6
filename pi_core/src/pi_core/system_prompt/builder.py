"""Puts a system prompt together: core's own sections, and what plugins answer to ``system_prompt``."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from attrs import frozen

from pi_core.system_prompt.given import given_section
from pi_core.system_prompt.own import base_sections, closing_sections
from pi_core.system_prompt.rendered import Contribution, SystemPrompt, render
from pi_hookspecs import PromptSection

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence
    from pathlib import Path

    from pi_hookspecs import SystemPromptEvent, SystemPromptResult, Tool

    Ask: TypeAlias = Callable[[SystemPromptEvent], Awaitable[Sequence[tuple[str, SystemPromptResult]]]]

__all__ = ["PromptInputs", "SystemPromptBuilder"]

_REPLACED = frozenset({"preamble", "tools", "rules", "docs"})
"""Sections that a custom prompt replaces."""


@frozen(kw_only=True, eq=False, repr=False)
class PromptInputs:
    """What a system prompt says of the session that it is for.

    Attributes:
        cwd: The working directory.
        tools: Those that the model is offered.
        owner: Returns the plugin that registered a tool; None for one of the program's.
        date: Whether it says today's date.
    """

    cwd: Path
    tools: Sequence[Tool]
    owner: Callable[[Tool], str | None]
    date: bool = False


class SystemPromptBuilder:
    """Builds the system prompts of one session, one for each set of active tools.

    Args:
        custom: Replaces pi's own words: a text or a file.
        append: Further paragraphs, texts or files.

    Raises:
        UserError: A file cannot be used.
    """

    def __init__(self, custom: str | None = None, append: Sequence[str] = ()) -> None:
        self._custom = None if custom is None else given_section("preamble", custom)
        self._append = tuple(given_section("addendum", each) for each in append)
        self._from_plugins: tuple[Contribution, ...] = ()
        self._base: Contribution | None = None
        self._own: tuple[Sequence[Tool], tuple[Contribution, ...]] | None = None
        self._built: tuple[tuple[Contribution, ...], SystemPrompt] | None = None

    async def build(self, inputs: PromptInputs, ask: Ask | None) -> SystemPrompt:
        """Return the prompt with what plugins answer now; the same object while nothing changed.

        Args:
            inputs: What to build it from.
            ask: Returns each plugin's name and answer to the event; None where no plugin implements the hook.
        """
        if ask is not None:
            from pi_hookspecs import SystemPromptEvent

            event = SystemPromptEvent(
                cwd=str(inputs.cwd),
                tools=tuple(tool.name for tool in inputs.tools),
                custom_prompt=None if self._custom is None else self._custom.text,
                append=tuple(each.text for each in self._append),
            )
            answers = await ask(event)
            given = [(plugin, section) for plugin, answer in answers for section in answer.sections]
            self._from_plugins = tuple(_from_plugin(plugin, section) for plugin, section in given)
            bases = ((plugin, answer.base) for plugin, answer in answers)
            self._base = next((_from_plugin(plugin, base, bare=True) for plugin, base in bases if base), None)
        return self.known(inputs)

    def known(self, inputs: PromptInputs) -> SystemPrompt:
        """Return the prompt with what plugins answered when they were last asked."""
        contributions = self._contributions(inputs)
        if self._built is None or self._built[0] != contributions:
            self._built = contributions, render(contributions)
        return self._built[1]

    def _contributions(self, inputs: PromptInputs) -> tuple[Contribution, ...]:
        custom = self._base if self._custom is None else _option("--system-prompt", self._custom, bare=True)
        if custom is None:
            opening = (*self._own_sections(inputs), *self._from_plugins)
        else:
            opening = (custom, *(each for each in self._from_plugins if each.section.name not in _REPLACED))
        appended = [_option("--append-system-prompt", each) for each in self._append]
        return (*opening, *appended, *closing_sections(inputs.cwd, date=inputs.date))

    def _own_sections(self, inputs: PromptInputs) -> tuple[Contribution, ...]:
        """Return core's sections that depend on the active tools, as long as these are the same."""
        if self._own is None or self._own[0] is not inputs.tools:
            self._own = inputs.tools, tuple(base_sections(inputs.tools, inputs.owner))
        return self._own[1]


def _from_plugin(plugin: str, section: PromptSection, *, bare: bool = False) -> Contribution:
    if bare:
        section = PromptSection(name="preamble", text=section.text, source=section.source)
    return Contribution(section=section, hook="system_prompt", plugin=plugin, bare=bare)


def _option(option: str, section: PromptSection, *, bare: bool = False) -> Contribution:
    return Contribution(section=section, hook=option, bare=bare)
