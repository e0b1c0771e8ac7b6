"""``--model``: parts of names, thinking levels behind them, and servers that are asked when they may know the model."""

from __future__ import annotations

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

pytestmark = pytest.mark.slow  # each starts programs that take seconds

ZOO = """
from attrs import evolve

from pi_hookspecs import MessageBuilder, Model, ProviderInfo, hookimpl


class Zoo:
    api = "zoo"

    async def stream(self, model, context, options):
        builder = MessageBuilder(model)
        start = builder.text_start()
        yield builder.text(start.content_index, f"{model.reference} {model.context_window} {options.reasoning}")
        yield builder.text_end(start.content_index)
        yield builder.done()

    async def discover(self, provider, options):
        from pathlib import Path

        with (Path(__file__).parent / "asked").open("a") as log:
            log.write(provider.id)
        return evolve(provider, models=(evolve(provider.custom_model("yak:8b"), context_window=9000),))


@hookimpl
def register_providers():
    return [Zoo()]


@hookimpl
def register_models():
    lions = [Model(id=id, name=id, api="zoo", provider="zoo", reasoning=True) for id in ("lion-4", "lion-5", "cub")]
    farm = [Model(id="cub", name="Cub", api="zoo", provider="farm")]
    return [
        ProviderInfo(id="zoo", name="Zoo", api="zoo", key_variables=("ZOO_API_KEY",), models=tuple(lions)),
        ProviderInfo(id="farm", name="Farm", api="zoo", key_variables=("FARM_API_KEY",), models=tuple(farm)),
        ProviderInfo(id="barn", name="Barn", api="zoo", keyless=True),
    ]
"""


@pytest.fixture
def zoo(pi):
    pi.install("zoo", ZOO)
    pi.asked = lambda: (pi.site / "asked").read_text() if (pi.site / "asked").exists() else ""
    return pi


@pytest.mark.parametrize(
    ("arguments", "answer"),
    [
        (["--model", "zoo/lion-4"], "zoo/lion-4 128000 medium"),
        (["--model", "zoo/lion-4:high"], "zoo/lion-4 128000 high"),
        (["--model", "lion:low"], "zoo/lion-5 128000 low"),
        (["--model", "LION-4"], "zoo/lion-4 128000 medium"),
        (["--model", "lio", "--provider", "zoo"], "zoo/lion-5 128000 medium"),
        (["--model", "cub:off"], "zoo/cub 128000 None"),
    ],
)
def test_a_known_model_is_found_and_no_server_asked(zoo, arguments, answer):
    done = zoo.run(*arguments, "-p", "hi", ZOO_API_KEY="k")

    assert (done.returncode, done.stdout) == (0, f"{answer}\n"), done.stderr
    assert zoo.asked() == ""


@pytest.mark.parametrize(
    ("arguments", "answer"),
    [
        (["--model", "barn/yak:8b"], "barn/yak:8b 9000 None"),
        (["--model", "barn/yak"], "barn/yak:8b 9000 None"),
        (["--model", "yak"], "barn/yak:8b 9000 None"),
        (["--provider", "barn"], "barn/yak:8b 9000 None"),
    ],
)
def test_a_server_is_asked_for_a_model_that_only_it_knows(zoo, arguments, answer):
    done = zoo.run(*arguments, "-p", "hi", ZOO_API_KEY="k")

    assert (done.returncode, done.stdout) == (0, f"{answer}\n"), done.stderr
    assert zoo.asked() == "barn"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("cub", "Error: Model 'cub' may mean farm/cub or zoo/cub. Specify one, as in --model farm/cub, or set"),
        ("liom-5", "Error: Unknown model: liom-5."),
        ("zooo/lion-4", "Error: Unknown model: zooo/lion-4. Did you mean zoo/lion-4"),
    ],
)
def test_doubt_is_reported_in_one_line(zoo, name, message):
    done = zoo.run("--model", name, "-p", "hi", ZOO_API_KEY="k", FARM_API_KEY="k")

    assert (done.returncode, done.stdout) == (1, "")
    assert message in done.stderr


def test_models_of_servers_are_listed(zoo):
    done = zoo.run("--list-models", "barn/")

    assert done.stdout.splitlines()[1].split() == ["barn", "yak:8b", "9K", "16.4K", "no", "no", "yes"]


# A server as people run it


@contextmanager
def model_server(*ids):
    """Run a server that lists models as Ollama does; yields its host and port."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            content = json.dumps({"object": "list", "data": [{"id": each} for each in ids]}).encode()
            self.send_response(200 if self.path == "/v1/models" else 404)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()


def test_models_are_listed_from_the_address_of_ollamas_variable(pi):
    (pi.agent_dir / "settings.json").write_text('{"localServersTimeoutMs": 10000}')
    with model_server("qwen3:8b", "gpt-oss:20b") as host:
        done = pi.run("--list-models", "ollama/", OLLAMA_HOST=host)

    assert done.returncode == 0
    assert [line.split()[:2] for line in done.stdout.splitlines()[1:]] == [
        ["ollama", "gpt-oss:20b"],
        ["ollama", "qwen3:8b"],
    ]


def test_a_server_may_be_at_any_address_in_models_json(pi):
    overrides = {"small": {"contextWindow": 4096, "maxTokens": 1024}}
    with model_server("small") as host:
        vllm = {"baseUrl": f"http://{host}/v1", "modelOverrides": overrides}
        mine = {"baseUrl": f"http://{host}/v1", "api": "openai-completions", "keyless": True}
        (pi.agent_dir / "models.json").write_text(json.dumps({"providers": {"vllm": vllm, "mine": mine}}))
        (pi.agent_dir / "settings.json").write_text('{"localServersTimeoutMs": 10000}')
        done = pi.run("--list-models", "small")

    rows = [line.split() for line in done.stdout.splitlines()[1:]]
    assert ["mine", "small", "128K", "16.4K", "no", "no", "yes"] in rows
    assert ["vllm", "small", "4.1K", "1.0K", "no", "no", "yes"] in rows
