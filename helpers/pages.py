"""An executed notebook as one HTML page that needs nothing from outside: no script, no style sheet,
no picture from elsewhere; made by nbconvert.

Executes nothing; the notebook stays as it is.
"""

from __future__ import annotations

import base64
import mimetypes
import os
import re
from functools import lru_cache
from pathlib import Path

import nbformat
from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape
from markupsafe import Markup
from nbconvert import HTMLExporter
from pygments.formatters import HtmlFormatter  # type: ignore[import-untyped]

from helpers import paths

_OUTSIDE = re.compile(
    r"<script\b[^>]*\bsrc=[^>]*>.*?</script>|<link\b[^>]*>", re.IGNORECASE | re.DOTALL
)
_LOCAL = re.compile(r'(href=")((?:\.\./)+[^"]+)(")')
_PICTURE = re.compile(r'(<img\b[^>]*\bsrc=")((?:\.\./)*[^":]+)(")')


def write(notebook: Path, source: Path, title: str, language: str) -> Path:
    """Return the path of the page of an executed notebook: beside it, with .html.

    Args:
        notebook: the executed one.
        source: the notebook that was run: its pictures and links are relative to it.
        title: of the page.
        language: "zh" or "en".
    Raises:
        OSError: it cannot be read, or the page not be written.
        ValueError: it is no notebook.
    """
    text = notebook.read_text(encoding="utf-8")
    book = nbformat.reads(text, as_version=4)  # type: ignore[no-untyped-call]
    body, _ = _exporter().from_notebook_node(book)
    body = _OUTSIDE.sub("", body)
    body = _PICTURE.sub(lambda found: _embedded(found, source.parent), body)
    body = _LOCAL.sub(lambda found: _moved(found, source.parent, notebook.parent), body)
    target = notebook.with_suffix(".html")
    page = environment().get_template("notebook.html.j2")
    style = HtmlFormatter(style="friendly").get_style_defs(".highlight")
    whole = page.render(
        title=title, language=language, body=Markup(body), style=Markup(style), name=notebook.name
    )
    target.write_text(whole, encoding="utf-8")
    return target


@lru_cache
def _exporter() -> HTMLExporter:
    """Return nbconvert's exporter; making it, with its templates, takes as long as a page."""
    return HTMLExporter(template_name="basic")  # type: ignore[no-untyped-call]


def environment() -> Environment:
    """Return the Jinja environment of all pages."""
    return Environment(
        loader=FileSystemLoader(Path(__file__).with_name("templates")),
        autoescape=select_autoescape(default=True, default_for_string=True),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _embedded(found: re.Match[str], source: Path) -> str:
    """Return a picture of the course with its bytes in the page; what is none stays as it is."""
    before, link, after = found.groups()
    target = (source / link).resolve()
    kind, _ = mimetypes.guess_type(target.name)
    if paths.ROOT not in target.parents or kind is None or not target.is_file():
        return found.group(0)
    return f"{before}data:{kind};base64,{base64.b64encode(target.read_bytes()).decode()}{after}"


def _moved(found: re.Match[str], source: Path, page: Path) -> str:
    """Return a link into the checkout as it leads there from the page; another stays as it is."""
    before, link, after = found.groups()
    path, mark, anchor = link.partition("#")
    target = (source / path).resolve()
    if paths.ROOT not in target.parents:
        return found.group(0)
    return f"{before}{os.path.relpath(target, page.resolve())}{mark}{anchor}{after}"
