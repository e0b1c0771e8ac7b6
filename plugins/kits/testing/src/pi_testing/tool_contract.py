"""The contract suite of tools: one set of tests that every tool runs, in a session with a scripted model.

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

pytest.register_assert_rewrite("pi_testing._contract_tool")  # a failing row shows what it compared

from pi_testing._contract_tool import TOOL_FEATURES, ToolRows, arguments  # noqa: E402 - rewritten when imported, not before

__all__ = ["TOOL_FEATURES", "ToolContract", "arguments"]


class ToolContract(ToolRows):
    """All rows of the contract; a subclass whose name begins with ``Test`` says which tool, and what to call it with.

    The plugins are those of the test: the project's own, or ``@pytest.mark.pi(plugins=[...])``. What a subclass says:

    Attributes:
        tool: Name of the tool.
        works: Arguments of a call that works.
        fails: Arguments of a call that the schema allows and that fails; None where there is none.
        takes_long: Arguments of a call that goes on until it is aborted; None where there is none.
        answers: What the user says to the dialogs of each call.
    """
