"""What the Gemini API rejects, as far as pi's requests could trigger it, with error texts close to its own."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from pi_testing.fake_servers.tool_rules import image_problem, schema_problems

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["google_violation"]

_FIELDS = frozenset(
    (
        *("contents", "systemInstruction", "tools", "toolConfig", "generationConfig", "safetySettings"),
        *("cachedContent", "labels", "sessionId", "serviceTier", "store"),
    )
)
_DATA = ("text", "inlineData", "functionCall", "functionResponse", "fileData")
_BESIDE = ("thought", "thoughtSignature")
_IMAGES = ("image/png", "image/jpeg", "image/webp", "image/heic", "image/heif")
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]*={0,2}")
_NO_VALIDATOR = "skip_thought_signature_validator"
_OLD = re.compile(r"gemini-[12]\b")
_NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}")
_MODES = ("AUTO", "ANY", "NONE", "VALIDATED")
_WORDS = ("MINIMAL", "LOW", "MEDIUM", "HIGH", "XHIGH")
_UNMATCHED = (
    "Please ensure that the number of function response parts is equal to the number of function call parts of the "
    "function call turn."
)
_OUT_OF_PLACE = (
    "Please ensure that function call turn comes immediately after a user turn or after a function response turn."
)


def google_violation(body: dict[str, Any], model: str) -> str | None:
    """Return the API's error message for an invalid body, None for a valid one; ``model`` is that of the URL's path."""
    return next(_violations(body, model), None)


def _violations(body: dict[str, Any], model: str) -> Iterator[str]:
    for name in body.keys() - _FIELDS:
        yield f'Invalid JSON payload received. Unknown name "{name}": Cannot find field.'
    contents = body.get("contents")
    if not isinstance(contents, list) or not contents:
        yield "* GenerateContentRequest.contents: contents is not specified"
        return
    for number, content in enumerate(contents):
        yield from _content_violations(f"contents[{number}]", content)
    yield from _turn_violations(contents)
    if "gemini-3" in model:
        yield from _signature_violations(contents)
    if _OLD.search(model) and any("parts" in part.get("functionResponse", {}) for part in _parts(contents)):
        yield "Multimodal function responses are not supported by this model."
    yield from _tool_violations(body)
    yield from _config_violations(body.get("generationConfig", {}))
    yield from _output_violations(body, model)


def _parts(contents: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for content in contents:
        yield from content.get("parts", ())


def _content_violations(where: str, content: dict[str, Any]) -> Iterator[str]:
    if content.get("role") not in ("user", "model"):
        yield "Please use a valid role: user, model."
    if not content.get("parts"):
        yield f"* GenerateContentRequest.{where}.parts: contents.parts must not be empty."
    for number, part in enumerate(content.get("parts", ())):
        place = f"{where}.parts[{number}]"
        for name in part.keys() - {*_DATA, *_BESIDE}:
            yield f"Invalid JSON payload received. Unknown name \"{name}\" at '{place}': Cannot find field."
        if len(part.keys() & set(_DATA)) != 1:
            yield f"* GenerateContentRequest.{place}.data: required oneof field 'data' must have one initialized field"
        signature = part.get("thoughtSignature", "")
        if signature != _NO_VALIDATOR and (len(signature) % 4 == 1 or not _BASE64.fullmatch(signature)):
            yield f"Invalid value at '{place}.thought_signature' (TYPE_BYTES), Base64 decoding failed"
        yield from _image_violations([part, *part.get("functionResponse", {}).get("parts", ())])


def _image_violations(parts: list[dict[str, Any]]) -> Iterator[str]:
    for part in parts:
        data = part.get("inlineData", {})
        kind = data.get("mimeType") or data.get("mime_type", "image/png")  # either spelling is taken
        if kind not in _IMAGES:
            yield f"Unsupported MIME type: {kind}"
        elif data and (problem := image_problem(data["data"], kind)):
            yield f"Unable to process input image: {problem}"


def _turn_violations(contents: list[dict[str, Any]]) -> Iterator[str]:
    """Compare each turn's calls with the responses in the next; a call must follow something of the user."""
    calls: list[dict[str, Any]] = []
    before = ""
    for content in contents:
        responses = [part["functionResponse"] for part in content["parts"] if "functionResponse" in part]
        if [call["name"] for call in calls] != [response["name"] for response in responses]:
            yield _UNMATCHED
        if [call.get("id") for call in calls] != [response.get("id") for response in responses]:
            yield "The ids of function responses do not match those of the function calls."
        if any(len(response["response"].keys() & {"output", "error"}) != 1 for response in responses):
            yield "A function response needs an output or an error."
        if any(not "".join(map(str, response["response"].values())).strip() for response in responses):
            yield "A function response must not be blank."
        calls = [part["functionCall"] for part in content["parts"] if "functionCall" in part]
        for call in calls:
            if not _NAME.fullmatch(call["name"]):
                yield f"Invalid function name {call['name']!r} in a function call."
        if calls and (content["role"] != "model" or before != "user"):
            yield _OUT_OF_PLACE
        before = content["role"]
    if calls:
        yield _UNMATCHED


def _signature_violations(contents: list[dict[str, Any]]) -> Iterator[str]:
    """Look at the turns since the user last spoke: the first call of each has to be signed."""
    spoken = [
        number
        for number, content in enumerate(contents)
        if content["role"] == "user" and not any("functionResponse" in part for part in content["parts"])
    ]
    for content in contents[max(spoken, default=0) :]:
        first = next((part for part in content["parts"] if "functionCall" in part), None)
        if first is not None and "thoughtSignature" not in first:
            name = first["functionCall"]["name"]
            yield f"Function call is missing a thought_signature in functionCall parts. Function call `{name}`."


def _tool_violations(body: dict[str, Any]) -> Iterator[str]:
    tools = body.get("tools", [])
    if "tools" in body and not tools:
        yield "tools must not be empty"
    declared = [each for tool in tools for each in tool.get("functionDeclarations", ())]
    names = [each["name"] for each in declared]
    for name in names:
        if not _NAME.fullmatch(name):
            yield f"Invalid function name {name!r}."
        if names.count(name) > 1:
            yield f"Duplicate function declaration found: {name}"
    for each in declared:
        for problem in schema_problems(
            each.get("parametersJsonSchema", {"type": "object", "properties": {}}),
            const=False,
            undeclared=False,
            cycles=False,
        ):
            yield f"tools[0].function_declarations.{each['name']}: {problem}"
    if any({"parameters", "parametersJsonSchema"} <= each.keys() for each in declared):
        yield "Only one of parameters and parametersJsonSchema can be set."
    yield from _choice_violations(body.get("toolConfig", {}).get("functionCallingConfig", {}), names)


def _choice_violations(choice: dict[str, Any], names: list[str]) -> Iterator[str]:
    mode = choice.get("mode", "AUTO")
    if mode not in _MODES:
        yield f"Invalid value at 'tool_config.function_calling_config.mode': \"{mode}\""
    if mode == "VALIDATED" and not names:
        yield "Function calling config is set without function_declarations."
    if "allowedFunctionNames" in choice and mode not in ("ANY", "VALIDATED"):
        yield "allowed_function_names should only be set when the mode is ANY or VALIDATED."
    for name in choice.get("allowedFunctionNames", ()):
        if name not in names:
            yield f"Function calling config allows {name!r}, which is not declared."


def _output_violations(body: dict[str, Any], model: str) -> Iterator[str]:
    config = body.get("generationConfig", {})
    kind = config.get("responseMimeType", "text/plain")
    schemas = config.keys() & {"responseSchema", "responseJsonSchema"}
    if len(schemas) > 1:
        yield "Only one of response_schema and response_json_schema can be set."
    if schemas and kind != "application/json":
        yield "response_schema needs a compatible response_mime_type: application/json"
    if kind != "text/plain" and body.get("tools") and "gemini-2" in model:
        yield f"Function calling with a response mime type: '{kind}' is unsupported"


def _config_violations(config: dict[str, Any]) -> Iterator[str]:
    if not isinstance(config.get("maxOutputTokens", 1), int) or config.get("maxOutputTokens", 1) < 1:
        yield "max_output_tokens must be positive."
    thinking = config.get("thinkingConfig", {})
    if {"thinkingBudget", "thinkingLevel"} <= thinking.keys():
        yield "You can only set only one of thinking budget and thinking level."
    if thinking.get("thinkingLevel", "LOW") not in _WORDS:
        yield "Invalid value at 'generation_config.thinking_config.thinking_level'"
    if thinking.get("thinkingBudget", 0) < -1:
        yield "The thinking budget is out of range."
