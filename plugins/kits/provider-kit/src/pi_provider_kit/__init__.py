"""Building blocks of providers; everything public is importable from here and loaded on first use.

Importing this package is cheap: httpx is imported with the first request, jiter when partial arguments are first
parsed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_hookspecs.lazy import lazy_exports

if TYPE_CHECKING:  # for type checkers; a test checks that ``_HOMES`` agrees with these imports
    from pi_provider_kit.abort import *
    from pi_provider_kit.answer import *
    from pi_provider_kit.builder import *
    from pi_provider_kit.call_forms import *
    from pi_provider_kit.endings import *
    from pi_provider_kit.explaining import *
    from pi_provider_kit.failure import *
    from pi_provider_kit.headers_by_host import *
    from pi_provider_kit.hosts import *
    from pi_provider_kit.http_client import *
    from pi_provider_kit.json_values import *
    from pi_provider_kit.kept import *
    from pi_provider_kit.messages import *
    from pi_provider_kit.output_schema import *
    from pi_provider_kit.partial import *
    from pi_provider_kit.progress import *
    from pi_provider_kit.repair import *
    from pi_provider_kit.reported import *
    from pi_provider_kit.request import *
    from pi_provider_kit.retry_after import *
    from pi_provider_kit.sendable import *
    from pi_provider_kit.sent_tools import *
    from pi_provider_kit.sse import *
    from pi_provider_kit.strict import *
    from pi_provider_kit.text import *
    from pi_provider_kit.thinking import *
    from pi_provider_kit.tokens import *
    from pi_provider_kit.tool_ids import *
    from pi_provider_kit.usage import *
    from pi_provider_kit.whole_answer import *
    from pi_provider_kit.written_calls import *

_HOMES: dict[str, str] = {
    "abort": "AbortWatch",
    "answer": "AnswerReader BlockReader EventReader read_answer unread_calls",
    "builder": "AnswerBuilder REPAIR_NOTE",
    "call_forms": "CallForm known_call_forms misfit opening_of read_calls",
    "endings": "Ending ending_of status_of_ending",
    "explaining": "explain explained",
    "failure": "HttpFailed answer_failure redact secrets_of transport_failure",
    "headers_by_host": "host_headers",
    "hosts": "host_of ip_address_of is_local runs_locally",
    "http_client": "Http import_httpx tls_context user_agent",
    "json_values": "compact_json dicts is_complete merged_counts parse_json parse_object shown_bytes token_count",
    "kept": "unchanged_elements",
    "messages": "NO_OUTPUT NO_RESULT data_url encode_messages same_model system_prompt_of transform_messages",
    "output_schema": "claude_output_schema",
    "partial": "PartialJson",
    "progress": "Progress",
    "repair": "repair_arguments",
    "reported": "error_event is_filter reported_error reported_status",
    "request": (
        "HttpRequest StreamDecoder Timeouts data_of fetch_json final_payload observed stream_bytes stream_decoded "
        "stream_events stream_lines wants_sdk"
    ),
    "retry_after": "retry_after_ms",
    "sendable": "RULES SOURCES NameRule Rules Source rules_of",
    "sent_tools": "SentTools",
    "sse": "LineDecoder SseDecoder",
    "strict": "strict_parameters strict_schema",
    "text": "WholeText clean_json clean_text",
    "thinking": (
        "THINKING_BUDGETS budget_level clamp_thinking_level claude_effort claude_thinking default_max_tokens "
        "fit_thinking_budget sampling_params supported_thinking_levels thinking_budget"
    ),
    "tokens": "estimate_context_tokens estimate_tokens",
    "tool_ids": "completions_id mistral_id responses_id sanitized_id",
    "usage": "billed_dollars calculate_cost with_cost",
    "whole_answer": "add_text answer_whole user_content",
    "written_calls": "PARALLEL_CALLS generated_calls parallel_calls",
}
"""Module of this package to the public names that live there."""

__all__ = sorted(" ".join(_HOMES.values()).split())  # noqa: PLE0605 - computed, so that a name is written once


__getattr__ = lazy_exports(__name__, _HOMES)


def __dir__() -> list[str]:
    return [*__all__]
