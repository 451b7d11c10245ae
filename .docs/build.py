"""The site: ``python .docs/build.py SITE`` writes it, after ``pip install -e '.[docs]'``.

Sphinx builds it from the repository's pages, each at its own place with its verbs' options, the command line's help,
and the docstrings of the public names and of all modules that a page links to. Nothing in it needs a network. A warning
is an error.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import tempfile
from pathlib import Path

import click
from sphinx.cmd.build import build_main

import crowdopt
from crowdopt.cli import main
from crowdopt.cli.common import by_question

HERE, ROOT = Path(__file__).resolve().parent, Path(__file__).resolve().parents[1]
LINK = re.compile(r"(\]\()([^)#\s:]+)(#[^)\s]*)?(?=\))")
COMMENT = re.compile(r"^<!-- .*? -->\n", re.MULTILINE)
INLINE = re.compile(r"\$`(.+?)`\$", re.DOTALL)
CODE = re.compile(r"(^```.*?^```)", re.DOTALL | re.MULTILINE)
BAR = "\\|"  # within a table
WIDTH = 100  # letters in a line of help
CHAPTERS = ("crowdopt", "models", "benchmarks", "reference")  # folders of the site, each with an index


def pages() -> list[Path]:
    """Every page of the repository that belongs to the site."""
    found = (page for name in CHAPTERS[:-1] for page in sorted((ROOT / name).rglob("*")))
    return [ROOT / "README.md", *(page for page in found if page.suffix in (".md", ".ipynb"))]


def module_of(file: Path) -> str:
    """The module that a file of the package is."""
    path = file.relative_to(ROOT)
    return ".".join((path.parent if path.stem == "__init__" else path.with_suffix("")).parts)


def place(file: Path) -> Path:
    """Where a file stands in the site's sources: a folder's page is its index, a module's is in the reference."""
    path = file.relative_to(ROOT)
    if path.suffix == ".py" and path.parts[0] == "crowdopt":
        return Path("reference", f"{module_of(file)}.md")
    path = path.with_suffix(".md") if path.suffix == ".ipynb" else path
    return path.with_name("index.md") if path.name == "README.md" else path


def as_source(page: Path, linked: set[Path]) -> str:
    """A page as Sphinx reads it: formulas as it knows them, links to where the goals stand; these are added."""

    def link(found: re.Match[str]) -> str:
        goal = (page.parent / found[2]).resolve()
        if not goal.exists():
            raise SystemExit(f"{page.relative_to(ROOT)}: {found[2]} leads nowhere; mend the link")
        linked.add(goal)
        return f"{found[1]}{os.path.relpath(place(goal), place(page).parent)}{found[3] or ''}"

    text = page.read_text(encoding="utf-8") if page.suffix == ".md" else as_page(page)
    parts = CODE.split(COMMENT.sub("", text))
    parts[::2] = [LINK.sub(link, INLINE.sub(r"{math}`\1`", text)) for text in parts[::2]]
    return "".join(parts).replace("```math", "```{math}").replace("```csv", "```text")


def as_page(notebook: Path) -> str:
    """A notebook as a page: its text, its code, and what that printed."""
    parts = []
    for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"]:
        source, code = "".join(cell["source"]), cell["cell_type"] == "code"
        parts.append(f"```python\n{source}\n```" if code else source)
        for one in cell.get("outputs", []):
            parts.append(f"```text\n{''.join(one.get('text') or one['data']['text/plain']).rstrip()}\n```")
    return "\n\n".join(parts) + "\n"


def verbs_by_page() -> dict[Path, list[str]]:
    """Which verbs a page of the guide is about, as the table on its first page says."""
    guide = ROOT / "crowdopt"
    rows = re.findall(
        r"^\| [^|]+\| (`[^|]+`) \| \[\w+\]\(([^)#]+)\) \|", (guide / "README.md").read_text("utf-8"), re.MULTILINE
    )
    return {guide / goal: re.findall(r"`([\w-]+)`", verbs) for verbs, goal in rows}


def options_of(verbs: list[str]) -> str:
    """Tables of the options of these verbs, from the commands themselves."""
    top, parts = click.Context(main), ["", "## Options"]
    for verb in verbs:
        command = main.get_command(top, verb)
        assert command is not None
        context = click.Context(command, info_name=verb, parent=top)
        told = [record for one in command.params if (record := one.get_help_record(context))]
        rows = [" | ".join([f"| `{name.replace('|', BAR)}`", f"{' '.join(said.split())} |"]) for name, said in told]
        parts += [
            f"### crowdopt {verb}",
            "\n".join(["| option | what it does |", "|---|---|", *rows]).replace("``", "`"),
        ]
    return "\n\n".join(parts) + "\n"


def help_page() -> str:
    """What ``crowdopt --help`` and ``crowdopt VERB --help`` print."""
    top = click.Context(main, info_name="crowdopt", terminal_width=WIDTH, help_option_names=["-h", "--help"])
    parts = ["# The command line", f"```text\n{main.get_help(top)}\n```"]
    for question, verbs in by_question(main.list_commands(top)).items():
        parts.append(f"## {question}")
        for verb in verbs:
            command = main.get_command(top, verb)
            assert command is not None
            context = click.Context(command, info_name=verb, parent=top, terminal_width=WIDTH)
            parts.append(f"### crowdopt {verb}\n\n```text\n{command.get_help(context)}\n```")
    return "\n\n".join(parts)


def reference(linked: set[Path]) -> dict[str, str]:
    """The pages of the reference: the public names, and each module that a page links to."""
    modules = sorted(module_of(file) for file in linked if place(file).parts[0] == "reference")
    names = [name for name in crowdopt.__all__ if callable(getattr(crowdopt, name))]
    face = [f"## {name}\n\n{directive(f'crowdopt.{name}', kind_of(getattr(crowdopt, name)))}" for name in names]
    named = {f"crowdopt.{name}" for name in names}  # some folders have the name of a call
    pages = {name: f"# {name}\n\n{directive(name, 'automodule', hidden=name in named)}" for name in modules}
    return {"index": "\n\n".join(["# Public names", *face]), **pages}


def kind_of(value: object) -> str:
    """What Sphinx documents a public name by."""
    return "autoclass" if isinstance(value, type) else "autofunction"


def directive(name: str, kind: str, hidden: bool = False) -> str:
    """Sphinx's words for one name; hidden: whether the index leaves it out, because another has its name."""
    return f"```{{eval-rst}}\n.. {kind}:: {name}\n{'   :no-index:' if hidden else ''}\n```"


def add_contents(sources: Path) -> None:
    """Tell Sphinx which pages stand below the front page and below each chapter's index; a reader sees them beside."""
    below = {"index": [*(f"{chapter}/index" for chapter in CHAPTERS[:-1]), "command_line", "reference/index"]}
    for chapter in CHAPTERS:
        found = (page.relative_to(sources / chapter).with_suffix("") for page in (sources / chapter).rglob("*.md"))
        face = (sources / chapter / "index.md").read_text(
            encoding="utf-8"
        )  # pages stand in the order in which it names them
        names = sorted(name.as_posix() for name in found if name.as_posix() != "index")
        below[f"{chapter}/index"] = sorted(names, key=lambda name: face.find(f"({name}.md") % (len(face) + 1))
    for name, others in below.items():
        with (sources / f"{name}.md").open("a", encoding="utf-8") as page:
            page.write("\n".join(["\n", "```{toctree}", ":hidden:", "", *others, "```", ""]))


def write(path: Path, text: str) -> None:
    """A page of the sources."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def build(site: Path) -> int:
    """Write the site into a folder that is not there, or empty."""
    if site.exists() and any(site.iterdir()):
        raise SystemExit(f"{site} is not empty; choose another folder, or remove it")
    with tempfile.TemporaryDirectory() as folder:
        sources, linked = Path(folder) / "sources", set[Path]()
        about = verbs_by_page()
        for page in pages():
            added = options_of(about[page]) if page in about else ""
            write(sources / place(page), as_source(page, linked) + added)
        for name, text in reference(linked).items():
            write(sources / "reference" / f"{name}.md", text)
        write(sources / "command_line.md", help_page())
        for file in linked:
            if place(file).suffix != ".md" and file.is_file():
                (sources / place(file)).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(file, sources / place(file))
        add_contents(sources)
        options = ["-q", "-W", "--keep-going", "-b", "html"]
        return build_main([*options, "-c", str(HERE), "-d", f"{folder}/trees", str(sources), str(site)])


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit("usage: python .docs/build.py SITE")
    sys.exit(build(Path(sys.argv[1]).resolve()))
