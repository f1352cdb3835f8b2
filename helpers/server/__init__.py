"""One vLLM server: start, wait, ask for its state, stop, and prove the end. Four verbs: start,
wait_ready, stop, status.

`process` knows process groups, `state` the files that let others find a server, `endpoint` the HTTP
side, `log` the log. This module puts them together and knows no accelerator: what to run is an
engine's answer.
"""

from __future__ import annotations

from helpers.server.device import find_running
from helpers.server.endpoint import Endpoint, RemoteServer
from helpers.server.lifecycle import attach, current, start, use
from helpers.server.listing import Status, status, stop_all, stop_run
from helpers.server.process import port_is_free
from helpers.server.running import Server
from helpers.server.stopping import StopProof

__all__ = [
    "Endpoint",
    "RemoteServer",
    "Server",
    "Status",
    "StopProof",
    "attach",
    "current",
    "find_running",
    "port_is_free",
    "start",
    "status",
    "stop_all",
    "stop_run",
    "use",
]
