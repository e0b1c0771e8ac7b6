"""Plans with read-only tools until the user approves the plan, then works: ``--plan``, ``/plan`` or ctrl+alt+p."""

from pi_hookspecs import (
    AgentEndEvent,
    BeforeAgentStartResult,
    ContextEvent,
    ContextResult,
    CustomEntry,
    CustomMessage,
    PiAPI,
    PiContext,
    TurnEndEvent,
    hookimpl,
)
from pi_plan_mode._plan import Plan

NAME = "plan-mode"
READ_ONLY = ("read", "grep", "find", "ls")
PLANNING = "Plan mode: look, change nothing. End with 'Plan:' and numbered steps, one line each."
WORKING = "Carry out the plan. Write [DONE:n] as soon as step n is done."


@hookimpl
def activate(pi: PiAPI) -> None:
    plan = Plan()
    pi.register_flag("plan", type=bool, description="Begin in plan mode")

    def switch(ctx: PiContext) -> None:
        if not plan.planning:
            plan.tools_before = pi.get_active_tools()
        plan.planning = not plan.planning
        changed(ctx)

    def changed(ctx: PiContext) -> None:
        pi.append_entry(NAME, plan.saved())
        show(ctx)

    def show(ctx: PiContext) -> None:
        if plan.tools_before:
            pi.set_active_tools(READ_ONLY if plan.planning else plan.tools_before)
        ctx.ui.set_status(NAME, "planning" if plan.planning else None)
        ctx.ui.set_widget(NAME, plan.lines() or None)

    pi.register_command("plan", lambda _, ctx: switch(ctx), description="Plan first, or stop planning")
    pi.register_shortcut("ctrl+alt+p", switch, description="Plan first, or stop planning")

    @pi.on("session_start")
    @pi.on("session_tree")  # another branch may have another plan
    def restore(ctx: PiContext) -> None:
        kept = (each for each in reversed(ctx.session.branch()) if isinstance(each, CustomEntry))
        saved = next((each.data for each in kept if each.custom_type == NAME), None)
        plan.restore(saved or {"tools_before": plan.tools_before})
        show(ctx)
        if saved is None and pi.get_flag("plan"):
            switch(ctx)

    @pi.on("before_agent_start")
    def instruct() -> BeforeAgentStartResult | None:
        note = CustomMessage(custom_type=NAME, content=PLANNING, display=False)
        return BeforeAgentStartResult(messages=[note]) if plan.planning else None

    @pi.on("context")
    def forget_instructions(event: ContextEvent) -> ContextResult | None:
        if plan.planning:
            return None
        return ContextResult(messages=[each for each in event.messages if getattr(each, "custom_type", None) != NAME])

    @pi.on("agent_end")
    async def ask(event: AgentEndEvent, ctx: PiContext) -> None:
        if plan.planning and plan.take_steps(getattr(event.messages[-1], "text", "")):
            changed(ctx)
            if await ctx.ui.confirm("Carry out this plan?", "\n".join(plan.lines())):
                switch(ctx)
                pi.send_user_message(WORKING, deliver_as="followUp")

    @pi.on("turn_end")
    def tick(event: TurnEndEvent, ctx: PiContext) -> None:
        if not plan.planning and plan.take_marks(event.message.text):
            changed(ctx)
