"""What each API refuses in a conversation, as data: the rules by which history and tools are made sendable.

``transform_messages`` applies the rules of messages, ``SentTools`` those of tools, both before a codec sees anything.
What is changed for a request is changed in a copy; the session keeps what was said. An API without a row has the rules
of ``Rules()``, which only remove what no API takes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pi_hookspecs.models import Model

__all__ = ["RULES", "SOURCES", "NameRule", "Rules", "Source", "rules_of"]


class NameRule(NamedTuple):
    """Names that an API accepts.

    Attributes:
        characters: Those of a name, as in a regular expression's class.
        first: Those of its first character, where they are fewer.
        longest: Its most characters.
    """

    characters: str = "a-zA-Z0-9_-"
    first: str = ""
    longest: int = 64


class Rules(NamedTuple):
    """Rules of an API; the defaults are those of an API that refuses nothing of this kind.

    Attributes:
        tools: Names of tools, in declarations, calls and results.
        unique_ids: Where the id of a call must not occur twice.
        checks_own_ids: Whether ids of this model's own calls are made to fit: they may be a gateway's, or imported.
        calls_last: Whether texts must precede the calls of an answer.
        thinking_last: Whether thinking may be the last block of an answer.
        thinking_alone: Whether an answer may be nothing but thinking.
        signed_blanks: Whether an empty text is sent if it has a signature, which the API wants back.
        user_first: Whether the first message must be the user's.
        user_last: Whether the last message must be the user's, or a result.
        images: MIME types of images.
        keys: Names of properties in schemas of tools.
        root_keywords: Keywords at the root of a tool's schema; None for all but those that combine schemas.
        references: ``keep`` takes ``$ref`` into definitions, ``acyclic`` those that do not recur, ``inline`` none.
        const: Whether schemas may have ``const``.
        undeclared: Whether ``required`` may name a property that is not among ``properties``.
    """

    tools: NameRule | None = None
    unique_ids: Literal["answer", "conversation"] = "answer"
    checks_own_ids: bool = False
    calls_last: bool = False
    thinking_last: bool = True
    thinking_alone: bool = True
    signed_blanks: bool = True
    user_first: bool = False
    user_last: bool = False
    images: tuple[str, ...] | None = None
    keys: NameRule | None = None
    root_keywords: tuple[str, ...] | None = None
    references: Literal["keep", "acyclic", "inline"] = "keep"
    const: bool = True
    undeclared: bool = True


_COMMON_IMAGES = ("image/jpeg", "image/png", "image/gif", "image/webp")
_CLAUDE_KEYS = NameRule("a-zA-Z0-9_.-")
_NOVA_ROOT = ("type", "properties", "required")

_ANTHROPIC = Rules(
    tools=NameRule(),
    unique_ids="conversation",
    checks_own_ids=True,
    calls_last=True,
    thinking_last=False,
    thinking_alone=False,
    signed_blanks=False,
    user_first=True,
    user_last=True,
    images=_COMMON_IMAGES,
    keys=_CLAUDE_KEYS,
)
_COMPLETIONS = Rules(
    tools=NameRule(), checks_own_ids=True, thinking_alone=False, signed_blanks=False, images=_COMMON_IMAGES
)
_RESPONSES = Rules(
    tools=NameRule(), checks_own_ids=True, thinking_last=False, thinking_alone=False, images=_COMMON_IMAGES
)
_GOOGLE = Rules(
    tools=NameRule("a-zA-Z0-9_.:-", first="a-zA-Z_"),
    thinking_alone=False,
    user_first=True,
    images=("image/jpeg", "image/png", "image/webp", "image/heic", "image/heif"),
    references="acyclic",
    const=False,
    undeclared=False,
)

RULES: Mapping[str, Rules] = {
    "anthropic-messages": _ANTHROPIC,
    "bedrock-converse-stream": _ANTHROPIC,
    "openai-completions": _COMPLETIONS,
    "openai-responses": _RESPONSES,
    "azure-openai-responses": _RESPONSES,
    "openai-codex-responses": _RESPONSES,
    "google-generative-ai": _GOOGLE,
    "google-vertex": _GOOGLE,
    "google-gemini-cli": _GOOGLE,
    "mistral-conversations": Rules(
        tools=NameRule(),
        checks_own_ids=True,
        thinking_alone=False,
        signed_blanks=False,
        user_last=True,
        images=_COMMON_IMAGES,
    ),
    "llamacpp-embedded": Rules(tools=NameRule(), checks_own_ids=True, thinking_alone=False, signed_blanks=False),
}
"""API id to its rules."""


def rules_of(model: Model) -> Rules:
    """Return the rules of a model: those of its API, with what is known of its family."""
    rules = RULES.get(model.api, _ANY)
    name = model.id.lower()
    if "claude" in name or "anthropic." in name:  # also through gateways, whose API would take more
        return rules if rules.keys is not None or rules is _ANY else rules._replace(keys=_CLAUDE_KEYS)
    if model.api == "bedrock-converse-stream" and "nova" in name:
        return rules._replace(root_keywords=_NOVA_ROOT, references="inline")
    return rules


_ANY = Rules()


class Source(NamedTuple):
    """Where a rule is from, for its page.

    Attributes:
        what: What is refused.
        apis: The APIs that refuse it.
        says: The API's words, or what it documents.
        sent: What is sent instead.
        source: Where the rule is known from.
        fields: Those of ``Rules`` that state it; empty for a rule of all APIs.
    """

    what: str
    apis: str
    says: str
    sent: str
    source: str
    fields: tuple[str, ...] = ()


_CLAUDE = "Anthropic, Bedrock"
_DOCS = "https://platform.claude.com/docs/en"
_ISSUES = "https://github.com"

SOURCES: tuple[Source, ...] = (
    Source(
        "names of tools, in declarations, calls and results",
        "all",
        "`tool_use.name: String should have at most 200 characters`; `Invalid 'input[2].name': string does not match "
        "pattern '^[a-zA-Z0-9_-]+$'`; `Invalid function name. Must start with a letter or an underscore`",
        "`_` for what is refused, at most 64 characters; a number where another tool has the name. Calls of the answer "
        "get the tool's own name",
        f"{_ISSUES}/anthropics/claude-code/issues/94799, {_ISSUES}/kaitranntt/ccs/issues/25",
        ("tools",),
    ),
    Source(
        "the id of a call, used again in a later answer",
        _CLAUDE,
        "`` `tool_use` ids must be unique ``",
        "a number before the second one, and in its result",
        "the API's error",
        ("unique_ids",),
    ),
    Source(
        "ids of calls: characters and length",
        "all but Gemini 2",
        "`tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'`; `tool_calls[0].id: string too long. Expected a "
        "string with maximum length 40`; Mistral `must be a-z, A-Z, 0-9, with a length of 9`",
        "the functions of `tool_ids`; ids of this model's own are kept where they fit",
        "the APIs' errors",
        ("checks_own_ids",),
    ),
    Source(
        "a text after a call",
        _CLAUDE,
        "`` `tool_use` ids were found without `tool_result` blocks immediately after ``",
        "the texts before the first call",
        f"a recorded refusal; {_ISSUES}/vercel/ai/issues/13013",
        ("calls_last",),
    ),
    Source(
        "thinking as the last block of an answer, as after a cut",
        _CLAUDE,
        "`` The final block in an assistant message cannot be `thinking` ``",
        "the answer without it; nothing, if it has no more",
        f"{_ISSUES}/NousResearch/hermes-agent/issues/11098",
        ("thinking_last", "thinking_alone"),
    ),
    Source(
        "reasoning with an id, without the item that it came with",
        "OpenAI Responses, Azure, Codex",
        "`Item 'rs_...' of type 'reasoning' was provided without its required following item`",
        "the reasoning without its id where the text after it has lost its own; no reasoning at the end of an answer, "
        "none without content",
        f"recorded refusals, and 69 recorded requests that were accepted; {_ISSUES}/continuedev/continue/issues/8933",
        ("thinking_last", "thinking_alone"),
    ),
    Source(
        "blank texts",
        "all",
        "`text content blocks must contain non-whitespace text`; `The text field in the ContentBlock object is blank`",
        "the message without them; an empty text with a signature stays where the API wants the signature back",
        "the APIs' errors",
        ("signed_blanks",),
    ),
    Source(
        "blank results",
        "all",
        "HTTP 400 of OpenAI and Google for a tool message of white space",
        "`(no tool output)`",
        f"{_ISSUES}/earendil-works/pi/issues/8720",
    ),
    Source(
        "calls without a result, results without a call, results that do not follow their call",
        "all",
        "`No tool output found for function call`; `Please ensure that the number of function response parts is equal "
        "to the number of function call parts`",
        "`No result provided`; nothing; the result directly after its call",
        "the APIs' errors",
    ),
    Source(
        "a conversation that begins with an answer",
        f"{_CLAUDE}, Google",
        "`A conversation must start with a user message`; `Please ensure that function call turn comes immediately "
        "after a user turn`",
        "a line of the user before it",
        "the APIs' errors",
        ("user_first",),
    ),
    Source(
        "a conversation that ends with an answer",
        f"{_CLAUDE}, Mistral",
        "`This model does not support assistant message prefill. The conversation must end with a user message`; "
        "`Expected last role User or Tool`",
        "`Continue.` of the user after it",
        f"{_ISSUES}/cortexkit/magic-context/issues/511, Mistral's error",
        ("user_last",),
    ),
    Source(
        "images: formats, a type that is not that of the data, no data",
        "all",
        "`Input should be 'image/jpeg', 'image/png', 'image/gif' or 'image/webp'`; `Image does not match the provided "
        "media type`",
        "the type of the data; a line of text in place of the image",
        f"the APIs' errors; {_DOCS}/build-with-claude/vision",
        ("images",),
    ),
    Source(
        "schemas of tools: a root that is no object's, no `properties`, `true`, arrays without `items`, values of "
        "another draft of JSON Schema",
        "all",
        "`object schema missing properties`; `array schema missing items`; `JSON schema is invalid. It must match JSON "
        "Schema draft 2020-12`; `input_schema.type: Field required`",
        "an object with `properties`; the form of 2020-12",
        f"{_ISSUES}/langchain-ai/langchain-mcp-adapters/issues/137, {_ISSUES}/anthropics/claude-code/issues/45106",
    ),
    Source(
        "`anyOf`, `oneOf`, `allOf`, `not`, `enum` at the root of a schema",
        "all",
        "`input_schema does not support oneOf, allOf, or anyOf at the top level`",
        "the properties of all, those required that all require; the rest in words, in the description",
        f"a recorded refusal; {_ISSUES}/anthropics/claude-code/issues/34771, {_ISSUES}/code-yeongyu/senpi/issues/1947",
    ),
    Source(
        "other keywords at the root of a schema",
        "Bedrock (Nova)",
        "`inputSchema/json: extraneous key [definitions] is not permitted`",
        "`type`, `properties`, `required` alone; references are replaced by what they name",
        f"{_ISSUES}/pydantic/pydantic-ai/issues/1623, {_ISSUES}/zed-industries/zed/issues/28521",
        ("root_keywords", "references"),
    ),
    Source(
        "names of properties",
        f"{_CLAUDE}, and Claude through other APIs",
        "`Property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$'`",
        "`_` for what is refused, and the name in the description. Arguments of the answer get the tool's own names",
        f"{_ISSUES}/anthropics/claude-code/issues/79418, {_ISSUES}/decocms/studio/pull/6874",
        ("keys",),
    ),
    Source(
        "references to nowhere, to another file, or into something that is no definition",
        "all",
        "`reference can't be resolved`",
        "what they name, or anything",
        "the APIs' errors",
        ("references",),
    ),
    Source(
        "definitions that refer to themselves",
        "Google, Bedrock (Nova)",
        "documented: cyclic references only within properties that are not required",
        "what they name, once",
        "https://ai.google.dev/api/generate-content",
        ("references",),
    ),
    Source(
        "`const`",
        "Google",
        '`Unknown name "const": Cannot find field`',
        "an `enum` of one, or the type of the value",
        f"{_ISSUES}/earendil-works/pi/issues/11308, {_ISSUES}/pizza-bot-app/pizza-bot/issues/62",
        ("const",),
    ),
    Source(
        "a required property that is not declared",
        "Google",
        "`parameters.required[0]: property is not defined`",
        "`required` without it",
        "the API's error",
        ("undeclared",),
    ),
)
"""Each rule with its source; docs/reference/sendable.md is made of them."""
