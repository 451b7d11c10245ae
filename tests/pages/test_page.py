"""Pages stand alone, say what their data say, and work in a browser."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from html import escape
from html.parser import HTMLParser
from pathlib import Path

import pytest

from crowdopt import aggregate, audit, compare, explain, init, learn, rehearse, report, solve
from crowdopt.pages.charts import on, plot, sized
from crowdopt.pages.page import Chart, Folded, Page, PageTable, Section, html
from crowdopt.verbs.bench import bench
from crowdopt.verbs.learn import DrawnLabelers
from tests.io import write_table
from tests.typed import column

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
PROBE = """
<script>
setTimeout(() => {
  const heads = [...document.querySelectorAll("th button")];
  const body = heads[0].closest("table").tBodies[0];
  const column = (k) => [...body.rows].map((row) => row.cells[k].dataset.v ?? row.cells[k].textContent);
  const place = Math.max(0, heads.findIndex((head) => head.textContent === "seconds"));
  heads[place].click();
  const rising = column(place);
  heads[place].click();
  document.querySelectorAll("details").forEach((one) => { one.open = true; });
  const found = {
    width: innerWidth, needed: document.documentElement.scrollWidth, rising, falling: column(place),
    charts: document.querySelectorAll(".chart svg").length, paper: getComputedStyle(document.body).backgroundColor,
    narrow: [...document.querySelectorAll(".chart svg")].filter((one) => one.clientWidth < 200).length,
    cut: [...document.querySelectorAll("td, th, h1, h2, h3, p, li, summary")].filter(
      (one) => getComputedStyle(one).overflowX !== "visible" && one.scrollWidth > one.clientWidth + 1).length,
  };
  parent.document.body.insertAdjacentHTML("beforeend", `<pre id="probe">${JSON.stringify(found)}</pre>`);
}, 3000);
</script>
"""


def sample() -> Page:
    rows = [{"name": "a<b", "value": 1e-7, "note": None}, {"name": "</script>", "value": 12345.678, "note": "x" * 40}]
    drawing = sized(plot(rows, "point", {"x": on("value:Q"), "y": on("name:N")}, clip=True))
    table = PageTable({"name": "name", "value": "value", "note": "note"}, rows, {"value": 'a "unit"'}, "caption")
    chart = Chart("c", drawing, "d")
    return Page("A & B", ["All <well>."], [Section("One", [chart, Folded("F", chart), Folded("more", table), "text"])])


def test_everything_is_escaped_and_inside():
    """Whatever stands in a campaign's names is text in the page; nothing is loaded from anywhere.

    Pictures share no name, or one would be cut to the other's frame.
    """
    text = html(sample())
    names = re.findall(r'\bid="([^"]+)"', text)
    assert text.count("<svg") == len(names) == len(set(names)) == 2
    assert set(re.findall(r"url\(#([^)]+)\)", text)) == set(names)
    for escaped in ("A &amp; B", "All &lt;well&gt;.", "<td>a&lt;b</td>", 'data-v="12345.678"'):
        assert escaped in text
    tags, parser = [], HTMLParser()
    parser.handle_starttag = lambda tag, given: tags.append((tag, dict(given)))
    parser.feed(text)
    assert all(given.get("href", "data:,") == "data:," and "src" not in given for _, given in tags)
    assert sum(tag == "script" for tag, _ in tags) == 1


PICTURES = {"plan": 4, "comparison": 3, "audit": 1, "learning": 2, "why": 1}  # pictures of a page
PAPER = {"light": "rgb(255, 255, 255)", "dark": "rgb(20, 24, 31)"}


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """A page of each kind."""
    folder = tmp_path_factory.mktemp("pages")
    with pytest.MonkeyPatch.context() as patched:
        patched.chdir(folder)
        init("birds")
        rehearse("birds", solve("birds", output="plan"), output="labels.csv")
        aggregate("labels.csv", output="answers")
        audit("answers", "audit", target=0.2)
        tasks = column("audit/check.csv")
        audit(
            "answers", "audit", checked=write_table(Path("looks.csv"), "task,label", *(f"{one},yes" for one in tasks))
        )
        compare("birds", ["greedy"], trials=2, output="comparison")
        learn(DrawnLabelers.of(10), ["ls-ol", "full-majority"], trials=2, horizon=200, output="learning")
        explain("birds", output="why")
        methods = ["highs", "highs-ipm", "pulp-cbc"]
        bench(["R1:8x20", "SELECT:20x8"], backends=methods, seeds=2, output="benchmark")
        return {kind: report(kind).read_text(encoding="utf-8") for kind in (*PICTURES, "benchmark")}


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here: apt install chromium")
@pytest.mark.parametrize(("width", "scheme"), [(400, "dark"), (1280, "light")])
@pytest.mark.parametrize("kind", [*PICTURES, "benchmark"])
def test_pages_in_a_browser(pages: dict[str, str], tmp_path: Path, kind: str, width: int, scheme: str):
    """No message on the console, every chart drawn, nothing wider than the window or cut, tables sort both ways."""
    page, probed = pages[kind], tmp_path / "probed.html"
    inside = escape(f"{PROBE}</body>".join(page.rsplit("</body>", 1)))
    frame = f'<iframe style="width:{width}px;height:900px;border:0;color-scheme:{scheme}" srcdoc="{inside}"></iframe>'
    probed.write_text(f"<!doctype html><body>{frame}</body>", encoding="utf-8")  # windows are no narrower than 500
    look = [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--dump-dom"]
    look += ["--window-size=1400,1000", "--virtual-time-budget=10000", f"--user-data-dir={tmp_path / 'profile'}"]
    done = subprocess.run([*look, probed.as_uri()], capture_output=True, text=True, timeout=120, check=True)
    assert [line for line in done.stderr.splitlines() if "CONSOLE" in line] == []
    found = json.loads(re.findall(r'<pre id="probe">(.*?)</pre>', done.stdout)[-1])
    assert found["width"] == width and found["paper"] == PAPER[scheme]
    assert found["needed"] <= width
    assert (found["narrow"], found["cut"]) == (0, 0)
    if kind != "benchmark":
        assert found["charts"] == PICTURES[kind]
        return
    assert found["charts"] == 4  # two for whole programs, two for linear ones
    times = [float(value) for value in found["rising"]]
    assert times == sorted(times)
    assert [float(value) for value in found["falling"]] == sorted(times, reverse=True)
