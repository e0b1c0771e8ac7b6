"""Reports what breaks a provider's prompt cache: which plugin, through which hook, and at what cost. On by default."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_hookspecs import hookimpl

if TYPE_CHECKING:
    from pi_cache_lint.first import Moment, Observed
    from pi_cache_lint.notices import RequestNotices
    from pi_cache_lint.watch import Watch
    from pi_hookspecs import Command, ModelUsageEvent, PiAPI, PiContext, PluginSetting, Subcommand

__all__ = ["activate", "register_commands", "register_settings", "register_subcommands"]


@hookimpl
def register_commands() -> list[Command]:
    """Provide ``/cache``."""
    from pi_cache_lint.report import show_report
    from pi_hookspecs import Command

    return [
        Command(
            "cache",
            handler=show_report,
            description="Show what broke the provider's cache, and what it cost",
            touches=(),
        )
    ]


@hookimpl
def register_subcommands() -> list[Subcommand]:
    """Provide ``pi cache``."""
    from pi_cache_lint.subcommand import run_subcommand
    from pi_hookspecs import Subcommand

    return [Subcommand("cache", run=run_subcommand, description="Show what broke the prompt cache in a session")]


@hookimpl
def register_settings() -> list[PluginSetting]:
    """Declare ``showCacheMissNotices``."""
    from pi_cache_lint.settings import NOTICES

    return [NOTICES]


@hookimpl
def activate(pi: PiAPI) -> None:
    """Examine each request when its answer is complete; nothing is imported before the first request is sent."""
    observed: Observed | None = None
    watch: Watch | None = None
    first: tuple[ModelUsageEvent, Moment] | None = None
    notices: RequestNotices | None = None

    @pi.on("model_usage")
    def look(event: ModelUsageEvent, ctx: PiContext) -> None:
        nonlocal observed, watch, first, notices
        if ctx.settings.get("showCacheMissNotices") is True:
            from pi_cache_lint.notices import RequestNotices

            notices = notices or RequestNotices()
            notices.look(event, ctx)
        if event.error is not None or not isinstance(event.payload, dict):  # there is nothing to compare
            if observed is not None:
                observed.payloads.pop(event.request_id, None)
            return
        from pi_cache_lint.first import Moment, Observed, can_wait, tools_of

        is_first = observed is None
        if observed is None:
            observed = Observed(pi)
        moment = Moment(event, ctx, observed)
        if is_first and can_wait(event, ctx):
            moment.tools = tools_of(pi)
            first = event, moment
            return
        if watch is None:
            from pi_cache_lint.watch import Watch

            watch = Watch(pi)
        if first is not None and first[1].session == moment.session:
            watch.look(*first, ctx)
        first = None
        watch.look(event, moment, ctx)
