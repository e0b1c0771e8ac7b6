"""The tool ``edit``: replaces texts in a file, with everything else unchanged."""

from __future__ import annotations

import errno
import json
from typing import TYPE_CHECKING, Any

from pi_hookspecs.tools import Tool, ToolAnnotations, ToolResult
from pi_tools.failure import ToolFailure, code_of
from pi_tools.mutation_queue import file_mutation_queue
from pi_tools.paths import locate
from pi_tools.text import clean
from pi_tools.threads import check, finish
from pi_tools.workspace import file_operations

if TYPE_CHECKING:
    from pi_hookspecs.abort import AbortSignal
    from pi_hookspecs.tool_context import ToolContext
    from pi_hookspecs.tools import ToolUpdate
    from pi_tools.editing.match import Edit, Loose
    from pi_tools.options import EditOperations, EditOptions

__all__ = ["edit_tool", "fold"]

_PARAMETERS = {
    "type": "object",
    "properties": {
        "path": {"type": "string", "description": "The file, relative to the working directory or absolute"},
        "edits": {
            "type": "array",
            "description": (
                "Replacements. Each is matched against the file as it is now, not as the others leave it: "
                "they must not overlap, so make one edit of changes that touch the same lines."
            ),
            "items": {
                "type": "object",
                "properties": {
                    "oldText": {"type": "string", "description": "Text that occurs exactly once in the file"},
                    "newText": {"type": "string", "description": "What takes its place"},
                },
                "required": ["oldText", "newText"],
            },
        },
    },
    "required": ["path", "edits"],
}

_BOM = "\ufeff"


def edit_tool(cwd: str | None = None, options: EditOptions | None = None) -> Tool:
    """Return the tool; without ``cwd`` it works where the session does."""

    async def execute(
        _call_id: str, params: dict[str, Any], signal: AbortSignal, _on_update: ToolUpdate, ctx: ToolContext
    ) -> ToolResult:
        from pi_tools.editing.match import Edit

        check(signal)
        edits = [Edit(clean(edit["oldText"]), clean(edit["newText"])) for edit in fold(params).get("edits") or ()]
        if not edits:
            raise ToolFailure("Edit tool input is invalid. edits must contain at least one replacement.")
        operations: EditOperations | None = file_operations(ctx, options)
        elsewhere = None if operations is None else operations.access
        if operations is None:
            from pi_tools.local_files import LocalEditOperations

            operations = LocalEditOperations()
        absolute = await locate(params["path"], cwd or str(ctx.cwd), elsewhere)
        async with file_mutation_queue(absolute):
            check(signal)
            return await _edit(operations, absolute, clean(params["path"]), edits, signal)

    return Tool(
        name="edit",
        description=(
            "Replace texts in a file. Every oldText must occur exactly once; put all changes of a file into one call."
        ),
        parameters=_PARAMETERS,
        execute=execute,
        annotations=ToolAnnotations(read_only=False, destructive=True, open_world=False),
        prompt_snippet="Change files: replace exact texts, several in one call",
        constrained_sampling="prefer",
        prompt_guidelines=("Keep oldText as short as it can be while it occurs only once.",),
        prepare_arguments=fold,
    )


def fold(arguments: Any) -> Any:
    """Return the arguments in the current format: ``edits`` from a JSON text, one object, or ``oldText``/``newText``.

    Flat texts, in either spelling, are appended to existing edits. Any other format is left to validation.
    """
    if not isinstance(arguments, dict):
        return arguments
    folded = dict(arguments)
    edits = folded.get("edits")
    if isinstance(edits, str):
        try:
            edits = json.loads(edits)
        except (ValueError, RecursionError):
            return folded
    if isinstance(edits, dict):
        edits = [edits]
    for old, new in (("oldText", "newText"), ("old_text", "new_text")):
        if isinstance(folded.get(old), str) and isinstance(folded.get(new), str):
            before = edits if isinstance(edits, list) else ()
            edits = [*before, {"oldText": folded.pop(old), "newText": folded.pop(new)}]
    if isinstance(edits, list):
        folded["edits"] = [_modern(edit) for edit in edits]
    return folded


def _modern(edit: Any) -> Any:
    if isinstance(edit, dict) and "old_text" in edit and "oldText" not in edit:
        return {"oldText": edit["old_text"], "newText": edit.get("new_text")}
    return edit


async def _edit(
    operations: EditOperations, absolute: str, path: str, edits: list[Edit], signal: AbortSignal
) -> ToolResult:
    try:
        await operations.access(absolute)
        content = await _content(operations, absolute, path)
        check(signal)
        changed, details, notes = await finish(_changed, content, edits, path)
        check(signal)
        await operations.write_file(absolute, changed)
    except OSError as error:
        raise ToolFailure(f"Could not edit file: {path}. Error code: {code_of(error)}.") from error
    done = f"Successfully replaced {len(edits)} block(s) in {path}."
    return ToolResult.text("\n".join([done, *notes]), details=details)


async def _content(operations: EditOperations, absolute: str, path: str) -> bytes:
    from pi_tools.local_files import EDIT_LIMIT
    from pi_tools.truncate import format_size

    try:
        content = await operations.read_file(absolute)
    except OSError as error:
        if error.errno != errno.EFBIG:
            raise
    else:
        if len(content) <= EDIT_LIMIT:
            return content
    raise ToolFailure(
        f"Could not edit file: {path}. It is larger than {format_size(EDIT_LIMIT)}, the most that edit takes. "
        "Use bash for it (sed, or a short script)."
    )


def _changed(content: bytes, edits: list[Edit], path: str) -> tuple[bytes, dict[str, Any], list[str]]:
    """Return the new content, ``details``, and a note for each edit that did not match exactly."""
    from pi_tools.editing.diff import differences
    from pi_tools.editing.match import apply

    text = _decode(content, path)
    bom = _BOM if text.startswith(_BOM) else ""
    text = text.removeprefix(bom)
    done = apply(text, edits, path)
    height = max(text.count("\n"), done.text.count("\n"))
    if "\r" in text:
        height = max(done.old.count("\n"), done.new.count("\n"))
    what = differences(done.old, done.new, done.changes, path, above=done.above, height=height)
    details: dict[str, Any] = {"diff": what.diff, "patch": what.patch}
    if what.first_changed_line is not None:
        details["firstChangedLine"] = what.first_changed_line
    return (bom + done.text).encode(), details, [_note(match, several=len(edits) > 1) for match in done.loose]


_SHOWN = 200


def _note(match: Loose, *, several: bool) -> str:
    subject = f"edits[{match.number}].oldText" if several else "oldText"
    text = match.text if len(match.text) <= _SHOWN else f"{match.text[:_SHOWN]}..."
    return (
        f"{subject} is not in the file exactly. This was replaced, which differs from it only in the form of "
        f"characters or in blanks at the end of lines (line {match.line}): {text}"
    )


def _decode(content: bytes, path: str) -> str:
    """Decode UTF-8.

    Raises:
        ToolFailure: The file has another encoding, and would be damaged by writing it back.
    """
    from pi_tools.editing.encoding import detect

    found: str | None
    try:
        text = content.decode()
    except UnicodeDecodeError:
        found = detect(content) or "none that is known"
    else:
        found = detect(content) if "\0" in text[:8192] else None
        if found is None:
            return text
    raise ToolFailure(
        f"Could not edit file: {path}. It is not UTF-8 (detected: {found}), and editing it would damage it. "
        "Convert it with bash (iconv), or change it with a program that knows its encoding."
    )
