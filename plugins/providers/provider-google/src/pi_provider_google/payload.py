"""The whole body of a request to ``streamGenerateContent``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_provider_google.families import takes_output_schema
from pi_provider_google.messages import to_contents
from pi_provider_google.thinking import limits
from pi_provider_google.tools import is_strict, to_tool_config, to_tools
from pi_provider_kit import SentTools, sampling_params, system_prompt_of

if TYPE_CHECKING:
    from pi_hookspecs.models import Model
    from pi_hookspecs.provider import Context, StreamOptions

__all__ = ["to_payload"]


def to_payload(model: Model, context: Context, options: StreamOptions) -> dict[str, Any]:
    """Return the body as plain data; the model's name is in the path.

    Raises:
        RequestFailed: The model's data lead to an invalid request, or a tool requires
            constrained sampling, and that cannot be.
    """
    sent = SentTools(context.tools, model)
    payload: dict[str, Any] = {"contents": to_contents(context, model, options, sent)}
    prompt = system_prompt_of(context)
    if prompt.strip():
        payload["systemInstruction"] = {"role": "user", "parts": [{"text": prompt}]}
    tools = to_tools(sent, model)
    if tools:
        payload["tools"] = tools
        strict = any(is_strict(tool, model) for tool in sent)
        choice = to_tool_config(options.tool_choice, sent, strict=strict)
        if choice is not None:
            payload["toolConfig"] = choice
    config = limits(model, context, options)
    if options.output_schema is not None and takes_output_schema(model.id, with_tools=bool(tools)):
        config |= {"responseMimeType": "application/json", "responseJsonSchema": dict(options.output_schema)}
    if options.temperature is not None:
        config["temperature"] = options.temperature
    payload["generationConfig"] = {**config, **sampling_params(model, options.reasoning)}
    return payload
