"""The verb select."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from crowdopt.api.binding import SEARCH
from crowdopt.api.select import SELECTIONS, SelectOptions, select_from_tables
from crowdopt.cli.common import NO, PATH, as_json, manual, say, seed, trust_gold
from crowdopt.core.solution import Status
from crowdopt.errors import InputError
from crowdopt.hire.ranking import Selection

SHOWN = 12  # names on a line


@click.command(
    epilog=manual(
        "crowdopt select my-campaign/gold.csv --type bird --most 8 -o hired.csv",
        reads="gold worker[,type],correct,asked; workers worker,price,group, if given",
        writes="with -o the hired workers, with --frontier every set worth having, with --chart a picture",
    )
)
@click.argument("gold", type=PATH)
@click.option("--most", type=int, help="The largest number of workers; default: all.")
@click.option("--classes", default=2, help="Number of classes of a label.")
@click.option(
    "--method",
    type=click.Choice(SELECTIONS),
    help="Default: algorithm1, or program where there are further limits.",
)
@click.option("--workers", type=PATH, help="Table of workers: worker[,price][,group].")
@click.option("--type", "kind", help="Use the gold of this type alone; default: the sum over all types.")
@click.option("--money", type=float, help="The most that the hired workers may cost together.")
@click.option("--require", multiple=True, metavar="WORKER", help="Hire this worker; may be repeated.")
@click.option("--bar", multiple=True, metavar="WORKER", help="Do not hire this worker; may be repeated.")
@click.option("--at-least", multiple=True, metavar="GROUP=N", help="The fewest workers of a group; may be repeated.")
@click.option(
    "--at-most",
    multiple=True,
    metavar="GROUP=N",
    help="The most workers of a group, or of each group not named: '*=1'.",
)
@click.option("--backend", default=SEARCH, help="Backend that solves the program.")
@click.option("--time-limit", default=60.0, help="Seconds for the program.")
@click.option("--coverage", default=0.95, help="Coverage of the score's interval.")
@seed("Seed of ties and draws")
@click.option("--require-proof", is_flag=True, help="Exit with 1 unless the set is proven optimal.")
@trust_gold
@click.option("-o", "--output", type=PATH, help="Table of the hired workers to write.")
@click.option("--chart", type=PATH, help="Picture to write, .png or .svg (extra plots).")
@click.option(
    "--frontier",
    type=PATH,
    help="Table to write: each set whose score no smaller one reaches (with prices: no cheaper one).",
)
@click.option("--force", is_flag=True, help="Replace files that exist.")
@as_json
def select(gold: Path, coverage: float, require_proof: bool, as_json: bool, **options: Any) -> None:
    """Decide whom to hire from their answers to control questions (columns worker, correct, asked), with the proof."""
    for bound in ("at_least", "at_most"):
        options[bound] = _numbers(f"--{bound.replace('_', '-')}", options[bound])
    selection = select_from_tables(gold, SelectOptions(coverage=coverage, **options))
    interval = selection.interval(coverage)
    say(
        as_json,
        _facts(selection, interval),
        *_sentences(selection, interval, coverage),
        *_written(options["output"], options["chart"], options["frontier"]),
    )
    if not selection.found or (require_proof and not selection.proven):
        raise SystemExit(NO)


def _numbers(option: str, given: tuple[str, ...]) -> dict[str, int]:
    numbers = {}
    for text in given:
        group, sign, number = text.rpartition("=")
        if not sign or not number.isdecimal():
            raise InputError(f"{option} {text}: write a group and a number, such as {option} nurses=2")
        numbers[group] = int(number)
    return numbers


def _facts(selection: Selection, interval: tuple[float, float]) -> dict[str, Any]:
    frontier, found = selection.frontier, selection.found
    return {
        "workers": [selection.instance.worker_id(i) for i in selection.members.tolist()],
        "status": selection.status.value,
        "method": selection.method,
        "backend": selection.backend,
        "score": selection.score,
        "plug_in_score": selection.plug_in_score,
        "best_score": selection.best_score if selection.best_score < float("inf") else None,
        "proven": selection.proven,
        "proof": selection.proof,
        "cost": selection.cost if found else None,
        "interval": list(interval) if found else None,
        "error_estimate": selection.error_estimate if found else None,
        "best_vote_estimate": selection.best_vote_estimate if found else None,
        "frontier": {"size": frontier.size.tolist(), "score": frontier.score.tolist()},
        "warnings": selection.warnings,
    }


def _sentences(selection: Selection, interval: tuple[float, float], coverage: float) -> list[str]:
    instance = selection.instance
    if not selection.found:
        if selection.status is Status.INFEASIBLE:
            vouched = "proven" if selection.proof == "certificate" else f"on {selection.backend}'s word"
            return [f"no set of workers keeps all the limits ({vouched}); allow more money or workers, or ask for less"]
        return ["no set was found within the limits of the search; allow more time"]
    names = [instance.worker_id(i) for i in selection.members[:SHOWN].tolist()]
    more = f" and {selection.members.size - SHOWN} more" if selection.members.size > SHOWN else ""
    paid = "" if selection.cost is None else f", cost {selection.cost:.10g}"
    return [
        f"hire {selection.members.size} of {instance.n_workers} workers{paid}: {', '.join(names)}{more}",
        f"score {selection.score:.6g} (plug-in, biased: {selection.plug_in_score:.6g}); {selection.in_words}",
        f"{100 * coverage:g} % interval of the score: {interval[0]:.4g} to {interval[1]:.4g}",
        f"error of an answer, estimated bounds: {selection.error_estimate:.2g} by linear votes (Li & Liu, corrected), "
        f"{selection.best_vote_estimate:.2g} by log-odds votes (Bhattacharyya)",
        *(f"note: {warning}" for warning in selection.warnings),
    ]


def _written(*paths: Path | None) -> list[str]:
    return [f"wrote {path}" for path in paths if path is not None and path.exists()]


VERBS = (select,)
