"""The contract suite for stream readers: streams are split at every byte, ended early, and changed at random.

```python
class TestMyReader(ReaderContract):
    events = message_events(text("Hel", "lo"), tool_use("toolu_1", "read", path="a"))
    decoder = SseDecoder

    def make_reader(self, model):
        return MyReader(AnswerBuilder(model))
```

It runs in memory, with thousands of streams in seconds; ``ProviderContract`` tests the behaviour over a connection.
"""

from __future__ import annotations

import pytest

# A failing row shows what it compared.
pytest.register_assert_rewrite("pi_testing.contract_reader", "pi_testing.contract_listen")

from pi_testing.contract_reader import (  # noqa: E402 - rewritten when imported, not before
    ANY_JSON,
    Decoder,
    Reader,
    ReaderContract,
    changed,
    paths_in,
    read_events,
)

__all__ = ["ANY_JSON", "Decoder", "Reader", "ReaderContract", "changed", "paths_in", "read_events"]
