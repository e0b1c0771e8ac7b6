"""The syntax of a model's tool calls: its description for the model, and the grammar that enforces it.

Templates differ in what they make of tools, and builds of llama.cpp in which grammars they enforce. So tools are
described in the system prompt, calls and results are text in the conversation, and one grammar allows text or calls.
A model that was trained with ``<tool_call>`` writes that before a call, wherever in its answer; from there on its
grammar is that of the calls. Any other one begins its answer with the call, or answers in text.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from attrs import frozen

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["Syntax", "syntax_of"]

BEGIN, END = "<tool_call>", "</tool_call>"

_INTRODUCTION = """\
# Tools

You may call {count} to help with the user's request. The functions are described within <tools></tools>:
<tools>
{tools}
</tools>

"""
_MARKED = """\
For each function call, write a JSON object with its name and arguments within <tool_call></tool_call>:
<tool_call>
{"name": <function-name>, "arguments": <args-json-object>}
</tool_call>"""
_PLAIN = """\
To call a function, answer with one JSON object and nothing else; you get its result as the next message:
{"name": <function-name>, "arguments": <args-json-object>}
When you need no function, answer in text."""


@frozen
class Syntax:
    """The syntax of one model.

    Attributes:
        marked: Whether calls are between marks, after any text.
        has_system: Whether the template takes a system message.
    """

    marked: bool
    has_system: bool = True

    def describe(self, tools: Iterable[dict[str, Any]]) -> str:
        """Return the section of the system prompt about the tools, given as the API's ``tools``."""
        lines = "\n".join(json.dumps(tool, ensure_ascii=False) for tool in tools)
        count = "one or more functions" if self.marked else "one function at a time"
        return _INTRODUCTION.format(count=count, tools=lines) + (_MARKED if self.marked else _PLAIN)

    def call(self, name: str, arguments: str) -> str:
        """Return a call as the model would have written it; ``arguments`` is JSON."""
        text = f'{{"name": {json.dumps(name)}, "arguments": {arguments}}}'
        return f"{BEGIN}\n{text}\n{END}" if self.marked else text

    def result(self, name: str, text: str) -> str:
        """Return a tool's result, as a message of the user."""
        return f"<tool_response>\n{text}\n</tool_response>" if self.marked else f"Result of {name}:\n{text}"

    def grammar(self, tools: Sequence[dict[str, Any]], *, required: bool = False) -> str:
        """Return the grammar of an answer: text or calls, or calls alone.

        Args:
            tools: Those that may be called, as the API's ``tools``.
            required: Whether there has to be a call.
        """
        from pi_provider_llamacpp.engine.schemas import grammar_schema

        calls, rules = [], []
        for number, tool in enumerate(tools):
            function = tool["function"]
            opening = json.dumps(f'{{"name": {json.dumps(function["name"])}, "arguments": ')
            schema = json.dumps(grammar_schema(function.get("parameters")))
            calls.append(f"call{number}")
            rules += [f'call{number}: {opening} arguments{number} "}}"', f"arguments{number}: %json {schema}"]
        call = " | ".join(calls)
        if self.marked:
            start = "marked+" if required else "TEXT | marked+"
            rules += [
                f'marked: before "\\n" ( {call} ) "\\n{END}"',
                f"before[lazy]: /(.|\\n)*{BEGIN}/",
                f"TEXT: /(.|\\n)+/ & ~/(.|\\n)*{BEGIN}(.|\\n)*/",
            ]
        else:
            start = call if required else f"TEXT | {call}"
            rules.append("TEXT: /[^{](.|\\n)*/")
        return "\n".join((f"%llguidance {{}}\nstart: {start}", *rules, ""))


def syntax_of(template: str) -> Syntax:
    """Return the way of a model by its chat template; one that thinks aloud cannot begin with a call."""
    return Syntax(
        marked=BEGIN in template or "<think>" in template,
        has_system="System role not supported" not in template,
    )
