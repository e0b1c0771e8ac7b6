"""An agent for Inspect AI: ``pi`` in the sandbox of a task; Inspect answers its requests with the evaluation's model.

``Task(..., solver=pluggypi())``. Import it where ``inspect_ai`` is installed; the sandbox needs ``pi``.
"""

from __future__ import annotations

from collections.abc import Sequence  # noqa: TC003 - Inspect reads the annotations

from inspect_ai.agent import Agent, AgentState, agent, sandbox_agent_bridge  # type: ignore[import-not-found]
from inspect_ai.model import user_prompt  # type: ignore[import-not-found]
from inspect_ai.util import sandbox  # type: ignore[import-not-found]

__all__ = ["pluggypi"]


@agent(name="pluggypi")  # type: ignore[untyped-decorator] # inspect_ai is not installed where types are checked
def pluggypi(
    options: Sequence[str] = (),
    command: Sequence[str] = ("pi",),
    cwd: str | None = None,
    model: str = "openai/inspect",
) -> Agent:
    """Return the agent.

    Args:
        options: Further options of ``pi``, such as ``("--max-turns", "50")``.
        command: How ``pi`` is started in the sandbox.
        cwd: Where it works there; the sandbox's default when None.
        model: Whose API it speaks: ``openai/inspect``, ``anthropic/inspect`` or ``google/inspect``.
    """

    async def execute(state: AgentState) -> AgentState:
        async with sandbox_agent_bridge(state) as bridge:
            place = f"http://localhost:{bridge.port}"
            result = await sandbox().exec(
                [*command, "--print", "--no-session", "--model", model, *options],
                input=user_prompt(state.messages).text,
                cwd=cwd,
                env={
                    "OPENAI_BASE_URL": f"{place}/v1",
                    "ANTHROPIC_BASE_URL": place,
                    "GOOGLE_GEMINI_BASE_URL": place,
                    "OPENAI_API_KEY": "inspect",
                    "ANTHROPIC_API_KEY": "inspect",
                    "GEMINI_API_KEY": "inspect",
                },
            )
            if not result.success:
                raise RuntimeError(f"pi ended with {result.returncode}: {result.stderr[-2000:].strip()}")
            return bridge.state

    return execute
