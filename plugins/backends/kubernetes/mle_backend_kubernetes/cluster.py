"""The cluster's API server: its address, the login, and the meaning of its answers. Every request goes through it.

The kubernetes package reads the configuration (kubeconfig, tokens, certificates, login programs) and makes the
connections. Requests and answers are plain JSON: the package's own classes take milliseconds for each pod, and a watch
receives thousands.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import threading
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from mlecore.errors import BackendError, BackendUnreachable

if TYPE_CHECKING:
    import urllib3
    from kubernetes.client import Configuration

SECONDS = 60.0  # for an answer; past it, the server counts as unreachable, never as having answered
JSON = "application/json"
MERGE = "application/merge-patch+json"

NO_CLUSTER = (
    "Set KUBECONFIG to the file that names the cluster, or choose one of its contexts with -B context=NAME"
    " (kubectl config get-contexts)."
)
RIGHTS = "`mlecore doctor --backend kubernetes` lists what is missing; docs/kubernetes.md has the Role."


class NotFound(BackendError):
    """The server has no such object."""


class Exists(BackendError):
    """There is an object of this name already, or it was changed meanwhile."""


class Expired(BackendError):
    """A watch asks for changes from so long ago that the server has forgotten them."""


class Cluster:
    """Thread-safe. Nothing is contacted before the first request."""

    def __init__(self, context: str | None = None, namespace: str | None = None) -> None:
        self._context = context
        self._namespace = namespace
        self._lock = threading.Lock()
        self._loaded: tuple[Configuration, urllib3.PoolManager] | None = None

    @cached_property
    def namespace(self) -> str:
        """The one of the options, else the context's, else ``default``."""
        return self._namespace or _namespace_of(self._context) or "default"

    @property
    def configuration(self) -> Configuration:
        return self._load()[0]

    @cached_property
    def id(self) -> str:
        """Tells namespaces and clusters apart, so that no job is called gone where it never was."""
        found = self.get(self.path("configmaps", "kube-root-ca.crt"))
        return hashlib.sha256(str(found["metadata"]["uid"]).encode()).hexdigest()[:12]

    @cached_property
    def version(self) -> str:
        return str(self.get("/version")["gitVersion"])

    def path(self, kind: str, name: str = "", *more: str) -> str:
        """The path of a kind of objects in the namespace, or of one of them."""
        group = {"jobs": "/apis/batch/v1", "networkpolicies": "/apis/networking.k8s.io/v1"}.get(kind, "/api/v1")
        return "/".join(filter(None, (f"{group}/namespaces/{self.namespace}/{kind}", name, *more)))

    def get(self, path: str, **query: Any) -> dict[str, Any]:
        return self.request("GET", path, query=query)

    def create(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """An unknown key is an error, such as a misspelt one of ``-B pod-template``. Raises Exists."""
        return self.request("POST", path, body=body, query={"fieldValidation": "Strict"})

    def try_create(self, path: str, body: Mapping[str, Any]) -> None:
        """Have the cluster examine an object that it does not keep. Raises what ``create`` would raise."""
        self.request("POST", path, body=body, query={"fieldValidation": "Strict", "dryRun": "All"})

    def ensure(self, path: str, body: Mapping[str, Any]) -> None:
        """Create it unless it exists."""
        with contextlib.suppress(Exists):
            self.create(path, body)

    def patch(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        return self.request("PATCH", path, body=body, kind=MERGE)

    def delete(self, path: str, **options: Any) -> None:
        """With ``options`` such as ``propagationPolicy``. A missing object is not an error."""
        with contextlib.suppress(NotFound):
            self.request("DELETE", path, body={"kind": "DeleteOptions", "apiVersion": "v1", **options})

    def pages(self, path: str, **query: Any) -> Iterator[dict[str, Any]]:
        """A list, page by page."""
        more: dict[str, Any] = {"limit": 500}
        while True:
            page = self.get(path, **query, **more)
            yield page
            token = page["metadata"].get("continue")
            if not token:
                return
            more["continue"] = token

    def items(self, path: str, **query: Any) -> Iterator[dict[str, Any]]:
        for page in self.pages(path, **query):
            yield from page.get("items") or ()

    @contextlib.contextmanager
    def events(self, path: str, idle: float, **query: Any) -> Iterator[Iterator[dict[str, Any]]]:
        """A watch, until the server ends it or is silent for ``idle`` seconds. Raises Expired."""
        with self.stream(path, idle, watch="true", **query) as response:
            yield _events(response)

    @contextlib.contextmanager
    def stream(self, path: str, idle: float, **query: Any) -> Iterator[urllib3.BaseHTTPResponse]:
        """A streamed answer; ``idle`` seconds of silence end it."""
        response = self._send("GET", path, None, JSON, query, (10.0, idle), stream=True)
        try:
            with self._answering(f"GET {path}"):
                if response.status != 200:
                    raise _error_of(response.status, response.read(1 << 16), f"GET {path}")
                yield response
        finally:
            response.close()

    def request(
        self,
        method: str,
        path: str,
        *,
        body: Mapping[str, Any] | None = None,
        query: Mapping[str, Any] | None = None,
        kind: str = JSON,
    ) -> dict[str, Any]:
        """One request and its answer. Raises NotFound, Exists, BackendUnreachable, BackendError."""
        what = f"{method} {path}"
        response = self._send(method, path, body, kind, query or {}, (10.0, SECONDS))
        data = response.data
        if response.status >= 400:
            raise _error_of(response.status, data, what)
        try:
            found: dict[str, Any] = json.loads(data)
        except ValueError:
            raise BackendError(f"{what}: the answer is not JSON; is {self.configuration.host} an API server?") from None
        return found

    def headers(self) -> dict[str, str]:
        """The login; read again each time, as tokens expire."""
        config = self.configuration
        auth: Mapping[str, Any] = config.auth_settings().get("BearerToken") or {}
        return {"authorization": str(auth["value"])} if auth.get("value") else {}

    def _send(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None,
        kind: str,
        query: Mapping[str, Any],
        seconds: tuple[float, float],
        stream: bool = False,
    ) -> urllib3.BaseHTTPResponse:
        import urllib3

        config, pool = self._load()
        url = f"{config.host}{path}" + (f"?{urlencode(query)}" if query else "")
        with self._answering(f"{method} {path}"):
            response = pool.request(
                method,
                url,
                body=None if body is None else json.dumps(body).encode(),
                headers={"accept": JSON, "content-type": kind, "user-agent": "mlecore", **self.headers()},
                timeout=urllib3.Timeout(connect=seconds[0], read=seconds[1]),
                preload_content=not stream,
                retries=False,
            )
        if response.status == 401:
            self._forget()  # the next request reads the configuration again: somebody may have logged in
        return response

    @contextlib.contextmanager
    def _answering(self, what: str) -> Iterator[None]:
        import urllib3

        try:
            yield
        except (urllib3.exceptions.HTTPError, OSError) as error:
            raise self.unreachable(what, error) from error

    def unreachable(self, what: str, error: BaseException) -> BackendUnreachable:
        return BackendUnreachable(
            f"{what}: the Kubernetes API server at {self.configuration.host} does not answer: {str(error)[:300]}",
            fix="Check that it is running and reachable from this machine: kubectl cluster-info",
        )

    def _load(self) -> tuple[Configuration, urllib3.PoolManager]:
        with self._lock:
            if self._loaded is None:
                config = _configuration(self._context)
                self._loaded = config, _pool(config)
            return self._loaded

    def _forget(self) -> None:
        with self._lock:
            self._loaded = None


def _configuration(context: str | None) -> Configuration:
    from kubernetes import client, config

    logging.getLogger("kubernetes").setLevel(logging.ERROR)
    found = client.Configuration()
    try:
        config.load_kube_config(context=context, client_configuration=found)
    except config.ConfigException as error:
        try:
            if context is not None:
                raise error
            config.load_incluster_config(client_configuration=found)
        except config.ConfigException:
            raise BackendError(f"no Kubernetes cluster is configured: {error}", fix=NO_CLUSTER) from None
    except Exception as error:  # a damaged file makes the package raise anything
        raise BackendError(f"the Kubernetes configuration cannot be read: {error}", fix=NO_CLUSTER) from None
    return found


def _namespace_of(context: str | None) -> str | None:
    from kubernetes import config

    try:
        contexts, active = config.list_kube_config_contexts()
    except Exception:  # the same file is read again, with a message, for the first request
        return None
    chosen = next((each for each in contexts if each["name"] == context), None) if context else active
    found: str | None = (chosen or {}).get("context", {}).get("namespace")
    return found


def _pool(config: Configuration) -> urllib3.PoolManager:
    from kubernetes.client.rest import RESTClientObject

    if not config.verify_ssl:
        import urllib3

        urllib3.disable_warnings(urllib3.exceptions.InsecureRequestWarning)
    config.connection_pool_maxsize = 16
    pool: urllib3.PoolManager = RESTClientObject(config).pool_manager
    return pool


def _events(response: urllib3.BaseHTTPResponse) -> Iterator[dict[str, Any]]:
    """The lines of a watch as they come. ``stream`` would wait for a full buffer, ``readline`` reads byte by byte."""
    pending = b""
    while content := response.read1(1 << 16):
        *lines, pending = (pending + content).split(b"\n")
        for line in lines:
            event = json.loads(line)
            if event.get("type") == "ERROR":
                raise _error_of(int(event["object"].get("code") or 500), line, "watching")
            yield event


def _error_of(status: int, answer: bytes, what: str) -> BackendError:
    """What an error of the server means."""
    try:
        found = json.loads(answer)
        found = found.get("object", found)
        said = str(found.get("message") or found)
        reason = str(found.get("reason") or "")
    except (ValueError, AttributeError):
        said, reason = answer.decode("utf-8", "replace"), ""
    text = f"{what}: {said.strip()[:500]}"
    if status == 404:
        return NotFound(text)
    if status == 409:
        return Exists(text)
    if status == 410:
        return Expired(text)
    if status == 401:
        return BackendUnreachable(f"{what}: the cluster rejects the login ({said[:200]})", fix="Log in again.")
    if status == 403 and "exceeded quota" in said:
        return BackendUnreachable(text, fix="Wait for other runs to end, or have the namespace's quota raised.")
    if status == 403:
        return BackendError(f"{what}: the cluster forbids it: {said.strip()[:500]}", fix=RIGHTS)
    if status == 429 or status >= 500 or reason in ("Timeout", "ServerTimeout"):
        return BackendUnreachable(text)
    return BackendError(text)
