"""The process of a server that several runs share: `python -m helpers.batch.host FOLDER` starts
what FOLDER's host.json names, says in ready.json where it answers, and waits to be ended; then it
stops the server and leaves ended.json. What it says is its log.

Not for the command line: `shared` calls it.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

from helpers import catalog, engines, marked, models, records, server
from helpers.batch import child, single
from helpers.batch.folders import ASKED, ENDED, READY
from helpers.errors import LabError
from helpers.parameters import default
from helpers.server import ledger


def main(words: list[str]) -> int:
    """Return 0 after a server that had answered was stopped, 1 where it could not be started."""
    place = Path(words[0])
    asked = json.loads((place / ASKED).read_text(encoding="utf-8"))
    run_id, status = asked["run_id"], 1
    with marked.run_id(run_id), marked.terminated_like_ctrl_c():
        child.end_with(os.getppid())
        try:
            _write(place / READY, _started(**asked["command"]))
            status = 0
            while True:
                time.sleep(child.PAUSE)
        except KeyboardInterrupt:
            pass
        except LabError as error:
            _write(place / READY, {"code": error.code, "message": str(error)})
        finally:
            with marked.undisturbed():
                stopped = single.torn_down(run_id, child.say)
                starts = ledger.count(run_id)
                _write(place / ENDED, {"starts": starts, **stopped.model_dump()})
    return status


def _started(lab: str, engine: str, model_dir: str, options: dict[str, Any]) -> dict[str, str]:
    """Return the address and the name under which a lab's model is served, once it answers."""
    chosen = engines.select(engine)
    model = models.find(lab, chosen.name, model_dir, options.pop("served_model_name", ""))
    own = {"served_model_name": model.name, "port": 0, "devices": default("DEVICES", None)}
    one = server.start(chosen, model, catalog.options(lab, chosen.name, **options, **own))
    child.say(str(one.command))
    one.wait_ready()
    return {"base_url": one.base_url, "served_model_name": model.name}


def _write(path: Path, body: dict[str, Any]) -> None:
    records.write_whole(path, json.dumps(body, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
