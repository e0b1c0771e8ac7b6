"""Strict schemas of tools that request it, and of answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_provider_kit import strict_parameters, strict_schema

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pi_hookspecs.models import Model
    from pi_hookspecs.tools import Tool

__all__ = ["function_of", "output_format"]


def function_of(tool: Tool, model: Model, compat: Mapping[str, Any]) -> dict[str, Any]:
    """Return a tool's name, description and schema.

    Every tool has a ``strict`` where ``supportsStrictMode`` is set: OpenAI treats a tool without it as strict
    and changes its schema. Other hosts may reject an unknown field.

    Raises:
        RequestFailed: The tool requires constrained sampling, and that cannot be.
    """
    supported = bool(compat["supportsStrictMode"])
    schema = strict_parameters(tool, model, supported=supported)
    function: dict[str, Any] = {
        "name": tool.name,
        "description": tool.description,
        "parameters": dict(tool.parameters) if schema is None else schema,
    }
    return {**function, "strict": schema is not None} if supported else function


def output_format(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the name, schema and strictness of an answer; one without a strict form is only a hint to the model."""
    strict = strict_schema(schema, references=True)
    return {"name": "output", "schema": dict(schema) if strict is None else strict, "strict": strict is not None}
