"""The chat playground's ipywidgets: what is shown, and what a click does.

The conversation is `conversation`'s, the HTML `markup`'s. Made in an attended notebook only.
"""

from __future__ import annotations

import base64
import threading
import time
from typing import Any

import ipywidgets

from helpers import messages
from helpers.errors import LabError
from helpers.picture_bytes import Picture
from helpers.widgets import markup
from helpers.widgets.conversation import Conversation, Settings, Turn

REDRAW_SECONDS = 0.1
"""A front end redraws a growing text no oftener; the last state is always drawn."""


class Panel:
    """The widgets of one conversation; `box` holds them all and may be shown in several places."""

    def __init__(self, conversation: Conversation) -> None:
        self.conversation = conversation
        conversation.changed = self._changed
        self._lock = threading.RLock()
        self._drawn = 0.0
        self._views: dict[int, TurnView] = {}
        self._pictures: list[Picture] = []
        self._make()

    def _make(self) -> None:
        text = messages.text
        wide = ipywidgets.Layout(width="auto")
        self.head = ipywidgets.HTML()
        self.transcript = ipywidgets.VBox()
        self.question = ipywidgets.Textarea(placeholder=text("widgets.question"), layout=wide)
        self.send = ipywidgets.Button(
            description=text("widgets.send"), button_style="primary", icon="paper-plane"
        )
        self.stop = ipywidgets.Button(description=text("widgets.stop"), icon="stop", disabled=True)
        self.clear = ipywidgets.Button(description=text("widgets.clear"), icon="trash")
        self.upload = ipywidgets.FileUpload(
            accept="image/*", multiple=True, description=text("widgets.upload")
        )
        self.drop = ipywidgets.Button(description=text("widgets.drop"))
        self.pending = ipywidgets.HBox()
        self.note = ipywidgets.HTML()
        self.settings = Sliders(self.conversation)
        self.send.on_click(self._send)
        self.stop.on_click(lambda button: self.conversation.stop())
        self.clear.on_click(self._clear)
        self.drop.on_click(lambda button: self._take([]))
        self.upload.observe(self._uploaded, "value")
        buttons = ipywidgets.HBox([self.send, self.stop, self.upload, self.clear])
        self.box = ipywidgets.VBox(
            [
                self.head,
                self.transcript,
                self.pending,
                self.note,
                self.question,
                buttons,
                self.settings.box,
            ]
        )
        self.box.add_class("labs-playground")
        self._redraw_controls()

    @property
    def _label(self) -> str:
        stands_in = self.conversation.endpoint.stand_in
        return messages.text("model.stand_in") if stands_in else ""

    def _send(self, button: object) -> None:
        question = self.question.value.strip()
        if not question:
            self.note.value = markup.note(messages.text("widgets.empty"))
            return
        if self.conversation.is_busy:
            self.note.value = markup.note(messages.text("widgets.busy"))
            return
        pictures = self._pictures
        self.question.value = ""  # before anything comes back: what is typed next stays
        self._take([])
        with self._lock:  # the first piece may come before the view is there
            turn = self.conversation.send(question, pictures, self.settings.read())
            if turn is None:
                return
            self._redraw_controls()
            view = self._views[id(turn)] = TurnView(turn, self._label)
            self.transcript.children = [*self.transcript.children, view.box]

    def _clear(self, button: object) -> None:
        self.conversation.clear()
        with self._lock:
            self._views.clear()
            self.transcript.children = []
        self._redraw_controls()

    def _uploaded(self, change: dict[str, Any]) -> None:
        from helpers import images

        if not change["new"]:
            return
        taken, refused = list(self._pictures), []
        for file in change["new"]:
            try:
                taken.append(images.load(bytes(file["content"])))
            except LabError as error:
                refused.append(f"<div>{markup.note(file['name'])}{markup.error(error)}</div>")
        self._take(taken)
        self.note.value += "".join(refused)
        self.upload.value = ()  # the same file can be chosen again

    def _take(self, pictures: list[Picture]) -> None:
        """Keep the pictures for the next question, and show them."""
        self._pictures = pictures
        shown = [thumbnail(one) for one in pictures]
        self.pending.children = [*shown, self.drop] if shown else []
        told = messages.text("widgets.pictures", number=len(pictures)) if pictures else ""
        self.note.value = markup.note(told) if told else ""

    def _changed(self, turn: Turn) -> None:
        with self._lock:
            view = self._views.get(id(turn))
            if view is None:
                return
            ended = turn.state != "running"
            if ended or time.monotonic() - self._drawn >= REDRAW_SECONDS:
                view.redraw()
                self._drawn = time.monotonic()
        if ended:
            self._redraw_controls()

    def _redraw_controls(self) -> None:
        endpoint = self.conversation.endpoint
        self.head.value = markup.head(endpoint.served_model_name, self._label)
        self.send.disabled = self.conversation.is_busy
        self.stop.disabled = not self.conversation.is_busy


class TurnView:
    """One question and its answer; a part that did not change keeps its widget, folded or not."""

    def __init__(self, turn: Turn, label: str) -> None:
        self._turn, self._label = turn, label
        self._kinds: list[str] = []
        self.parts: list[Any] = []
        self._head = [ipywidgets.HTML(markup.question(turn.question))]
        if turn.pictures:
            self._head.append(ipywidgets.HBox([thumbnail(one) for one in turn.pictures]))
        self.ending = ipywidgets.HTML()
        self.box = ipywidgets.VBox()
        self.redraw()

    def redraw(self) -> None:
        """Show the turn as it is by now."""
        for number, one in enumerate(list(self._turn.segments)):
            if self._kinds[number : number + 1] != [one.kind]:
                del self._kinds[number:], self.parts[number:]
                self._kinds.append(one.kind)
                self.parts.append(folded() if one.kind == "thinking" else ipywidgets.HTML())
            part = self.parts[number]
            target = part.children[0] if one.kind == "thinking" else part
            target.value = markup.segment(one)
        self.ending.value = markup.ending(self._turn, self._label)
        shown = [*self._head, *self.parts, self.ending]
        if list(self.box.children) != shown:
            self.box.children = shown


class Sliders:
    """The sampling settings, folded."""

    def __init__(self, conversation: Conversation) -> None:
        text, start = messages.text, Settings()
        endpoint = conversation.endpoint
        known = {"thinking"} if endpoint.capabilities is None else endpoint.capabilities
        # OpenBMB advises thinking for MiniCPM5; lab 01 asks MiniCPM-V without.
        thinks = "thinking" in known and "images" not in known
        longest = endpoint.max_model_len or 131072
        style = {"description_width": "initial"}
        self.temperature = ipywidgets.FloatSlider(
            start.temperature, min=0, max=2, step=0.05, description="temperature", style=style
        )
        self.top_p = ipywidgets.FloatSlider(
            start.top_p, min=0.05, max=1, step=0.05, description="top_p", style=style
        )
        self.max_tokens = ipywidgets.BoundedIntText(
            start.max_tokens, min=1, max=longest, description="max_tokens", style=style
        )
        self.thinking = ipywidgets.Dropdown(
            options=[
                (text("widgets.thinking.on"), True),
                (text("widgets.thinking.off"), False),
                (text("widgets.thinking.unset"), None),
            ],
            value=True if thinks else None,
            description="enable_thinking",
            style=style,
        )
        fields = [self.temperature, self.top_p, self.max_tokens, self.thinking]
        self.box = ipywidgets.Accordion(
            [ipywidgets.VBox(fields)], titles=[text("widgets.settings")]
        )

    def read(self) -> Settings:
        """Return what is set."""
        return Settings(
            self.temperature.value, self.top_p.value, self.max_tokens.value, self.thinking.value
        )


def folded() -> Any:
    """Return a fold for thinking, closed, with an empty text in it."""
    fold = ipywidgets.Accordion([ipywidgets.HTML()], titles=[messages.text("widgets.thinking")])
    fold.add_class("labs-thinking-fold")
    return fold


def thumbnail(picture: Picture) -> Any:
    """Return a small view of a picture."""
    raw = base64.b64decode(picture.url.partition(",")[2])
    layout = ipywidgets.Layout(max_height="96px", max_width="160px", object_fit="contain")
    kind = (picture.mime or "").removeprefix("image/")
    return ipywidgets.Image(value=raw, format=kind, layout=layout)
