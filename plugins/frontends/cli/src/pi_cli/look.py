"""A session for inspection: everything is loaded as for a prompt, no model is asked and nothing is stored."""

from __future__ import annotations

import sys
from contextlib import asynccontextmanager, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING

from pi_cli.prompt_options import resource_loader
from pi_cli.report import warn

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from pi_cli.options import PromptOptions
    from pi_core import AgentSession, PluginHost

__all__ = ["session_to_look_at"]


@asynccontextmanager
async def session_to_look_at(
    host: PluginHost, options: PromptOptions, tools: Sequence[str] | None = None
) -> AsyncIterator[AgentSession]:
    """Yield a started session of this folder; problems are printed on stderr.

    Args:
        host: The plugins.
        options: About system prompt, skills, templates and themes.
        tools: Names of the active tools; the default ones when None.
    """
    from pi_core import AgentSession, ModelRegistry, SessionManager
    from pi_core.conversation.toolbox import Toolbox
    from pi_core.create import build_runtime

    cwd, loader = Path.cwd(), resource_loader(options)
    loader.use(cwd=cwd, settings=host.settings, host=host)
    host.load_listeners()
    runtime = build_runtime(
        host=host,
        settings=host.settings,
        models=ModelRegistry(host, host.settings),
        session_manager=SessionManager.in_memory(cwd),
        toolbox=Toolbox(host, tools),
        cwd=cwd,
        system_prompt=options.system_prompt,
        append_system_prompt=options.append_system_prompt,
        resources=loader,
    )
    session = AgentSession(runtime)
    session.subscribe(lambda event: warn(event.error), "extension_error")
    with redirect_stdout(sys.stderr):  # output of plugins must not mix with the command's
        await session.start()
        try:
            yield session
        finally:
            await session.dispose()
    trust = host.settings.project_trust
    for problem in (*host.settings.problems, *host.problems, *filter(None, [trust.notice])):
        warn(problem)
