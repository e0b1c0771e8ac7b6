"""The contract suite for front ends: tests that every mode must pass, each run in a separate process.

```python
class TestMarkdown(ModeContract):
    mode = "markdown"
```
"""

from __future__ import annotations

import pytest

pytest.register_assert_rewrite("pi_testing.contract_mode")  # a failing assertion shows the values that it compared

from pi_testing.contract_mode import MODE_FEATURES, ModeRows  # noqa: E402 - rewritten when imported, not before
from pi_testing.front_end_process import Ended, FrontEnd  # noqa: E402 - as above

__all__ = ["MODE_FEATURES", "Ended", "FrontEnd", "ModeContract"]


class ModeContract(ModeRows):
    """All tests of the contract; a subclass whose name begins with ``Test`` sets the mode and how to send input to it.

    The mode must belong to an installed plugin, and ``pi`` must be installed. A subclass sets:

    Attributes:
        mode: The value of ``pi --mode``.
        supports: The features of the mode. ``talks``: prompts are read from stdin until it ends, not from the command
            line. ``terminal``: the mode runs in a terminal. ``dialogs``: the user can answer dialogs; a mode without
            this feature must decline every dialog.
        ready: The output that appears when the first prompt can be typed.
        failed_code: The exit code after a failed answer.
        extensions: Files with additional plugins, as for ``pi -e``.
    """
