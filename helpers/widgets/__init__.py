"""Two panels for a notebook, only when called: a chat playground and a board of checkpoints.

Text where nobody could click: under papermill, nbval and in a terminal. Importing this loads no
ipywidgets. Not for the lessons' own requests: those are `chat`'s, in plain sight.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from helpers import messages, refusals
from helpers.server.endpoint import Endpoint
from helpers.widgets import front_end, interrupts
from helpers.widgets.board import board
from helpers.widgets.conversation import Conversation

if TYPE_CHECKING:
    from helpers.tools import Tool
    from helpers.widgets.panel import Panel

__all__ = ["board", "playground"]

_panels: dict[tuple[str, str], Panel] = {}


def playground(
    server: Endpoint | None = None, *, tools: Sequence[Tool | Callable[..., Any]] = ()
) -> None:
    """Show a panel to chat with a server: several turns, pictures, thinking folded, tool calls.

    A second call for the same server shows the same panel, its conversation included.

    Args:
        server: whom to ask; None asks the server that this kernel started or attached to last.
        tools: what the model may call, as `tools.run_tools` takes them; they are run.
    Raises:
        NeverStarted: there is no server, or this kernel has stopped it.
        NotATool, DuplicateTool: the tools cannot be offered.
    """
    endpoint = refusals.endpoint(server)
    name = _name(endpoint)
    if not front_end.is_attended():
        print(messages.text("widgets.playground.text", server=name))
        return
    if importlib.util.find_spec("ipywidgets") is None:
        print(messages.text("widgets.playground.no_ipywidgets", server=name))
        return
    panel = _panel(endpoint)
    panel.conversation.serve(endpoint, tools)
    front_end.show(panel.box, messages.text("widgets.playground.text", server=name))


def _name(endpoint: Endpoint) -> str:
    label = f" {messages.text('model.stand_in')}" if endpoint.stand_in else ""
    return endpoint.served_model_name + label


def _panel(endpoint: Endpoint) -> Panel:
    from helpers.widgets.panel import Panel

    key = (endpoint.base_url, endpoint.served_model_name)
    if key not in _panels:
        conversation = Conversation(endpoint)
        _panels[key] = Panel(conversation)
        interrupts.watch(conversation.stop)
    return _panels[key]
