"""Run in Harbor's environment: its agent for pi runs our command line here, and its converter reads the session.

Arguments: ``harbor.py`` of pi_eval, the folder with ``pi``, an empty folder. Prints the outcome as JSON.
"""

import asyncio
import importlib.util
import json
import os
import subprocess
import sys
import types
from pathlib import Path

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"

from harbor.models.agent.context import AgentContext

source, scripts, place = sys.argv[1:]
spec = importlib.util.spec_from_file_location("adapter", source)
adapter = importlib.util.module_from_spec(spec)
spec.loader.exec_module(adapter)

home = Path(place)
work, logs = home / "work", home / "logs"
for folder in (work, logs, home / ".nvm"):
    folder.mkdir()
(work / "notes.txt").write_text("one two three\n")
(home / ".nvm" / "nvm.sh").write_text(f'export PATH="{scripts}:$PATH"\n')  # what install() leaves behind
commands = []


class ThisMachine:
    """An environment of Harbor without a container."""

    default_user = None

    async def exec(self, command, env=None, **_):
        commands.append(command)
        if "/tmp/harbor-pi-agent" in command:  # noqa: S108 - where Harbor puts extensions in a container
            return types.SimpleNamespace(stdout="", stderr="", return_code=0)
        done = subprocess.run(  # noqa: ASYNC221 - nothing else runs
            ["bash", "-c", command],
            cwd=work,
            env={**os.environ, "HOME": str(home), **(env or {})},
            capture_output=True,
            text=True,
            check=False,
        )
        return types.SimpleNamespace(stdout=done.stdout, stderr=done.stderr, return_code=done.returncode)

    async def upload_file(self, *_):
        """Extensions in TypeScript are not used."""


agent = adapter.PluggyPi(logs_dir=logs, model_name="offline/rules", max_turns=7)
adapter.PluggyPi.environment_logs_dir = property(lambda self: logs)  # a container has them elsewhere
context = AgentContext()
asyncio.run(agent.run("Count the words in notes.txt", ThisMachine(), context))
agent.populate_context_post_run(context)
steps = json.loads((logs / "trajectory.json").read_text())["steps"]
json.dump(
    {
        "name": agent.name(),
        "command": commands[-1],
        "stripped": asyncio.run(agent.exec_as_agent(ThisMachine(), "echo pi --extension /tmp/max-turns.ts --x")).stdout,
        "steps": [[each["source"], [call["function_name"] for call in each.get("tool_calls") or []]] for each in steps],
        "tokens": [context.n_input_tokens, context.n_output_tokens],
    },
    sys.stdout,
)
