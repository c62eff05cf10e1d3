"""A proposal of the tuner on the screen Quality, applied and taken back, in process."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.testclient import TestClient

import recollect
from recollect_server.access_policy import AccessPolicy
from recollect_server.app import app

if TYPE_CHECKING:
    from pathlib import Path


def test_a_proposal_is_shown_applied_and_taken_back(tmp_path: Path) -> None:
    with recollect.open(tmp_path / "memory.db", model="hashing") as memory:
        # The user always opens the important note, though another is more similar.
        for number in range(60):
            memory.remember(f"topic{number} kettle", importance=0.0)
            memory.remember(f"topic{number} harbour lamp", importance=1.0)
        for number in range(60):
            answer = memory.recall(f"topic{number} kettle", profile="mnemosyne", limit=10)
            wanted = next(hit.memory.id for hit in answer.hits if f"topic{number} harbour" in hit.memory.text)
            memory.feedback(wanted, 1, answer)
        browser = TestClient(
            app(lambda: memory, ["recall"], AccessPolicy("127.0.0.1", 0, None)),
            base_url="http://localhost",
            headers={"origin": "http://localhost"},
        )
        page = browser.post("/quality/search", data={"profile": "mnemosyne"}).text
        tried = memory.tuning.run("mnemosyne", dry_run=True)
        assert tried.proposal is not None
        assert tried.proposal.verdict == "proposed", tried.proposal.says
        assert 'action="/quality/apply"' in page
        for name, best in tried.proposal.best.items():
            row = page.partition(f">{name}</th>")[2].partition("</tr>")[0]
            assert f">{best:.6g}<" in row
            assert f">{tried.after[name]:.6g}<" in row
        page = browser.post("/quality/apply", data={"profile": "mnemosyne"}).text
        assert memory.tuning.numbers("mnemosyne").tuned == tried.after
        undo = page.partition('action="/quality/rollback"')[2].partition("</form>")[0]
        assert 'name="version" value="0"' in undo
        browser.post("/quality/rollback", data={"profile": "mnemosyne", "version": "0"})
        assert memory.tuning.numbers("mnemosyne").tuned == {}
