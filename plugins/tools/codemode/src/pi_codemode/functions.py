"""The tools as a script sees them: Python names, parameters in order, and the text that ``help(tool)`` prints."""

from __future__ import annotations

import keyword
import re
from typing import TYPE_CHECKING, Any

from attrs import frozen

from pi_hookspecs.values import Value

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pi_hookspecs import ToolInfo

__all__ = ["Function", "functions_of"]

_NEVER = frozenset({"codemode"})
"""A script cannot run scripts."""

_TAKEN = frozenset({"gather", "help", "tools", "print", "mcp", "ToolError"})
_TYPES = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "array": "list", "object": "dict"}
_LINE = 160
"""Characters of the one line about a tool."""


@frozen(eq=False, kw_only=True, repr=False)
class Function(Value):
    """A tool that a script can call.

    Attributes:
        tool: The tool.
        python: Its name in a script, such as ``read`` or ``mcp.github.search_issues``.
    """

    tool: ToolInfo
    python: str

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names of its parameters: the required ones first, each group in the order of the schema."""
        properties = self._properties
        required = [name for name in self.tool.parameters.get("required") or () if name in properties]
        return (*required, *(name for name in properties if name not in required))

    @property
    def signature(self) -> str:
        """Name, parameters and types: ``read(path: str, offset: int = None)``."""
        required = set(self.tool.parameters.get("required") or ())
        return f"{self.python}({', '.join(self._parameter(name, name in required) for name in self.parameters)})"

    @property
    def line(self) -> str:
        """One line: the signature, and the first sentence of the description."""
        first = re.split(r"(?<=[.!?])\s|\n\s*\n", self.tool.description.strip(), maxsplit=1)[0]
        text = " ".join(first.split())
        return f"{self.signature}: {text}"[: _LINE + len(self.signature)].rstrip(": ")

    @property
    def help(self) -> str:
        """Everything: signature, description, each parameter, and what it returns."""
        lines = [f"await {self.signature}", "", self.tool.description.strip()]
        described = [
            f"  {name}: {' '.join(str(about['description']).split())}"
            for name, about in self._properties.items()
            if isinstance(about, dict) and about.get("description")
        ]
        if described:
            lines += ["", "Parameters:", *described]
        if self.tool.output_schema is not None:
            import json

            lines += ["", "Returns data of this JSON schema:", json.dumps(self.tool.output_schema, ensure_ascii=False)]
        else:
            lines += ["", "Returns text (str)."]
        return "\n".join(lines)

    def to_wire(self) -> dict[str, Any]:
        """Return what the script's process is sent."""
        return {
            "name": self.tool.name,
            "python": self.python,
            "parameters": list(self.parameters),
            "help": self.help,
        }

    @property
    def _properties(self) -> Mapping[str, Any]:
        properties = self.tool.parameters.get("properties")
        return properties if isinstance(properties, dict) else {}

    def _parameter(self, name: str, required: bool) -> str:  # noqa: FBT001 - private, and read beside its caller
        about = self._properties[name]
        kind = about.get("type") if isinstance(about, dict) else None
        python = _TYPES.get(kind) if isinstance(kind, str) else None
        typed = f"{name}: {python}" if python else name
        return typed if required else f"{typed} = None" if python else f"{typed}=None"


def functions_of(tools: Iterable[ToolInfo]) -> dict[str, Function]:
    """Return the functions by the names of their tools: of active tools, and of those that only scripts can call."""
    found: dict[str, Function] = {}
    taken: set[str] = set()
    for tool in tools:
        if tool.name in _NEVER or not (tool.active or tool.exposure == "code"):
            continue
        python = _python_name(tool)
        while python in taken:
            python += "_"
        taken.add(python)
        found[tool.name] = Function(tool=tool, python=python)
    return found


def _python_name(tool: ToolInfo) -> str:
    server = re.fullmatch(r"mcp__(.+?)__(.+)", tool.name)
    if server is not None:
        return f"mcp.{_identifier(server[1])}.{_identifier(server[2])}"
    name = _identifier(tool.name)
    return f"{name}_" if name in _TAKEN else name


def _identifier(name: str) -> str:
    plain = re.sub(r"\W", "_", name)
    if plain[:1].isdigit():
        plain = f"_{plain}"
    return f"{plain}_" if keyword.iskeyword(plain) else plain
