"""Which of the given tools can be called with which arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import frozen

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pi_hookspecs import Tool


@frozen(eq=False, repr=False)
class Call:
    """A tool call to make."""

    tool: str
    arguments: dict[str, Any]


class Toolbox:
    """The tools of a request, by name, with what their schemas say.

    A tool of the right name whose parameters are others counts as missing: its author means something else by it.
    """

    def __init__(self, tools: Iterable[Tool]) -> None:
        self._schemas: dict[str, Mapping[str, Any]] = {tool.name: tool.parameters or {} for tool in tools}

    def has(self, name: str, *parameters: str) -> bool:
        """Tell whether there is such a tool, it takes these parameters and asks for no others."""
        schema = self._schemas.get(name)
        if schema is None:
            return False
        known = schema.get("properties")
        required = schema.get("required") or ()
        return (not known or all(name in known for name in parameters)) and all(name in parameters for name in required)

    def call(self, name: str, needed: Mapping[str, Any], **wanted: Any) -> Call | None:
        """Return a call of the tool, None where it cannot be called.

        Args:
            name: The tool.
            needed: Arguments without which the call makes no sense.
            wanted: Arguments that are given where the schema knows them and the value is not None.
        """
        if not self.has(name, *needed):
            return None
        known = self._schemas[name].get("properties")
        given = {key: value for key, value in wanted.items() if value is not None and (not known or key in known)}
        return Call(name, {**needed, **given})

    def takes(self, name: str, parameter: str) -> bool:
        """Tell whether a tool has a parameter."""
        known = self._schemas.get(name, {}).get("properties")
        return not known or parameter in known

    def bash(self, command: str) -> Call | None:
        """Return a call that runs a command."""
        return self.call("bash", {"command": command})
