"""What help adds to a verb's options: an example to paste, files read and written, exit status; verbs by question."""

from __future__ import annotations

QUESTIONS: dict[str, dict[str, str]] = {
    "A campaign to start from": {
        "init": "Write a small campaign, with comments.",
        "generate": "Draw a synthetic campaign by a recipe.",
        "import": "Make a campaign of labels that you have.",
    },
    "Who labels what": {
        "solve": "Find the cheapest labels that keep the promise.",
        "verify": "Recompute everything that a plan claims.",
        "explain": "Say why there is no plan, or what a limit costs.",
        "budget": "Spend so many labels, or so much money.",
    },
    "Whom to hire": {
        "select": "Decide whom to hire by control questions.",
        "plan-gold": "Say how much gold a target needs.",
    },
    "Where people label": {
        "push": "Hand a plan to a labelling tool.",
        "pull": "Get the labels back from it.",
    },
    "What the answers are": {
        "rehearse": "Simulate the labels of a plan.",
        "aggregate": "Turn labels into answers.",
        "audit": "Prove how many answers are wrong at most.",
    },
    "Workers or tasks that arrive": {
        "compare": "Compare online policies with the optimum.",
        "learn": "Learn whom to ask while tasks arrive.",
        "live": "Run a campaign while people label.",
    },
    "Programs and solvers": {
        "export": "Write the program for another solver.",
        "backends": "Try which solvers work here.",
        "bench": "Run solvers side by side.",
    },
    "Pages to look at": {
        "report": "Write the page of a plan or of results.",
    },
}
"""The verbs by question, in the order of work, and what each does: said without loading it."""

SENTENCES = {verb: sentence for verbs in QUESTIONS.values() for verb, sentence in verbs.items()}
OURS = tuple(SENTENCES)
FILES = {"import": "import_labels"}
"""The files of verbs that Python keeps the name of for itself."""

ELSE = "Others"  # what other packages add
STATUS = "Exit status: 0 an answer, 1 no, 2 bad input, 3 our fault, 130 interrupted."
FIRST = "crowdopt init my-campaign"
PLANNED = "crowdopt solve my-campaign -o my-plan"
REHEARSED = "crowdopt rehearse my-campaign my-plan -o labels.csv --truth truth.csv"
ANSWERED = "crowdopt aggregate labels.csv --plan my-plan --campaign my-campaign -o answers"


def manual(*example: str, reads: str, writes: str, status: str = STATUS) -> str:
    """The text below a verb's options.

    *example: commands to paste, one after another, after ``crowdopt init my-campaign``; the last one shows the verb;
    reads, writes: files and folders, as a reader finds them; status: what the exit status says.
    """
    after = "Example:" if example[0].startswith(FIRST) else f"Example, after {FIRST}:"
    return "\n\n".join(
        [after, "\b\n" + "\n".join(f"  {line}" for line in example), f"Reads {reads}.", f"Writes {writes}.", status]
    )


def file_of(verb: str) -> str:
    """The file here in which a verb of ours is."""
    return FILES.get(verb, verb.replace("-", "_"))


def by_question(verbs: list[str]) -> dict[str, list[str]]:
    """Verbs under their questions, in order; those that no question names come last."""
    known = {question: [verb for verb in named if verb in verbs] for question, named in QUESTIONS.items()}
    placed = {verb for named in known.values() for verb in named}
    known[ELSE] = [verb for verb in verbs if verb not in placed]
    return {question: named for question, named in known.items() if named}
