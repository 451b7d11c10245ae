"""The two pages in a browser, with texts that are no good on a page: what a worker and a manager see."""

from __future__ import annotations

import re
import subprocess

import pytest

import crowdopt
from crowdopt.verbs.live import token
from tests.io import write_table
from tests.pages.test_page import CHROMIUM
from tests.serving.service import Client, running

pytest.importorskip("fastapi")
pytest.importorskip("uvicorn")

TEXT = "<script>document.title = 'taken'</script> & <b>bold</b>"


def seen(address: str, folder) -> str:
    """The document as it stands after its scripts have called the service."""
    look = [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--dump-dom"]
    look += ["--window-size=500,900", "--virtual-time-budget=4000", f"--user-data-dir={folder / 'profile'}"]
    done = subprocess.run([*look, address], capture_output=True, text=True, timeout=120, check=True)
    assert [line for line in done.stderr.splitlines() if "CONSOLE" in line] == []
    return done.stdout


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here: apt install chromium")
def test_the_pages_in_a_browser(tmp_path):
    """A task with its text, buttons and keys; what an expert looks at; numbers and tables for the manager."""
    crowdopt.init(tmp_path / "birds", classes=["yes", "no"])
    table = tmp_path / "birds" / "tasks.csv"
    head, *rows = table.read_text("utf-8").splitlines()
    write_table(table, f"{head},text", *(f'{row},"{TEXT}"' for row in rows))
    store = tmp_path / "campaign.db"
    ada, manager, expert = token(store, "ada"), token(store, None), token(store, role="expert")
    with running(tmp_path / "birds", store, "--policy", "greedy") as port:
        client = Client(port, ada)
        told = client.call("/api/next", {})
        client.call("/api/label", {"lease": told["lease"], "label": "yes"})
        client.call("/api/correct", {"lease": told["lease"], "label": "no"})
        lease = client.call("/api/next", {})
        page = seen(f"http://127.0.0.1:{port}/#{ada}", tmp_path)
        managed = seen(f"http://127.0.0.1:{port}/manage#{manager}", tmp_path)
        for path, body in (("remove", {"worker": "ada"}), ("end", {})):
            Client(port, manager).call(f"/api/{path}", body)
        looked = Client(port, expert).call("/api/next", {})
        judged = seen(f"http://127.0.0.1:{port}/#{expert}", tmp_path)
        steered = seen(f"http://127.0.0.1:{port}/manage#{manager}", tmp_path)
    assert f'<h2 id="task">{lease["task"]}</h2>' in page and "&lt;script&gt;document.title" in page
    assert re.findall(r"<button type=\"button\">(\w+)<kbd>(\d)</kbd>", page) == [("yes", "1"), ("no", "2")]
    assert "<title>taken" not in page and ada not in page and "ada: 1 labels" in page
    cells = re.findall(r"<td>([^<]*)</td>", managed)
    assert {"corrected", "leased", "told", "ada", lease["task"]} <= set(cells) and manager not in managed
    assert "<dd>running</dd>" in managed and "Remove ada" in managed
    assert f'<h2 id="task">{looked["task"]}</h2>' in judged and "expert: 0 answers" in judged
    assert re.search(f"<td>{looked['task']}</td><td>[^<]*</td><td>–</td><td>out</td>", steered)
    assert 'id="expert" hidden' in managed and '<div id="expert">' in steered
