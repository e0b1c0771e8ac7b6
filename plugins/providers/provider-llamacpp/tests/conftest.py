"""GGUF files that are nothing but a header, and an engine that answers what a test has written down."""

from __future__ import annotations

import json
import struct
import sys

import pytest

from pi_hookspecs import Model
from pi_provider_llamacpp.loaded import LoadedModels
from pi_provider_llamacpp.provider import LlamaCpp
from pi_testing import asking, conversation

ENGINE = """
import json, os, sys, time
script = sys.argv[1]
def say(line):
    os.write(1, json.dumps(line).encode() + b"\\n")
def plan(number=-1):
    with open(script) as file:
        plans = json.load(file)
    return plans[min(number, len(plans) - 1)]
number = 0
load = json.loads(sys.stdin.readline())["load"]
with open(script + ".loads", "a") as file:
    file.write(json.dumps(load) + "\\n")
if plan().get("dies"):
    sys.stderr.write("no such tensor\\n")
    sys.exit(3)
if plan().get("failed"):
    sys.stderr.write(plan().get("prints", ""))
    say({"failed": plan()["failed"]})
    sys.exit(1)
say({"ready": {}})
for line in sys.stdin:
    line = json.loads(line)
    with open(script + ".asked", "a") as file:
        file.write(json.dumps(line) + "\\n")
    if "cancel" in line:
        if plan().get("deaf"):
            continue
        say({"id": line["cancel"], "end": True})
        continue
    now, number = plan(number), number + 1
    for chunk in now["chunks"]:
        say({"id": line["ask"], "chunk": chunk})
    if now["then"] == "end":
        say({"id": line["ask"], "end": True})
    elif now["then"] == "die":
        sys.stderr.write("GGML_ASSERT failed\\n")
        sys.stderr.flush()
        os.abort()
"""


@pytest.fixture(autouse=True)
def _own_home(monkeypatch, tmp_path):
    """No test finds the models of the machine that it runs on."""
    asking.forget_environment(monkeypatch, "HF_", "OLLAMA_", "PI_")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PI_CODING_AGENT_DIR", str(tmp_path / "agent"))


def text_value(text):
    data = text.encode()
    return struct.pack("<Q", len(data)) + data


def pair(name, kind, raw):
    return text_value(name) + struct.pack("<I", kind) + raw


def header_bytes(*, template="", before=(), architecture="llama", **numbers):
    """A header as writers of GGUF files make it: facts, the vocabulary, and what is behind it."""
    known = {"context_length": 8192, "block_count": 2, "embedding_length": 64, "attention.head_count": 4, **numbers}
    pairs = [pair("general.architecture", 8, text_value(architecture)), *before]
    pairs += [pair(f"{architecture}.{name}", 4, struct.pack("<I", value)) for name, value in known.items()]
    words = b"".join(text_value(f"word{number}") for number in range(200))
    pairs.append(pair("tokenizer.ggml.tokens", 9, struct.pack("<IQ", 8, 200) + words))
    if template:
        pairs.append(pair("tokenizer.chat_template", 8, text_value(template)))
    return b"GGUF" + struct.pack("<IQQ", 3, 7, len(pairs)) + b"".join(pairs)


@pytest.fixture(scope="session")
def header():
    """``header(template="...", before=[header.pair(...)])`` returns the bytes of a file."""
    header_bytes.pair, header_bytes.text = pair, text_value
    return header_bytes


@pytest.fixture
def gguf(tmp_path):
    """``gguf("a.gguf", template="...")`` writes a file and returns its path."""

    def write(name="tiny.gguf", **facts):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(header_bytes(**facts))
        return path

    return write


def delta(**fields):
    return {"choices": [{"delta": fields}]}


def finish(reason):
    return {"choices": [{"delta": {}, "finish_reason": reason}]}


class Script:
    """What the engine of a test answers, and what it was asked."""

    def __init__(self, folder):
        self.path = folder / "script.json"
        (folder / "engine.py").write_text(ENGINE, encoding="utf-8")
        self.command = (sys.executable, "-ISE", str(folder / "engine.py"), str(self.path))
        self.answers()

    def answers(self, *chunks, then="end", **plan):
        """Let every request have this answer from now on."""
        self.queue = []
        self.also(*chunks, then=then, **plan)

    def also(self, *chunks, then="end", **plan):
        """Let the request behind those that have an answer have this one."""
        self.queue.append({"chunks": chunks, "then": then, **plan})
        fresh = self.path.with_suffix(".new")
        fresh.write_text(json.dumps(self.queue), encoding="utf-8")
        fresh.replace(self.path)  # the engine may be reading it

    def says(self, text, **plan):
        self.answers(delta(content=text), finish("stop"), **plan)

    def lines(self, ending):
        file = self.path.with_name(self.path.name + ending)
        return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []

    @property
    def loads(self):
        return self.lines(".loads")

    @property
    def asked(self):
        return [line["payload"] for line in self.lines(".asked") if "payload" in line]

    @property
    def cancelled(self):
        return [line["cancel"] for line in self.lines(".asked") if "cancel" in line]


@pytest.fixture
def script(tmp_path):
    return Script(tmp_path)


@pytest.fixture
async def loaded(script):
    models = LoadedModels(script.command)
    yield models
    await models.stop()


@pytest.fixture
def model(gguf):
    return Model(
        id="tiny",
        name="Tiny",
        api="llamacpp-embedded",
        provider="llamacpp",
        context_window=4096,
        compat={"path": str(gguf())},
    )


@pytest.fixture
def ask(loaded, model):
    """The message that a request ends with: ``await ask(said.user("Hi"), **options)``."""

    async def message(*messages, **options):
        events = await asking.answer_events(LlamaCpp(loaded), model, *messages, **options)
        return conversation.final_message(events)

    return message
