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
        most_images: Images in a request; of more, the oldest are left out.
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
    most_images: int | None = None
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
    most_images=100,
    keys=_CLAUDE_KEYS,
)
_COMPLETIONS = Rules(tools=NameRule(), thinking_alone=False, signed_blanks=False, images=_COMMON_IMAGES)
_RESPONSES = Rules(tools=NameRule(), thinking_last=False, thinking_alone=False, images=_COMMON_IMAGES)
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
        most_images=8,
    ),
    "llamacpp-embedded": Rules(tools=NameRule(), thinking_alone=False, signed_blanks=False),
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


_VENDORS = "all"
_CLAUDE = "Anthropic, Bedrock"

SOURCES: tuple[Source, ...] = ()
"""Each rule with its source; docs/reference/sendable.md is made of them."""
