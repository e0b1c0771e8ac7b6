"""Run in Inspect AI's environment: an evaluation whose agent is pi, in a local sandbox, with a scripted model.

Arguments: ``inspect_agent.py`` of pi_eval, the command ``pi``, a folder for logs. Prints the outcome as JSON.
"""

import importlib.util
import json
import sys

import tiktoken
from inspect_ai import Task, eval  # noqa: A004 - its name
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput, get_model
from inspect_ai.scorer import includes

# Inspect counts tokens with a table that it downloads; bytes do here.
BYTES = {bytes([number]): number for number in range(256)}
tiktoken.get_encoding = lambda name: tiktoken.Encoding(name, pat_str=".", mergeable_ranks=BYTES, special_tokens={})

source, pi, logs = sys.argv[1:]
spec = importlib.util.spec_from_file_location("adapter", source)
adapter = importlib.util.module_from_spec(spec)
spec.loader.exec_module(adapter)

outputs = [
    ModelOutput.for_tool_call("mockllm/model", "bash", {"command": "echo words > made.txt; cat made.txt"}),
    ModelOutput.from_content("mockllm/model", "The file is made."),
]
task = Task(
    dataset=[Sample("Make a file", target="made")],
    solver=adapter.pluggypi(command=(pi,)),
    scorer=includes(),
    sandbox="local",
)
(log,) = eval(task, model=get_model("mockllm/model", custom_outputs=outputs), display="none", log_dir=logs)
sample = log.samples[0]
json.dump(
    {
        "status": log.status,
        "error": log.error.message if log.error else None,
        "messages": [[each.role, each.text] for each in sample.messages if each.role != "system"],
        "score": sample.scores["includes"].value if sample.scores else None,
    },
    sys.stdout,
)
