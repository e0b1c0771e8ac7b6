"""Adds parts to the system prompt: a rule next to pi's own, and a section from a file in the project."""

from pathlib import Path

from pi_hookspecs import PiContext, PromptSection, SystemPromptEvent, SystemPromptResult, hookimpl

RULE = "- Say in one sentence what a command is for before running it."
STYLE = Path("docs") / "style.md"


@hookimpl
def system_prompt(event: SystemPromptEvent, ctx: PiContext) -> SystemPromptResult:
    sections = []
    if "bash" in event.tools:
        sections.append(PromptSection(name="rules", text=RULE))
    style = ctx.cwd / STYLE
    if ctx.is_project_trusted() and style.is_file():
        # Its text changes seldom: a prompt that stays the same is paid for once, whatever its length.
        text = style.read_text(encoding="utf-8").strip()
        sections.append(PromptSection(name="house_style", text=text, source=str(style)))
    return SystemPromptResult(sections=sections)
