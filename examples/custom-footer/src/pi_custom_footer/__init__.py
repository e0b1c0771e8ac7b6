"""Draws its own footer; `/footer` switches between it and pi's."""

from pi_hookspecs import Line, PiAPI, PiContext, Run, ScreenHandle, hookimpl


class Footer:
    """Branch and window on the left, the model on the right."""

    def __init__(self, screen: ScreenHandle, ctx: PiContext) -> None:
        self.screen, self.ctx, self.branch = screen, ctx, ""

    def render(self, width: int) -> list[Line]:
        usage = self.ctx.context_usage()
        percent = usage.percent if usage is not None and usage.percent is not None else 0
        full = min(round(percent / 10), 10)
        bar = (Run("█" * full, "success"), Run("░" * (10 - full), "muted"))
        left = [Run(f"⎇ {self.branch or '-'}  ", "accent"), *bar]
        model = self.ctx.model.id if self.ctx.model is not None else "no model"
        gap = width - sum(len(run.text) for run in left) - len(model)
        return [Line.of(*left, " " * max(gap, 1), Run(model, "muted"))]


@hookimpl
def activate(pi: PiAPI) -> None:
    footer: Footer | None = None

    def make(screen: ScreenHandle, ctx: PiContext) -> Footer:
        nonlocal footer
        footer = Footer(screen, ctx)
        return footer

    @pi.on("session_start")
    @pi.on("agent_end")  # it may have changed the branch, and has filled the window
    async def update(ctx: PiContext) -> None:
        if footer is None:
            ctx.ui.set_footer(lambda screen: make(screen, ctx))
        branch = await ctx.exec("git", ["branch", "--show-current"])
        if footer is not None:
            footer.branch = branch.stdout.strip()
            footer.screen.refresh()

    @pi.register_command("footer", description="Change between this plugin's footer and pi's")
    async def toggle(args: str, ctx: PiContext) -> None:
        nonlocal footer
        if footer is None:
            await update(ctx)
        else:
            footer = None
            ctx.ui.set_footer()
