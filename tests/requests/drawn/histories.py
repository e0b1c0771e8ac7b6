"""Every API with a provider that speaks it, and strategies that draw any history and any tools."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from attrs import evolve
from hypothesis import strategies as st

from pi_hookspecs import (
    AssistantMessage,
    ImageContent,
    Model,
    SystemMessage,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolResultMessage,
    UnknownContent,
    UserMessage,
)
from pi_provider_anthropic.provider import AnthropicMessages
from pi_provider_bedrock.provider import BedrockConverse
from pi_provider_google.providers import CodeAssist, GenerativeAI, Vertex
from pi_provider_llamacpp.provider import LlamaCpp
from pi_provider_mistral.provider import MistralConversations
from pi_provider_openai.providers import AzureResponses, CodexResponses, Completions, Responses
from pi_testing.fake_servers.anthropic_rules import anthropic_violation
from pi_testing.fake_servers.bedrock_rules import bedrock_violation
from pi_testing.fake_servers.google_rules import google_violation
from pi_testing.fake_servers.mistral_rules import mistral_violation
from pi_testing.fake_servers.openai_rules import completions_violation, responses_violation
from pi_testing.stand_ins import make_tool

if TYPE_CHECKING:
    from collections.abc import Callable

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII="
LOGIN = json.dumps({"token": "t", "projectId": "p"})
CODEX = "h.eyJodHRwczovL2FwaS5vcGVuYWkuY29tL2F1dGgiOnsiY2hhdGdwdF9hY2NvdW50X2lkIjoiYSJ9fQ.s"


def model_of(api: str, provider: str, model_id: str = "m", **fields: Any) -> Model:
    base_url = "http://127.0.0.1:9/v1"
    known = {"name": "M", "api": api, "provider": provider, "base_url": base_url, "reasoning": True}
    return Model(id=model_id, **{**known, "input": ("text", "image"), "max_tokens": 8192, **fields})


ASKED: dict[str, tuple[Any, Model, str, Callable[[Any, Model], Any]]] = {
    "anthropic": (
        AnthropicMessages(),
        model_of("anthropic-messages", "anthropic", "claude-x", compat={"transport": "http"}),
        "k",
        lambda body, _: anthropic_violation(body),
    ),
    "anthropic, a subscription": (
        AnthropicMessages(),
        model_of("anthropic-messages", "anthropic", "claude-x", compat={"transport": "http"}),
        "sk-ant-oat01-x",
        lambda body, _: anthropic_violation(body),
    ),
    "completions": (
        Completions(),
        model_of("openai-completions", "openai"),
        "k",
        lambda body, _: completions_violation(body),
    ),
    "completions, blind": (
        Completions(),
        model_of("openai-completions", "openai", input=("text",)),
        "k",
        lambda body, _: completions_violation(body),
    ),
    "responses": (Responses(), model_of("openai-responses", "openai"), "k", lambda body, _: responses_violation(body)),
    "azure": (
        AzureResponses(),
        model_of("azure-openai-responses", "azure-openai-responses"),
        "k",
        lambda body, _: responses_violation(body),
    ),
    "codex": (
        CodexResponses(),
        model_of("openai-codex-responses", "openai-codex"),
        CODEX,
        lambda body, _: responses_violation(body),
    ),
    "gemini 2": (
        GenerativeAI(),
        model_of("google-generative-ai", "google", "gemini-2.5-pro"),
        "k",
        lambda body, model: google_violation(body, model.id),
    ),
    "gemini 3": (
        GenerativeAI(),
        model_of("google-generative-ai", "google", "gemini-3-pro"),
        "k",
        lambda body, model: google_violation(body, model.id),
    ),
    "vertex": (
        Vertex(),
        model_of("google-vertex", "google-vertex", "gemini-3-pro"),
        "k",
        lambda body, model: google_violation(body, model.id),
    ),
    "claude at code assist": (
        CodeAssist(),
        model_of("google-gemini-cli", "google-antigravity", "claude-x"),
        LOGIN,
        lambda body, model: google_violation(body["request"], model.id),
    ),
    "mistral": (
        MistralConversations(),
        model_of("mistral-conversations", "mistral"),
        "k",
        lambda body, _: mistral_violation(body),
    ),
    "claude at bedrock": (
        BedrockConverse(),
        model_of("bedrock-converse-stream", "amazon-bedrock", "anthropic.claude-x"),
        "k",
        lambda body, model: bedrock_violation(body, model.id),
    ),
    "nova": (
        BedrockConverse(),
        model_of("bedrock-converse-stream", "amazon-bedrock", "amazon.nova-pro-v1:0"),
        "k",
        lambda body, model: bedrock_violation(body, model.id),
    ),
    "llama.cpp": (
        LlamaCpp(),
        model_of("llamacpp-embedded", "llamacpp", input=("text",)),
        "k",
        lambda body, _: completions_violation(body),
    ),
}
"""Provider, model, key, and what its API says about a body, by a name of the pair."""

TEXTS = st.sampled_from(["", " ", "\r\n", "hello", "\ud83d", "ä", "[Current model does not support images."])
NAMES = st.sampled_from(
    ["read", "my.tool", "my_tool", "", " bash ", "bash<|channel|>commentary", "x" * 269, "3d", "名"]
)
IDS = st.sampled_from(["", "1", "a:1", "a!1", "call_1|fc_1", "call_1|item", "x" * 80, "\ud800", "tooluse_A-b"])
REASONING = [
    json.dumps({"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "x"}),
    json.dumps({"type": "reasoning", "id": "rs_2", "summary": [{"type": "summary_text", "text": "hm"}]}),
    json.dumps([{"type": "reasoning.text", "text": "hm", "signature": "c2ln"}]),
]
SIGNATURES = st.sampled_from([None, "", "c2ln", "not base64!", "reasoning_content", '{"v":1,"id":"msg_1"}', *REASONING])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 2) | st.sampled_from(["", "a", "\ud800"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["a", "$.b", "\udfff"]), inner),
    max_leaves=4,
)
IMAGES = st.builds(
    ImageContent,
    st.sampled_from([PNG, "", f"data:image/png;base64,{PNG}", "R0lGODlhAQABAAAAACw="]),
    st.sampled_from(["image/png", "image/jpg", "image/gif", "image/bmp", "image/svg+xml", "IMAGE/PNG"]),
)
SHOWN = st.lists(st.builds(TextContent, TEXTS) | IMAGES | st.just(UnknownContent("video")), max_size=4).map(tuple)
BLOCKS = st.lists(
    st.one_of(
        st.builds(TextContent, TEXTS, SIGNATURES),
        st.builds(ThinkingContent, TEXTS, SIGNATURES, st.sampled_from([None, True])),
        st.builds(
            ToolCall, IDS, NAMES, st.dictionaries(st.sampled_from(["path", "$.b"]), VALUES, max_size=2), SIGNATURES
        ),
        st.just(UnknownContent("audio")),
    ),
    max_size=5,
).map(tuple)
STOPS = st.sampled_from(["stop", "length", "toolUse", "error", "aborted"])
OTHERS = [(model.api, model.provider, model.id) for _, model, _, _ in ASKED.values()] + [("acme", "acme", "m")]
SCHEMAS = st.sampled_from(
    [
        {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
        {"type": "object"},
        {"type": "string"},
        True,
        {"anyOf": [{"required": ["a"]}, {"type": "object", "properties": {"a": {"const": "x"}}}]},
        {"type": "object", "properties": {"$.xgafv": True, "l": {"type": "array"}}, "required": ["$.xgafv", "gone"]},
        {
            "type": "object",
            "properties": {"n": {"$ref": "#/$defs/n"}},
            "$defs": {"n": {"properties": {"n": {"$ref": "#/$defs/n"}}}},
        },
        {"$ref": "#/nowhere", "properties": {"a": {"$ref": "https://example.com/a"}}},
        {"type": "object", "properties": {"t": {"type": "array", "items": [{"type": "string"}, {"enum": []}]}}},
    ]
)
TOOLS = st.lists(st.builds(lambda name, schema: evolve(make_tool(name), parameters=schema), NAMES, SCHEMAS), max_size=4)


@st.composite
def histories(draw: st.DrawFn, asked: Model) -> list[Any]:
    """Draw a conversation in which this model and others answered; the user speaks last."""
    messages: list[Any] = []
    for _ in range(draw(st.integers(0, 7))):
        kind = draw(st.sampled_from(["user", "answer", "answer", "result", "result", "system"]))
        if kind == "user":
            messages.append(UserMessage(content=draw(TEXTS | SHOWN), timestamp=1))
        elif kind == "answer":
            ours = (asked.api, asked.provider, asked.id)
            api, provider, name = draw(st.sampled_from([ours, ours, *OTHERS]))
            messages.append(
                AssistantMessage(
                    content=draw(BLOCKS),
                    api=api,
                    provider=provider,
                    model=name,
                    stop_reason=draw(STOPS),
                    timestamp=1,
                )
            )
        elif kind == "result":
            messages.append(
                ToolResultMessage(
                    tool_call_id=draw(IDS),
                    tool_name=draw(NAMES),
                    content=draw(SHOWN),
                    is_error=draw(st.booleans()),
                    timestamp=1,
                )
            )
        else:
            messages.append(SystemMessage(content=draw(TEXTS), timestamp=1))
    if draw(st.booleans()):
        messages.append(UserMessage(content="go on", timestamp=1))
    return with_few_images(messages)


def with_few_images(messages: list[Any], most: int = 8) -> list[Any]:
    """Return the messages with at most so many images; the model layer sees to their number before a provider."""
    result = []
    for message in messages:
        if not isinstance(message, SystemMessage) and not isinstance(message.content, str):
            images = sum(isinstance(block, ImageContent) for block in message.content)
            content = message.content if images <= most else ()
            most -= images if content else 0
            result.append(evolve(message, content=content))
        else:
            result.append(message)
    return result
