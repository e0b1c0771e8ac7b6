"""Makes the model talk like a pirate; ``/pirate`` turns this on and off."""

from pi_hookspecs import BeforeAgentStartEvent, BeforeAgentStartResult, PiAPI, PiContext, hookimpl

PIRATE = "Talk like a pirate, arr. The work itself stays as careful as ever."


@hookimpl
def activate(pi: PiAPI) -> None:
    aboard = False

    @pi.register_command("pirate", description="Talk like a pirate, or stop it")
    def toggle(args: str, ctx: PiContext) -> None:
        nonlocal aboard
        aboard = not aboard
        ctx.ui.notify("Arr!" if aboard else "Back ashore.")

    @pi.on("before_agent_start")
    def talk(event: BeforeAgentStartEvent) -> BeforeAgentStartResult | None:
        return BeforeAgentStartResult(system_prompt=f"{event.system_prompt}\n\n{PIRATE}") if aboard else None
