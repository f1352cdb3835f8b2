"""Secrets as they get into logs and commands: how they are written, cut, and what stands around them."""

from __future__ import annotations

import base64
import html
import json
import re
import shlex
from collections.abc import Callable
from urllib.parse import quote, quote_plus, unquote

PREFIX = "(EngineCore pid=4711) INFO 11-30 12:00:00 [core.py:93] "

FORMS: dict[str, Callable[[str], str]] = {
    "as it is": str,
    "json": json.dumps,
    "json in json": lambda value: json.dumps(json.dumps({"key": value})),
    "json with escaped slashes": lambda value: json.dumps(value).replace("/", "\\/"),
    "repr": repr,
    "percent": lambda value: quote(value, safe=""),
    "percent, lower case": lambda value: re.sub(
        "%..", lambda m: m[0].lower(), quote(value, safe="")
    ),
    "percent twice": lambda value: quote(quote(value, safe=""), safe=""),
    "form": quote_plus,
    "shell": shlex.quote,
    "html": html.escape,
    "base64": lambda value: base64.b64encode(value.encode()).decode(),
}
BREAKS = {
    "a newline": "\n",
    "the logger's prefix": "\n" + PREFIX,
    "carriage return": "\r\n  ",
    "a colour": "\x1b[0m\x1b[1;31m",
    "a colour and a prefix": "\x1b[0m\n\x1b[36m(APIServer pid=1)\x1b[0;0m ERROR 11-30 12:00:00 [x.py:1] ",
    "another logger": "\n2026-11-30 12:00:00,123 INFO ",
    "a frame": "\n│ ",
}
AROUND = {
    "variable": "export MY_SERVICE_TOKEN={} # set",
    "variable in quotes": 'MY_KEY="{}"',
    "environ": "environ({{'HOME': '/x', 'DB_PASSWORD': '{}', 'A': 'b'}})",
    "items": "[('HF_TOKEN', '{}'), ('A', 'b')]",
    "option": "vllm serve m --api-key {} --port 80",
    "option with =": "vllm serve m --hf-token={} --port 80",
    "option over two lines": "vllm serve m --api-key \\\n    {}",
    "argv": "argv: ['vllm', '--api-key', '{}', '--port', '80']",
    "namespace": "args: Namespace(host='x', api_key=['{}'], port=80)",
    "non-default args": "non-default args: {{'model_tag': 'm', 'api_key': ['{}'], 'port': 80}}",
    "bearer": "Authorization: Bearer {}",
    "bearer in json": '{{"headers": {{"authorization": "Bearer {}"}}, "n": 1}}',
    "bearer in escaped json": '{{\\"Authorization\\": \\"Bearer {}\\", \\"n\\": 1}}',
    "curl": "curl -H 'Authorization: Bearer {}' http://127.0.0.1:8000/v1/models",
    "curl -u": "curl -u me:{} http://x",
    "address": "GET https://user:{}@host/path",
    "address without a user": "git clone https://{}@github.com/a/b",
    "address, percent": "next=https%3A%2F%2Fuser%3A{}%40host%2F",
    "query": "GET https://cdn.example/f?X-Signature={}&e=1",
    "header": "X-Api-Key: {}",
    "gitlab's header": "PRIVATE-TOKEN: {}",
    "cookie": "Cookie: session={}; theme=dark",
    "yaml": "hf_token: {}",
    "camel": '{{"accessToken":"{}"}}',
}
SHAPES = {
    "hugging face": "hf_" + "aB3" * 11 + "x",
    "github": "ghp_" + "aB3" * 12,
    "github, fine-grained": "github_pat_11ABCDEFG0_" + "aB3" * 15,
    "gitlab": "glpat-" + "aB3-_" * 4,
    "openai": "sk-proj-" + "aB3" * 12,
    "jwt": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dBjftJeZ4CVP-mB92K27uhbUJU1p1r",
    "aws": "AKIA" + "ABCD1234" * 2,
    "without a prefix": "Zx8kQ2mPv7LrT4nWb6Yc",
}


def bare(text: str) -> str:
    """Return a text as a reader might put it together again: lines, colours and escapes undone."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", text)
    return re.sub(
        r"\r?\n(?:\(\w+ pid=\d+\) (?:INFO|ERROR) \S+ \S+ \[\S+\] |[\d,: -]+INFO |│ |  )?", "", text
    )


def survives(secret: str, text: str) -> bool:
    seen = [text, bare(text)]
    for one in list(seen):
        seen += [unquote(one), unquote(unquote(one)), html.unescape(one), one.replace("\\", "")]
    return any(secret in one for one in seen)
