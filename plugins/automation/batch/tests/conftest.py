"""A model whose requests cost money."""

from __future__ import annotations

import json

import pytest

from pi_testing.fake_servers import anthropic


@pytest.fixture
async def model_that_costs(tmp_path):
    """A model that says hello, or calls a tool, for a dollar a request."""
    prices = {"input": 0, "output": 1e6, "cacheRead": 0, "cacheWrite": 0}
    async with anthropic.FakeAnthropic() as server:
        model = {"id": "m", "cost": prices, "contextWindow": 1000}
        fake = {"api": "anthropic-messages", "apiKey": "none", "baseUrl": server.url, "models": [model]}
        (tmp_path / "agent").mkdir()
        (tmp_path / "agent" / "models.json").write_text(json.dumps({"providers": {"fake": fake}}))
        yield server
