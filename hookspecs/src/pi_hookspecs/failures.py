"""What kind of failure an error of a model's server is, and so what helps: one table of rules, each with its source.

The retry policy, the advice of providers and overflow detection use this table, so that they agree. The first rule that
matches decides. Words count only where the status leaves the question open: in an error within a stream, or from a
server that says 400 for everything. A 4xx other than 408, 409, 425 and 429 is temporary only if a rule names its host,
its status and its words.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from pi_hookspecs.overflow_words import is_known_overflow, means_overflow

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

__all__ = ["ACTIONS", "FAILURE_RULES", "FailureKind", "FailureRule", "kind_of_failure", "status_in"]

FailureKind: TypeAlias = Literal[
    "overflow",
    "quota",
    "auth",
    "throttle",
    "overload",
    "transient",
    "model",
    "configuration",
    "filtered",
    "strict_tools",
    "other",
]

ACTIONS: Mapping[FailureKind, str] = {
    "overflow": "compact",
    "quota": "give up",
    "auth": "sign in",
    "throttle": "wait",
    "overload": "wait",
    "transient": "wait",
    "model": "give up",
    "configuration": "give up",
    "filtered": "give up",
    "strict_tools": "send without strict",
    "other": "give up",
}
"""What helps against each kind."""


class FailureRule(NamedTuple):
    """A row of the table; empty columns match everything.

    Attributes:
        kind: The kind of failure.
        statuses: HTTP statuses. None is an error without a status: within a stream or a 200, or without an answer.
        words: A regular expression for the error's text, in any case; or a function that recognizes it.
        places: Domains of the server, each with its subdomains, and pi's names of the provider.
        source: Who says so.
    """

    kind: FailureKind
    statuses: Collection[int | None]
    words: str | Callable[[str], bool] = ""
    places: tuple[str, ...] = ()
    source: str = ""


_SERVER = range(500, 600)
_WORDED = (None, 408, 409, 425, *_SERVER)
"""Statuses with which words may say why the server could not answer now."""

_ALL = (None, *range(400, 600))
_MAY_OVERFLOW = tuple(status for status in _ALL if status not in (401, 402, 403, 429))

_RATES = r"rate.?limit|too many requests|tokens per (?:minute|day)|throttl"

_AWS = ("amazonaws.com", "amazon-bedrock")

_NAMED_MODEL = r"models?[ :/]*['\"`\\]*[\w./:@-]+['\"`\\]* "

_CODE = r"(?<![\w.,:$-])(?:{})(?![\w-]|[.,]\d)"
"""A status within a text is a number of its own: not part of an id, a longer number, a time, a price or a version."""


def _any(*words: str) -> str:
    """Return a regular expression for any of the words."""
    return "|".join(words)


def _never_fits(text: str) -> bool:
    """Return whether one request asks for more than a minute allows, so that waiting does not help."""
    found = re.search(_TOO_LARGE_FOR_A_MINUTE, text) if re.search(r"(?i)request too large", text) else None
    if found is None:
        return False
    limit, requested = (int(number.replace(",", "") or 0) for number in found.groups())
    return requested > limit


_TOO_LARGE_FOR_A_MINUTE = r"(?i)limit:?\s*([\d,]+).{0,40}?requested:?\s*([\d,]+)"

FAILURE_RULES: tuple[FailureRule, ...] = (
    FailureRule(
        "filtered",
        (None, 400, 403, 422),
        _any(
            r"content[_ ]?filter",
            r"content management policy",
            r"responsible_?ai_?policy",
            r"content_policy_violation",
            r"prompt was (?:blocked|flagged)",
        ),
        source="Azure, OpenAI: content filters, also with status 200",
    ),
    FailureRule(
        "strict_tools",
        (None, 400),
        _any(
            r"strict tools",
            r"strict mode",
            r"(?:compiled )?grammar (?:is too large|compilation|is too complex)",
            r"optional parameters \(",
            r"union types \(",
            r"schemas? (?:contains?|is|are) too (?:many|complex)",
            r"tools\.\d+\.[\w.]*strict",
        ),
        source="Anthropic: limits of strict tool use",
    ),
    # Compact
    FailureRule("overflow", (413,), source="RFC 9110, 15.5.14; Anthropic, Groq, GitHub Copilot, nginx"),
    FailureRule(
        "overflow",
        (400,),
        r"\(no body\)",
        ("cerebras.ai", "cerebras"),
        source="Cerebras sends no body for a prompt that is too long",
    ),
    FailureRule(
        "overflow",
        (429,),
        r"extra usage is required for long context",
        source="Anthropic: a subscription without long context accepts shorter requests",
    ),
    FailureRule("overflow", (429,), _never_fits, source="OpenAI: one request is larger than the limit of a minute"),
    FailureRule("overflow", _MAY_OVERFLOW, is_known_overflow, source="the sentences of each host, see below"),
    FailureRule(
        "overflow", (None, 400, 422, 500), means_overflow, source="any words for a conversation that is too long"
    ),
    # Give up
    FailureRule("auth", (401,), r"subscription key|api.?key", source="Azure: 'invalid subscription key'"),
    FailureRule(
        "quota",
        _ALL,
        _any(
            r"insufficient_quota",
            r"insufficient (?:balance|credits?|funds|quota)",
            r"billing",
            r"credit balance",
            r"out of (?:credits|budget)",
            r"quota (?:exceeded|exhausted)",
            r"exceeded your (?:current )?quota",
            r"usage[_ ]?limit",
            r"usage_not_included",
            r"available balance",
            r"monthly (?:usage|spending) limit",
            r"payment required",
            r"\"code\"\s*:\s*\"?1308(?!\d)",
            r"subscription (?:has |is |was )?(?:expired|ended|lapsed|required|inactive|not active|limit|quota)",
            r"(?:upgrade|renew|no active|without (?:a|an active)) (?:your )?subscription",
        ),
        source="OpenAI, Anthropic, DeepSeek, OpenCode, Z.ai: an account, not a rate",
    ),
    FailureRule("quota", (402,), source="RFC 9110, 15.5.3"),
    # Wait
    FailureRule("throttle", (429,), source="RFC 6585, 4"),
    FailureRule("throttle", (None, *_SERVER), _RATES + "|" + _CODE.format("429"), source="rate limits within streams"),
    FailureRule(
        "throttle",
        (403,),
        r"rate limit",
        ("githubcopilot.com", "github.com", "github-copilot"),
        source="GitHub: secondary rate limits",
    ),
    FailureRule("throttle", (400,), r"ThrottlingException|throttling", _AWS, source="AWS: common errors, JSON"),
    FailureRule("overload", (529,), source="Anthropic: errors"),
    FailureRule(
        "overload", (498,), r"capacity", ("groq.com", "groq"), source="Groq: error codes, flex tier capacity exceeded"
    ),
    FailureRule(
        "overload",
        _WORDED,
        _any(
            r"overloaded",
            r"over capacity",
            r"at capacity",
            r"capacity (?:exceeded|constraints)",
            r"no capacity",
            r"(?:server|model)s? (?:is|are) busy",
            r"server_busy",
            r"currently busy",
            r"high (?:demand|load)",
            r"engine is currently",
            r"insufficient[_ ]system[_ ]resource",
            _CODE.format("529"),
        ),
        source="Anthropic, OpenAI, DeepSeek (finish reason insufficient_system_resource)",
    ),
    # Sign in
    FailureRule("auth", (401, 403), source="RFC 9110, 15.5.2 and 15.5.4"),
    FailureRule(
        "auth",
        (None, 400),
        _any(
            r"invalid (?:x-)?api.?key",
            r"incorrect api key",
            r"api.?key (?:is )?(?:not valid|invalid|missing|required|expired)",
            r"authentication",
            r"unauthori[sz]ed",
            r"permission.?denied",
            r"access denied",
            r"no api key",
            r"expired token",
            r"token (?:has )?expired",
        ),
        source="Gemini, xAI and gateways say 400 for a wrong key",
    ),
    FailureRule("auth", (None,), _CODE.format("401|403"), source="errors within a stream"),
    # Give up
    FailureRule("model", (404,), source="RFC 9110, 15.5.5: model or path is unknown"),
    FailureRule(
        "model",
        (None, 400, 422),
        _any(
            r"model_?not_?found",
            r"(?:unknown|invalid|no such) model\b",
            r"model identifier is invalid",
            r"not a valid model",
            r"deployment_?not_?found",
            r"model:? (?:does )?not exist",
            r"supported (?:api )?model names",
            _NAMED_MODEL + r"(?:was |is |does |could )?not (?:found|exist|be found|available)",
            _NAMED_MODEL + r"(?:is |has been )?(?:deprecated|retired|unknown)",
        ),
        source="OpenAI Responses, Mistral, OpenRouter, xAI, DeepSeek, Bedrock say 400 for an unknown model",
    ),
    FailureRule("configuration", (501, 505, 511), source="RFC 9110, 15.6.2 and 15.6.6; llama.cpp: not_supported_error"),
    FailureRule(
        "configuration",
        (None, 500),
        _any(
            r"requires? (?:the )?[`'\"]?--\w",
            r"--[a-z][\w-]+ flag",
            r"\bmmproj\b",
            r"(?:input|param|tools?|images?|audio|feature)s?[ _\w]* (?:is|are) not supported",
            r"does not support (?:tools?|images?|audio|embeddings?|completions?|chat|this)",
            r"not_supported_error",
            r"start (?:it|the server) (?:with|without)",
            r"chat template",
            r"jinja",
            r"not_implemented",
            r"not implemented",
            r"requires more (?:system )?memory",
        ),
        source="llama.cpp, Ollama: started without what the request needs",
    ),
    FailureRule(
        "configuration",
        (None, 500),
        r"(?:parse|build|compile|create|generate|initialize)[\w ]{0,20} grammar|schema conversion|unrecognized schema"
        r"|\bbad grammar|invalid grammar",
        source="llama.cpp: a tool's schema that cannot be turned into a grammar",
    ),
    # Wait
    FailureRule("transient", (408, 409, 425), source="RFC 9110, RFC 8470; retried by the vendors' clients"),
    FailureRule("transient", _SERVER, source="RFC 9110, 15.6"),
    FailureRule(
        "transient",
        (400,),
        r"unable to forward upstream|service is temporarily unavailable",
        source="gateways at any host that relay a failure of their upstream as 400 (pi 1.4.0, #10920 and #10965)",
    ),
    FailureRule(
        "transient",
        (None, 400),
        r"failed to call a function",
        ("groq.com", "groq"),
        source="Groq: tool use, the model wrote a call that cannot be read; another answer may do",
    ),
    FailureRule(
        "transient", (424,), r"retry your request|ModelStreamError", _AWS, source="AWS: ConverseStream, errors"
    ),
    FailureRule(
        "transient",
        (None,),
        _any(
            r"service.?(?:is.?)?(?:temporarily.?)?unavailable",
            r"server.?error",
            r"internal.?error",
            r"internal server",
            r"bad gateway",
            r"gateway time.?out",
            r"provider.?returned.?(?:an.?)?error",
            r"upstream.?(?:connect|request.?failed|stream.?read.?error)",
            r"unable to forward upstream",
            r"retrying upstream",
            r"stream was interrupted",
            r"stream (?:failed|disconnected)",
            r"cut short after",
            r"reset before headers",
            r"connection.?(?:error|refused|reset|closed|lost|aborted|limit.?reached)",
            r"network.?error",
            r"fetch failed",
            r"other side closed",
            r"socket hang up",
            r"socket (?:connection was )?(?:error|closed)",
            r"(?<![a-z0-9_])(?:econn[a-z]+|etimedout|epipe|enotfound|eai_again)(?![a-z0-9_])",
            r"\bgetaddrinfo\b",
            r"\bdns\b",
            r"cannot be resolved",
            r"time[d]?.?out",
            r"\bterminated\b",
            r"retry delay",
            r"please (?:retry|try again)(?! with)",
            r"(?:can|try|please) (?:retry )?your request(?: again)?",
            r"websocket (?:closed|error)",
            r"ended (?:before|without)",
            r"premature",
            r"incomplete chunked",
            r"pending stream has been cancel",
            r"did not get a response",
            r"http/?2.*(?:cancel|refused|goaway|internal_error)",
            r"resource.?exhausted",
            r"unexpected end",
            r"malformed_function_call",
            r"malformed_response",
            r"(?:finish|stop)[_ ]reason:? ['\"]?error\b",
            _CODE.format("408|500|502|503|504|520|521|522|524"),
        ),
        source="connections, and errors within a stream",
    ),
)
"""The table."""

_STATUS = r"^\s*(?:[\w .-]{0,60}?\b(?:error|status)(?: code)?:?\s*\(?)?([1-5]\d\d)(?=[\s:),]|$)"
_SOON = r"per[ _-]?(?:second|minute)|rate.?limit|retry (?:in|after)"


def kind_of_failure(
    text: str, status: int | None = None, places: Collection[str] = (), *, hinted: bool = False
) -> FailureKind:
    """Return the kind of a failure.

    Args:
        text: The error as the server sent it, perhaps after its status.
        status: HTTP status; None if there was none, and it is read from the beginning of the text.
        places: What is known of the server: its host name, pi's name of the provider.
        hinted: Whether the server said when to come back. A quota that is refilled within minutes is a rate limit.
    """
    status = status if status is not None else status_in(text)
    if status is not None and status < 300:  # noqa: PLR2004 - RFC 9110, 15.3: the error is in the body
        status = None
    kind: FailureKind = next((rule.kind for rule in FAILURE_RULES if _matches(rule, text, status, places)), "other")
    if kind == "quota" and hinted and status in (None, 429) and re.search(_SOON, text, re.IGNORECASE):
        return "throttle"
    return kind


def status_in(text: str) -> int | None:
    """Return the status with which a text begins, such as ``400 {...}`` or ``openai API error (413): ...``."""
    found = re.search(_STATUS, text, re.IGNORECASE)
    return int(found[1]) if found else None


def _matches(rule: FailureRule, text: str, status: int | None, places: Collection[str]) -> bool:
    if status not in rule.statuses or (rule.places and not _is_in(places, rule.places)):
        return False
    if callable(rule.words):
        return rule.words(text)
    return not rule.words or re.search(rule.words, text, re.IGNORECASE) is not None


def _is_in(places: Collection[str], known: tuple[str, ...]) -> bool:
    return any(place == each or place.endswith("." + each) for place in places for each in known)
