"""The system prompt's sections."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

from pi_hookspecs.deferred import field, frozen
from pi_hookspecs.events._listed import listed
from pi_hookspecs.values import ReprMixin, Value

if TYPE_CHECKING:
    from collections.abc import Iterable

    from attrs import Attribute

__all__ = ["PROMPT_SECTIONS", "PromptPart", "PromptSection", "SystemPromptEvent", "SystemPromptResult"]

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
"""The standard sections and their priorities; the lowest comes first."""

_CHARS_PER_TOKEN = 4

CUSTOM_PRIORITY = 800
"""Priority of every other section."""


_IN_NAMES = frozenset("abcdefghijklmnopqrstuvwxyz0123456789_")


def _check_name(section: PromptSection, attribute: Attribute[str], name: str) -> None:
    del section, attribute
    if not ("a" <= name[:1] <= "z" and _IN_NAMES.issuperset(name)):
        raise ValueError(f"A section's name must be lowercase letters, digits and '_', not {name!r}")


@frozen(kw_only=True, eq=False, repr=False)
class PromptSection(Value):
    """A part of the system prompt. Parts with the same name share one ``<name>`` element, in registration order.

    Attributes:
        name: The section: one of ``PROMPT_SECTIONS``, or the plugin's own, in lowercase letters, digits and ``_``.
        text: As the model will read it; an empty one is left out.
        source: The file that it was read from; None if the plugin generated it.
        priority: The section's position; None for the default of its name. The lowest of its parts applies.
    """

    name: str = field(validator=_check_name)
    text: str
    source: str | None = None
    priority: int | None = None

    @property
    def place(self) -> int:
        """The section's position; the lowest comes first."""
        return PROMPT_SECTIONS.get(self.name, CUSTOM_PRIORITY) if self.priority is None else self.priority


@frozen(kw_only=True, eq=False, repr=False)
class SystemPromptEvent(ReprMixin):
    """The system prompt is being built.

    Attributes:
        cwd: The session's working directory.
        tools: Names of the active tools.
        custom_prompt: The user's (``--system-prompt``) or the program's replacement of pi's own prompt, or None.
        append: Texts that the user or the program appended (``--append-system-prompt``).
    """

    type: ClassVar[Literal["system_prompt"]] = "system_prompt"
    cwd: str
    tools: tuple[str, ...] = ()
    custom_prompt: str | None = None
    append: tuple[str, ...] = ()


def _sections(sections: Iterable[PromptSection]) -> tuple[PromptSection, ...]:
    return listed(sections, "sections", "[PromptSection(...)]")


@frozen(kw_only=True, eq=False, repr=False)
class SystemPromptResult(ReprMixin):
    """Parts of the system prompt.

    Attributes:
        sections: Parts to add.
        base: Replaces preamble, tools, rules and docs; a ``custom_prompt`` takes precedence.
    """

    sections: tuple[PromptSection, ...] = field(default=(), converter=_sections)
    base: PromptSection | None = None

    def problem(self, event: SystemPromptEvent) -> str | None:
        """Return what is wrong with the parts; None if nothing is."""
        del event
        parts: list[object] = [*self.sections, *([] if self.base is None else [self.base])]
        for each in parts:
            if not isinstance(each, PromptSection):
                return f"returned {each!r:.60}, which is not of type PromptSection"
            text: object = each.text
            if not isinstance(text, str):
                return f"returned section {each.name!r} with {text!r:.60}, which is not a string"
        return None


@frozen(kw_only=True, eq=False, repr=False)
class PromptPart(ReprMixin):
    """A part of the system prompt; the concatenation of all parts is its text (``ctx.prompt_parts``).

    Attributes:
        section: The section's name.
        text: The rendered text, including the section's opening tag in its first part and the closing tag in its last.
        hook: The name of the hook that returned it, ``core``, or the option of the command line.
        plugin: The plugin that returned it; None when it is not from a plugin.
        source: The file that the text comes from, if any.
    """

    section: str
    text: str
    hook: str
    plugin: str | None = None
    source: str | None = None

    @property
    def tokens(self) -> int:
        """The estimated tokens: a quarter of the characters, rounded up."""
        return -(-len(self.text) // _CHARS_PER_TOKEN)
