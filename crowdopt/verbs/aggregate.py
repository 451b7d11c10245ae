"""The verb aggregate without a plan: answers from labels, from arrays or from tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, overload

import numpy as np
from numpy.typing import ArrayLike

from crowdopt.answers import FROM_ACCURACIES, FROM_CONFUSIONS, FROM_LABELS, Answers, majority
from crowdopt.answers.choosing import AutoMethod, chosen, equal, heeding
from crowdopt.crowd.labels import Labels
from crowdopt.crowd.skills import confusions
from crowdopt.errors import InputError, public
from crowdopt.files import together
from crowdopt.io.answers import Answered, Continuation, facts
from crowdopt.io.cells import name_of
from crowdopt.io.folders import check_target
from crowdopt.io.hiring import read_gold_by_class, read_gold_shares, write_accuracies, write_answers
from crowdopt.io.tables import read_labels, read_true_labels, true_classes
from crowdopt.notebooks import InFrames
from crowdopt.said import Said, Verb
from crowdopt.verbs.audit import TARGET, certifying, looks_to_certify
from crowdopt.verbs.binding import AnyPath, InstanceLike, PlanLike, TableLike
from crowdopt.verbs.continue_plan import answers
from crowdopt.verbs.plans_said import onward_said
from crowdopt.verbs.worker_skills import tallied

AUTO = "auto"  # the method that known answers, or labels held back, speak for
AGGREGATIONS = (AUTO, *FROM_LABELS, *FROM_ACCURACIES, *FROM_CONFUSIONS)
UNSURE = 0.9  # answers less sure than this are counted apart
UPPER = 0.975  # the upper end of a 95 % interval


@dataclass(frozen=True, eq=False)
class Aggregated(InFrames):
    """Answers to the tasks of a label table."""

    answers: Answers
    labels: Labels  # the table
    right: float | None  # share of right answers among the tasks whose truth is known
    known: int = 0  # tasks whose truth is known
    choice: AutoMethod | None = None  # of the method, where none was named

    in_notebooks: ClassVar[tuple[str, ...]] = ("right", "known", "claimed", "unsure")

    def notebook_rows(self, most: int) -> tuple[list[dict[str, Any]], int]:
        """The first answers, and how many there are."""
        names = [*self.labels.classes, ""]
        some = zip(
            self.labels.tasks[:most], self.answers.answer.tolist(), self.answers.confidence.tolist(), strict=False
        )
        rows = [{"task": task, "label": names[k], "confidence": sure} for task, k, sure in some]
        return rows, len(self.labels.tasks)

    @property
    def claimed(self) -> float:
        """Mean chance of being right, by the method; no more than so many tasks support.

        n tasks tell errors that workers share apart from rarer ones than ``1 / (n + 2)`` at no time (Laplace's rule),
        and where the truth is known no more is claimed than the upper end of what it shows (Clopper and Pearson).
        """
        from scipy.special import betaincinv

        most = 1 - 1 / (len(self.labels.tasks) + 2)
        if self.right is not None and self.right < 1:
            hits = round(self.right * self.known)
            most = min(most, float(betaincinv(hits + 1, self.known - hits, UPPER)))
        return min(most, float(self.answers.confidence.mean()))

    @property
    def unsure(self) -> int:
        """Answers less sure than UNSURE."""
        return int((self.answers.confidence < UNSURE).sum())


@overload
def aggregate(labels: Labels, method: str = AUTO, **words: Any) -> Answers: ...


@overload
def aggregate(labels: TableLike, *, plan: PlanLike, campaign: InstanceLike, **words: Any) -> Answered: ...


@overload
def aggregate(labels: TableLike, method: str = AUTO, **words: Any) -> Aggregated: ...


@public
def aggregate(
    labels: Labels | TableLike,
    method: str = AUTO,
    *,
    gold: TableLike | None = None,
    truth: TableLike | ArrayLike | None = None,
    plan: PlanLike | None = None,
    campaign: InstanceLike | None = None,
    skipped: TableLike | None = None,
    accept: bool = False,
    output: AnyPath | None = None,
    workers: AnyPath | None = None,
    trust_gold: bool = False,
    force: bool = False,
    **settings: Any,
) -> Answers | Aggregated | Answered:
    """Turn labels (columns task, worker, label) into answers, each with a confidence; ties go to the first class.

    With a plan the votes have its weights. It then says which tasks are not yet sure and which labels are missing from
    whom, and writes the campaign that goes on.

    Parameters
    ----------
    labels : path, frame or Labels
        Columns task, worker, label; or the same as arrays of indices.
    method : str
        ``auto``, ``majority``, ``one-coin``, ``belief-propagation``, ``dawid-skene``, ``kos``; with gold also
        ``wmv-linear``, ``wmv-log``, ``wmv-confusion``. ``auto`` is of the first, the second and fourth the one that
        labels held back speak for, or that errs clearly less on known answers; its chances are averaged with the
        labels' shares.
    gold : path or frame, optional
        For weighted votes: worker,correct,asked or worker,task,label,truth; worker,true,answered for wmv-confusion.
    truth : path or frame, optional
        Known answers (task,label) to compare the answers with.
    plan : Plan or path, optional
        The plan whose weights the votes have, in place of a method.
    campaign : AssignmentInstance or path, optional
        The campaign that the plan was made for.
    skipped : path or frame, optional
        With a plan: pairs task,worker that were asked and gave no label, as pull writes them.
    accept : bool
        With a plan: leave out of the next campaign the tasks that no labels can settle.
    output : path, optional
        Table of answers to write; with a plan, a folder.
    workers : path, optional
        Table of the workers' accuracies to write.
    trust_gold : bool
        Take gold as it is, even where workers do worse than guessing.
    force : bool
        Replace files that exist.
    **settings
        Of arrays ``accuracy``, ``confusion``, ``difficulty``, ``known`` and the method's own (:func:`vote`).

    Returns
    -------
    Answered, Aggregated or Answers
        With a plan, of a table, of arrays.

    Raises
    ------
    InputError
        If a table cannot be used, or words do not belong together.

    Reads
    -----
    labels task,worker,label; with --plan the plan and its campaign

    Writes
    ------
    a table of answers; with --plan a folder: answers.csv, missing.csv, and campaign/ with the labels in

    Examples
    --------
    ::

        crowdopt solve my-campaign -o my-plan
        crowdopt rehearse my-campaign my-plan -o labels.csv --truth truth.csv
        crowdopt aggregate labels.csv --plan my-plan --campaign my-campaign -o answers
    """
    if (plan is None) != (campaign is None):
        raise InputError("a plan belongs to the campaign it was made for; give both (--plan, --campaign)")
    if isinstance(labels, Labels):
        return vote(labels, method, **settings if truth is None else {**settings, "truth": truth})
    if plan is None or campaign is None:
        if skipped is not None or accept:
            raise InputError(
                "skipped and accept belong to a plan; without one a label that is not there counts nothing"
            )
        words: dict[str, Any] = {"gold": gold, "truth": truth, "output": output, "workers": workers, "force": force}
        return public(aggregate_tables)(labels, method, trust_gold=trust_gold, **words, **settings)
    if not (gold is None and truth is None and workers is None):
        raise InputError("--gold, --truth and --workers belong to a method; with --plan its weights decide")
    words = {"skipped": skipped, "accept": accept, "output": output, "force": force, **settings}
    return answers(labels, plan, campaign=campaign, **words)


def vote(
    labels: Labels,
    method: str = AUTO,
    *,
    accuracy: ArrayLike | None = None,
    confusion: ArrayLike | None = None,
    difficulty: bool = True,
    known: ArrayLike | None = None,
    **settings: Any,
) -> Answers:
    """Answers from labels, with confidences that heed difficulty which workers share, where labels show any.

    method: ``auto``, ``majority``, ``one-coin``, ``belief-propagation``, ``dawid-skene``, ``kos``; with accuracies also
    ``wmv-linear``, ``wmv-log``, with confusion tables ``wmv-confusion``.
    accuracy (workers,): each worker's chance to be right, for the weighted votes.
    confusion (workers, classes, classes): each worker's chances to say the third class where the second is true
    (crowdopt.crowd.skills).
    difficulty: whether the difficulty of tasks is looked for, by a method that knows how workers speak.
    known (tasks,): known classes, -1 where unknown, by which the difficulty shows better; answers do not heed them.
    Default: the setting ``truth``, which they do heed.
    settings: of the method, in :mod:`crowdopt.answers`: ``iterations``, ``prior``, ``truth``, ``truncation``, ….
    -> ``answer`` is (tasks,) int, a class of ``labels.classes``; ``confidence`` is (tasks,) float.
    """
    if method not in AGGREGATIONS:
        raise InputError(f"method must be one of {', '.join(AGGREGATIONS)}, not {method!r}")
    if confusion is not None and method not in FROM_CONFUSIONS:
        raise InputError(f"{method} takes no confusion tables; choose {' or '.join(FROM_CONFUSIONS)}")
    if known is not None and np.max(known, initial=-1) >= len(labels.classes):
        raise InputError("known needs places in labels.classes, -1 where unknown; name there also what no worker said")
    if method == AUTO:
        if set(settings) - {"truth"}:
            raise InputError(f"{', '.join(sorted(settings))} belong to one method; name that method")
        choice = chosen(labels, None if known is None else np.asarray(known, dtype=np.int64))
        return vote_by(choice, labels, accuracy=accuracy, difficulty=difficulty, known=known, **settings)
    if method in FROM_CONFUSIONS:
        if confusion is None or accuracy is not None:
            raise InputError(f"{method} takes confusion tables and no accuracies; give gold with true and answered")
        answers = public(FROM_CONFUSIONS[method])(labels, confusion, **settings)
    else:
        answers = _by_accuracies(labels, method, accuracy, settings)
    true = settings.get("truth") if known is None else known
    return heeding(answers, labels, None if true is None else np.asarray(true, np.int64)) if difficulty else answers


def vote_by(choice: AutoMethod, labels: Labels, **options: Any) -> Answers:
    """Answers by the method that was chosen, believed by half: the other half are the shares of the labels.

    Where known answers chose it and show how hard tasks are, that says how far it is believed. A majority's chances are
    those by workers of one coin that they share. options: as for :func:`vote`.
    """
    answers, truth = vote(labels, choice.method, **options), options.get("truth")
    answers = replace(equal(labels, truth) if choice.method == "majority" else answers, power=choice.power)
    if choice.by_truth and answers.difficulty is not None:
        return answers
    return replace(answers, tally=majority(labels, truth).score)


def _by_accuracies(labels: Labels, method: str, accuracy: ArrayLike | None, settings: dict[str, Any]) -> Answers:
    if method in FROM_LABELS:
        if accuracy is not None:
            raise InputError(f"{method} takes no accuracies; leave them out, or choose {' or '.join(FROM_ACCURACIES)}")
        return public(FROM_LABELS[method])(labels, **settings)
    if accuracy is None:
        raise InputError(f"{method} weighs votes by the workers' accuracies; give gold, or choose one-coin")
    return public(FROM_ACCURACIES[method])(labels, accuracy, **settings)


def aggregate_tables(
    labels: TableLike,
    method: str = AUTO,
    *,
    gold: TableLike | None = None,
    truth: TableLike | None = None,
    trust_gold: bool = False,
    output: AnyPath | None = None,
    workers: AnyPath | None = None,
    force: bool = False,
) -> Aggregated:
    """Answers from a label table, with every file that is to be written.

    labels: columns task, worker, label; method: as for :func:`vote`; gold: worker, correct, asked, or worker, task,
    label, truth, for the weighted votes; worker, true, answered for ``wmv-confusion``; truth: known answers task,
    label, to be held against, and to see how hard tasks are; trust_gold: whether gold is taken as it is, even where
    workers are below chance; output, workers: tables to write: of the answers, of the workers' accuracies.
    """
    for path in (output, workers):
        if path is not None:
            check_target(Path(path), None, force)
    true = {} if truth is None else read_true_labels(truth)
    table = read_labels(labels, tuple(true.values()))
    known = None if truth is None else true_classes(true, table, name_of(truth))
    if known is not None:
        tallied(table, known, np.zeros_like(known), 1, trust_gold)
    shares = tables = None
    if gold is not None and method in FROM_CONFUSIONS:
        tables = confusions(read_gold_by_class(gold, table, trust_gold))
    elif gold is not None:
        shares = read_gold_shares(gold, table, trust_gold)
    choice = chosen(table, known) if method == AUTO else None
    if choice is None:
        answers = vote(table, method, accuracy=shares, confusion=tables, known=known)
    else:
        answers = vote_by(choice, table, accuracy=shares, known=known)
    right = None if known is None else _share_right(answers, known)
    with together():
        if output is not None:
            write_answers(answers, table, Path(output), force)
        if workers is not None:
            write_accuracies(answers, table, Path(workers), force)
    return Aggregated(answers, table, right, 0 if known is None else int((known >= 0).sum()), choice)


def _share_right(answers: Answers, truth: np.ndarray[Any, Any]) -> float:
    known = truth >= 0
    return float((answers.answer[known] == truth[known]).mean())


def _facts_of(done: Aggregated) -> dict[str, Any]:
    answers, labels = done.answers, done.labels
    return {
        "method": answers.method,
        "chosen_by": None if done.choice is None else asdict(done.choice),
        "tasks": len(labels.tasks),
        "workers": len(labels.workers),
        "labels": int(labels.task.size),
        "classes": list(labels.classes),
        "iterations": answers.iterations,
        "converged": answers.converged,
        "mean_confidence": done.claimed if answers.law is not None else float(answers.confidence.mean()),
        "unsure": done.unsure,
        "accuracy": done.right,
        "difficulty": None if answers.difficulty is None else asdict(answers.difficulty),
    }


def _lines(done: Aggregated) -> list[str]:
    answers, labels = done.answers, done.labels
    kind, mean = "chance of being right, if errors are independent", done.claimed
    if answers.tally is not None:
        kind = "chance of being right, half by the method and half by the labels' shares"
    elif answers.difficulty is not None:
        kind = "chance of being right"
    elif answers.law is None:
        kind, mean = "share of the labels", float(answers.confidence.mean())
    said = [
        f"{len(labels.tasks)} answers from {labels.task.size} labels by {len(labels.workers)} workers, "
        f"{len(labels.classes)} classes, by {answers.method}{_rounds(answers)}",
        f"mean {kind}: {mean:.3f}; below {UNSURE:g}: {done.unsure} answer(s)",
    ]
    if done.choice is not None:
        said.append(str(done.choice))
    if answers.difficulty is not None:
        said.append(f"{answers.difficulty}; confidences take this into account")
    return said if done.right is None else [*said, f"right on {100 * done.right:.1f} % of the tasks with known answers"]


def _of_plan(answered: Answered, output: Path) -> list[str]:
    known = facts(answered)
    if answered.onward is not None:
        return onward_said(answered, answered.onward, output)
    going_on = Continuation(answered)
    said = [
        f"{known['tasks']} answers from {known['labels']} labels ({known['new_labels']} of them new): "
        f"{known['sure']} sure, {known['unsure']} not yet; {known['expected_wrong']:.3g} expected to be wrong",
        certifying(answered.instance.n_tasks, float(answered.instance.epsilon.mean()), output),
        *_of_the_mean(answered),
    ]
    if answered.left_out:
        said.append(f"{answered.left_out} label(s) were in already")
    if known["asked_once_more"]:
        said.append(
            f"{known['asked_once_more']} of those not sure have all that rule {answered.instance.rule} asks before "
            f"labels are seen; {output}/campaign asks one label more of each"
        )
    said += [*_unsure(answered, going_on, output), *_withheld(answered, known), *_late(answered, known, output)]
    if known["next_rule"] != answered.instance.rule:
        said.append(
            f"rule {answered.instance.rule} {going_on.why}, so {output}/campaign goes on by rule {known['next_rule']}"
        )
    if going_on.sure_by_its_votes.size:
        said.append(f"{going_on.sure_by_its_votes.size} of those not sure are, by the votes of that rule")
    return [*said, f"wrote {output}; to go on: crowdopt solve {output}/campaign -o NEXT-PLAN"]


def _of_the_mean(answered: Answered) -> list[str]:
    if not answered.instance.the_rule.average:
        return []
    mean, target = float(answered.answers.error.mean()), float(answered.instance.epsilon.mean())
    word = "keeps it: more labels only make single tasks sure" if mean <= target else "misses it"
    return [f"the target {target:.4g} is for all answers on average; their mean error {mean:.3g} {word}"]


def _unsure(answered: Answered, going_on: Continuation, output: Path) -> list[str]:
    explained, said = f"crowdopt explain {output}/campaign", []
    for tasks, why, advice in (
        (
            going_on.exhausted,
            "can have no more labels within the limits",
            f"have an expert look, or let {explained} say what would help",
        ),
        (
            going_on.out_of_reach,
            "need more than all labels that they can still have",
            f"the next plan has those that help, and {explained} says what else would",
        ),
    ):
        left = np.setdiff1d(tasks, going_on.accepted)
        if left.size:
            names = _first([answered.instance.task_id(i) for i in left.tolist()])
            said.append(f"{left.size} of those not sure {why}: {names}; {advice}")
    if going_on.accepted.size:
        worst = going_on.epsilon[going_on.accepted].max()
        said.append(
            f"{going_on.accepted.size} of those not sure are taken as they are, since no labels left can settle them: "
            f"{output}/campaign/tasks.csv has targets of up to {worst:.4g} for them"
        )
    if going_on.within_exact_reach.size:
        said.append(f"{going_on.within_exact_reach.size} of these can be served by solve --rule exact-error")
    return said


def _withheld(answered: Answered, known: dict[str, Any]) -> list[str]:
    if not known["skipped"]:
        return []
    silent = np.bincount(answered.skipped[:, 0], minlength=answered.instance.n_tasks) > 0
    share = 100 * known["skipped"] / (known["skipped"] + known["new_labels"])
    return [
        f"{known['skipped']} label(s) were withheld ({share:.3g} % of those asked), on tasks of which "
        f"{int((silent & ~answered.answers.sure).sum())} are not sure without; no worker is asked the same again"
    ]


def _late(answered: Answered, known: dict[str, Any], output: Path) -> list[str]:
    if not known["missing"]:
        return []
    late = Counter(answered.instance.worker_id(j) for j in answered.answers.missing[:, 1].tolist()).most_common()
    names = _first([f"{name} ({count})" for name, count in late])
    return [f"{known['missing']} planned label(s) have not come: from {names}; see {output}/missing.csv"]


def _first(names: Sequence[str], most: int = 5) -> str:
    return ", ".join(names[:most]) + (", ..." if len(names) > most else "")


def _rounds(answers: Answers) -> str:
    if answers.iterations == 0:
        return ""
    return f" ({answers.iterations} rounds{'' if answers.converged else ', not converged'})"


def _with_a_folder(_: bool, plan: AnyPath | None, output: AnyPath | None, **typed: Any) -> dict[str, Any]:
    if plan is not None and output is None:
        raise InputError("with --plan, give the campaign it was made for (--campaign) and a folder to write (-o)")
    return {**typed, "plan": plan, "output": output}


def _said(done: Answered | Aggregated | Answers, output: AnyPath | None, workers: AnyPath | None) -> Said:
    if isinstance(done, Answered):
        looks = looks_to_certify(done.instance.n_tasks, float(done.instance.epsilon.mean()))
        known = {"answers": str(output), **facts(done), "looks_to_certify": looks}
        return Said(known, _of_plan(done, Path(str(output))))
    assert isinstance(done, Aggregated)
    count = len(done.labels.tasks)
    known = {**_facts_of(done), "looks_to_certify": looks_to_certify(count)}
    more = [
        certifying(count, TARGET, output or "ANSWERS"),
        "to plan more labels where they are needed: crowdopt import LABELS --collected -o CAMPAIGN",
    ]
    return Said(known, [*_lines(done), *more, *(f"wrote {path}" for path in (output, workers) if path is not None)])


VERBS = (Verb("aggregate", aggregate, _said, prepared=_with_a_folder),)
