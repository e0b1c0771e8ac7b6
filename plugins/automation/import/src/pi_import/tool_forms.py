"""Names and arguments of tools, in pi's form and in that of other agents."""

from __future__ import annotations

from pathlib import Path
from typing import Any

__all__ = ["NAMES", "from_claude", "from_codex", "from_gemini", "from_opencode", "rule_tools", "to_claude", "to_gemini"]

NAMES = {
    "bash": "Bash",
    "read": "Read",
    "write": "Write",
    "edit": "Edit",
    "grep": "Grep",
    "find": "Glob",
    "ls": "LS",
    "fetch": "WebFetch",
    "task": "Task",
    "todo": "TodoWrite",
    "load_skill": "Skill",
}
"""pi's tools, and those of Claude Code."""

_GEMINI = {
    "bash": "run_shell_command",
    "read": "read_file",
    "write": "write_file",
    "edit": "replace",
    "grep": "search_file_content",
    "find": "glob",
    "ls": "list_directory",
    "fetch": "web_fetch",
}

_FROM_CLAUDE = {theirs: ours for ours, theirs in NAMES.items()} | {
    "MultiEdit": "edit",
    "NotebookEdit": "edit",
    "NotebookRead": "read",
    "Agent": "task",
}

_RULE_TOOLS = {
    **{theirs.casefold(): (ours,) for theirs, ours in _FROM_CLAUDE.items()},
    **{theirs.casefold(): (ours,) for ours, theirs in _GEMINI.items()},
    "edit": ("edit", "write"),
    "multiedit": ("edit", "write"),
    "notebookedit": ("edit", "write"),
    "replace": ("edit",),
    "shelltool": ("bash",),
    "list": ("ls",),
    "glob": ("find",),
    "webfetch": ("fetch",),
}


_OPENCODE = {
    "bash": "Bash",
    "read": "Read",
    "write": "Write",
    "edit": "Edit",
    "multiedit": "MultiEdit",
    "grep": "Grep",
    "glob": "Glob",
    "list": "LS",
    "webfetch": "WebFetch",
    "task": "Task",
    "todowrite": "TodoWrite",
    "skill": "Skill",
}

_SHELLS = [[shell, option] for shell in ("bash", "sh", "zsh") for option in ("-c", "-lc")]


def rule_tools(name: str) -> tuple[str, ...]:
    """Return pi's tools that a rule about another agent's tool is for; empty for one that pi does not have."""
    if name.startswith("mcp__"):
        server, found, tool = name.removeprefix("mcp__").partition("__")
        return (f"mcp__{server.replace('-', '_')}__{tool if found and tool else '*'}",)
    return _RULE_TOOLS.get(name.casefold(), ())


def to_claude(name: str, arguments: dict[str, Any], cwd: str) -> tuple[str, dict[str, Any]]:
    """Return a call in the form of Claude Code: absolute paths, ``file_path``, times in milliseconds."""
    form = dict(arguments)
    if name in ("read", "write", "edit") and isinstance(form.get("path"), str):
        form["file_path"] = str(Path(cwd, form.pop("path")))
    if name == "bash" and isinstance(form.get("timeout"), int | float):
        form["timeout"] = int(form["timeout"] * 1000)
    if name == "edit" and isinstance(form.get("edits"), list) and form["edits"]:
        edits = [
            {"old_string": each.get("oldText", ""), "new_string": each.get("newText", "")}
            for each in form.pop("edits")
            if isinstance(each, dict)
        ]
        form.update(edits[0] if edits else {})
        if len(edits) > 1:
            form["edits"] = edits
    return NAMES.get(name, name), form


def to_gemini(name: str, arguments: dict[str, Any], cwd: str) -> tuple[str, dict[str, Any]]:
    """Return a call in the form of Gemini CLI."""
    _, form = to_claude(name, arguments, cwd)
    return _GEMINI.get(name, name), form


def from_claude(name: str, arguments: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return a call of Claude Code, or of Gemini CLI, in pi's form; tools that pi does not have stay as they are."""
    ours = _FROM_CLAUDE.get(name) or next((own for own, theirs in _GEMINI.items() if theirs == name), name)
    form = dict(arguments)
    if ours in ("read", "write", "edit"):
        for key in ("file_path", "absolute_path", "notebook_path"):
            if isinstance(form.get(key), str):
                form["path"] = form.pop(key)
    if ours == "bash" and isinstance(form.get("timeout"), int | float):
        form["timeout"] = form["timeout"] / 1000
    if ours == "edit":
        form = _edit(form)
    return ours, form


def from_gemini(name: str, arguments: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return a call of Gemini CLI in pi's form."""
    ours, form = from_claude("search_file_content" if name == "grep_search" else name, arguments)
    first, last = form.get("start_line"), form.get("end_line")
    if ours == "read" and isinstance(first, int):
        form["offset"] = form.pop("start_line")
        if isinstance(last, int):
            form["limit"] = form.pop("end_line") - first + 1
    return ours, _renamed(form, ours, {"dir_path": "path", "include_pattern": "glob", "include": "glob"})


def from_opencode(name: str, arguments: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return a call of opencode in pi's form."""
    theirs = {
        "filePath": "file_path",
        "oldString": "old_string",
        "newString": "new_string",
        "replaceAll": "replace_all",
    }
    form = {theirs.get(key, key): value for key, value in arguments.items()}
    ours, form = from_claude(_OPENCODE.get(name, name), form)
    return ours, _renamed(form, ours, {"include": "glob"})


def _renamed(form: dict[str, Any], tool: str, names: dict[str, str]) -> dict[str, Any]:
    """Return the arguments of a tool that searches with pi's names."""
    return {names.get(key, key): value for key, value in form.items()} if tool in ("grep", "find", "ls") else form


def _edit(form: dict[str, Any]) -> dict[str, Any]:
    edits = [each for each in form.get("edits") or () if isinstance(each, dict)] or [form]
    ours = [
        {"oldText": each.get("old_string", ""), "newText": each.get("new_string", "")}
        for each in edits
        if "old_string" in each
    ]
    kept = {key: value for key, value in form.items() if key not in ("edits", "old_string", "new_string")}
    return {**kept, "edits": ours} if ours else form


def from_codex(name: str, arguments: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return a call of codex in pi's form: its shell tools are ``bash``; other tools stay as they are."""
    command = arguments.get("command", arguments.get("cmd"))
    if name not in ("shell", "shell_command", "exec_command", "local_shell", "container.exec") or command is None:
        return name, dict(arguments)
    if isinstance(command, list):
        words = [str(each) for each in command]
        *shell, script = words or [""]
        if [each.rpartition("/")[2] for each in shell] in _SHELLS:
            command = script
        else:
            import shlex

            command = shlex.join(words)
    return "bash", {"command": str(command)}
