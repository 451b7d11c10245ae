"""A verb as a command: its options are the arguments of the call, their help what the docstring says of them."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin

import click

from crowdopt.cli.common import ProgressLine, manual, say
from crowdopt.errors import InputError, hint_of
from crowdopt.said import Verb, Word

PATH = click.Path(path_type=Path)
KINDS: dict[Any, Any] = {int: click.INT, float: click.FLOAT, str: click.STRING, bool: click.BOOL, Path: PATH}
ENTRY = re.compile(r"^(\S[^\n]*?) : [^\n]*\n((?:[ ]{4}[^\n]*\n|\n(?=[ ]{4}))+)", re.MULTILINE)
ROLE = re.compile(r":\w+:`~?(?:[\w.]*\.)?(\w+)`|``([^`]*)``")
HEAD = re.compile(r"\n\n([A-Z][a-z]+)\n-{4,}\n")
PLAIN = Word()
COMMA = re.compile(r",(?![^\[]*\])")  # not within the brackets of a backend's own options
JSON = click.Option(["--json", "as_json"], is_flag=True, help="Print one JSON object instead of sentences.")


class Taken(NamedTuple):
    """What a command takes for an argument."""

    kind: Any  # click's
    many: bool = False
    pairs: bool = False  # KEY=VALUE
    word: Word = PLAIN


def command(verb: Verb) -> click.Command:
    """The command of a verb."""
    every = inspect.signature(verb.call).parameters.values()
    taken = {one.name: (one, found) for one in every if (found := _taken(hint_of(verb.call, one.annotation)))}
    parts = _sections(verb.call)
    said = dict(_described(parts.get("Parameters", "")))
    params = [_parameter(one, found, said.get(name, ""), verb) for name, (one, found) in taken.items()]
    texts = {name: found for name, (_, found) in taken.items() if found.pairs or found.word.listed}
    return click.Command(
        verb.name,
        callback=partial(_run, verb, texts),
        params=[*params, JSON],
        help=parts[""],
        epilog=manual(*map(str.strip, parts["Examples"].split("\n")[2:]), reads=parts["Reads"], writes=parts["Writes"]),
    )


def _run(verb: Verb, texts: Mapping[str, Taken], /, as_json: bool, **given: Any) -> None:
    """Read what was typed, call, and say what the answer says."""
    takes = inspect.signature(verb.call).parameters
    for name, taken in texts.items():
        given[name] = _parted(name, given[name], taken, takes[name].default)
    if verb.prepared is not None:
        given = verb.prepared(as_json, **given)
    left = [name for name, one in takes.items() if given.get(name) is None and one.default is not one.empty]
    with ExitStack() as open_:
        heard: dict[str, Any] = {}
        if verb.follows:
            line = open_.enter_context(ProgressLine())
            heard = {"listener": line.show} if "listener" in takes else {}
        words = {name: value for name, value in given.items() if name in takes and name not in left}
        found = verb.call(**words, **heard)
    wanted = [name for name in inspect.signature(verb.said).parameters if name in given]
    answer = verb.said(found, **{name: given[name] for name in wanted})
    say(as_json, dict(answer.facts), *answer.lines)
    if answer.status:
        raise SystemExit(answer.status)


def _parted(name: str, typed: Any, taken: Taken, default: Any) -> Any:
    """Several words as a list, or KEY=VALUE as a mapping; the call's default where nothing was typed."""
    if not typed and (taken.pairs or typed is None or not default):
        return default if default is not inspect.Parameter.empty else ()
    flag = _flag(name, taken.word)
    pairs = [text.rpartition("=") for text in typed] if taken.pairs else [("", "=", one) for one in COMMA.split(typed)]
    if taken.pairs and not all(sign for _, sign, _ in pairs):
        raise InputError(f"{flag} {' '.join(typed)}: write a name and a number, such as {flag} nurses=2")
    try:
        found = [(key.strip(), taken.kind(value.strip(), None, None)) for key, _, value in pairs]
    except click.BadParameter as error:
        raise InputError(f"{flag}: {error.message}") from None
    if not taken.pairs and "" in (values := [value for _, value in found]):
        raise InputError(f"{flag} {typed}: there is nothing between two commas")
    return dict(found) if taken.pairs else values


def _taken(hint: Any, word: Word = PLAIN) -> Taken | None:
    """What a command takes for an argument of this type; None where it can only be given in Python."""
    if get_origin(hint) is Annotated:
        inner, *words = get_args(hint)
        return _taken(inner, next((one for one in words if isinstance(one, Word)), word))
    if get_origin(hint) in (Union, UnionType):
        parts = [part for part in get_args(hint) if part is not NoneType]
        if Path in parts:
            return Taken(PATH, word=word)
        typed = [part for part in parts if get_origin(part) is Annotated]  # which of several a command takes
        some = [_taken(part, word) for part in typed or parts]
        return some[0] if len(some) == 1 else None
    if get_origin(hint) is Literal:
        return Taken(click.Choice(list(get_args(hint))), word=word)
    origin, args = get_origin(hint), get_args(hint)
    if origin is tuple:
        return Taken(click.Tuple([KINDS[one] for one in args]), word=word)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return Taken(KINDS[args[1]], many=True, pairs=True, word=word)
    if isinstance(origin, type) and issubclass(origin, Iterable):
        inner = _taken(args[0], word)
        return inner and inner._replace(many=not inner.word.listed)
    return Taken(KINDS[hint], word=word) if hint in KINDS else None


def _parameter(one: inspect.Parameter, taken: Taken, said: str, verb: Verb) -> click.Parameter:
    required, default = one.default is one.empty or one.name in verb.needs, one.default
    word, kind = taken.word, click.STRING if taken.pairs or taken.word.listed else taken.kind
    by_place = one.kind is not one.KEYWORD_ONLY and not word.listed and not word.typed and one.name != "output"
    if by_place and (word.place or one.default is one.empty or kind is PATH):
        place = word.place or None
        return click.Argument([one.name], type=kind, nargs=-1 if taken.many else 1, required=required, metavar=place)
    flag = _flag(one.name, word)
    shown: dict[str, Any] = {"help": said, "required": required, "show_default": True}
    if kind is click.BOOL:
        return click.Option([flag, one.name], is_flag=True, help=said)
    if taken.many:
        return click.Option([flag, one.name], type=kind, multiple=True, metavar=word.place or None, help=said)
    if not required and default is not None and default is not False:
        shown["default"] = ",".join(map(str, default)) if word.listed else default
        shown["show_default"] = default not in ("", ())
    names = ["-o", "--output"] if one.name == "output" else [flag]
    return click.Option([*names, one.name], type=kind, metavar=word.place or None, **shown)


def _flag(name: str, word: Word) -> str:
    return word.typed or f"--{name.replace('_', '-')}"


def _sections(call: Callable[..., Any]) -> dict[str, str]:
    """The sections of a docstring by their heads; what stands before the first is named by nothing."""
    first, *others = HEAD.split(_plain(inspect.cleandoc(call.__doc__ or "")))
    return {"": first, **{name: text.strip("\n") for name, text in zip(others[::2], others[1::2], strict=True)}}


def _described(section: str) -> Iterable[tuple[str, str]]:
    """Each argument, and the first sentence of what is said of it."""
    for names, text in ENTRY.findall(section + "\n"):
        sentence = re.split(r"(?<=[\w)\]/])\.(?=\s|$)", " ".join(text.split()))[0]
        for name in names.split(","):
            yield name.strip(), f"{sentence.rstrip('.')}."


def _plain(text: str) -> str:
    return ROLE.sub(lambda found: found[1] or found[2], text)
