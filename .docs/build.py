"""The site: the guide, the mathematics, the figures, the command line's help, and a reference from the docstrings.

``python .docs/build.py SITE`` writes it, after ``pip install -e '.[docs]'``. Pages are those of
the repository, each at its own place; the reference is pdoc's. Nothing in it needs a network or a script.
"""

from __future__ import annotations

import html
import os
import re
import shutil
import sys
import warnings
from pathlib import Path

import click
import markdown2
import pdoc.doc
import pdoc.render
from mathematics import set_apart

import crowdopt

ROOT = Path(__file__).resolve().parent.parent
STYLE, DARK = (Path(__file__).with_name(name) for name in ("style.css", "dark.css"))  # of our pages; of pdoc's by night
MARKDOWN = ["code-friendly", "cuddled-lists", "fenced-code-blocks", "tables"]
COMMENTS = re.compile(r"^<!-- .*? -->\n", re.MULTILINE)
LINK = re.compile(r'(href|src)="([^":#]+)(#[^"]*)?"')
HEADING = re.compile(r"<h(\d)>(.*?)</h\d>", re.DOTALL)
TABLE = re.compile(r"<table>.*?</table>", re.DOTALL)
INHERITED = (
    r"Error parsing type annotation .*\.__init__"  # pdoc looks for its names in the heir's module; printed as written
)
WIDTH = 100  # letters in a line of help
REFERENCE, HELP = "reference", "command_line.html"
BAR = (
    ("crowdopt", "index.html"),
    ("Guide", "crowdopt/index.html"),
    ("Mathematics", "models/index.html"),
    ("Figures", "benchmarks/index.html"),
    ("Command line", HELP),
    ("Reference", f"{REFERENCE}/crowdopt.html"),
)


def pages() -> list[Path]:
    """Every page of the repository that belongs to the site."""
    folders = [ROOT / name for name in ("crowdopt", "models", "benchmarks")]
    return [ROOT / "README.md", *sorted(page for folder in folders for page in folder.rglob("*.md"))]


def place(file: Path) -> str:
    """Where a file stands in the site: pages as HTML, modules in the reference, others as they are."""
    path = file.resolve().relative_to(ROOT)
    if path.suffix == ".md":
        return path.with_name("index.html" if path.stem == "README" else f"{path.stem}.html").as_posix()
    if path.suffix == ".py" and path.parts[0] == "crowdopt":
        return f"{REFERENCE}/{(path.parent if path.stem == '__init__' else path.with_suffix('')).as_posix()}.html"
    return path.as_posix()


def slug(heading: str) -> str:
    """A heading's anchor, as GitHub makes it of the text."""
    words = html.unescape(re.sub(r"<[^>]+>", "", heading)).lower()
    return re.sub(r"[^\w -]", "", words).replace(" ", "-")


def body_of(page: Path, site: Path) -> str:
    """A page's HTML: formulas typeset, headings with anchors, links to where the goals stand in the site."""
    text, formulas = set_apart(COMMENTS.sub("", page.read_text(encoding="utf-8")))
    body = str(markdown2.markdown(text, extras=MARKDOWN))
    body = HEADING.sub(lambda found: f'<h{found[1]} id="{slug(found[2])}">{found[2]}</h{found[1]}>', body)
    body = TABLE.sub(lambda found: f'<div class="wide">{found[0]}</div>', body)
    here = Path(place(page)).parent

    def link(found: re.Match[str]) -> str:
        goal = page.parent / found[2]
        if not goal.exists():
            raise SystemExit(f"{page.relative_to(ROOT)}: {found[2]} leads nowhere; mend the link")
        where = place(goal)
        if goal.suffix != ".md" and not where.startswith(REFERENCE):
            (site / where).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(goal, site / where)
        return f'{found[1]}="{os.path.relpath(where, here)}{found[3] or ""}"'

    body = LINK.sub(link, body)
    return re.sub(r"formula\d{4}x", lambda found: formulas[found[0]], body)


def framed(title: str, body: str, where: str) -> str:
    """A whole HTML page."""
    up = Path(where).parent
    bar = " ".join(f'<a href="{os.path.relpath(goal, up)}">{name}</a>' for name, goal in BAR)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{html.escape(title)}</title>\n<style>\n{STYLE.read_text(encoding='utf-8')}</style>\n</head>\n"
        f"<body>\n<nav>{bar}</nav>\n<main>\n{body}\n</main>\n</body>\n</html>\n"
    )


def help_page() -> str:
    """What ``crowdopt --help`` and ``crowdopt VERB --help`` print."""
    from crowdopt.cli import main
    from crowdopt.cli.manual import by_question

    top = click.Context(main, info_name="crowdopt", terminal_width=WIDTH, help_option_names=["-h", "--help"])
    parts = ["<h1>The command line</h1>", f"<pre>{html.escape(main.get_help(top))}</pre>"]
    for question, verbs in by_question(main.list_commands(top)).items():
        parts.append(f'<h2 id="{slug(question)}">{question}</h2>')
        for verb in verbs:
            command = main.get_command(top, verb)
            assert command is not None
            context = click.Context(command, info_name=verb, parent=top, terminal_width=WIDTH)
            said = html.escape(command.get_help(context))
            parts.append(f'<h3 id="{verb}">crowdopt {verb}</h3>\n<pre>{said}</pre>')
    return "\n".join(parts)


def guide_of(page: Path, site: Path) -> str:
    """The guide that stands nearest to a page of the reference, as a relative link."""
    folder = page.relative_to(site / REFERENCE).with_suffix("")
    while not (site / folder / "index.html").exists():
        folder = folder.parent
    return os.path.relpath(site / folder / "index.html", page.parent)


def modules() -> list[str]:
    """Every module by name; pdoc alone would stop where a package lists its names."""
    files = [file.relative_to(ROOT) for file in sorted((ROOT / "crowdopt").rglob("*.py")) if file.stem != "__main__"]
    return [".".join((file.parent if file.stem == "__init__" else file.with_suffix("")).parts) for file in files]


def reference(site: Path) -> None:
    """The reference of every module, by pdoc; each of its pages links to the nearest guide."""
    pdoc.render.configure(docformat="numpy", show_source=False, search=False)
    for name in dir(crowdopt):
        getattr(crowdopt, name)  # they are loaded when somebody asks, and pdoc does not ask
    every = {name: pdoc.doc.Module.from_name(name) for name in modules()}
    dark = f"<style>\n{DARK.read_text(encoding='utf-8')}</style>\n"
    for name, module in every.items():
        page = site / REFERENCE / f"{name.replace('.', '/')}.html"
        page.parent.mkdir(parents=True, exist_ok=True)
        link = f'<a class="pdoc-button" href="{guide_of(page, site)}">Guide</a>'
        head, mark, tail = pdoc.render.html_module(module, every).partition('<nav class="pdoc">')
        text = head.replace("</head>", f"{dark}</head>") + mark + tail.replace("<div>", f"<div>{link}", 1)
        page.write_text(text, encoding="utf-8")


def build(site: Path) -> None:
    """Write the site into a folder that is not there, or empty; a warning is an error."""
    if site.exists() and any(site.iterdir()):
        raise SystemExit(f"{site} is not empty; choose another folder, or remove it")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", INHERITED)
        for page in pages():
            where = place(page)
            (site / where).parent.mkdir(parents=True, exist_ok=True)
            title = page.read_text(encoding="utf-8").partition("\n")[0].lstrip("# ")
            (site / where).write_text(framed(title, body_of(page, site), where), encoding="utf-8")
        (site / HELP).write_text(framed("The command line", help_page(), HELP), encoding="utf-8")
        reference(site)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit("usage: python .docs/build.py SITE")
    build(Path(sys.argv[1]).resolve())
