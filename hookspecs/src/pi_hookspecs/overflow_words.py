"""Recognizes by its words that an error is about a conversation that is too long.

Every API, server and gateway has sentences of its own for it, and no list of them is ever complete. So the kind is
recognized: a sentence names what the model reads (input, prompt, tokens, context), how it is measured (length, size,
window), and that a limit is exceeded, in any order. Many sentences about other limits look alike; what these name is in
a second table: the limit of the answer, names and ids, the number of tools, pictures, tokens a minute, money.
"""

from __future__ import annotations

import re

__all__ = [
    "OTHER_LIMITS",
    "OTHER_TOKENS",
    "OVERFLOW_SENTENCES",
    "RATES",
    "is_about_rates",
    "is_known_overflow",
    "means_overflow",
]

OVERFLOW_SENTENCES = (
    (r"prompt is too long|prompt too long", "Anthropic, Z.ai"),
    (r"input is too long for requested model", "Bedrock"),
    (r"exceeds the context window", "OpenAI"),
    (r"input token count.*exceeds the maximum", "Google"),
    (r"maximum prompt length is \d+", "xAI"),
    (r"reduce the length of the messages", "Groq"),
    (r"maximum context length (?:is|of) [\d,]+", "vLLM, OpenRouter and further hosts"),
    (r"prompt token count of \d+ exceeds the limit", "GitHub Copilot"),
    (r"exceeds the available context size|exceed_context_size", "llama.cpp"),
    (r"find (?:a )?free (?:space|slot) in the kv cache", "llama.cpp"),
    (r"greater than the context length|context the overflows", "LM Studio"),
    (r"context window exceeds limit", "MiniMax"),
    (r"exceeded model token limit", "Kimi"),
    (r"too large for model with \d+ maximum context length", "Mistral"),
    (r"model_context_window_exceeded", "Z.ai, Anthropic"),
    (r"context[_ ]length[_ ]exceeded", "OpenAI, Groq, Cerebras"),
    (r"too_many_prompt_tokens", "Perplexity"),
    (r"model_max_prompt_tokens_exceeded", "GitHub Copilot"),
    (r"context window exceeded|ContextWindowExceeded", "LiteLLM"),
    (r"exceeded (?:the )?(?:max(?:imum)? )?context length", "Ollama"),
    (r"request_too_large", "Anthropic"),
    (r"prompt exceeds max length", "Z.ai"),
    (r"maximum allowed input length of \d+", "OpenRouter (Poolside)"),
    (r"longer than the model'?s context length", "Together, SGLang"),
    (r"configured context size is \d+", "DS4"),
    (r"range of input length should be", "DashScope"),
    (
        r"(?:上下文|输入|提示词|prompt) ?[^。]{0,40}?(?:超过|超出|超长|过长|太长)",
        "Z.ai (code 1261) and others, in Chinese",
    ),
    (r"max_(?:\w+_)?tokens\W? (?:must|should) be [^.]{0,60}?(?:got|given|was|received)\W{1,3}-\d\d", "vLLM"),
)
"""Sentences that are known, and whose they are. They count with every status that can be an overflow."""

RATES = (
    r"\bper[ _-]?(?:second|sec|minute|min|hour|day|week|month)s?\b|/ ?(?:sec|min|minute|hour|day)\b"
    r"|\b(?:a|each|every|this) (?:second|minute|hour|day|week|month)\b|\btoday\b|\b[tr]p[mdhs]\b"
    r"|\b(?:hourly|daily|weekly|monthly)\b|rate.?limit|too many requests|throttl|\bquota"
)
"""Words of limits in time: waiting helps, a shorter conversation hardly."""

OTHER_LIMITS = (
    (
        r"names?|identifiers?|ids?|keys?|titles?|descriptions?|labels?|metadata|users?|url|uri|headers?|cookies?",
        "texts",
    ),
    (r"tools?|functions|schemas?|parameters|properties|enums?|grammars?|stop sequences?|candidates|choices", "counts"),
    (r"images?|pictures?|photos?|pixels?|dimensions?|audio|videos?|pdfs?|pages?|files?|attachments?", "media"),
    (r"took|timeout|timed|deadline|duration|waited|retries|attempts|processing", "time"),
    (r"rate|concurren\w+|connections?", "load"),
)
"""What sentences about other limits name: whole words, and the kind of limit. They say nothing beside ``tokens``."""

OTHER_TOKENS = (
    (r"credits?|balance|billing|spend\w*|afford|costs?|usd|price|plan|subscription", "tokens that are paid"),
    (r"cached|caching|cacheable", "tokens that are too few to be cached"),
    (r"jwt|bearer|auth\w*|csrf|oauth|session token|access token|refresh token|api token", "tokens that are keys"),
)
"""The same for sentences about tokens that are not those of a conversation."""

_ANSWER = re.compile(  # before "_" becomes a space
    r"\bmax(?:imum)?[_ ](?:completion|output|new|response)[_ ]tokens?\b|\bmax_tokens\b|\bmaxTokens\b"
    r"|\bmaxOutputTokens\b"
    r"|\b(?:output|completion|generated|response|new|reasoning|thinking)[_ ](?:tokens?|token[_ ](?:limit|count)"
    r"|length|limit)\b"
    r"|\bbudget_tokens\b|\bthinking[_. ]budget\w*|\bnum_predict\b|\blength of the (?:answer|output|completion"
    r"|response)\b",
    re.IGNORECASE,
)
"""The limit of the answer, which says nothing about the conversation."""

_CONTEXT = re.compile(
    r"\bcontext (?:length|window|size|limit|budget|tokens?|capacity|overflow\w*)\b|\bcontext (?:of|is|has|holds|=) \d"
    r"|\bn ctx\b|\bctx (?:size|len)\b|\bmax (?:seq|sequence|model) len(?:gth)?\b|\bmaximum (?:model"
    r"|sequence) length\b"
    r"|\bsequence length\b|\bmodel'?s context\b|\b(?:model|token|input|attention) window\b"
)
_MAX_CONTEXT = re.compile(
    r"\bmax(?:imum)? (?:context|position embeddings)\b|\bcontext (?:is )?(?:full|reached|used up)\b"
)
_SHORTEN = re.compile(
    r"\b(?:shorten|reduce|trim|truncate|compact|clear) (?:the |your |this )?"
    r"(?:conversation|chat|history|context|prompt)\b"
    r"|\b(?:conversation|chat|history|context|prompt)\b.{0,20}?"
    r" (?:not|no longer|cannot|can t|doesn t|don t|won t) fit\b"
)
"""What is asked for, or happens, only because a conversation is too long."""

_READ = re.compile(
    r"\b(?:inputs?|prompts?|messages?|conversations?|chat|history|requests?|query|queries|text|contents?|contexts?"
    r"|tokens?)\b"
)
_OF_THE_CONVERSATION = re.compile(r"\b(?:inputs?|prompts?|messages|conversations?|history|contexts?)\b")
_OF_THE_ANSWER = re.compile(r"\b(?:answers?|outputs?|completions?|responses?|generated)\b")
_MEASURE = re.compile(r"\b(?:length|long(?:er)?|size|larger?|big(?:ger)?|tokens?|characters|chars|context|window)\b")
_EXCEEDS = re.compile(
    r"\bexceed\w*|\boverflow\w*|\btoo (?:long|large|big|many|much)\b|\b(?:longer|larger|greater|bigger|more"
    r"|higher) than\b"
    r"|\b(?:above|beyond|surpass\w*)\b|\b(?:not|no longer|cannot|can t|doesn t|don t|won t) fit\b|\bover the\b"
    r"|\b(?:full|filled)\b|\breached (?:its |the |your )?max\w*|\bout of (?:range|context|room)\b|\b(?:reduce"
    r"|shorten|decrease|truncate|trim|shrink)\w*\b"
    r"|> ?(?:the )?(?:\d|max|limit|model|context|window)"
)
_BOUND = re.compile(
    r"\b(?:must|should|has to|have to|can|may|cannot)\b[^.]{0,40}?(?:<=|<|\bless\b|\bfewer\b|\bat most\b"
    r"|\bno more\b|\bbetween\b|\[)"
    r"|\b(?:up to|at most|only|no more than|less than|fewer than|range of|reached|limited to|while limit|limit is"
    r"|limit of)\b"
    r"|\b(?:maximum|max)\b[^.]*?\b(?:is|of|are)\b"
)
_COMPARED = re.compile(r"\b(?:larger|longer|shorter|smaller|bigger) (?:context|input|prompt)")
_LIMIT = re.compile(r"\b(?:limit|max|maximum|window|supports?|supported|allowed|capacity|most)\b")
_NUMBER = re.compile(r"(?<![\w.])\d[\d,]{2,}")
_OTHER = re.compile(r"\b(?:" + "|".join(words for words, _ in OTHER_LIMITS) + r")\b")
_NOT_OURS = re.compile(r"\b(?:" + "|".join(words for words, _ in OTHER_TOKENS) + r")\b")
_TOKENS = re.compile(r"\btokens?\b")
_MANY_TOKENS = re.compile(r"\b\d[\d,]* tokens?\b")
_SUBJECT = re.compile(r"\b(?:inputs?|prompts?|messages|conversations?|history|contexts?|requests?|sequences?|chat)\b")
_THOUSANDS = re.compile(r"(?<![\w.])(?:\d{4,}|\d{1,3}(?:,\d{3})+)(?![\w.]*\w)")
_LEAST = re.compile(r"\bat least\b|\bminimum\b|\btoo (?:small|short|few) to\b")
_KNOWN = "|".join(pattern for pattern, _ in OVERFLOW_SENTENCES)

_LONGEST = 20_000
"""Characters of an error that are searched."""


def is_about_rates(text: str) -> bool:
    """Return whether an error is about requests or tokens in a period of time."""
    return re.search(RATES, text[:_LONGEST], re.IGNORECASE) is not None


def is_known_overflow(text: str) -> bool:
    """Return whether an error has a sentence that is known to be about a conversation that is too long."""
    text = text[:_LONGEST]
    return not is_about_rates(text) and re.search(_KNOWN, text, re.IGNORECASE | re.DOTALL) is not None


def means_overflow(text: str) -> bool:
    """Return whether the words of an error mean that the conversation is too long for the model."""
    text = text[:_LONGEST]
    if is_about_rates(text):
        return False
    sentences = [_words(sentence) for sentence in _sentences(text)]
    whole = " . ".join(sentences)
    return _fills_context(whole) or _compares_tokens(whole) or any(map(_is_too_long, sentences))


def _sentences(text: str) -> list[str]:
    """Return the sentences and the values of a text, which may be JSON, without the names of its fields."""
    text = re.sub(r"https?://\S+", " ", text.replace("\\n", "\n").replace("\\", ""))
    text = re.sub(r"""["'][\w.-]+["']\s*:""", "\n", text)
    return re.split(r"""[.!?](?=\s|["'}]|$)|\n|["']\s*[,}\]]""", text)


def _words(sentence: str) -> str:
    """Return a sentence in lower case, its names taken apart (``promptTokens``, ``max_seq_len``)."""
    sentence = re.sub(r"(?i)\binput should (?:be|have|match)\b", " ", sentence)  # of a validator: any value is an input
    sentence = _ANSWER.sub(" ANSWER ", sentence)
    sentence = re.sub(r"(?<=[a-z])(?=[A-Z][a-z])", " ", sentence)
    return " ".join(re.sub(r"""[_`'"()*\-/]+""", " ", re.sub(r"(?<=\w)-(?=\d)", " ", sentence)).split()).lower()


def _fills_context(text: str) -> bool:
    """Return whether a text is about the context window and that something does not fit it."""
    if _MAX_CONTEXT.search(text) and (_EXCEEDS.search(text) or re.search(r"\breached\b|\bgreater\b", text)):
        return True
    if not _CONTEXT.search(text):
        return False
    return bool(
        _EXCEEDS.search(text) or _BOUND.search(text) or _COMPARED.search(text) or len(_NUMBER.findall(text)) > 1
    )


def _compares_tokens(text: str) -> bool:
    """Return whether a text compares the tokens of a conversation with another number, in whatever words."""
    if " answer " in f" {text} " or _OTHER.search(text) or _NOT_OURS.search(text) or _LEAST.search(text):
        return False
    return bool(_SUBJECT.search(text) and _MANY_TOKENS.search(text) and len(set(_THOUSANDS.findall(text))) > 1)


def _is_too_long(sentence: str) -> bool:
    """Return whether one sentence says that what the model reads is too long."""
    if _SHORTEN.search(sentence):
        return True
    if not _READ.search(sentence) or not _MEASURE.search(sentence):
        return False
    if _OF_THE_ANSWER.search(sentence) and not _OF_THE_CONVERSATION.search(sentence):
        return False
    if _NOT_OURS.search(sentence) or (_OTHER.search(sentence) and not _TOKENS.search(sentence)):
        return False
    numbers = len(_NUMBER.findall(sentence))
    bounded = (numbers and _BOUND.search(sentence)) or (numbers > 1 and _LIMIT.search(sentence))
    return bool(_EXCEEDS.search(sentence) or bounded)
