"""Where a request goes and which region signs it."""

from __future__ import annotations

import pytest

from pi_hookspecs import RequestFailed
from pi_provider_bedrock.endpoint import endpoint_of
from pi_testing import for_each

US = "https://bedrock-runtime.us-east-1.amazonaws.com"
EU = "https://bedrock-runtime.eu-central-1.amazonaws.com"
SONNET = "anthropic.claude-sonnet-4-5-20250929-v1:0"
ARN = f"arn:aws:bedrock:eu-west-3:123456789012:inference-profile/eu.{SONNET}"


def endpoint(model_id=SONNET, base_url=US, profile=None, **environ):
    return endpoint_of(model_id, base_url, environ, lambda: profile)


@for_each(
    ("known", "region"),
    [
        ({}, "us-east-1"),
        ({"AWS_REGION": "eu-west-1", "AWS_DEFAULT_REGION": "eu-west-2", "profile": "eu-west-3"}, "eu-west-1"),
        ({"AWS_DEFAULT_REGION": "eu-west-2", "profile": "eu-west-3"}, "eu-west-2"),
        ({"profile": "eu-west-3"}, "eu-west-3"),
        ({"model_id": ARN, "AWS_REGION": "us-west-2"}, "eu-west-3"),
        ({"base_url": ""} | {"AWS_REGION": "us-west-2"}, "us-west-2"),
        ({"base_url": EU}, "eu-central-1"),
        ({"model_id": f"us.{SONNET}"}, "us-east-1"),
        ({"model_id": f"eu.{SONNET}"}, "eu-central-1"),
        ({"model_id": f"eu.{SONNET}", "AWS_REGION": "us-east-1"}, "us-east-1"),
        ({"model_id": f"jp.{SONNET}"}, "ap-northeast-1"),
        ({"model_id": f"apac.{SONNET}", "base_url": ""}, "ap-southeast-1"),
        ({"model_id": f"global.{SONNET}"}, "us-east-1"),
        ({"model_id": f"us-gov.{SONNET}"}, "us-gov-west-1"),
    ],
)
def test_the_most_specific_source_of_the_region_wins(known, region):
    found = endpoint(**known)

    assert (found.region, found.base_url) == (region, f"https://bedrock-runtime.{region}.amazonaws.com")


def test_china_has_a_domain_of_its_own():
    assert endpoint(AWS_REGION="cn-north-1").base_url == "https://bedrock-runtime.cn-north-1.amazonaws.com.cn"


def test_a_fips_address_stays_one():
    fips = endpoint(base_url="https://bedrock-runtime-fips.us-east-1.amazonaws.com", AWS_REGION="us-west-2")

    assert fips.base_url == "https://bedrock-runtime-fips.us-west-2.amazonaws.com"


@pytest.mark.parametrize(
    ("known", "address"),
    [
        ({"base_url": "https://gateway.test/aws/"}, "https://gateway.test/aws/"),
        ({"AWS_ENDPOINT_URL": "http://general"}, "http://general"),
        ({"AWS_ENDPOINT_URL": "http://general", "AWS_ENDPOINT_URL_BEDROCK_RUNTIME": "http://own"}, "http://own"),
        (
            {"base_url": "https://gateway.test", "AWS_ENDPOINT_URL_BEDROCK_RUNTIME": "http://own"},
            "https://gateway.test",
        ),
    ],
)
def test_an_address_of_the_user_s_own_is_kept(known, address):
    assert endpoint(**known).base_url == address


def test_another_address_may_name_the_region():
    vpc = "https://vpce-1a2b.bedrock-runtime.eu-west-1.vpce.amazonaws.com"

    assert endpoint(base_url=vpc).region == "eu-west-1"
    assert endpoint(base_url="https://gateway.test").region is None
    assert endpoint(base_url="https://gateway.test", AWS_REGION="us-west-2").region == "us-west-2"


def test_the_id_is_escaped_in_the_path():
    assert endpoint().url("a/b:c") == f"{US}/model/a%2Fb%3Ac/converse-stream"


def test_no_region_names_the_variable_and_the_command():
    with pytest.raises(
        RequestFailed, match=r"AWS_REGION=us-east-1, or run `aws configure set region .* --profile work`"
    ):
        endpoint(base_url="", AWS_PROFILE="work")


@pytest.mark.parametrize("region", ["us east", "evil.test/", "us-east-1.evil.test#"])
def test_a_region_that_is_none_never_becomes_a_host(region):
    with pytest.raises(RequestFailed, match="is not an AWS region"):
        endpoint(AWS_REGION=region)


@pytest.mark.parametrize("address", ["foo bar", "gateway.test", "https://", "file:///etc/passwd"])
def test_an_invalid_address_is_reported_before_anything_is_signed(address):
    with pytest.raises(RequestFailed, match="is not a URL") as raised:
        endpoint(base_url="", AWS_REGION="us-east-1", AWS_ENDPOINT_URL=address)
    assert "AWS_ENDPOINT_URL_BEDROCK_RUNTIME" in raised.value.advice
