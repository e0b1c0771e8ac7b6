"""Renders the system prompt, and records which plugin or option each part comes from."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from pi_hookspecs.deferred import frozen
from pi_hookspecs.events.prompt import PromptPart
from pi_hookspecs.values import ReprMixin, Value

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pi_hookspecs import PromptSection

__all__ = ["Contribution", "PromptPart", "SystemPrompt", "render"]

_LISTS = frozenset({"tools", "rules"})
"""Sections whose parts are lines of one list."""


@frozen(kw_only=True, eq=False, repr=False)
class Contribution(Value):
    """A part of a section and its origin.

    Attributes:
        section: Name, text, source and place.
        hook: The name of the hook that returned it, ``core``, or the option of the command line.
        plugin: The plugin that returned it; None if it does not come from a plugin.
        bare: Whether it is rendered without the element of its section, like a custom prompt.
    """

    section: PromptSection
    hook: str
    plugin: str | None = None
    bare: bool = False


@frozen(kw_only=True, eq=False, repr=False)
class SystemPrompt(ReprMixin):
    """A system prompt and its parts."""

    text: str
    parts: tuple[PromptPart, ...]


def render(contributions: Sequence[Contribution]) -> SystemPrompt:
    """Return the prompt: one element per section with its contributions, sections stably sorted by place."""
    sections: dict[str, list[Contribution]] = {}
    for each in contributions:
        if each.section.text.strip():
            sections.setdefault(each.section.name, []).append(each)
    ordered = sorted(sections.values(), key=lambda members: min(each.section.place for each in members))
    parts = [part for members in ordered for part in _section(members)]
    if parts:
        parts[-1] = _replace_text(parts[-1], parts[-1].text.rstrip("\n"))
    return SystemPrompt(text="".join(part.text for part in parts), parts=tuple(parts))


def _section(members: Sequence[Contribution]) -> Iterator[PromptPart]:
    """Yield the parts of a section, the first with the opening tag, the last with the closing tag."""
    name = members[0].section.name
    bare = any(each.bare for each in members)
    separator = "\n" if name in _LISTS else "\n\n"
    merged = [list(group) for _, group in groupby(members, key=_origin)]
    for number, group in enumerate(merged):
        text = separator.join(each.section.text.strip("\n") for each in group)
        before = f"<{name}>\n" if number == 0 and not bare else ""
        is_last = number == len(merged) - 1
        after = ("\n\n" if bare else f"\n</{name}>\n\n") if is_last else separator
        first = group[0]
        yield PromptPart(
            section=name,
            text=before + text + after,
            hook=first.hook,
            plugin=first.plugin,
            source=first.section.source,
        )


def _origin(each: Contribution) -> tuple[str | None, ...]:
    return each.plugin, each.hook, each.section.source


def _replace_text(part: PromptPart, text: str) -> PromptPart:
    from attrs import evolve

    return evolve(part, text=text)
