"""A request that another thread can stop: an endpoint with a connection of its own, which is shut.

Not for asking: `chat` is given the endpoint.
"""

from __future__ import annotations

import copy
import threading
from typing import Any

import requests

from helpers.server.endpoint import Endpoint


class Stoppable:
    """One request to come, and the means to stop it.

    Attributes:
        endpoint: a copy of the one given, with a session that no other thread uses.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = copy.copy(endpoint)
        self.endpoint.session = session = requests.Session()
        session.trust_env = endpoint.session.trust_env
        session.hooks["response"].append(self._keep)
        self._reply: requests.Response | None = None
        self._stopped = threading.Event()

    @property
    def is_stopped(self) -> bool:
        """Return True once `stop` has been called."""
        return self._stopped.is_set()

    def stop(self) -> None:
        """Wake whoever reads the answer: nothing more will come. Before the server has begun to
        answer, that is when it does, or when the request's time is up.
        """
        self._stopped.set()
        self._shut()

    def close(self) -> None:
        """Give the connection back."""
        self.endpoint.session.close()

    def _keep(self, reply: requests.Response, **given: Any) -> None:
        self._reply = reply
        if self.is_stopped:
            self._shut()

    def _shut(self) -> None:
        try:
            if self._reply is not None:
                self._reply.raw.shutdown()  # the read side, meant for another thread: urllib3 2.3
        except (AttributeError, RuntimeError, ValueError, OSError):
            pass  # an older urllib3, or it has just ended: the next piece ends the reading
