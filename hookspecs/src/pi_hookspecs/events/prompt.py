"""The system prompt's sections, and the text that a prompt stands for."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, ClassVar, Literal

from attrs import field, frozen

from pi_hookspecs.events._listed import listed
from pi_hookspecs.values import Shown, Value

if TYPE_CHECKING:
    from collections.abc import Iterable

    from attrs import Attribute

__all__ = [
    "PROMPT_SECTIONS",
    "ExpandPromptEvent",
    "ExpandPromptResult",
    "PromptSection",
    "SystemPromptEvent",
    "SystemPromptResult",
]

PROMPT_SECTIONS: dict[str, int] = {
    "preamble": 100,
    "tools": 200,
    "rules": 300,
    "docs": 400,
    "addendum": 500,
    "project_context": 600,
    "skills": 700,
    "memory": 750,
    "date": 850,
    "cwd": 900,
}
"""The sections that have a place of their own, and their priorities: low comes first."""

CUSTOM_PRIORITY = 800
"""The place of every other section."""


def _check_name(section: PromptSection, attribute: Attribute[str], name: str) -> None:
    del section, attribute
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name):
        raise ValueError(f"A section's name is small letters, digits and '_', not {name!r}")


@frozen(kw_only=True, eq=False, repr=False)
class PromptSection(Value):
    """A part of the system prompt. All parts of one name stand in one ``<name>`` element, in the order of their coming.

    Attributes:
        name: Of the section: one of ``PROMPT_SECTIONS``, or the plugin's own.
        text: As the model will read it; an empty one is left out.
        source: The file that it comes from; None when it comes from the plugin itself.
        priority: The section's place; None for that of its name. The lowest of its parts counts.
    """

    name: str = field(validator=_check_name)
    text: str
    source: str | None = None
    priority: int | None = None

    @property
    def place(self) -> int:
        """Where the section stands: low comes first."""
        return PROMPT_SECTIONS.get(self.name, CUSTOM_PRIORITY) if self.priority is None else self.priority


@frozen(kw_only=True, eq=False, repr=False)
class SystemPromptEvent(Shown):
    """The system prompt is being put together.

    Attributes:
        cwd: The session's working directory.
        tools: Names of the tools that the model is offered.
        custom_prompt: What the user (``--system-prompt``) or the program put in place of pi's own words, if anything.
        append: What they appended (``--append-system-prompt``).
    """

    type: ClassVar[Literal["system_prompt"]] = "system_prompt"
    cwd: str
    tools: tuple[str, ...] = ()
    custom_prompt: str | None = None
    append: tuple[str, ...] = ()


def _sections(sections: Iterable[PromptSection]) -> tuple[PromptSection, ...]:
    return listed(sections, "sections", "[PromptSection(...)]")


@frozen(kw_only=True, eq=False, repr=False)
class SystemPromptResult(Shown):
    """Parts of the system prompt.

    Attributes:
        sections: Parts to add.
        base: Stands in place of preamble, tools, rules and docs; what the user or the program gave comes before it.
    """

    sections: tuple[PromptSection, ...] = field(default=(), converter=_sections)
    base: PromptSection | None = None

    def problem(self, event: SystemPromptEvent) -> str | None:
        """Say what is wrong with the parts."""
        del event
        parts: list[object] = [*self.sections, *([] if self.base is None else [self.base])]
        for each in parts:
            if not isinstance(each, PromptSection):
                return f"answered {each!r:.60}, which is no PromptSection"
            text: object = each.text
            if not isinstance(text, str):
                return f"answered section {each.name!r} with {text!r:.60}, which is no text"
        return None


@frozen(kw_only=True, eq=False, repr=False)
class ExpandPromptEvent(Shown):
    """The user's text may stand for a longer one: ``/skill:name``, ``/template``."""

    type: ClassVar[Literal["expand_prompt"]] = "expand_prompt"
    text: str


@frozen(kw_only=True, eq=False, repr=False)
class ExpandPromptResult(Shown):
    """The text that is meant."""

    text: str

    def problem(self, event: ExpandPromptEvent) -> str | None:
        """Say what is wrong with the text."""
        del event
        text: object = self.text
        return None if isinstance(text, str) else f"answered text={text!r:.60}, which is no text"
