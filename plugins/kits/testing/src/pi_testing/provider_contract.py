"""The contract suite for providers: tests that every provider must pass.

```python
class TestMyProvider(ProviderContract):
    @pytest.fixture
    async def case(self):
        async with FakeMine() as server:
            yield MyCase(server)
```

A test that needs a feature which is not in ``case.supports`` is skipped with that reason; all other tests must pass.
"""

from __future__ import annotations

import pytest

pytest.register_assert_rewrite(
    *(f"pi_testing.contract_{name}" for name in ("answers", "events", "failures", "history", "listen"))
)  # failing assertions show the values that they compared, as in the provider's own tests

from pi_testing.contract_answers import AnswersContract  # noqa: E402 - rewritten when imported, not before
from pi_testing.contract_case import (  # noqa: E402 - as above
    EVERYTHING,
    Block,
    Calls,
    Feature,
    ProviderCase,
    Says,
    ServerCase,
    Thinks,
    needs,
)
from pi_testing.contract_events import StreamEventsContract  # noqa: E402 - as above
from pi_testing.contract_failures import FailuresContract  # noqa: E402 - as above
from pi_testing.contract_history import HistoryContract  # noqa: E402 - as above
from pi_testing.contract_listen import Heard, listen  # noqa: E402 - as above
from pi_testing.contract_needs import skip_unless_supported  # noqa: E402 - as above

__all__ = [
    "EVERYTHING",
    "Block",
    "Calls",
    "Feature",
    "Heard",
    "ProviderCase",
    "ProviderContract",
    "Says",
    "ServerCase",
    "StreamEventsContract",
    "Thinks",
    "listen",
    "needs",
]


class ProviderContract(AnswersContract, FailuresContract, HistoryContract):
    """All tests of the contract; a subclass whose name begins with ``Test`` defines the fixture ``case``."""

    pytestmark = pytest.mark.asyncio  # without it nothing runs under pytest-asyncio's strict mode

    @pytest.fixture
    def case(self) -> ProviderCase:
        """Return the provider under test, with a separate server or script for each test."""
        raise NotImplementedError(f"{type(self).__name__} needs a fixture 'case' that returns a ProviderCase")

    @pytest.fixture(autouse=True)
    def _only_what_applies(self, request: pytest.FixtureRequest, case: ProviderCase) -> None:
        skip_unless_supported(request.function, case.supports, EVERYTHING, type(case).__name__)
