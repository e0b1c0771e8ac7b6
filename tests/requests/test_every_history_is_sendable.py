"""Any history and any tools that our types can hold become a request that the API accepts, in every API.

The fake servers' own rules judge: they refuse what the vendors refuse.
"""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from drawn.histories import ASKED, TOOLS, histories
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pi_testing.asking import payload_of


@pytest.mark.parametrize("name", ASKED)
def test_every_history_with_any_tools_is_accepted(name: str) -> None:
    provider, model, key, violation = ASKED[name]

    @settings(suppress_health_check=[HealthCheck.too_slow])
    @given(
        messages=histories(model),
        tools=TOOLS,
        reasoning=st.sampled_from([None, "off", "high"]),
        choice=st.sampled_from([None, "auto", "required"]),
        system=st.sampled_from(["", " ", "Be brief."]),
    )
    def accepted(messages: list[Any], tools: list[Any], reasoning: Any, choice: Any, system: str) -> None:
        before = [repr(message) for message in messages]
        options = {"api_key": key, "reasoning": reasoning, "tool_choice": choice, "system": system, "tools": tools}
        body = asyncio.run(payload_of(provider, model, *messages, **options))

        if [] in (body.get("messages"), body.get("input")):
            return  # nothing was said that could be sent
        assert violation(body, model) is None
        json.dumps(body, ensure_ascii=False).encode()
        assert [repr(message) for message in messages] == before

    accepted()
