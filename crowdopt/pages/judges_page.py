"""What judges are good for, as a page: who is to be trusted, on what they are right, what they call what."""

from __future__ import annotations

from typing import Any

from crowdopt.pages import Kind
from crowdopt.pages.charts import PALETTE, at, on, plot, sized
from crowdopt.pages.page import Chart, Folded, Page, PageTable, Part, Section

AGREED = {"kappa": "Cohen's kappa", "alpha": "Krippendorff's alpha", "ac1": "Gwet's AC1"}
CARDS = {
    "judge": "judge",
    "slice": "slice",
    "votes": "votes",
    "looked": "human labels",
    "right": "right",
    "accuracy": "share",
    "low": "from",
    "high": "to",
    "word": "trusted?",
    "more": "labels more",
    "cost": "cost",
}
CLASSES = {
    "name": "class",
    "items": "items",
    "recall": "found",
    "low": "from",
    "high": "to",
    "said": "said of",
    "corrected": "by human labels",
    "least": "at least",
    "most": "at most",
    "more": "look at",
}
NOTES = {
    "accuracy": "share of right verdicts, with an exact interval",
    "more": "human labels until the word is likely to be trusted, if the judge stays as good",
    "recall": "share of the items of the class that the judge calls so",
    "said": "share of all items that the judge calls so",
    "corrected": "by what humans say on each side of the verdict",
    "least": "exact, if the human labels on each side were drawn at random",
}


def _reads(card: dict[str, Any]) -> str:
    return f"{card['judge']}, {card['slice']}" if card["slice"] else str(card["judge"])


def _right(facts: dict[str, Any]) -> Any:
    """Shares of right verdicts with their intervals, and what is wanted; -> of Altair."""
    known = [card for card in facts["cards"] if card["looked"]]
    rows = [{"name": _reads(card), "word": card["word"], **card["accuracy"]} for card in known]
    y = on("name:N", sort=[row["name"] for row in rows], labelLimit=220)
    x, low = (on(f"{key}:Q", "share of right verdicts", format=".0%", zero=False) for key in ("value", "low"))
    span = plot(rows, "rule", {"x": low, "x2": {"field": "high"}, "y": y}, strokeWidth=2, opacity=0.5)
    dots = plot(rows, "circle", {"x": x, "y": y}, size=90, opacity=1, tips=("name:N", "value:Q", "word:N"))
    return sized(span + dots + at(facts["accuracy"], strokeDash=[6, 4], color=PALETTE[1]), 24 * len(rows) + 20)


def _flat(card: dict[str, Any]) -> dict[str, Any]:
    ends = {"accuracy": card["accuracy"]["value"], "low": card["accuracy"]["low"], "high": card["accuracy"]["high"]}
    return {**{key: card[key] for key in CARDS if key in card}, **(ends if card["looked"] else dict.fromkeys(ends))}


def _of_one(card: dict[str, Any]) -> Part:
    """A judge's classes, agreement and table, folded."""
    rows = []
    for one in card["classes"]:
        share = {"corrected": one["share"]["value"], "least": one["share"]["low"], "most": one["share"]["high"]}
        recall = {"recall": one["recall"]["value"], "low": one["recall"]["low"], "high": one["recall"]["high"]}
        rows.append({**{key: one[key] for key in ("name", "items", "said", "more")}, **recall, **share})
    return Folded(f"{_reads(card)}: what it calls what", PageTable(CLASSES, rows, NOTES))


def _tables(card: dict[str, Any]) -> Part:
    names = [one["name"] for one in card["classes"]]
    columns = {"true": "humans say", **{f"k{k}": f"judge says {name}" for k, name in enumerate(names)}}
    rows = [
        {"true": name, **{f"k{k}": count for k, count in enumerate(row)}}
        for name, row in zip(names, card["table"], strict=True)
    ]
    return Folded(f"{_reads(card)}: verdicts beside human labels", PageTable(columns, rows))


def page(facts: dict[str, Any]) -> Page:
    """The page of judges' cards; facts: of judges.json."""
    cards, panel = facts["cards"], facts["panel"]
    by_word: dict[str, list[str]] = {}
    for card in cards:
        if not card["slice"]:
            by_word.setdefault(card["word"], []).append(card["judge"])
    verdict = [f"{word[0].upper()}{word[1:]}: {', '.join(names)}." for word, names in by_word.items()]
    verdict += [f"{said}." for said in (panel["said"] if panel else [])]
    agreement = [
        {"name": _reads(card), "measure": AGREED[name], **one}
        for card in cards
        if card["looked"]
        for name, one in card["agreement"].items()
    ]
    heads = {"name": "judge", "measure": "measure", "value": "value", "low": "from", "high": "to"}
    looked = any(card["looked"] for card in cards)
    chart = Chart("Right how often", _right(facts), "Dashed: what is wanted. Intervals are exact.") if looked else None
    parts: list[Part] = [
        *([chart] if chart is not None else []),
        PageTable(CARDS, [_flat(one) for one in cards], NOTES),
    ]
    sections = [Section("The cards", parts)]
    if looked:
        folded = [part for card in cards if card["looked"] for part in (_of_one(card), _tables(card))]
        measures = PageTable(heads, agreement, {}, "Beyond chance, with human labels; intervals hold at any number.")
        sections += [Section("What each calls what", folded), Section("Agreement", [measures])]
    pairs = panel["together"] if panel else []
    if pairs:
        columns = {"first": "judge", "second": "and", "items": "items", "correlation": "correlation"}
        ends = {"low": "from", "high": "to"}
        sections.append(Section("Who errs together", [PageTable({**columns, **ends}, pairs)]))
    sections.append(Section("What comes next", list(facts["next"])))
    return Page("Judges", verdict, sections, f"crowdopt {facts['version']}")


KIND = Kind("judges' cards", "judges.json", "judges.json", page)
