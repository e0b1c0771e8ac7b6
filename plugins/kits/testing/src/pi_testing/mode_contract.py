"""The contract suite of front ends: one set of tests that every mode runs, in processes of its own.

```python
class TestMarkdown(ModeContract):
    mode = "markdown"
```
"""

from __future__ import annotations

import pytest

pytest.register_assert_rewrite("pi_testing._contract_mode")  # a failing row shows what it compared

from pi_testing._contract_mode import MODE_FEATURES, ModeRows  # noqa: E402 - rewritten when imported, not before
from pi_testing._front_end_process import Ended, FrontEnd  # noqa: E402 - as above

__all__ = ["MODE_FEATURES", "Ended", "FrontEnd", "ModeContract"]


class ModeContract(ModeRows):
    """All rows of the contract; a subclass whose name begins with ``Test`` sets the mode, and how to send it input.

    The mode is one of an installed plugin, and ``pi`` is installed, too. A subclass sets:

    Attributes:
        mode: Value of ``pi --mode``.
        supports: ``talks``: prompts are typed on stdin until it ends, and not given on the command line. ``terminal``:
            it is run at one. ``dialogs``: the user is asked; elsewhere every dialog has to be declined.
        ready: Output that appears when the first prompt can be typed.
        failed_code: The exit code after an answer that failed.
        extensions: Files with further plugins, as ``pi -e`` takes them.
    """
