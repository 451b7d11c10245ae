"""The list of published figures is whole: commands and places exist, and pages show what the commands printed."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import replace

import pytest

from benchmarks import figures as listed
from benchmarks.meaning import meaning, used
from benchmarks.printed import blocks, part, paste
from benchmarks.prose import faults, pages, paragraphs, printed_numbers, unfounded
from tests.pages import ROOT, anchors

EVERY = listed.figures()
PAGE = ROOT / "benchmarks" / "README.md"

CODE = '''
def wrong(votes, truth=1):
    """How many differ."""
    return sum(vote != truth for vote in votes)  # a loop
'''
SAME = """
# another day
def wrong(
    votes,
    truth=1,
):

    return sum(
        vote != truth
        for vote in votes
    )
"""


@pytest.mark.parametrize("name", EVERY)
def test_what_makes_a_figure_and_where_it_stands_is_there(name):
    """Scripts, rooms, pages, headings and shown pictures; code that is not there would never be stale."""
    figure = EVERY[name]
    assert figure.rooms and not [room for room in figure.rooms if not list((ROOT / "crowdopt").glob(room))]
    assert all(path.is_file() for path in figure.scripts)
    assert figure.scripts or all(command.startswith("-m crowdopt.cli") for command in figure.commands)
    assert all((ROOT / place).is_file() for place in figure.pictures.values())
    for place in figure.stands:
        page, _, anchor = place.partition("#")
        assert (ROOT / page).is_file() and (not anchor or anchor in anchors(ROOT / page)), place


def test_every_section_of_figures_has_what_makes_it():
    """A table without a command cannot be made anew."""
    sections = re.findall(r"^## (.+)$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    stands = {place.partition("#")[2] for figure in EVERY.values() for place in figure.stands}
    assert not [title for title in sections if title.lower().replace(",", "").replace(" ", "-") not in stands]


def test_marks_name_commands_that_are_listed():
    """Of figures that stand on the page; else a run would leave an old table behind."""
    pages = {page for figure in EVERY.values() for page in figure.pages}
    assert sum(len(list(blocks(page))) for page in pages) >= 30
    for page in pages:
        assert page.read_text(encoding="utf-8").count("<!-- printed by ") == len(list(blocks(page))), page
        for block in blocks(page):
            assert page in EVERY[block.figure].pages
            assert 1 <= block.command <= len(EVERY[block.figure].commands)


def test_pages_show_what_was_printed():
    """No number of a recorded figure was typed or changed by hand: states.json has the hash of each block."""
    for name, made in listed.states().items():
        shown = [one.hash() for page in EVERY[name].pages for one in blocks(page) if one.figure == name]
        assert sorted(shown) == made["shown"], name


def test_marked_sentences_have_their_tables_figures():
    """A sentence may be stale with its table, which the status says; it never says another number."""
    marked = [one for page in pages() for one in paragraphs(page)]
    assert marked
    for one in marked:
        assert {name for name, _ in one.whose} <= set(EVERY) and one.numbers, one
        assert not unfounded(one.numbers, printed_numbers(one, EVERY)), one


@pytest.mark.parametrize(
    ("said", "strange"),
    [
        ("8.3k labels, 8,340 in full, .093 wrong, 9.3 % of them", []),
        ("8.4k labels", ["8.4k"]),
        ("8300 labels", ["8300"]),
        ("9 % and .1 and 0.09", []),
        ("10 %", ["10 %"]),
        ("`epsilon=.7` and “target 5” and [a page](x.md#5) count for nothing", []),
        ("in 2026", ["2026"]),
    ],
)
def test_a_figure_in_a_sentence_is_one_of_its_table_rounded(tmp_path, said, strange):
    """Rounded to the digits that the sentence has, in thousands or percent; nothing else passes."""
    page = tmp_path / "page.md"
    table = "<!-- printed by f 1 -->\n| 8340 | 0.0934 |\n<!-- end of printed -->\n"
    page.write_text(f"{table}\n<!-- figures of f 1 -->\n{said}\nor so.\n\nAnd 77.\n", encoding="utf-8")
    (one,) = paragraphs(page)
    assert unfounded(one.numbers, [8340.0, 0.0934]) == strange


def test_the_status_of_sentences(tmp_path):
    """Of a figure that is not there, with a number that no table has, with an old table; or in order."""
    page, figure = tmp_path / "page.md", EVERY["sequential"]
    page.write_text("<!-- figures of sequential 1, sequential 2 -->\nIt takes 12345678 labels.\n", encoding="utf-8")
    (one,) = paragraphs(page)
    fresh = {"sequential": {"code": figure.digest()}}
    assert one.whose == (("sequential", 1), ("sequential", 2)) and one.line == 1
    assert faults(one, EVERY, fresh) == ["12345678 is not in what sequential 1, sequential 2 printed"]
    assert faults(one, EVERY, {})[1] == "sequential is not fresh"
    assert faults(replace(one, whose=(("f", 1),)), EVERY, fresh) == ["there is no figure f"]
    assert faults(replace(one, numbers=()), EVERY, fresh) == []


def test_what_is_printed_goes_between_its_marks(tmp_path):
    """Only there, whole or in part, columns kept where the mark says so."""
    page = tmp_path / "page.md"
    mark = "<!-- printed by {} -->\nold\n<!-- end of printed -->\n"
    page.write_text(
        "before\n" + mark.format("f 1") + mark.format("f 2, as text, from b, to c") + mark.format("g 1"),
        encoding="utf-8",
    )
    assert paste(page, "f", ["| one |\n", "a\nb 1  2\nc\n"], "Made.") == 2
    first, second, other = (one.shown for one in blocks(page))
    assert first == "| one |\n\n*Made.*\n" and second == "```text\nb 1  2\n```\n\n*Made.*\n" and other == "old\n"
    assert page.read_text(encoding="utf-8").startswith("before\n<!-- printed by f 1 -->\n")
    assert part("a\nb\nc", "b", None) == "b\nc"


def test_only_what_code_means_counts():
    """Comments, docstrings and formatting say nothing; a default, a name or a constant does; 0 is not 0.0."""
    assert meaning(CODE) == meaning(SAME)
    for old, new in (("truth=1", "truth=0"), ("!=", "=="), ("truth=1", "truth=1.0"), ("wrong(", "right(")):
        assert meaning(CODE) != meaning(CODE.replace(old, new)), (old, new)
    assert meaning("x = None") != meaning("x = 0") and meaning("x = []") != meaning("x = ()")
    assert meaning("def f():\n    'only words'") != meaning("def f():\n    0")
    assert meaning("raise E(f'{x} is odd')") == meaning("raise E('it is not even')")
    assert meaning("raise E(x)") != meaning("raise E(y)") and meaning("raise E('a')") != meaning("raise F('a')")


def test_a_script_counts_with_what_it_shares():
    """Trials and reports that several scripts use make a figure as much as the script itself."""
    files = {path.stem for path in used([ROOT / "benchmarks" / "papers" / "liu_liu_fig3.py"], ROOT)}
    assert {"liu_liu_fig3", "liu_liu_trials", "liu_liu_report", "li_liu_report"} <= files


def test_changed_code_makes_a_figure_stale(tmp_path, monkeypatch):
    """Its own rooms and scripts only, by file, folder or pattern; without a record nothing is known."""
    room = tmp_path / "crowdopt" / "hire"
    (room / "deep").mkdir(parents=True)
    for name in ("one.py", "two.py", "deep/three.py"):
        (room / name).write_text("x = 1\n", encoding="utf-8")
    monkeypatch.setattr(listed, "ROOT", tmp_path)
    figure = listed.Figure("f", (), (), ("hire/one.py",))
    whole, pattern = replace(figure, rooms=("hire",)), replace(figure, rooms=("hire/*.py",))
    assert listed.state_of(figure, {}) == listed.UNKNOWN
    known = [{"f": {"code": one.digest()}} for one in (figure, pattern, whole)]
    states = lambda: [listed.state_of(*pair) for pair in zip((figure, pattern, whole), known, strict=True)]  # noqa: E731
    assert states() == [listed.FRESH] * 3
    (room / "one.py").write_text("x  =  1  # the same\n", encoding="utf-8")
    assert states() == [listed.FRESH] * 3
    (room / "deep" / "three.py").write_text("x = 2\n", encoding="utf-8")
    assert states() == [listed.FRESH, listed.FRESH, listed.STALE]
    (room / "two.py").write_text("x = 2\n", encoding="utf-8")
    assert states() == [listed.FRESH, listed.STALE, listed.STALE]


def test_the_command_line_lists_and_refuses():
    """An unknown figure is named, with those there are."""
    run = lambda *words: subprocess.run(  # noqa: E731
        [sys.executable, "-m", "benchmarks", *words], cwd=ROOT, capture_output=True, text=True
    )
    assert "saving: benchmarks/README.md#fewer-labels" in run().stdout
    refused = run("run", "saveing")
    assert refused.returncode == 2 and "no figure 'saveing'; there are saving" in refused.stderr
