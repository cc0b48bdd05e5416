"""Build an environment on a node, for all nodes: it lies on the shared disk."""

from __future__ import annotations

import json
import os
from pathlib import Path

from mle_backend_slurm.node import sandboxing
from mlecore.errors import MlecoreError
from mlecore_jobs.supervise.files import read_json, write_json
from mlecore_sandboxes import environments, images, packing


def build(root: Path, folder: Path) -> None:
    """What to build lies in ``folder``, where the result and the log go."""
    request = read_json(str(folder / "request.json"))
    given = read_json(str(folder / "given.json"))
    (folder / "given.json").unlink(missing_ok=True)
    if request is None or given is None:
        return
    os.environ.update(given)  # addresses of mirrors, with their passwords
    result: dict[str, object]
    try:
        recipe, log = packing.unpack(request["recipe"]), folder / "build.log"
        if recipe.image is not None:
            image = images.build(recipe.image, root, log)
        else:
            image = environments.build(recipe, root, log, sandboxing.chosen(request["isolation"]))
        result = {"image": packing.pack(image)}
    except MlecoreError as error:
        result = {"message": error.message, "fix": error.fix}
    write_json(str(folder / "result.json"), json.loads(json.dumps(result)), durable=True)
