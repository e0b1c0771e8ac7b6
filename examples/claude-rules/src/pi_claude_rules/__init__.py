"""Lists the rules in `.claude/rules` for the model, which reads those that it needs."""

from pi_hookspecs import BeforeAgentStartEvent, BeforeAgentStartResult, PiContext, hookimpl


@hookimpl
def before_agent_start(event: BeforeAgentStartEvent, ctx: PiContext) -> BeforeAgentStartResult | None:
    files = sorted((ctx.cwd / ".claude" / "rules").rglob("*.md"))
    if not files or not ctx.is_project_trusted():
        return None
    listed = "\n".join(f"- {file.relative_to(ctx.cwd)}" for file in files)
    rules_text = f"Rules of this project. Before work that one of them is about, read it:\n{listed}"
    return BeforeAgentStartResult(system_prompt=f"{event.system_prompt}\n\n{rules_text}")
