"""Write docs/notebooks.md from docs/notebooks.ipynb: texts, cells, and what they displayed.

Run it with ``uv run python tools/build_notebook_page.py``; with ``--check`` it writes nothing and fails if something
would change. The outputs are those that ``just notebook`` stored in the notebook.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from one_page import write_or_check

if TYPE_CHECKING:
    from collections.abc import Iterator

DOCS = Path(__file__).resolve().parent.parent / "docs"
NOTEBOOK = DOCS / "notebooks.ipynb"
PAGE = DOCS / "notebooks.md"

HEAD = """\
<!-- Made by tools/build_notebook_page.py from notebooks.ipynb; change it there. -->

<!-- skip: start "is run by plugins/frontends/jupyter/tests/test_kernels.py" -->

"""


def main() -> int:
    """Write the page, or compare it."""
    cells = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    return write_or_check(PAGE, HEAD + "\n".join(part for cell in cells for part in parts(cell)))


def parts(cell: dict[str, Any]) -> Iterator[str]:
    """Yield the Markdown of a cell, each part with a line break at its end."""
    source = "".join(cell["source"])
    if cell["cell_type"] == "markdown":
        yield f"{source}\n"
        return
    yield fenced(source, "text" if re.search("^%", source, re.MULTILINE) else "python")
    shown = "\n".join(filter(None, map(text_of, cell["outputs"])))
    if shown:
        yield fenced(shown, "text")


def text_of(output: dict[str, Any]) -> str:
    """Return what an output shows as text."""
    return "".join(output.get("text") or output.get("data", {}).get("text/plain", "")).rstrip("\n")


def fenced(text: str, language: str) -> str:
    """Return a block of code; the text must not have fences in it."""
    return f"```{language}\n{text}\n```\n"


if __name__ == "__main__":
    sys.exit(main())
