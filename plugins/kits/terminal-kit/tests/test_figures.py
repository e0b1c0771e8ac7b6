"""Figures of a session as text."""

from __future__ import annotations

from pi_hookspecs import AssistantMessage
from pi_terminal_kit.figures import cost_rows, dispatch_facts


def test_costs_are_listed_by_model_only_if_there_are_several():
    assert cost_rows({"acme/large": 1.0}) == []
    assert cost_rows({"acme/large": 1.0, "acme/small": 0.25}) == [
        "          $1.0000 acme/large",
        "          $0.2500 acme/small",
    ]


def test_an_answer_names_the_model_that_answers_for_a_virtual_one():
    def facts(level):
        return dispatch_facts(AssistantMessage(api="a", provider="acme", model="small", thinking_level=level))

    assert dispatch_facts(None) == {"dispatched": None, "dispatched_level": None}
    assert facts("high") == {"dispatched": "small", "dispatched_level": "high"}
    assert facts("off") == {"dispatched": "small", "dispatched_level": None}
