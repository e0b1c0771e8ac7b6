"""Figures of a session as text."""

from __future__ import annotations

from attrs import evolve

from pi_core.session.stats import SessionStats, TokenTotals
from pi_hookspecs import AssistantMessage, ContextUsage
from pi_terminal_kit.figures import dispatch_facts, session_rows

TOKENS = TokenTotals(input=1200, output=34, total=1234)


def stats(**changed):
    of_all = {"session_id": "1f2e", "user_messages": 2, "assistant_messages": 3, "tokens": TOKENS, "cost": 1.25}
    return SessionStats(**{**of_all, **changed})


def test_the_rows_of_a_session_leave_out_what_is_not_known():
    assert session_rows(stats(tool_calls=1), file=None) == [
        "File      in memory",
        "ID        1f2e",
        "Messages  2 of yours, 3 of the model, 1 tool call",
        "Tokens    1,234: 1,200 input, 34 output",
        "Cost      $1.2500",
    ]


def test_the_rows_of_a_session_have_cache_context_and_the_cost_of_several_models():
    rows = session_rows(
        stats(
            tokens=evolve(TOKENS, cache_read=5000, cache_write=10, total=6244),
            cost_by_model={"acme/large": 1.0, "acme/small": 0.25},
            context_usage=ContextUsage(tokens=900, context_window=200_000, percent=0.45),
        ),
        file="~/tide.jsonl",
        cache="warmed at 12:00",
    )

    assert rows[2].endswith(", 0 tool calls")
    assert rows[3:] == [
        "Tokens    6,244: 1,200 input, 34 output, 5,000 read from the cache, 10 written to it",
        "Cost      $1.2500",
        "          $1.0000 acme/large",
        "          $0.2500 acme/small",
        "Context   900 of 200,000 tokens",
        "Cache     warmed at 12:00",
    ]
    assert rows[0] == "File      ~/tide.jsonl"


def test_an_answer_names_the_model_that_answers_for_a_virtual_one():
    def facts(level):
        return dispatch_facts(AssistantMessage(api="a", provider="acme", model="small", thinking_level=level))

    assert dispatch_facts(None) == {"dispatched": None, "dispatched_level": None}
    assert facts("high") == {"dispatched": "small", "dispatched_level": "high"}
    assert facts("off") == {"dispatched": "small", "dispatched_level": None}
