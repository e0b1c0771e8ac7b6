r"""Formats of keys: the fixed text in each, its pattern, and checks against chance matches.

The long words of a text are first searched for the fixed texts; a pattern is tried only where one occurs. A key is
found whatever its neighbours are, because in a log it is often glued to other text: ``token`` and ``ghp_...``, an
escape sequence of a terminal, ``%3D``, or the two characters ``\n`` of JSON within JSON. Only formats whose fixed text
is too common for that, such as ``key-``, need an edge before it.

Every pattern takes linear time: what repeats without a bound is possessive, or cannot overlap with what follows.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from attrs import frozen

from pi_redact.chance import is_base64_credentials, is_jwt, is_mixed, is_placeholder, is_random, is_varied, lowered

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

__all__ = ["FORMATS", "Format", "is_too_short", "matches"]


@frozen
class Format:
    """A format.

    Attributes:
        name: The service that issues such keys; part of the mark.
        starts: Texts; each key of the format contains one of them.
        pattern: Matches the key; if it has a group ``key``, only that part is secret.
        check: Decides whether a match really is a key.
        before: What must match where the key begins.
        is_word: Whether the match is part of a single word, so that only long words need to be searched.
        reach: Characters that a match may have before one of ``starts``, or before ``probe``; None for any number.
        probe: Matches in each key, and begins with a fixed text; where ``starts`` are too common to look at each.
        ignores_case: Whether ``starts`` are in lower case, and the pattern accepts them in any.
    """

    name: str
    starts: tuple[str, ...]
    pattern: str
    check: Callable[[str], bool] | None = None
    before: re.Pattern[str] | None = None
    is_word: bool = True
    reach: int | None = 0
    probe: re.Pattern[str] | None = None
    ignores_case: bool = False


_EDGE = re.compile(
    r"(?:(?<![A-Za-z0-9_-])|(?<=\\[nrtbf])|(?<=%[0-9A-Fa-f][0-9A-Fa-f])|(?<=\\u[0-9A-Fa-f]{4})"
    r"|(?<=\x1b\[m)|(?<=\x1b\[[0-9]m)|(?<=\x1b\[[0-9;]{2}m)|(?<=\x1b\[[0-9;]{4}m))"
)
"""No word character before: the characters of an escape belong to no word."""

_UNGLUED = re.compile(r"(?<![A-Za-z0-9+/_-]{40})")
"""Not in the middle of encoded data, which contains any three characters sooner or later."""


def _is_openai(key: str) -> bool:
    return is_mixed(key) and is_random(key)


def _is_password(value: str) -> bool:
    return not is_placeholder(value)


def _is_cookie(value: str) -> bool:
    return any(is_random(each.partition("=")[2]) for each in value.split(";"))


def _is_bearer(value: str) -> bool:
    return not is_placeholder(value) and any(each.isdigit() for each in value)


def _is_aws(key: str) -> bool:
    return not key.endswith("EXAMPLE")  # as in Amazon's own pages


def _is_discord(token: str) -> bool:
    return all(is_mixed(part) for part in token.split(".")[::2])


FORMATS = (
    # Models
    Format("anthropic", ("sk-ant-",), r"sk-ant-[A-Za-z0-9_-]{24,}"),
    Format("openrouter", ("sk-or-",), r"sk-or-v1-[0-9a-f]{48,}"),
    Format("deepseek", ("sk-",), r"sk-[0-9a-f]{32,}(?![A-Za-z0-9_-])", is_random, before=_EDGE),
    Format("langfuse", ("sk-lf-",), r"sk-lf-[0-9a-f-]{36,}"),
    Format("openai", ("sk-",), r"sk-(?:proj-|svcacct-|admin-)?[A-Za-z0-9_-]{20,}", _is_openai, before=_UNGLUED),
    Format("huggingface", ("hf_", "api_org_"), r"(?:hf_|api_org_)[A-Za-z0-9]{30,}", is_random, before=_UNGLUED),
    Format("groq", ("gsk_",), r"gsk_[A-Za-z0-9]{40,}"),
    Format("xai", ("xai-",), r"xai-[A-Za-z0-9]{60,}"),
    Format("perplexity", ("pplx-",), r"pplx-[A-Za-z0-9]{32,}"),
    Format("replicate", ("r8_",), r"r8_[A-Za-z0-9]{32,}", is_random, before=_UNGLUED),
    Format("nvidia", ("nvapi-",), r"nvapi-[A-Za-z0-9_-]{40,}"),
    Format("cerebras", ("csk-",), r"csk-[A-Za-z0-9]{40,}"),
    Format("fireworks", ("fw_",), r"fw_[A-Za-z0-9]{20,}", is_random, before=_EDGE),
    Format("pinecone", ("pcsk_",), r"pcsk_[A-Za-z0-9_]{50,}"),
    Format("langsmith", ("lsv2_",), r"lsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}"),
    # Code, builds, packages
    Format("github", ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), r"gh[pousr]_[A-Za-z0-9]{36,}"),
    Format("github", ("github_pat_",), r"github_pat_[A-Za-z0-9_]{60,}"),
    Format(
        "gitlab",
        ("glpat-", "gldt-", "glrt-", "glptt-", "glcbt-", "glsoat-", "glft-", "glimt-", "glagent-", "gloas-"),
        r"gl(?:pat|dt|rt|ptt|cbt|soat|ft|imt|agent|oas)-[A-Za-z0-9_-]{20,}",
        is_varied,
    ),
    Format("bitbucket", ("ATBB", "ATCTT3"), r"(?:ATBB[A-Za-z0-9]{24,}|ATCTT3[A-Za-z0-9_=-]{60,})", is_mixed),
    Format("atlassian", ("ATATT3",), r"ATATT3[A-Za-z0-9_=-]{40,}"),
    Format("npm", ("npm_",), r"npm_[A-Za-z0-9]{36,}", is_varied),
    Format("pypi", ("pypi-AgE",), r"pypi-AgE[A-Za-z0-9_-]{50,}"),
    Format("rubygems", ("rubygems_",), r"rubygems_[0-9a-f]{48}"),
    Format("crates.io", ("cio",), r"cio[A-Za-z0-9]{32}(?![A-Za-z0-9])", is_mixed, before=_EDGE),
    Format("nuget", ("oy2",), r"oy2[a-z0-9]{43}(?![A-Za-z0-9])", before=_EDGE),
    Format("clojars", ("CLOJARS_",), r"CLOJARS_[A-Za-z0-9]{60}"),
    Format("docker", ("dckr_pat_", "dckr_oat_"), r"dckr_[po]at_[A-Za-z0-9_-]{20,}"),
    Format("circleci", ("CCIPAT_", "CCIPRJ_"), r"CCIP(?:AT|RJ)_[A-Za-z0-9]{10,40}_[0-9a-f]{40}"),
    Format("buildkite", ("bkua_",), r"bkua_[0-9a-f]{40}"),
    Format("sonarqube", ("sqp_", "sqa_", "squ_"), r"sq[apu]_[0-9a-f]{40}"),
    Format("sourcegraph", ("sgp_",), r"sgp_(?:[0-9a-f]{16}_|local_)?[0-9a-f]{40}"),
    Format("artifactory", ("AKCp",), r"AKCp[A-Za-z0-9]{60,}"),
    Format("artifactory", ("cmVmd",), r"cmVmd[A-Za-z0-9]{59}(?![A-Za-z0-9])", before=_EDGE),
    Format("readme", ("rdme_",), r"rdme_[a-z0-9]{70}"),
    # Clouds
    Format("aws", ("AKIA", "ASIA", "ABIA", "ACCA"), r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}", _is_aws, before=_UNGLUED),
    Format("aws", ("ABSK",), r"ABSK[A-Za-z0-9+/]{100,}={0,2}"),
    Format("google", ("AIza",), r"AIza[A-Za-z0-9_-]{35}"),
    Format("google", ("GOCSPX-",), r"GOCSPX-[A-Za-z0-9_-]{24,}"),
    Format("google", ("ya29.",), r"ya29\.[A-Za-z0-9_-]{30,}"),
    Format("google", ("1//0",), r"1//0[A-Za-z0-9_-]{40,}"),
    Format(
        "azure",
        ("AccountKey", "SharedAccessKey"),
        r"(?:Account|SharedAccess)Key(?:=|%3[Dd])(?P<key>(?:[A-Za-z0-9+/]|%2[BbFf]){40,}(?:=|%3[Dd]){0,2})",
    ),
    Format("azure", ("7Q~", "8Q~"), r"[A-Za-z0-9_~.]{3}[78]Q~[A-Za-z0-9_~.-]{31,34}", reach=3),
    Format("azure", ("sig=", "sig%3"), r"sig(?:=|%3[Dd])(?P<key>(?:[A-Za-z0-9+/]|%(?:25)?[0-9A-Fa-f]{2}){43,}={0,2})"),
    Format(
        "azure",
        ("JQQJ99", "AzCa", "+ASt"),
        r"[A-Za-z0-9+/]{50,76}(?:JQQJ99|AzCa|\+ASt)[A-Za-z0-9+/]{5,}={0,2}",
        reach=76,
    ),
    Format("alibaba", ("LTAI",), r"LTAI[A-Za-z0-9]{20}", is_mixed),
    Format("digitalocean", ("dop_v1_", "doo_v1_", "dor_v1_"), r"do[opr]_v1_[0-9a-f]{64}"),
    Format("cloudflare", ("v1.0-",), r"v1\.0-[0-9a-f]{24}-[0-9a-f]{146}"),
    Format("heroku", ("HRKU-",), r"HRKU-[A-Za-z0-9_-]{36,}"),
    Format(
        "fly", ("fo1_", "fm1a_", "fm1r_", "fm2_"), r"(?:fo1_[A-Za-z0-9_-]{40,}|fm(?:1[ar]|2)_[A-Za-z0-9+/=_-]{60,})"
    ),
    Format("netlify", ("nfp_",), r"nfp_[A-Za-z0-9]{36,}"),
    Format("render", ("rnd_",), r"rnd_[A-Za-z0-9]{28,}", is_mixed, before=_EDGE),
    Format("neon", ("napi_",), r"napi_[a-z0-9]{60,}"),
    Format("supabase", ("sbp_", "sb_secret_"), r"(?:sbp_[0-9a-f]{40}|sb_secret_[A-Za-z0-9_-]{20,})"),
    Format(
        "planetscale",
        ("pscale_tkn_", "pscale_pw_", "pscale_oauth_"),
        r"pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_=.-]{32,}",
    ),
    Format("databricks", ("dapi", "dkea", "dose"), r"(?:dapi|dkea|dose)[0-9a-f]{32}(?:-[0-9])?"),
    Format("tailscale", ("tskey-",), r"tskey-[A-Za-z0-9-]{20,}", is_varied),
    # Infrastructure
    Format("vault", ("hvs.", "hvb.", "hvr."), r"hv[sbr]\.[A-Za-z0-9_-]{24,}", is_varied),
    Format("terraform", (".atlasv1.",), r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{60,}", reach=14),
    Format("pulumi", ("pul-",), r"pul-[0-9a-f]{40}", before=_EDGE),
    Format("doppler", ("dp.",), r"dp\.(?:pt|st|ct|sa|scim|audit)\.[A-Za-z0-9._-]{40,}", before=_UNGLUED),
    Format("1password", ("ops_eyJ",), r"ops_eyJ[A-Za-z0-9+/]{200,}={0,3}"),
    Format(
        "1password",
        ("A3-",),
        r"A3-[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3}",
        before=_EDGE,
    ),
    Format("openshift", ("sha256~",), r"sha256~[A-Za-z0-9_-]{43}"),
    Format("age", ("AGE-SECRET-KEY-1",), r"AGE-SECRET-KEY-1[0-9A-Z]{58}"),
    # Monitoring
    Format("grafana", ("glc_", "glsa_"), r"(?:glc_[A-Za-z0-9+/=]{32,}|glsa_[A-Za-z0-9]{32}_[A-Fa-f0-9]{8})"),
    Format("grafana", ("eyJrIjoi",), r"eyJrIjoi[A-Za-z0-9+/]{40,}={0,2}"),
    Format(
        "new-relic",
        ("NRAK-", "NRII-", "NRJS-", "NRIQ-", "NRRA-", "NRSP-", "NRAL"),
        r"(?:NR(?:AK|II|JS|IQ|RA|SP)-[A-Za-z0-9_-]{19,}|[0-9a-f]{32,36}(?:FFFF)?NRAL)",
        reach=40,
    ),
    Format("sentry", ("sntrys_", "sntryu_", "sntrya_", "sntryi_"), r"sntry[suai]_[A-Za-z0-9+/=_-]{50,}"),
    Format("sentry", ("sentry",), r"://(?P<key>[0-9a-f]{32}(?::[0-9a-f]{32})?)@[A-Za-z0-9.-]{0,80}sentry", reach=149),
    Format("dynatrace", ("dt0c01.", "dt0s01."), r"dt0[cs]01\.[A-Za-z0-9]{24}\.[A-Za-z0-9]{64}"),
    # Messages, documents, shops
    Format(
        "slack",
        ("xoxb-", "xoxa-", "xoxp-", "xoxr-", "xoxs-", "xoxo-", "xoxe-", "xoxe.", "xapp-"),
        r"(?:xoxe\.xox[bp]-|xox[abeoprs]-|xapp-)[A-Za-z0-9-]{20,}",
        is_varied,
    ),
    Format(
        "slack",
        ("hooks.slack.com/",),
        r"hooks\.slack\.com/(?:services|workflows|triggers)/(?P<key>[A-Za-z0-9]+(?:/[A-Za-z0-9]+)*/[A-Za-z0-9]{16,})",
    ),
    Format(
        "discord",
        (".",),
        r"(?<![A-Za-z0-9])[MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,40}",
        _is_discord,
        reach=28,
        probe=re.compile(r"\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27}"),
    ),
    Format("discord", ("/api/webhooks/",), r"/api/webhooks/[0-9]{5,25}/(?P<key>[A-Za-z0-9_-]{40,})"),
    Format("telegram", (":AA",), r"[0-9]{8,10}:AA[A-Za-z0-9_-]{33}", reach=10),
    Format("teams", (".webhook.office.com/",), r"\.webhook\.office\.com/webhookb2/(?P<key>[A-Za-z0-9@/-]{60,})"),
    Format("twilio", ("SK", "AC"), r"(?<![A-Z0-9])(?:SK|AC)[0-9a-f]{32}(?![A-Za-z0-9])", is_random),
    Format("sendgrid", ("SG.",), r"SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}", is_varied),
    Format("mailgun", ("key-",), r"key-[0-9a-f]{32}(?![A-Za-z0-9])", is_random, before=_EDGE),
    Format(
        "mailgun",
        ("-",),
        r"(?<![A-Za-z0-9-])[0-9a-f]{32}-[0-9a-f]{8}-[0-9a-f]{8}(?![A-Za-z0-9-])",
        is_random,
        reach=32,
        probe=re.compile(r"-[0-9a-f]{8}-[0-9a-f]{8}(?![A-Za-z0-9-])"),
    ),
    Format("mailchimp", ("-us",), r"(?<![A-Za-z0-9])[0-9a-f]{32}-us[0-9]{1,2}(?![A-Za-z0-9])", is_random, reach=32),
    Format("brevo", ("xkeysib-", "xsmtpsib-"), r"x(?:key|smtp)sib-[0-9a-f]{64}-[A-Za-z0-9]{16}"),
    Format("resend", ("re_",), r"re_[A-Za-z0-9]{8}_[A-Za-z0-9]{24}", is_mixed, before=_EDGE),
    Format("notion", ("secret_", "ntn_"), r"(?:secret_[A-Za-z0-9]{43}|ntn_[A-Za-z0-9]{40,})", is_random),
    Format("figma", ("figd_", "figo_", "figu_"), r"fig[dou]_[A-Za-z0-9_-]{30,}", is_varied),
    Format("airtable", ("pat",), r"pat[A-Za-z0-9]{14}\.[0-9a-f]{64}"),
    Format("asana", ("1/", "2/"), r"[12]/[0-9]{13,17}(?:/[0-9]{13,17})?:[0-9a-f]{32}", before=_EDGE),
    Format("contentful", ("CFPAT-",), r"CFPAT-[A-Za-z0-9_-]{40,}"),
    Format("dropbox", ("sl.",), r"sl\.(?:u\.)?[A-Za-z0-9_-]{100,}", before=_EDGE),
    Format("mapbox", ("k.eyJ",), r"[sp]k\.eyJ[A-Za-z0-9_-]{40,}\.[A-Za-z0-9_-]{20,}", reach=1),
    Format("linear", ("lin_api_", "lin_oauth_"), r"lin_(?:api|oauth)_[A-Za-z0-9]{32,}"),
    Format("postman", ("PMAK-",), r"PMAK-[0-9a-f]{24}-[0-9a-f]{34}"),
    Format("typeform", ("tfp_",), r"tfp_[A-Za-z0-9_.=-]{40,}"),
    Format("facebook", ("EAA",), r"EAA[A-Za-z0-9]{90,}", is_mixed, before=_UNGLUED),
    Format(
        "stripe",
        ("k_live_", "k_test_", "whsec_"),
        r"(?:[sr]k_(?:live|test)_|whsec_)[A-Za-z0-9+/]{20,}",
        is_varied,
        reach=1,
    ),
    Format("shopify", ("shpat_", "shpss_", "shpca_", "shppa_"), r"shp(?:at|ss|ca|pa)_[0-9a-fA-F]{32}"),
    Format("square", ("sq0",), r"sq0(?:atp|csp|idp|acp)-[A-Za-z0-9_-]{22,}"),
    Format("square", ("EAAA",), r"EAAA[A-Za-z0-9_-]{56,}", is_mixed, before=_EDGE),
    Format("paypal", ("access_token$",), r"access_token\$(?:production|sandbox)\$[a-z0-9]{16}\$[0-9a-f]{32}"),
    Format("paypal", ("A21AA",), r"A21AA[A-Za-z0-9_-]{60,}"),
    Format("easypost", ("EZAK", "EZTK"), r"EZ[AT]K[A-Za-z0-9]{54}"),
    Format("flutterwave", ("FLWSECK",), r"FLWSECK(?:_TEST)?-[A-Za-z0-9]{12,}"),
    Format("duffel", ("duffel_live_", "duffel_test_"), r"duffel_(?:live|test)_[A-Za-z0-9_=-]{43}"),
    Format("shippo", ("shippo_live_", "shippo_test_"), r"shippo_(?:live|test)_[0-9a-f]{40}"),
    # Not of one service
    Format("jwt", ("eyJ",), r"eyJ(?:(?!eyJ)[A-Za-z0-9_-]){8,}+\.eyJ[A-Za-z0-9_-]{8,}+\.[A-Za-z0-9_-]{16,}+", is_jwt),
    Format(  # not possessive as a whole: before 3.11.5, Python misses keys with the header of PGP then
        "private-key",
        ("PRIVATE KEY",),
        r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
        r"(?P<key>(?=(?:[A-Za-z0-9+/=\s\\:,.()@<>]|-(?!----)){64})(?:[A-Za-z0-9+/=\s\\:,.()@<>]++|-(?!----))+)-----END",
        is_word=False,
        reach=None,
    ),
    Format(  # the last line is missing
        "private-key",
        ("PRIVATE KEY",),
        r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
        r"(?P<key>(?:\s|\\[rn])*+(?:[A-Za-z0-9+/=]{38,}+(?:\s|\\[rn])*+)++)",
        is_word=False,
        reach=None,
    ),
    Format(
        "private-key",
        ("Private-Lines:",),
        r"Private-Lines: [0-9]{1,3}(?P<key>(?:(?:\s|\\[rn])++[A-Za-z0-9+/=]{16,}+)++)",
        is_word=False,
        reach=None,
    ),
    Format(
        "password",
        ("://",),
        r"(?<=[A-Za-z0-9])://[^\s/:@'\"]{0,64}:(?P<key>[^\s/@'\"]{6,128})@[^\s/@'\"]",
        _is_password,
    ),
    Format(
        "authorization",
        ("authorization",),
        r"(?i)authorization\\{0,3}[\"']?\s{0,4}(?:[:=]|%3A|,(?=\s{0,4}\\{0,3}[\"'](?:bearer|basic|token|bot)\s))\s{0,4}\\{0,3}[\"']?"
        r"(?:(?:bearer|token|apikey|api-key|key|basic|digest|bot|negotiate)(?:\s|%20|\+){1,4})?"
        r"(?P<key>[A-Za-z0-9._~+/-]{12,}+={0,2})(?!\()",
        _is_bearer,
        is_word=False,
        ignores_case=True,
    ),
    Format(
        "authorization",
        ("bearer ",),
        r"(?i:bearer) {1,4}(?P<key>[A-Za-z0-9._~+/-]{20,}={0,2})",
        is_random,
        is_word=False,
        ignores_case=True,
    ),
    Format(
        "authorization",
        ("basic ",),
        r"(?i:basic) {1,4}(?P<key>[A-Za-z0-9+/_-]{8,}={0,2})",
        is_base64_credentials,
        is_word=False,
        ignores_case=True,
    ),
    Format(
        "cookie",
        ("cookie",),
        r"(?i:cookie)\\{0,3}[\"']?\s{0,4}:\s{0,4}\\{0,3}[\"']?(?P<key>[A-Za-z0-9_.-]{1,64}=[^\"'\s\\;]{0,4096}"
        r"(?:; ?[A-Za-z0-9_.-]{1,64}=[^\"'\s\\;]{0,4096})*+)",
        _is_cookie,
        is_word=False,
        ignores_case=True,
    ),
    Format(
        "netrc",
        ("machine", "default"),
        r"\b(?:machine\s{1,9}\S{1,255}|default)(?:\s|\\[rn]){1,9}(?:login|user)\s{1,9}\S{1,255}(?:\s|\\[rn]){1,9}passw(?:or)?d\s{1,9}"
        r"(?P<key>[^\s\\\"']{4,256})",
        _is_password,
        is_word=False,
    ),
    Format(
        "password",
        ("curl",),
        r"\bcurl\b[^\n]{0,300}?\s(?:-u|--user|--proxy-user)[ =]?[\"']?[^\s:\"'$]{1,64}:(?P<key>[^\s\"'$<{]{6,128})",
        _is_password,
        is_word=False,
    ),
    Format(
        "password",
        ("sshpass",),
        r"\bsshpass\s{1,4}-p\s{0,4}[\"']?(?P<key>[^\s\"'$<{-][^\s\"']{3,128})",
        _is_password,
        is_word=False,
    ),
)
"""From specific to general: the first match names a key."""


_SHORTEST = 14
"""Characters of the shortest word that can contain a key: a password in an address, ``a://b:123456@c``."""

_DIGIT = re.compile("[0-9]").search
_RUN = re.compile("[A-Za-z0-9+/_-]{16}").search


@cache
def _compiled(number: int) -> re.Pattern[str]:
    pattern = FORMATS[number].pattern
    return re.compile(pattern if "(?P<key>" in pattern else f"(?P<key>{pattern})")


def matches(text: str, numbers: Iterable[int] | None = None) -> Iterator[tuple[int, int, str]]:
    """Yield start, end and name of everything that looks like a key; matches may overlap.

    Args:
        text: The text.
        numbers: Which of ``FORMATS`` may occur in it, in order; None if that is not known.
    """
    for number in _possible(text) if numbers is None else numbers:
        each = FORMATS[number]
        for match in _occurrences(_compiled(number), each, text):
            if each.before is not None and each.before.match(text, match.start()) is None:
                continue
            if each.check is None or each.check(match["key"]):
                yield (*match.span("key"), each.name)


def _possible(text: str) -> Sequence[int]:
    """Return the formats that may occur in a text, in order, by the fixed texts in its words."""
    starts = _starts()
    searches = [(text, starts.in_text), (lowered(text), starts.in_lower_case)]
    words = _candidates(text)
    if words:
        searches.append((words, starts.in_words))
        beginnings = frozenset(_BEGINNING.findall(words))
        searches += ((words, starts.by_beginning[each]) for each in beginnings & starts.by_beginning.keys())
    return sorted({number for searched, fixed in searches for number, start in fixed if start in searched})


def is_too_short(text: str) -> bool:
    """Return whether a text is too short for a key, and has no fixed text of a format that is no word."""
    if len(text) >= _SHORTEST:
        return False
    starts, in_lower_case = _starts(), lowered(text)
    return not any(start in text for _, start in starts.in_text) and not any(
        start in in_lower_case for _, start in starts.in_lower_case
    )


_BEGINNING = re.compile(r"[_.~$-](?<=(...))", re.DOTALL)
"""Three characters up to one that most fixed texts have: one pass tells which of these texts are absent."""


@frozen
class _Starts:
    """The fixed texts of all formats, each with the index of its format, by where they are searched.

    Attributes:
        in_text: Searched in a text as it is.
        in_lower_case: Searched in the text in lower case.
        in_words: Searched in the words that may be keys.
        by_beginning: Searched there if ``_BEGINNING`` finds the key of this dict.
    """

    in_text: list[tuple[int, str]]
    in_lower_case: list[tuple[int, str]]
    in_words: list[tuple[int, str]]
    by_beginning: dict[str, list[tuple[int, str]]]


@cache
def _starts() -> _Starts:
    starts = _Starts([], [], [], {})
    for number, each in enumerate(FORMATS):
        for start in each.starts:
            found = _BEGINNING.search(start) if each.is_word else None
            if found is not None:
                where = starts.by_beginning.setdefault(found[1], [])
            elif each.is_word:
                where = starts.in_words
            else:
                where = starts.in_lower_case if each.ignores_case else starts.in_text
            where.append((number, start))
    return starts


def _occurrences(pattern: re.Pattern[str], each: Format, text: str) -> Iterator[re.Match[str]]:
    """Yield what ``finditer`` yields, but try the pattern only where one of the fixed texts is within its reach."""
    if each.reach is None:
        yield from pattern.finditer(text)
        return
    tried = 0
    for at in _places(text, each):
        for begin in range(max(tried, at - each.reach), at + 1):
            match = pattern.match(text, begin)
            if match is not None:
                yield match
                tried = match.end()
                break
        else:
            tried = max(tried, at + 1)


def _places(text: str, each: Format) -> list[int]:
    """Return in order where the fixed texts of a format occur."""
    if each.probe is not None:
        return [match.start() for match in each.probe.finditer(text)]
    found = []
    if each.ignores_case:
        text = lowered(text)
    for start in each.starts:
        at = text.find(start)
        while at >= 0:
            found.append(at)
            at = text.find(start, at + 1)
    return sorted(found)


def _candidates(text: str) -> str:
    """Return the words that may be keys: most words of a text are short, and most others are names without digits."""
    words = [word for word in text.split() if len(word) >= _SHORTEST]
    return " ".join([word for word in words if _DIGIT(word) or "://" in word or (not word.islower() and _RUN(word))])
