"""Structured output: the schema of an ``output_type``, the instruction for the model, and parsing of the answer."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from pi_core.agent.safe_text import exception_message
from pi_core.conversation.output_types import problems_of, schema_and_reader
from pi_hookspecs import InvalidArguments, InvalidOutput, UserError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pi_core.agent.schema import CompiledSchema

__all__ = ["OutputFormat"]

_NO_JSON = object()
_WRAPPED = "result"
"""Name of the property for a value that is not an object, because the APIs accept only schemas of objects."""

_INSTRUCTION = """

# Output format

Your last message, once you need no more tools, must be one JSON object that fits this JSON schema, and nothing else: \
no text before or after it, no code fence.

{schema}"""

_CORRECTION = """\
Your last message does not fit the required output format:
{problem}

Answer again, with the JSON object alone."""

_BROKEN_SCHEMA = "output_type is not a valid JSON schema: {problem}"

_FENCED = re.compile(r"```(?:json)?\s*\n(.*?)\n\s*```", re.DOTALL | re.IGNORECASE)


class OutputFormat:
    """The format of an answer's data.

    Args:
        output_type: A JSON schema as a dict, a pydantic model, a type that ``pi_hookspecs.shape_of`` knows, or
            an ``OutputType``.

    Attributes:
        schema: JSON schema of an object.

    Raises:
        TypeError: JSON schema cannot express the type.
        UserError: The schema is not valid.
    """

    def __init__(self, output_type: Any) -> None:
        schema, self._load = _described(output_type)
        self._is_wrapped = schema.get("type") != "object" and "properties" not in schema
        self._check = _compiled(schema)
        self.schema = schema
        if self._is_wrapped:
            self.schema = _wrapped(schema)
            self._check = _compiled(self.schema)

    @property
    def instruction(self) -> str:
        """The instruction in the system prompt."""
        return _INSTRUCTION.format(schema=json.dumps(self.schema, ensure_ascii=False))

    def value_of(self, text: str) -> Any:
        """Return the value parsed from an answer.

        Raises:
            InvalidOutput: The answer is not a JSON object, or does not fit the schema; the message says what is wrong.
        """
        found = next(_json_in(text), _NO_JSON)
        if self._is_wrapped and not isinstance(found, dict) and found is not _NO_JSON:
            found = {_WRAPPED: found}
        if not isinstance(found, dict):
            raise InvalidOutput("- It is not a JSON object.", text=text)
        try:
            fitted, problems = self._check.fit(found)
        except (InvalidArguments, RecursionError) as error:
            raise InvalidOutput(exception_message(error), text=text) from error
        if problems:
            raise InvalidOutput("\n".join(f"- {problem}" for problem in problems), text=text)
        try:
            return self._load(fitted[_WRAPPED] if self._is_wrapped else fitted)
        except Exception as error:  # a problem that a converter or validator of the type found
            raise InvalidOutput("\n".join(f"- {problem}" for problem in problems_of(error)), text=text) from error

    @staticmethod
    def correction(error: InvalidOutput) -> str:
        """Return the message that asks for a correction of an invalid answer."""
        return _CORRECTION.format(problem=error)


def _described(output_type: Any) -> tuple[dict[str, Any], Callable[[Any], Any]]:
    """Return the schema of a type, and a function that creates its value from JSON that fits."""
    if isinstance(output_type, Mapping):
        return dict(output_type), lambda value: value
    if hasattr(output_type, "model_json_schema") and hasattr(output_type, "model_validate"):
        return output_type.model_json_schema(), output_type.model_validate
    return schema_and_reader(output_type)


def _compiled(schema: dict[str, Any]) -> CompiledSchema:
    from pi_core.agent.schema import CompiledSchema  # imports jsonschema

    try:
        return CompiledSchema("output", schema, broken=_BROKEN_SCHEMA, scalars=False)
    except InvalidArguments as error:
        raise UserError(str(error)) from error


def _wrapped(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of an object with this schema as its only property; definitions stay at the root."""
    definitions: dict[str, Any] = {name: schema[name] for name in ("$schema", "$defs", "definitions") if name in schema}
    inner = {name: value for name, value in schema.items() if name not in definitions}
    return {
        "type": "object",
        "properties": {_WRAPPED: inner},
        "required": [_WRAPPED],
        "additionalProperties": False,
        **definitions,
    }


def _json_in(text: str) -> Iterator[Any]:
    """Yield candidates for the JSON in a text: the whole text, a code fence, the outer braces."""
    fenced = _FENCED.findall(text)
    for candidate in (text, *fenced[-1:], text[text.find("{") : text.rfind("}") + 1]):
        with suppress(ValueError, RecursionError):
            yield json.loads(candidate, parse_constant=_refuse)


def _refuse(constant: str) -> Any:
    """Reject NaN and Infinity, which are not valid JSON."""
    raise ValueError(constant)
