"""The system prompt as text, of which every character is somebody's."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from attrs import frozen

from pi_hookspecs.values import ReprMixin, Value

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pi_hookspecs import PromptSection

__all__ = ["Contribution", "PromptPart", "SystemPrompt", "render"]

CHARS_PER_TOKEN = 4
_LISTS = frozenset({"tools", "rules"})
"""Sections whose parts are lines of one list."""


@frozen(kw_only=True, eq=False, repr=False)
class Contribution(Value):
    """A part of a section and who gave it.

    Attributes:
        section: Name, text, source and place.
        hook: How it came: the hook's name; ``core``; or the option that the user gave.
        plugin: Whose implementation it was; None where no plugin had a part in it.
        bare: It stands without its section's element: the user's own words in place of ours.
    """

    section: PromptSection
    hook: str
    plugin: str | None = None
    bare: bool = False


@frozen(kw_only=True, eq=False, repr=False)
class PromptPart(ReprMixin):
    """A stretch of the system prompt; all of them, one behind the other, are its text.

    Attributes:
        section: The section's name.
        text: As it stands in the prompt, with the section's tags where it is the first or the last in it.
        hook: See ``Contribution``, as is ``plugin``.
        source: The file that it comes from.
    """

    section: str
    text: str
    hook: str
    plugin: str | None = None
    source: str | None = None

    @property
    def tokens(self) -> int:
        """About how many tokens it is: a quarter of its characters, rounded up."""
        return -(-len(self.text) // CHARS_PER_TOKEN)


@frozen(kw_only=True, eq=False, repr=False)
class SystemPrompt(ReprMixin):
    """A system prompt and its parts."""

    text: str
    parts: tuple[PromptPart, ...]


def render(contributions: Sequence[Contribution]) -> SystemPrompt:
    """Return the prompt: parts of one name in one element, sections by their places, equal places as they came."""
    sections: dict[str, list[Contribution]] = {}
    for each in contributions:
        if each.section.text.strip():
            sections.setdefault(each.section.name, []).append(each)
    ordered = sorted(sections.values(), key=lambda members: min(each.section.place for each in members))
    parts = [part for members in ordered for part in _section(members)]
    if parts:
        parts[-1] = _with_text(parts[-1], parts[-1].text.rstrip("\n"))
    return SystemPrompt(text="".join(part.text for part in parts), parts=tuple(parts))


def _section(members: Sequence[Contribution]) -> Iterator[PromptPart]:
    """Go through the parts of a section, its first with the opening tag, its last with the closing one."""
    name = members[0].section.name
    bare = any(each.bare for each in members)
    joint = "\n" if name in _LISTS else "\n\n"
    merged = [list(group) for _, group in groupby(members, key=_giver)]
    for number, group in enumerate(merged):
        text = joint.join(each.section.text.strip("\n") for each in group)
        before = f"<{name}>\n" if number == 0 and not bare else ""
        is_last = number == len(merged) - 1
        after = ("\n\n" if bare else f"\n</{name}>\n\n") if is_last else joint
        first = group[0]
        yield PromptPart(
            section=name,
            text=before + text + after,
            hook=first.hook,
            plugin=first.plugin,
            source=first.section.source,
        )


def _giver(each: Contribution) -> tuple[str | None, ...]:
    return each.plugin, each.hook, each.section.source


def _with_text(part: PromptPart, text: str) -> PromptPart:
    from attrs import evolve

    return evolve(part, text=text)
