"""What the tests of the guide's pages read from a page: prose, code blocks, tables, commands."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import click

from helpers import cli, messages, paths

GUIDE = paths.COURSE / "guide"
COMMAND = re.compile(r"python -m helpers ([a-z][^`\n]*)")


def files(*pages: str) -> list[Path]:
    """Return the paths of pages, in every language."""
    return [GUIDE / f"{page}.{language}.md" for page in pages for language in messages.LANGUAGES]


def name_of(path: Path) -> str:
    """Return a test's id for a page."""
    return path.name


def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def prose_of(path: Path) -> str:
    """Return a page without its code blocks, indented ones included."""
    return re.sub(r"^ *```.*?^ *```", "", text_of(path), flags=re.S | re.M)


def blocks_of(path: Path, kind: str) -> list[str]:
    """Return the code blocks of a kind ("bash", "python"), without their indentation."""
    found = re.findall(rf"^( *)```{kind}\n(.*?)^ *```", text_of(path), re.S | re.M)
    return [re.sub(rf"^{indent}", "", body, flags=re.M) for indent, body in found]


def tables_of(path: Path) -> dict[str, list[list[str]]]:
    """Return the rows of a page's tables, head and rule left out, by the heading above."""
    found: dict[str, list[list[str]]] = {}
    heading = ""
    for line in text_of(path).splitlines():
        if line.startswith("#"):
            heading = line.strip("# ")
        elif line.startswith("|"):
            cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
            found.setdefault(heading, []).append(cells)
    return {heading: rows[2:] for heading, rows in found.items()}


def commands_of(path: Path) -> list[str]:
    """Return the words after `python -m helpers` of every command on a page."""
    return [found[1].strip() for found in COMMAND.finditer(text_of(path))]


def parsed(words: str) -> click.Context:
    """Return a command's context as click reads it.

    Raises:
        click.ClickException, AssertionError: no such command, option or value.
    """
    given = shlex.split(words)
    command = cli.main.get_command(click.Context(cli.main), given[0])
    assert command is not None, words
    return command.make_context(given[0], given[1:])
