"""The tools of a request under the names and with the schemas that the API accepts, and the way back from its calls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import evolve

from pi_provider_kit.sendable import rules_of
from pi_provider_kit.tool_schemas import (
    fitting_name,
    kept_schema,
    original_arguments,
    renames_properties,
    sendable_schema,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pi_hookspecs.models import Model
    from pi_hookspecs.tools import Tool
    from pi_provider_kit.sendable import Rules

__all__ = ["SentTools"]


class SentTools:
    """The tools of a request as an API takes them; see ``Rules`` for what it refuses.

    Give it to ``AnswerBuilder``, which turns names and arguments of the answer's calls back, and to
    ``transform_messages``, which renames the calls and results of the conversation.

    Args:
        tools: The tools; of two with one name, the first is sent.
        model: The model of the request.
        rules: Those of an API that is not in ``RULES``, such as ``RULES["anthropic-messages"]`` for a host that speaks
            it under an API id of its own; None for those of the model.
    """

    def __init__(self, tools: Iterable[Tool], model: Model, rules: Rules | None = None) -> None:
        self.rules = rules_of(model) if rules is None else rules
        self._tools: dict[str, Tool] = {}
        self._sent: dict[str, str] = {}
        self._ours: dict[str, str] = {}
        self._renames: dict[str, bool] = {}  # looked at once, however many calls an answer has
        for tool in tools:
            if tool.name not in self._tools:
                self._tools[tool.name] = tool
        for name in sorted(self._tools, key=lambda name: self.fitting(name) != name):  # those that fit keep their name
            sent = self._free(self.fitting(name))
            self._sent[name], self._ours[sent] = sent, name

    def __iter__(self) -> Iterator[Tool]:
        """Yield the tools as they are sent, in order: with names and schemas that the API accepts."""
        for name, tool in self._tools.items():
            yield evolve(tool, name=self._sent[name], parameters=_schema(tool.parameters, self.rules))

    @property
    def tool_names(self) -> list[str]:
        """Our names of the tools, in order."""
        return [*self._tools]

    @property
    def names(self) -> list[str]:
        """The names that are sent, in order."""
        return [self._sent[name] for name in self._tools]

    def sent(self, name: str) -> str:
        """Return the name to send for a tool; for one that is not offered, a name that no offered tool has."""
        return self._sent.get(name) or self._free(self.fitting(name))

    def ours(self, name: str) -> str:
        """Return our name of a tool for the one that was sent."""
        return self._ours.get(name, name)

    def arguments(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """Return the arguments of a call as the tool of this name expects them; the same object if nothing changes."""
        tool = self._tools.get(name)
        if tool is None:
            return arguments
        renames = self._renames.get(name)
        if renames is None:
            renames = self._renames[name] = renames_properties(tool.parameters, self.rules)
        return original_arguments(arguments, tool.parameters, self.rules) if renames else arguments

    def fitting(self, name: str) -> str:
        """Return a name that the API accepts for the one given, whichever tools there are; codecs may override it."""
        rule = self.rules.tools
        return name if rule is None else fitting_name(name, rule)

    def _free(self, name: str) -> str:
        """Return the name, or one like it where a tool has it already."""
        rule = self.rules.tools
        free, number = name, 1
        while free in self._ours:
            number += 1
            free = f"{name if rule is None else name[: rule.longest - 5]}_{number}"
        return free


def _schema(parameters: Any, rules: Rules) -> dict[str, Any]:
    return kept_schema(parameters, rules, lambda: sendable_schema(parameters, rules))
