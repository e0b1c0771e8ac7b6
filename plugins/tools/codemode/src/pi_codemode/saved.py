"""Scripts that became tools: folders with ``SKILL.md`` and ``script.py`` in the project, and the command ``/tool``."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import frozen

from pi_hookspecs import UserError
from pi_hookspecs.values import Value

if TYPE_CHECKING:
    import ast
    from collections.abc import Callable, Sequence

    from pi_codemode.warm import WarmProcess
    from pi_hookspecs import AbortSignal, PiAPI, PiContext, SessionEntry, Tool, ToolContext, ToolResult

__all__ = ["Draft", "SavedTools", "draft_of", "last_script"]

_NAME = re.compile(r"[a-z][a-z0-9-]{0,63}")
_SCRIPT = "script.py"
_SKILL = "SKILL.md"
_MARK = "codemode"
"""The key of the frontmatter that makes a tool of a skill; its value is the JSON schema of the parameters."""

_USAGE = "Use /tool, or /tool save NAME [DESCRIPTION]."
_TYPES: dict[type, str] = {
    str: "string",
    bool: "boolean",
    int: "integer",
    float: "number",
    list: "array",
    dict: "object",
}


@frozen(eq=False, kw_only=True, repr=False)
class Draft(Value):
    """A script as a tool.

    Attributes:
        script: The script without its parameters.
        parameters: The JSON schema of its parameters: what it assigned to names before anything else.
    """

    script: str
    parameters: dict[str, Any]


def draft_of(code: str) -> Draft:
    """Make a tool of a script: each constant that it assigns at its beginning becomes a parameter with this default.

    Raises:
        UserError: It is not valid Python.
    """
    import ast

    try:
        tree = ast.parse(code)
    except SyntaxError as error:
        raise UserError(f"The script is not valid Python: {error.msg}, in line {error.lineno}.") from error
    except ValueError as error:
        raise UserError(f"The script is not valid Python: {error}.") from error
    properties: dict[str, Any] = {}
    first = 0
    for statement in tree.body:
        found = _constant(statement)
        if found is None:
            break
        name, value = found
        kind = _TYPES.get(type(value))
        properties[name] = {**({"type": kind} if kind else {}), "default": value}
        first = statement.end_lineno or statement.lineno
    script = "\n".join(code.splitlines()[first:]).strip("\n")
    return Draft(script=f"{script}\n", parameters={"type": "object", "properties": properties})


def _constant(statement: ast.stmt) -> tuple[str, Any] | None:
    import ast

    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return None
    target = statement.targets[0]
    if not isinstance(target, ast.Name):
        return None
    try:
        value = ast.literal_eval(statement.value)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None
    return (target.id, value) if type(value) in _TYPES else None


def last_script(entries: Sequence[SessionEntry]) -> str | None:
    """Return the last script of a conversation that did not fail; None if there is none."""
    from pi_hookspecs import AssistantMessage, MessageEntry, ToolCall, ToolResultMessage

    messages = [each.message for each in entries if isinstance(each, MessageEntry)]
    failed = {each.tool_call_id for each in messages if isinstance(each, ToolResultMessage) and each.is_error}
    for message in reversed(messages):
        if not isinstance(message, AssistantMessage):
            continue
        for block in reversed(message.content):
            if isinstance(block, ToolCall) and block.name == "codemode" and block.id not in failed:
                return str(block.arguments.get("code") or "") or None
    return None


class SavedTools:
    """The tools that the project keeps, in one session.

    Args:
        pi: Where they are added.
        warm: Has the process for a script.
    """

    def __init__(self, pi: PiAPI, warm: WarmProcess) -> None:
        self._pi = pi
        self._warm = warm
        self._remove: dict[str, Callable[[], None]] = {}

    def load(self, ctx: PiContext) -> None:
        """Add the tools of a trusted project; a folder that is not valid is reported and left out."""
        if not ctx.is_project_trusted():
            return
        for script in sorted(_folder(ctx).glob(f"*/{_SCRIPT}")):
            try:
                self._add(script.parent)
            except (OSError, UserError, ValueError) as error:
                ctx.ui.notify(f"The tool in {script.parent.name!r} is not offered: {error}", "warning")

    def complete(self, text: str) -> Sequence[str]:
        """Return what can follow ``/tool``."""
        return [each for each in ("save ",) if each.startswith(text)]

    async def command(self, args: str, ctx: PiContext) -> None:
        """List the tools, or make one of the last script.

        Raises:
            UserError: The command is not understood, there is no such script, or it cannot be saved.
        """
        verb, _, rest = args.strip().partition(" ")
        if not verb:
            names = sorted(self._remove)
            ctx.ui.notify("\n".join(names) if names else f"No script has been saved as a tool yet. {_USAGE}")
            return
        if verb != "save":
            raise UserError(f"Unknown arguments of /tool: {verb!r}. {_USAGE}")
        name, _, description = rest.strip().partition(" ")
        await self._save(name, description.strip(), ctx)

    async def _save(self, name: str, description: str, ctx: PiContext) -> None:
        name = name.replace("_", "-")  # tools have underscores in their names, and skills have dashes
        if not _NAME.fullmatch(name):
            raise UserError(
                f"A tool's name must be lowercase letters, digits, dashes and underscores, not {name!r}. {_USAGE}"
            )
        if not ctx.is_project_trusted():
            raise UserError(
                "Tools are stored in the project's .pi, but this project is not trusted. Use /trust, quit, and continue"
                " this conversation with pi -c."
            )
        code = last_script(ctx.session.branch())
        if code is None:
            raise UserError("No script of this conversation has run without an error yet.")
        draft = draft_of(code)
        folder = _folder(ctx) / name
        if folder.exists():
            raise UserError(f"{_shown(folder, ctx)} already exists. Choose another name, or remove it first.")
        if name.replace("-", "_") in {each.name for each in self._pi.get_all_tools()}:
            raise UserError(f"A tool {name.replace('-', '_')!r} already exists. Choose another name.")
        text = _skill_text(name, description or f"Runs the script {name}.", draft)
        if ctx.has_ui:
            names = ", ".join(draft.parameters["properties"])
            title = f"Save the tool {name}({names}): review its script"
            edited = await ctx.ui.editor(title, draft.script)
            if edited is None:
                ctx.ui.notify("Nothing was saved.")
                return
            draft_of(edited)  # still valid Python
            draft = Draft(script=f"{edited.rstrip()}\n", parameters=draft.parameters)
        _write(folder, text, draft.script)
        self._add(folder)
        tool, active = name.replace("-", "_"), self._pi.get_active_tools()
        if tool not in active:  # the user selected the tools, and now wants this one, too
            self._pi.set_active_tools([*active, tool])
        ctx.ui.notify(f"Saved in {_shown(folder, ctx)}; the model is offered it as {tool}.")

    def _add(self, folder: Path) -> None:
        """Add the tool of a folder.

        Raises:
            UserError: Something in it is not valid.
        """
        from pi_core import parse_frontmatter

        written = parse_frontmatter((folder / _SKILL).read_text(encoding="utf-8"))
        if written.problem is not None:
            raise UserError(f"the frontmatter of {_SKILL} is not valid: {written.problem}")
        parameters = written.values.get(_MARK)
        if not isinstance(parameters, dict):
            return  # a skill with a script of its own, which is not a tool
        description = written.values.get("description")
        if not isinstance(description, str) or not description.strip():
            raise UserError(f"{_SKILL} has no description")
        code = (folder / _SCRIPT).read_text(encoding="utf-8")
        name = folder.name.replace("-", "_")
        if name in self._remove:
            self._remove.pop(name)()
        self._remove[name] = self._pi.register_tool(self._tool(name, description, parameters, code))

    def _tool(self, name: str, description: str, parameters: dict[str, Any], code: str) -> Tool:
        from pi_codemode.tool import run_script
        from pi_codemode.view import view_of_saved
        from pi_hookspecs import Tool

        properties = parameters.get("properties")
        defaults = {key: about.get("default") for key, about in (properties or {}).items() if isinstance(about, dict)}

        async def execute(
            _call_id: str, params: dict[str, Any], _signal: AbortSignal, _on_update: Any, ctx: ToolContext
        ) -> ToolResult:
            tools = [each for each in self._pi.get_all_tools() if each.name != name]
            return await run_script(code, ctx, tools, self._warm, values={**defaults, **params})

        return Tool(
            name=name,
            label=name,
            description=description,
            parameters={"type": "object", **parameters},
            execute=execute,
            renderer=view_of_saved(name),
        )


def _folder(ctx: PiContext) -> Path:
    return Path(ctx.cwd) / ".pi" / "skills"


def _shown(folder: Path, ctx: PiContext) -> str:
    return str(folder.relative_to(ctx.cwd))


def _skill_text(name: str, description: str, draft: Draft) -> str:
    import json

    schema = json.dumps(draft.parameters, ensure_ascii=False)
    return (
        f"---\nname: {name}\ndescription: {json.dumps(description, ensure_ascii=False)}\n"
        f"disable-model-invocation: true\n{_MARK}: {schema}\n---\n\n"
        f"The tool `{name.replace('-', '_')}` of code mode: `{_SCRIPT}` runs with its parameters as variables.\n"
    )


def _write(folder: Path, skill: str, script: str) -> None:
    from pi_core import replace_file

    try:
        folder.mkdir(parents=True)
        replace_file(folder / _SCRIPT, script.encode())
        replace_file(folder / _SKILL, skill.encode())
    except OSError as error:
        raise UserError(f"The tool could not be saved in {folder}: {error.strerror or error}.") from error
