"""The plan of a script's calls, which the user sees and allows first where ``codemode.preview`` is on."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pi_codemode.functions import Function
    from pi_hookspecs import ToolContext

__all__ = ["plan_of", "refusal"]

_MOST_ROWS = 40
_ROW = 100


async def refusal(code: str, functions: Mapping[str, Function], ctx: ToolContext) -> str | None:
    """Return why a script does not run, for the model; None if it does."""
    if ctx.settings.get("codemode.preview") is not True:
        return None
    if not ctx.has_ui:
        return "The setting codemode.preview is on, and there is no user to ask. Call the tools one by one."
    rows = plan_of(code, functions)
    listed = "\n".join(rows[:_MOST_ROWS])
    more = f"\n... and {len(rows) - _MOST_ROWS} more" if len(rows) > _MOST_ROWS else ""
    plan = f"{listed}{more}" if rows else "It names no tool."
    from pi_hookspecs import Approval, unanswered_reason

    why = "The setting codemode.preview asks about each script before it runs."
    approval = Approval("Run this script?", what=f"{plan}\n\n{code.strip()}", why=why)
    if await ctx.ui.approve(approval, signal=ctx.signal) is not None:
        return None
    if (unanswered := unanswered_reason()) is not None:
        return f"The setting codemode.preview is on, and {unanswered}. The script did not run."
    return "The user has seen the script and refused to run it. Ask the user what to do instead."


def plan_of(code: str, functions: Mapping[str, Function]) -> list[str]:
    """Return a row for each place where the script calls a tool: the line, what may repeat it, and the call."""
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError):
        return ["It is not valid Python, and will fail before it calls a tool."]
    names = {function.python for function in functions.values()}
    found = sorted(_calls(tree, names, repeated=False), key=lambda each: each[0])
    return [f"line {line}: {'repeatedly ' if again else ''}{text}" for line, again, text in found]


def _calls(node: ast.AST, names: set[str], *, repeated: bool) -> Iterator[tuple[int, bool, str]]:
    again = repeated or isinstance(
        node,
        ast.For
        | ast.AsyncFor
        | ast.While
        | ast.ListComp
        | ast.SetComp
        | ast.DictComp
        | ast.GeneratorExp
        | ast.FunctionDef
        | ast.AsyncFunctionDef
        | ast.Lambda,
    )
    if isinstance(node, ast.Call):
        name = ast.unparse(node.func)
        if name in names or name.startswith("tools["):
            text = " ".join(ast.unparse(node).split())
            yield node.lineno, repeated, text if len(text) <= _ROW else f"{text[: _ROW - 1]}…"
    for child in ast.iter_child_nodes(node):
        yield from _calls(child, names, repeated=again)
