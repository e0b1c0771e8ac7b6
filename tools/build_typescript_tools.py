"""Write what extensions in TypeScript know of pi's tools: their descriptions and parameters.

Extensions make tools such as ``createReadTool(cwd)`` while they are loaded, before they could ask pi for them.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from pi_tools.factories import session_tools

FILE = Path(__file__).parent.parent / "plugins/tools/typescript/src/pi_typescript/host/shim/tools.json"
NAMES = ("read", "bash", "edit", "write", "grep", "find", "ls")
LEFT_OUT = {"bash": ("background", "name")}
"""Parameters that need pi's processes: a tool of an extension may run its command elsewhere."""


def described() -> dict[str, Any]:
    """Return the tools by name."""
    tools = {each.name: each for each in session_tools()}
    return {
        name: {
            "description": tools[name].description,
            "parameters": _parameters(tools[name].parameters, LEFT_OUT.get(name, ())),
            "promptSnippet": tools[name].prompt_snippet,
            "promptGuidelines": list(tools[name].prompt_guidelines),
        }
        for name in NAMES
    }


def _parameters(schema: dict[str, Any], left_out: tuple[str, ...]) -> dict[str, Any]:
    properties = {key: value for key, value in schema["properties"].items() if key not in left_out}
    return {**schema, "properties": properties}


def text() -> str:
    """Return the text of the file."""
    return json.dumps(described(), indent=2) + "\n"


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
    sys.exit()
