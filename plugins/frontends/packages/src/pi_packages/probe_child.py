"""Imports the plugins of a draft in a separate process, and writes the result to a file."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

__all__ = ["main"]


def main(request_file: str) -> None:
    """Index the plugins in the requested folder, and write the records to the requested file."""
    request = json.loads(Path(request_file).read_text(encoding="utf-8"))
    sys.path[:] = request["paths"]
    from pi_core import PluginHost, Settings, find_plugins

    settings = Settings.in_memory({"hooks": {"timeout": request["seconds"]}}, request["scratch"])
    others = {each.name for each in find_plugins()[0]} - set(request["plugins"])
    host = PluginHost(settings, disabled=others)
    found = {
        name: {
            "loads": record.loads and not any(each.step == "import" for each in record.problems),
            "problems": [f"{each.step}: {each.message}" for each in record.problems],
            "hooks": record.hooks,
            "tools": record.names("register_tools"),
            "commands": record.names("register_commands"),
        }
        for name, record in host.records.items()
        if name in request["plugins"]
    }
    Path(request["answer"]).write_text(json.dumps(found), encoding="utf-8")
    os._exit(0)  # threads that a plugin has started do not count


if __name__ == "__main__":
    main(sys.argv[1])
