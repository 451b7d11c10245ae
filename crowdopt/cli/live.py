"""The verb live: a campaign that runs as a service, tokens for it, and what its history proves and gives."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from crowdopt.cli.command import PATH
from crowdopt.cli.common import manual, say
from crowdopt.verbs.live import check_history, export_history, held_against
from crowdopt.verbs.live import serve as call
from crowdopt.verbs.live import token as new_token

STORE = "campaign.db"


class LiveCommands(click.Group):
    """A group whose first word is a campaign where it is no subcommand: that one is served."""

    def resolve_command(self, context: click.Context, args: list[str]) -> Any:
        """The subcommand, or ``serve``."""
        if args and args[0] not in self.commands:
            args = ["serve", *args]
        return super().resolve_command(context, args)

    def parse_args(self, context: click.Context, args: list[str]) -> list[str]:
        """Options before the campaign are those of ``serve``, but for help."""
        if args and args[0].startswith("-") and args[0] != "--help":
            args = ["serve", *args]
        return super().parse_args(context, args)


as_json = click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of sentences.")
store = click.option("--store", default=STORE, help="The history: a file, or postgresql://…")
gold = click.option("--gold", type=PATH, help="Known answers: task,label[,type].")
folder = click.argument("campaign", type=PATH)


@click.group(
    cls=LiveCommands,
    epilog=manual(
        "crowdopt live token --worker ada",
        reads="a campaign; gold_tasks.csv in its folder, if it is there (task,label[,type])",
        writes="the store: every event, before it is acknowledged",
    ),
)
def live() -> None:
    """Run a campaign while people work: `crowdopt live CAMPAIGN` serves it.

    Workers label on its page or by their own programs; the manager looks and steers. Killed and started again, it goes
    on where it stopped. Its options: `crowdopt live serve --help`.
    """


@live.command()
@folder
@click.option("--policy", default="sequential", help="A policy of compare or learn, with its options.")
@store
@gold
@click.option("--seed", default=0, type=click.IntRange(0, 2**31 - 1), help="Seed of the policy.")
@click.option("--lease", default=600.0, help="Seconds that a worker may take for a task.")
@click.option("--newcomers", default=0, help="Number of workers who may come beyond those of workers.csv.")
@click.option("--money", type=float, help="The most that labels may cost, in place of the campaign's budget.")
@click.option("--horizon", default=10_000, help="Number of tasks that will arrive, for a policy of learn.")
@click.option("--crew", default=3, help="Number of workers at work from which on new ones wait, where these suffice.")
@click.option("--host", default="127.0.0.1", help="Address to listen at; 0.0.0.0 lets other machines in.")
@click.option("--port", default=8080, type=click.IntRange(0, 65535), help="Port to listen at; 0: any free one.")
def serve(campaign: Path, host: str, port: int, **settings: Any) -> None:
    """Serve the campaign until the process is told to end; acknowledged labels are kept.

    The secret of the link by which participants come is read from the environment: CROWDOPT_JOIN_SECRET.
    """
    call(campaign, (host, port), lambda line: say(False, {}, line), **settings)


@live.command()
@click.option("--worker", help="The worker's name; without it the token is the manager's.")
@click.option("--expert", is_flag=True, help="Make the expert's token, who looks at answers.")
@store
@as_json
def token(worker: str | None, expert: bool, store: str, as_json: bool) -> None:
    """Make a token for a worker, the expert or the manager; it is shown once and ends the one before."""
    if expert and worker is not None:
        raise click.UsageError("a token is for one of them: leave --worker or --expert out")
    role = "expert" if expert else "manager"
    made = new_token(store, worker, role)
    say(as_json, {"owner": worker or role, "token": made}, made)


@live.command()
@folder
@store
@gold
@click.option("--policy", help="Another policy to compare with the history.")
@as_json
def replay(campaign: Path, store: str, gold: Path | None, policy: str | None, as_json: bool) -> None:
    """Repeat every decision of a history and check that it records the same, or compare another policy with it."""
    found = check_history(campaign, store, gold)
    facts: dict[str, Any] = {"history": asdict(found), "other": None}
    lines = [
        f"{found.events} events, {found.decisions} decisions of {found.policy} made anew: all are those recorded",
        f"{found.labels} labels, paid {found.paid:g}",
    ]
    if policy is not None:
        other = held_against(campaign, store, policy, gold)
        facts["other"] = asdict(other)
        lines.append(
            f"{other.policy} asks for {other.labels + other.missing} labels of the same workers; "
            f"{other.missing} of them were never given; it answers {other.same_answers} of {other.answers} tasks alike"
        )
    say(as_json, facts, *lines)


@live.command()
@folder
@store
@gold
@click.option("-o", "--output", type=PATH, required=True, help="Folder with labels.csv and the campaign to write.")
@click.option("--force", is_flag=True, help="Replace the output if it exists.")
@as_json
def export(campaign: Path, store: str, gold: Path | None, output: Path, force: bool, as_json: bool) -> None:
    """Write the labels of a history, and the campaign with these labels in, for aggregate and solve."""
    found = export_history(campaign, store, output, gold=gold, force=force)
    say(as_json, asdict(found), f"wrote {output}: {found.labels} labels, and the campaign with these labels in")


VERBS = (live,)
