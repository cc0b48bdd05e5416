"""A run's output: from the file on its volume, which is whole; on a terminal from the kubelet, which keeps its end."""

from __future__ import annotations

import time
from collections.abc import Iterator

from mle_backend_kubernetes import names
from mle_backend_kubernetes.cluster import Cluster
from mle_backend_kubernetes.exec import Broken
from mle_backend_kubernetes.program.paths import OUTPUT
from mle_backend_kubernetes.reader import NotBegun, Reader, pieces
from mle_backend_kubernetes.statuses import Statuses
from mle_backend_kubernetes.tracked import Pods
from mlecore.backends import Handle
from mlecore.errors import BackendUnreachable

TRIES = 5


class Logs:
    """Reads what agents print, for one backend."""

    def __init__(self, cluster: Cluster, watch: Pods, statuses: Statuses, reader: Reader) -> None:
        self._cluster = cluster
        self._watch = watch
        self._statuses = statuses
        self._reader = reader

    def read(self, handle: Handle, offset: int, follow: bool) -> Iterator[bytes]:
        """See Backend.logs."""
        failures = 0
        while True:
            try:
                ended = not follow or self._ended(handle)
                for chunk in self._once(handle, offset, follow=not ended):
                    offset += len(chunk)
                    failures = 0
                    if chunk:
                        yield chunk
                    elif self._ended(handle):
                        break
                if ended:
                    return
            except NotBegun:
                if not follow:
                    return
            except (Broken, BackendUnreachable) as error:
                failures += 1
                if not follow and (failures > TRIES or not isinstance(error, Broken)):
                    raise BackendUnreachable(f"the output of {handle.name} cannot be read: {error}") from error
            time.sleep(min(10.0, 0.2 * 2 ** min(failures, 10)))

    def _ended(self, handle: Handle) -> bool:
        return self._statuses.of([handle])[handle].phase in ("exited", "gone")

    def _once(self, handle: Handle, offset: int, follow: bool) -> Iterator[bytes]:
        """On one connection; an empty piece now and then where nothing comes."""
        pod = self._watch.agent(names.uid(handle))
        if pod is not None and pod.terminal:
            yield from self._from_kubelet(pod.name, offset, follow)
            return
        with self._reader.execute(handle, "give", OUTPUT, str(offset), *["follow"] * follow) as stream:
            yield from pieces(stream)

    def _from_kubelet(self, pod: str, offset: int, follow: bool) -> Iterator[bytes]:
        query = {"container": names.AGENT, "follow": str(follow).lower()}
        with self._cluster.stream(self._cluster.path("pods", pod, "log"), 24 * 3600.0, **query) as response:
            for chunk in response.stream(1 << 16):
                if len(chunk) > offset:
                    yield chunk[offset:]
                offset = max(0, offset - len(chunk))
