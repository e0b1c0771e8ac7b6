"""Builds the system prompt from core's own sections and the plugins' results of the hook ``system_prompt``."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from pi_core.system_prompt.core_sections import base_sections, closing_sections
from pi_core.system_prompt.option_section import option_section
from pi_core.system_prompt.render import Contribution, SystemPrompt, render
from pi_hookspecs import PromptSection
from pi_hookspecs.deferred import frozen

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
    """The inputs of a system prompt that come from the session.

    Attributes:
        cwd: The working directory.
        tools: The active tools.
        owner: Returns the plugin that registered a tool; None for a tool of the program.
        date: Whether the prompt contains today's date.
    """

    cwd: Path
    tools: Sequence[Tool]
    owner: Callable[[Tool], str | None]
    date: bool = False


class SystemPromptBuilder:
    """Builds the system prompts of one session, one for each set of active tools.

    Args:
        custom: Replaces pi's own sections: a text or the path of a file.
        append: Additional paragraphs, each a text or the path of a file.

    Raises:
        UserError: A file cannot be used.
    """

    def __init__(self, custom: str | None = None, append: Sequence[str] = ()) -> None:
        self._custom = None if custom is None else option_section("preamble", custom)
        self._append = tuple(option_section("addendum", each) for each in append)
        self._plugin_sections: tuple[Contribution, ...] = ()
        self._plugin_base: Contribution | None = None
        self._core_cache: tuple[Sequence[Tool], tuple[Contribution, ...]] | None = None
        self._built: tuple[tuple[Contribution, ...], SystemPrompt] | None = None

    async def build(self, inputs: PromptInputs, ask: Ask | None) -> SystemPrompt:
        """Call the plugins and return the prompt; the same object as long as nothing has changed.

        Args:
            inputs: The inputs from the session.
            ask: Returns each plugin's name and result for the event; None when no plugin implements the hook.
        """
        if ask is not None:
            from pi_hookspecs import SystemPromptEvent

            event = SystemPromptEvent(
                cwd=str(inputs.cwd),
                tools=tuple(tool.name for tool in inputs.tools),
                custom_prompt=None if self._custom is None else self._custom.text,
                append=tuple(each.text for each in self._append),
            )
            results = await ask(event)
            from_plugins = [(plugin, section) for plugin, answer in results for section in answer.sections]
            self._plugin_sections = tuple(_from_plugin(plugin, section) for plugin, section in from_plugins)
            bases = ((plugin, answer.base) for plugin, answer in results)
            self._plugin_base = next((_from_plugin(plugin, base, bare=True) for plugin, base in bases if base), None)
        return self.build_cached(inputs)

    def build_cached(self, inputs: PromptInputs) -> SystemPrompt:
        """Return the prompt with the plugins' most recent results, without calling the plugins."""
        contributions = self._contributions(inputs)
        if self._built is None or self._built[0] != contributions:
            self._built = contributions, render(contributions)
        return self._built[1]

    def _contributions(self, inputs: PromptInputs) -> tuple[Contribution, ...]:
        custom = self._plugin_base
        if self._custom is not None:
            custom = _option_contribution("--system-prompt", self._custom, bare=True)
        if custom is None:
            leading_sections = (*self._core_sections(inputs), *self._plugin_sections)
        else:
            leading_sections = (custom, *(each for each in self._plugin_sections if each.section.name not in _REPLACED))
        appended = [_option_contribution("--append-system-prompt", each) for each in self._append]
        return (*leading_sections, *appended, *closing_sections(inputs.cwd, date=inputs.date))

    def _core_sections(self, inputs: PromptInputs) -> tuple[Contribution, ...]:
        """Return core's sections that depend on the active tools; cached for the same tools."""
        if self._core_cache is None or self._core_cache[0] is not inputs.tools:
            self._core_cache = inputs.tools, tuple(base_sections(inputs.tools, inputs.owner))
        return self._core_cache[1]


def _from_plugin(plugin: str, section: PromptSection, *, bare: bool = False) -> Contribution:
    if bare:
        section = PromptSection(name="preamble", text=section.text, source=section.source)
    return Contribution(section=section, hook="system_prompt", plugin=plugin, bare=bare)


def _option_contribution(option: str, section: PromptSection, *, bare: bool = False) -> Contribution:
    return Contribution(section=section, hook=option, bare=bare)
