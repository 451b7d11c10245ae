"""The road from labels to answers: aggregate with a plan, rehearse."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import click

from crowdopt import api
from crowdopt.cli.common import as_json, say
from crowdopt.errors import InputError
from crowdopt.io.answers_folder import ANSWERS, Answered, facts
from crowdopt.io.folder import check_target


def answer_with_plan(
    labels: Path, plan: Path, campaign: Path | None, output: Path | None, force: bool, as_json: bool
) -> None:
    """The verb ``aggregate`` with a plan: its weights, unsure tasks, missing labels, the next campaign."""
    if campaign is None or output is None:
        raise InputError("with --plan, give the campaign it was made for (--campaign) and a folder to write (-o)")
    check_target(output, ANSWERS, force)
    found = api.answers(labels, plan, campaign, output, force)
    say(as_json, {"answers": str(output), **facts(found)}, *_sentences(found, output))


def _sentences(found: Answered, output: Path) -> list[str]:
    known = facts(found)
    said = [
        f"{known['tasks']} answers from {known['labels']} labels ({known['new_labels']} of them new): "
        f"{known['sure']} sure, {known['unsure']} not yet; {known['expected_wrong']:.3g} expected to be wrong",
    ]
    if found.left_out:
        said.append(f"{found.left_out} label(s) were in already")
    if known["missing"]:
        late = Counter(found.instance.worker_id(j) for j in found.answers.missing[:, 1].tolist()).most_common()
        names = ", ".join(f"{name} ({count})" for name, count in late[:5]) + (", ..." if len(late) > 5 else "")
        said.append(f"{known['missing']} planned label(s) have not come: from {names}; see {output}/missing.csv")
    return [*said, f"wrote {output}; to go on: crowdopt solve {output}/campaign -o NEXT-PLAN"]


@click.command(epilog="Example: crowdopt rehearse my-campaign my-plan --seed 1 -o labels.csv --truth truth.csv")
@click.argument("campaign", type=click.Path(path_type=Path))
@click.argument("plan", type=click.Path(path_type=Path))
@click.option("--seed", default=0, show_default=True, type=click.IntRange(0, 2**63 - 1), help="Seed of the draw.")
@click.option(
    "--lost", default=0.0, show_default=True, type=click.FloatRange(0, 1), help="Share of labels that do not come."
)
@click.option("-o", "--output", type=click.Path(path_type=Path), required=True, help="Label table to write.")
@click.option("--truth", type=click.Path(path_type=Path), help="Table of the drawn truth; read instead, if it exists.")
@click.option("--force", is_flag=True, help="Replace the label table if it exists.")
@as_json
def rehearse(
    campaign: Path, plan: Path, seed: int, lost: float, output: Path, truth: Path | None, force: bool, as_json: bool
) -> None:
    """Simulate the labels of a plan, by the campaign's own skills, to try the whole loop before it costs anything."""
    count = api.rehearse(campaign, plan, output, truth, seed, lost, force)
    say(as_json, {"labels": count, "file": str(output)}, f"wrote {output}: {count} simulated labels")


VERBS = (rehearse,)
