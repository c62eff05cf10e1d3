"""A TypeScript client that is generated from the OpenAPI document compiles, and calls a real server."""

from __future__ import annotations

import json
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest
from api_world import TOKEN, listening
from kept import kept

from recollect_server.api.openapi import openapi_bytes

if TYPE_CHECKING:
    from pathlib import Path

    from recollect.engine import Engine

PACKAGES = ("openapi-typescript@7.13.0", "openapi-fetch@0.17.0", "typescript@5.9.3")
CALLS = """
import createClient from "openapi-fetch";
import type { paths } from "./api";

declare const process: { argv: string[] };

async function main(): Promise<void> {
  const [, , baseUrl, token] = process.argv;
  const client = createClient<paths>({ baseUrl, headers: { Authorization: `Bearer ${token}` } });
  const made = await client.POST("/v1/memories", { body: { text: "Ines drinks oolong", tags: ["tea"] } });
  if (made.error) throw new Error(made.error.detail);
  const id: number = made.data.id;
  const found = await client.POST("/v1/recall", { body: { query: "What does Ines drink?" } });
  const texts: string[] = (found.data?.hits ?? []).map((hit) => hit.text);
  const listed = await client.GET("/v1/memories", { params: { query: { limit: 5, kinds: ["note"] } } });
  const missing = await client.GET("/v1/memories/{id}", { params: { path: { id: 99 } } });
  // @ts-expect-error  a query must be given
  await client.POST("/v1/recall", { body: { limit: 1 } });
  const count = listed.data?.memories.length;
  const { status } = missing.response;
  console.log(JSON.stringify({ id, texts, count, status, detail: missing.error?.detail }));
}

main();
"""


@pytest.fixture(scope="module")
def packages() -> Path:
    """What npm fetched; the test is skipped where Node or the registry is not to be had."""
    npm = shutil.which("npm")
    if npm is None or shutil.which("node") is None:
        pytest.skip("A TypeScript client needs Node and npm.")
    name = "typescript-" + "-".join(each.rpartition("@")[2] for each in PACKAGES)
    with kept(name) as folder:
        if not (folder / "node_modules" / "typescript").exists():
            fetch = [npm, "install", "--no-audit", "--no-fund", "--prefix", str(folder), *PACKAGES]
            try:
                subprocess.run(fetch, check=True, capture_output=True, timeout=180)
            except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
                pytest.skip(f"npm could not fetch {' '.join(PACKAGES)}: {error}")
    return folder / "node_modules"


def test_a_generated_client_compiles_and_calls(packages: Path, tmp_path: Path, engine: Engine) -> None:
    (tmp_path / "node_modules").symlink_to(packages)
    (tmp_path / "openapi.json").write_bytes(openapi_bytes())
    (tmp_path / "calls.ts").write_text(CALLS)
    node = shutil.which("node")
    assert node is not None

    def run(*command: str) -> str:
        done = subprocess.run(
            [node, *command], cwd=tmp_path, capture_output=True, text=True, timeout=600, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    run("node_modules/openapi-typescript/bin/cli.js", "openapi.json", "-o", "api.d.ts")
    strict = ("--strict", "--target", "es2022", "--module", "commonjs", "--moduleResolution", "node10")
    run("node_modules/typescript/bin/tsc", *strict, "--lib", "es2022,dom", "--skipLibCheck", "calls.ts")
    with listening(engine) as url:
        told = json.loads(run("calls.js", url, TOKEN))
    assert told["texts"] == ["Ines drinks oolong"]
    assert (told["id"], told["count"], told["status"]) == (1, 1, 404)
    assert "no memory 99" in told["detail"]
