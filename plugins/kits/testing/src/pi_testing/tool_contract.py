"""The contract suite for tools: tests that every tool must pass, in a session with a scripted model.

```python
class TestWordCount(ToolContract):
    tool = "word_count"
    works = arguments(path="notes.txt")
    fails = arguments(path="missing.txt")

    def prepare(self, folder):
        (folder / "notes.txt").write_text("three small words")
```
"""

from __future__ import annotations

import pytest

pytest.register_assert_rewrite("pi_testing.contract_tool")  # failing assertions show the values

from pi_testing.contract_tool import TOOL_FEATURES, ToolRows, arguments  # noqa: E402 - rewritten when imported, not before

__all__ = ["TOOL_FEATURES", "ToolContract", "arguments"]


class ToolContract(ToolRows):
    """All tests of the contract; a subclass whose name begins with ``Test`` sets the tool and its arguments.

    The loaded plugins are the project's own, or the plugins of ``@pytest.mark.pi(plugins=[...])``. A subclass sets:

    Attributes:
        tool: The tool's name.
        works: Arguments of a call that succeeds.
        fails: Arguments that are valid under the schema but make the call fail; None if there are none.
        takes_long: Arguments of a call that runs until it is aborted; None if there are none.
        answers: The user's answers to the dialogs of each call.
    """
