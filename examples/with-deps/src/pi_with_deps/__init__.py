"""A plugin with its own dependency, PyYAML: a tool that converts YAML files to JSON."""

import json
from pathlib import Path

from pi_hookspecs import Tool, ToolContext, hookimpl, tool


@tool(name="read_yaml")
def read_yaml(path: str, ctx: ToolContext) -> str:
    """Return a YAML file as JSON, with anchors and merges resolved.

    Args:
        path: The file, relative to the working directory.
    """
    import yaml  # with the first call, not with every start of pi

    return json.dumps(yaml.safe_load((ctx.cwd / Path(path)).read_text(encoding="utf-8")), indent=2, default=str)


@hookimpl
def register_tools() -> list[Tool]:
    return [read_yaml]
