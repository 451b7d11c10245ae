"""A desk with one good input of every kind, so small that a verb takes milliseconds, and every verb at work on it.

In inputs/, campaign2 is the campaign without what no online policy knows.
"""

from __future__ import annotations

import shutil
from contextlib import chdir
from dataclasses import dataclass
from pathlib import Path

from click.testing import CliRunner, Result

from crowdopt.cli import main
from tests.exports import EXPORTS, lay_exports

INPUTS = Path(__file__).with_name("inputs")
MADE = (  # what the desk's own verbs make of these, in this order
    "solve campaign -o plan",
    "rehearse campaign plan -o back.csv --truth drawn.csv",
    "aggregate back.csv --plan plan --campaign campaign -o answers",
    "compare campaign2 --policies greedy --trials 2 -o compared",
    "learn --draw 3 --policies ls-ol --horizon 12 --trials 2 -o learned",
    "generate HS:6x60 -o archive.npz",
    "bench HS:6x4 --backends exact --program ip --time-limit 9 -o measured",
    "audit answers --target 0.4 --seed 1 --share 0.5 -o audit",
    "audit answers --checked drawn.csv -o audit",
    "generate HS:40x40 --epsilon 0.45 --parts 2 -o parts",
    "solve parts -o parts-plan",
    "init panel --panel",
    "solve panel --method adaptive -o adaptive",
    "rehearse panel adaptive -o judged.csv --truth known.csv",
    "generate R10:12x14 --seed 1 --epsilon 0.2 -o own",
    "solve own --method adaptive --rule exact-error -o orders",
    "solve tight -o effort",
    "push campaign plan --to potato -o pushed",
)
SHORT = 1  # exit status of a plan that leaves tasks short


@dataclass(frozen=True)
class Case:
    """A command, the files of the desk that it reads, and the names it writes."""

    words: str
    reads: tuple[str, ...]
    weight: float = 1.0
    status: int = 0  # where nothing is damaged
    beside: tuple[str, ...] = ()  # what it reads that is not damaged
    keeps: str = "-"  # what begins so may stay behind a failure: work that the same command goes on with

    @property
    def verb(self) -> str:
        """Its first word."""
        return self.words.split()[0]


TABLES = ("labels.csv", "truth.csv", "types.csv")
HIRED, LEARNT, COMPARED = ("gold.csv", "people.csv"), ("skills.csv",), ("campaign2", "labels.csv", "truth.csv")
RECORDED = "labels.csv --truth truth.csv"
CAMPAIGN, PLANNED, STUDIO = ("campaign",), ("campaign", "plan"), ("campaign", "studio.json")
SHOWN = ("show.csv", "answers")
CASES = (
    Case("init new", ()),
    Case("generate HS:6x4 --seed 3 -o new", ()),
    Case("generate R10:20x10 --priced -o new.npz", ()),
    Case(f"import {RECORDED} --types types.csv --epsilon 0.3 --capacity 5 -o new", TABLES),
    Case("import labels.csv -o new", ("labels.csv",)),
    Case("solve campaign --time-limit 2 -o new", CAMPAIGN, 2),
    Case("solve archive.npz --time-limit 2 --program lp -o new", ("archive.npz",)),
    Case("solve answers/campaign --time-limit 2 -o new", ("answers",)),
    Case("verify campaign plan", PLANNED, 3),
    Case("explain campaign --time-limit 1", CAMPAIGN, 0.5),
    Case("explain campaign plan --time-limit 1 -o new", PLANNED, 0.5),
    Case("export campaign --program ip -o new.mps", CAMPAIGN),
    Case("export campaign --program dual -o new.lp", CAMPAIGN),
    Case("budget campaign2 --money 8 --time-limit 1 -o new", ("campaign2",), 0.5),
    Case("rehearse campaign plan --seed 2 --lost 0.2 -o new.csv --truth drawn.csv", ("campaign", "plan", "drawn.csv")),
    Case("aggregate labels.csv --method dawid-skene -o new.csv --workers who.csv", ("labels.csv",)),
    Case("aggregate labels.csv --method wmv-log --gold gold.csv --truth truth.csv", (*TABLES[:2], "gold.csv")),
    Case("aggregate back.csv --plan plan --campaign campaign -o new", ("back.csv", "plan", "campaign"), 2),
    Case("select gold.csv --most 3 --classes 2 -o new.csv --frontier curve.csv", ("gold.csv",)),
    Case("select gold.csv --workers people.csv --money 4 --at-least a=1 --require ada --type bird", HIRED),
    Case("compare campaign2 --policies greedy --trials 1 -o new", ("campaign2",), 0.3),
    Case(f"compare campaign2 --policies random --trials 1 --labels {RECORDED} -o new", COMPARED, 0.3),
    Case("learn --skills skills.csv --policies ls-ol --horizon 9 --trials 1 -o new", LEARNT, 0.5),
    Case(f"learn --labels {RECORDED} --types types.csv --policies ls-ol --horizon 4 --trials 1 -o new", TABLES, 0.5),
    Case("report plan", ("plan",)),
    Case("report compared", ("compared",)),
    Case("report learned", ("learned",)),
    Case("report measured", ("measured",), 2),
    Case("bench HS:6x4 --backends exact --program ip --time-limit 9 -o measured", ("measured",), 0.3, keeps="x"),
    Case("audit answers --target 0.4 --seed 2 --least-sure 1 -o new", ("answers",)),
    Case("audit answers --checked drawn.csv -o audit", ("answers", "audit", "drawn.csv"), 3),
    Case("audit answers --after audit --seed 4 -o new", ("answers", "audit"), 0.5),
    Case("audit answers --force --seed 4 -o audit", ("answers", "audit"), 0.5),
    Case("verify answers audit", ("answers", "audit"), 3),
    Case("report audit", ("audit",)),
    Case("solve parts -o new", ("parts",), 2, keeps=".new.work"),
    Case("verify parts parts-plan", ("parts", "parts-plan"), 2),
    Case("init new --panel", ()),
    Case("solve panel --method adaptive -o new", ("panel",), 0.5),
    Case("verify panel adaptive", ("panel", "adaptive"), 3),
    Case("verify own orders", ("own", "orders"), 3),
    Case("explain panel adaptive", ("panel", "adaptive"), 0.3),
    Case("aggregate judged.csv --plan adaptive --campaign panel -o new", ("judged.csv", "adaptive", "panel"), 2),
    Case("solve tight --time-limit 2 -o new", ("tight",), status=SHORT),
    Case("verify tight effort", ("tight", "effort"), 2),
    Case("plan-gold campaign2 --epsilon 0.49 --gold 5 --trials 1", ("campaign2",), 0.2),
    Case("push campaign plan --to potato -o new", PLANNED),
    Case("push campaign plan --to label-studio -o new", PLANNED),
    Case("push panel adaptive --to inspect -o new", ("panel", "adaptive")),
    Case("pull campaign back.csv --from crowd-kit -o new", ("campaign", "back.csv")),
)

OF_TOOLS = (
    *(Case(f"pull campaign {name} --from {tool} -o new", (name,), beside=CAMPAIGN) for tool, name in EXPORTS.items()),
    *(Case(f"import {name} --from {tool} --epsilon 0.3 -o new", (name,), 0.5) for tool, name in EXPORTS.items()),
    Case("import llm_labels.jsonl --from potato --time-as-price -o new", ("llm_labels.jsonl",)),
    Case("import deepeval.json --from deepeval --token-prices tokens.csv -o new", ("deepeval.json", "tokens.csv")),
    Case("pull campaign studio.json --from label-studio --people who.csv -o new", ("who.csv",), beside=STUDIO),
    Case("push campaign plan --to potato -o pushed", ("pushed",), beside=PLANNED),
    Case("push campaign plan --to label-studio --content show.csv --answers answers -o new", SHOWN, beside=PLANNED),
    Case("push campaign plan --to prodigy --content show.csv -o new", ("show.csv",), 0.5, beside=PLANNED),
    Case("push campaign plan --to inspect -o new", (), 0.5, beside=(*PLANNED, "show.csv")),
)


def run(folder: Path, words: str | list[str]) -> Result:
    """A command in a folder."""
    with chdir(folder):
        return CliRunner().invoke(main, words.split() if isinstance(words, str) else words)


def lay(folder: Path) -> None:
    """Write the desk, and what these commands make of it."""
    shutil.copytree(INPUTS, folder, dirs_exist_ok=True)
    lay_exports(folder)
    for words in MADE:
        done = run(folder, words)
        assert done.exit_code in (0, SHORT), f"{words}: {done.output} {done.exception!r}"
