"""Building blocks of providers; everything public is importable from here and loaded on first use.

Importing this package is cheap: httpx is imported with the first request, jiter when partial arguments are first
parsed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_hookspecs.lazy import lazy_exports

if TYPE_CHECKING:  # what a type checker sees; ``_HOMES`` says the same at run time, a test compares them
    from pi_provider_kit._abort import *
    from pi_provider_kit._answer import *
    from pi_provider_kit._builder import *
    from pi_provider_kit._explain import *
    from pi_provider_kit._failure import *
    from pi_provider_kit._http import *
    from pi_provider_kit._json import *
    from pi_provider_kit._messages import *
    from pi_provider_kit._output_schema import *
    from pi_provider_kit._partial import *
    from pi_provider_kit._progress import *
    from pi_provider_kit._repair import *
    from pi_provider_kit._request import *
    from pi_provider_kit._retry_after import *
    from pi_provider_kit._sse import *
    from pi_provider_kit._strict import *
    from pi_provider_kit._text import *
    from pi_provider_kit._thinking import *
    from pi_provider_kit._tokens import *
    from pi_provider_kit._tool_ids import *
    from pi_provider_kit._usage import *
    from pi_provider_kit._xml_calls import *

_HOMES: dict[str, str] = {
    "_abort": "AbortWatch",
    "_answer": "AnswerReader read_answer",
    "_builder": "AnswerBuilder REPAIR_NOTE",
    "_explain": "explain explained",
    "_failure": "HttpFailed answer_failure redact secrets_of transport_failure",
    "_http": "Http import_httpx tls_context user_agent",
    "_json": "compact_json dicts parse_json shown_bytes token_count",
    "_messages": "NO_RESULT same_model system_prompt_of transform_messages",
    "_output_schema": "claude_output_schema",
    "_partial": "PartialJson",
    "_progress": "Progress",
    "_repair": "repair_arguments",
    "_request": (
        "HttpRequest StreamDecoder Timeouts fetch_json final_payload stream_bytes stream_decoded stream_events "
        "stream_lines"
    ),
    "_retry_after": "retry_after_ms",
    "_sse": "LineDecoder SseDecoder",
    "_strict": "strict_parameters strict_schema",
    "_text": "WholeText clean_json clean_text",
    "_thinking": (
        "THINKING_BUDGETS budget_level clamp_thinking_level claude_thinking default_max_tokens "
        "fit_thinking_budget sampling_params supported_thinking_levels thinking_budget"
    ),
    "_tokens": "estimate_context_tokens estimate_tokens",
    "_tool_ids": "completions_id mistral_id responses_id sanitized_id",
    "_usage": "calculate_cost with_cost",
    "_xml_calls": "xml_calls",
}
"""Module of this package to the public names that live there."""

__all__ = sorted(" ".join(_HOMES.values()).split())  # noqa: PLE0605 - computed, so that a name is written once


__getattr__ = lazy_exports(__name__, _HOMES)


def __dir__() -> list[str]:
    return [*__all__]
