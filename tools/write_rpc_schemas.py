"""Write the JSON schemas of the RPC protocol into docs/rpc: ``python tools/write_rpc_schemas.py``."""

from __future__ import annotations

import json
from pathlib import Path

from pi_client.schemas import schemas

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "rpc"


def main() -> None:
    """Write one file per schema."""
    FOLDER.mkdir(exist_ok=True)
    for name, schema in schemas().items():
        (FOLDER / f"{name}.json").write_text(f"{json.dumps(schema, indent=2)}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
