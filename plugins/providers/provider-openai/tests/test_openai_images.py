"""The images APIs of OpenAI and OpenRouter, and OpenAI's moderations: the contract, and what is particular to them."""

from __future__ import annotations

import json

import pytest
from attrs import evolve

from pi_hookspecs import Context, ImageContent, Model, ModelCost, StreamOptions, TextContent, UserMessage
from pi_provider_kit import Http
from pi_provider_openai.providers import Images, Moderations, OpenRouterImages
from pi_testing import PNG, ImageCase, ImageContract
from pi_testing.fake_servers.openai import FakeOpenAI, images, moderation


def model_of(api: str, server: FakeOpenAI, **fields) -> Model:
    known = {"id": "gpt-image-fake", "name": "Fake", "provider": "openai", "type": "image"}
    cost = ModelCost(input=5, output=40)
    return Model(**{**known, "api": api, "base_url": server.base_url, "cost": cost, **fields})


class Case(ImageCase):
    def __init__(self, server, provider, **fields):
        self.server, self.provider = server, provider
        self.model = model_of(provider.api, server, **fields)

    def written(self, *images):
        usage = {"input_tokens": 10, "output_tokens": 20, "total_tokens": 30}
        return {"created": 1, "data": [{"b64_json": each} for each in images], "usage": usage}


class TestImages(ImageContract):
    @pytest.fixture
    async def case(self):
        http = Http()
        async with FakeOpenAI(check=False) as server:
            yield Case(server, Images(http))
        await http.aclose()


class TestOpenRouterImages(ImageContract):
    @pytest.fixture
    async def case(self):
        http = Http()
        async with FakeOpenAI(check=False) as server:
            yield Case(server, OpenRouterImages(http), id="acme/painter", input=("text", "image"))
        await http.aclose()


async def last_of(provider, model, content, **options):
    context = Context(messages=(UserMessage(content=content),))
    *_, last = [event async for event in provider.stream(model, context, StreamOptions(api_key="k", **options))]
    return last


async def test_options_have_the_names_of_the_api():
    asked = {"count": 3, "size": "1024x1024", "quality": "high", "format": "webp", "aspect_ratio": "1:1"}
    async with FakeOpenAI() as server:
        server.answers(images(PNG), images(PNG), images(PNG))
        await last_of(Images(), model_of("openai-images", server), "A boat", image_options=asked)
        await last_of(Images(), model_of("openai-images", server, id="dall-e-3"), "A boat")
        openrouter = model_of("openrouter-images", server, input=("text", "image"))
        start = (TextContent("A boat"), ImageContent(PNG, "image/png"))
        await last_of(OpenRouterImages(), openrouter, start, image_options=asked)

    one, other, third = [request.json for request in server.requests]
    common = {"n": 3, "size": "1024x1024", "quality": "high", "output_format": "webp"}
    assert one == {"model": "gpt-image-fake", "prompt": "A boat", **common}
    assert other == {"model": "dall-e-3", "prompt": "A boat", "response_format": "b64_json"}
    reference = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}}
    assert third == {**one, "aspect_ratio": "1:1", "input_references": [reference]}


async def test_the_price_is_the_provider_s_own_or_that_of_each_image():
    async with FakeOpenAI() as server:
        server.answers(images(PNG, usage={"cost": 0.25, "prompt_tokens": 4}), images(PNG, PNG))
        model = model_of("openai-images", server)
        billed = await last_of(Images(), model, "A boat")
        each = await last_of(Images(), evolve(model, cost=ModelCost(image=0.04)), "A boat")

    assert (billed.message.usage.cost.total, billed.message.usage.input) == (0.25, 4)
    assert each.message.usage.cost.total == 0.08


async def test_an_address_in_place_of_an_image_is_not_fetched():
    async with FakeOpenAI() as server:
        server.answers(images(data=[{"url": f"{server.url}/elsewhere.png"}]))
        last = await last_of(Images(), model_of("openai-images", server), "A boat")

    assert "pi fetches no URLs" in last.error.error_message
    assert len(server.requests) == 1


async def test_moderations_answer_with_scores_by_label():
    async with FakeOpenAI() as server:
        server.answers(moderation(violence=0.9, hate=0.1))
        model = model_of("openai-moderations", server, id="omni-moderation-latest", type="classifier")
        last = await last_of(Moderations(), model, "Hit him")

    assert json.loads(last.message.text) == {"violence": 0.9, "hate": 0.1}
    assert server.request.json == {"model": "omni-moderation-latest", "input": "Hit him"}
