"""Write what extensions in TypeScript know of pi before they could ask it: its tools, and its usual colours.

Extensions make tools such as ``createReadTool(cwd)`` while they are loaded. Where there is no screen there is no theme:
what they style has the colours of the dark one.
"""

from __future__ import annotations

import json
import sys
from importlib.resources import files
from pathlib import Path
from typing import Any

from pi_tools.factories import session_tools

SHIM = Path(__file__).parent.parent / "plugins/tools/typescript/src/pi_typescript/host/shim"
FILE, COLORS = SHIM / "tools.json", SHIM / "colors.json"
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


def colors() -> str:
    """Return the text of the file with the colours."""
    theme = json.loads((files("pi_tui") / "theme" / "builtin" / "dark.json").read_text(encoding="utf-8"))
    known = theme.get("vars", {})
    return json.dumps({role: known.get(value, value) for role, value in theme["colors"].items()}, indent=2) + "\n"


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
    COLORS.write_text(colors(), encoding="utf-8")
    sys.exit()
