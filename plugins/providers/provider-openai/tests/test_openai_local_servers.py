"""Servers on this machine: those that answer are offered, the others delay nothing."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time

from pi_hookspecs import ModelDiscovery, ProviderInfo, StreamOptions
from pi_provider_kit import Http, import_httpx
from pi_provider_openai import local
from pi_provider_openai.local import ollama_url
from pi_provider_openai.providers import Completions
from pi_testing import for_each
from pi_testing.fake_servers import FakeServer, closed_url, html_page, json_answer, silence
from pi_testing.fake_servers.openai import FakeOpenAI
from pi_testing.patience import PATIENCE

USUAL = "http://127.0.0.1:11434/v1"


def at(base_url, provider="box"):
    return ProviderInfo(
        id=provider,
        name="Box",
        api="openai-completions",
        base_url=base_url,
        keyless=True,
        compat={"supportsStore": False},
    )


async def discover(row, http=None, **options):
    return await Completions(http).discover(row, StreamOptions(**{"timeout_ms": 5000, **options}))


def test_the_protocol_fits():
    assert isinstance(Completions(), ModelDiscovery)


async def test_a_server_that_answers_lists_its_models():
    rows = ["qwen3:8b", {"id": "/models/a.gguf", "meta": {"n_ctx_train": 4096}}, {"id": "v", "max_model_len": 65_536}]
    async with FakeOpenAI(models=rows, keyless=True) as server:
        row = await discover(at(server.base_url))

    assert (row.id, row.name, row.keyless, row.base_url) == ("box", "Box", True, server.base_url)
    assert [(model.id, model.name, model.context_window, model.max_tokens) for model in row.models] == [
        ("qwen3:8b", "qwen3:8b", 128_000, 16_384),
        ("/models/a.gguf", "a.gguf", 4096, 4096),
        ("v", "v", 65_536, 16_384),
    ]
    assert {(model.provider, model.api, model.base_url) for model in row.models} == {
        ("box", "openai-completions", server.base_url)
    }
    assert row.models[0].compat == {"supportsStore": False}


async def test_a_configured_key_and_headers_go_along():
    async with FakeOpenAI(models=["m"], keyless=True) as server:
        row = await discover(at(server.base_url), api_key="sk-own", headers={"x-team": "blue"})
        sent = server.request.headers

    assert [model.id for model in row.models] == ["m"]
    assert (sent["authorization"], sent["x-team"]) == ("Bearer sk-own", "blue")


@for_each(
    "base_url",
    [f"{closed_url()}/v1", "http://127.0.0.1:99999/v1", "http://127.0.0.1:x/v1", "http://nobody.invalid/v1", "", "://"],
)
async def test_an_address_without_a_server_discovers_nothing(base_url):
    assert await discover(at(base_url)) == at(base_url)


async def test_a_silent_server_is_waited_for_until_the_given_timeout():
    async with FakeServer() as server:
        server.answers(silence())

        assert (await discover(at(f"{server.url}/v1"), timeout_ms=50)).models == ()


async def test_what_takes_long_to_import_is_not_in_the_servers_time():
    httpx = import_httpx()

    def imported():
        time.sleep(0.6)
        return httpx.AsyncHTTPTransport()

    async with FakeOpenAI(models=["m"], keyless=True) as server:
        row = await discover(at(server.base_url), Http(imported), timeout_ms=500)

    assert [model.id for model in row.models] == ["m"]


def test_a_name_that_takes_long_to_look_up_is_not_waited_for():
    code = """
import asyncio, socket, time
from pi_provider_openai.local import _listens
socket.getaddrinfo = lambda *_, **__: time.sleep(600)

async def main():
    try:
        await asyncio.wait_for(_listens("http://gpu-box.local:8000/v1"), 0.1)
    except TimeoutError:
        print("not waited for")

asyncio.run(main())
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=PATIENCE, check=True)

    assert done.stdout == "not waited for\n"


async def test_a_host_may_have_a_name_and_several_addresses(monkeypatch):
    async def looked_up(_name):
        return ["::1", "127.0.0.1"]

    monkeypatch.setattr(local, "_looked_up", looked_up)
    async with FakeOpenAI(models=["m"], keyless=True) as server:
        row = await discover(at(server.base_url.replace("127.0.0.1", "localhost")))

    assert [model.id for model in row.models] == ["m"]


async def test_localhost_is_looked_up():
    assert {"127.0.0.1", "::1"} & set(await local._looked_up("localhost"))


@for_each(
    "listed",
    [{}, [], {"data": None}, {"data": []}, {"data": ["x", {"id": 5}, {"id": ""}, {}]}, "x", {"data": {"id": "m"}}],
)
async def test_something_else_at_the_port_has_no_models(listed):
    httpx = import_httpx()
    http = Http(lambda: httpx.MockTransport(lambda request: httpx.Response(200, json=listed)))

    async with FakeServer() as server:
        assert (await discover(at(f"{server.url}/v1"), http)).models == ()


async def test_a_page_and_an_error_are_no_models():
    async with FakeServer() as server:
        server.answers(html_page(200, "My app"), json_answer(401, {"error": {"message": "no key"}}))

        assert (await discover(at(f"{server.url}/v1"))).models == ()
        assert (await discover(at(f"{server.url}/v1"))).models == ()


def test_without_a_server_httpx_is_not_imported():
    code = f"""
import asyncio, sys
from pi_hookspecs import ProviderInfo, StreamOptions
from pi_provider_openai.providers import Completions

row = ProviderInfo(id="box", name="Box", api="openai-completions", base_url={closed_url()!r}, keyless=True)
asyncio.run(Completions().discover(row, StreamOptions(timeout_ms=5000)))
print("httpx" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=PATIENCE, check=True)

    assert done.stdout == "False\n"


# Where Ollama is


async def test_ollama_is_asked_at_the_address_of_its_variable(monkeypatch):
    async with FakeOpenAI(models=["qwen3:8b"], keyless=True) as server:
        monkeypatch.setenv("OLLAMA_HOST", server.url.removeprefix("http://"))
        ollama, moved, other = await asyncio.gather(
            discover(at(USUAL, "ollama")), discover(at(f"{closed_url()}/v1", "ollama")), discover(at(USUAL, "box"))
        )

    assert ollama.base_url == server.base_url
    assert [(model.id, model.base_url) for model in ollama.models] == [("qwen3:8b", server.base_url)]
    assert moved.models == ()
    assert moved.base_url != server.base_url
    assert other.base_url == USUAL


async def test_where_ollama_does_not_answer_its_row_says_where_it_was_looked_for(monkeypatch):
    closed = closed_url()
    monkeypatch.setenv("OLLAMA_HOST", closed)

    row = await discover(at(USUAL, "ollama"))

    assert (row.base_url, row.models) == (f"{closed}/v1", ())


@for_each(
    ("host", "base_url"),
    [
        ("", USUAL),
        ("  ", USUAL),
        ("0.0.0.0", USUAL),  # noqa: S104 - what people set who serve others, too
        ("0.0.0.0:9000", "http://127.0.0.1:9000/v1"),
        (":9000", "http://127.0.0.1:9000/v1"),
        ("box", "http://box:11434/v1"),
        ("box:9000", "http://box:9000/v1"),
        ("'box:9000'", "http://box:9000/v1"),
        ("http://box", "http://box:80/v1"),
        ("http://box:9000/", "http://box:9000/v1"),
        ("https://box.example", "https://box.example:443/v1"),
        ("https://box.example/ollama/", "https://box.example:443/ollama/v1"),
        ("[::1]:9000", "http://[::1]:9000/v1"),
        ("::1", "http://[::1]:11434/v1"),
        ("::", "http://[::1]:11434/v1"),
        ("box:99999", USUAL),
        ("box:port", USUAL),
    ],
)
def test_what_the_variable_of_ollama_means(host, base_url):
    assert ollama_url(host) == base_url
