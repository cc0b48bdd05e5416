"""The kaggle package's client, logged in as usual. Calls are repeated while Kaggle is busy."""

from __future__ import annotations

import contextlib
import io
import json
import re
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from mlecore.data.http import PATIENCE, REACH, TIMEOUT, Transient, Unreachable, cause, patience
from mlecore.data.kaggle.errors import HOW_TO_LOG_IN, KaggleUnreachable, NoLogin, translated
from mlecore.errors import MlecoreError, remember

if TYPE_CHECKING:
    from mlecore.model.backends import Progress
    from mlecore.model.facts import Facts

T = TypeVar("T")

_CONNECT = 4.0  # seconds to connect, in the kaggle package's own calls

_lock = threading.Lock()
_api: Any = None
_refused: MlecoreError | None = None


def login(progress: Progress | None = None) -> Any:
    """The logged-in KaggleApi of this process: token, kaggle.json or OAuth, wherever the kaggle package finds them.

    Waiting is reported to ``progress``. Raises NoLogin, and KaggleUnreachable if a token could not be checked; later
    calls raise the same at once.
    """
    global _api, _refused
    with _lock:
        if _refused is not None:
            raise _refused
        if _api is None:
            try:
                _api = _log_in(progress)
            except MlecoreError as error:
                _refused = error
                raise
        return _api


def logout() -> None:
    """Forget the login, so that the next one looks for credentials again."""
    global _api, _refused
    with _lock:
        _api = _refused = None


def username() -> str | None:
    """The user name, if the credentials name it."""
    name = login().config_values.get("username")
    return str(name) if name else None


def _log_in(progress: Progress | None) -> Any:
    from kagglesdk.kaggle_env import get_access_token_from_env

    api = _api_class()()
    said = io.StringIO()
    try:
        token, source = get_access_token_from_env()
        _require_one_word(token, f"the token of {source}")
        with contextlib.redirect_stdout(said):  # it prints a page of help when there are no credentials
            call_patiently(api.authenticate, "logging in", progress=progress)
        _require_one_word(api.config_values.get(api.CONFIG_NAME_KEY), "the key of kaggle.json or KAGGLE_KEY")
    except MlecoreError:
        raise
    except SystemExit:
        unknown = f": Kaggle does not know the token of {source}" if token else ""
        raise NoLogin("there is no valid Kaggle login here" + (unknown or _torn_file(api)), fix=HOW_TO_LOG_IN) from None
    except Exception as error:  # its text may contain the token
        raise NoLogin(f"the Kaggle login cannot be used ({cause(error)})", fix=HOW_TO_LOG_IN) from None
    return api


def _require_one_word(secret: object, what: str) -> None:
    """Raises NoLogin for a token that cannot be sent: several lines or words, or in quotes."""
    if secret is None:
        return
    text = str(secret)
    remember(text)
    bare = text.strip()
    if bare.startswith("{"):
        why = "is JSON, which belongs into kaggle.json"
    elif (lines := len(bare.splitlines())) > 1:
        why = f"has {lines} lines, and only one can be the token"
    elif bare[:1] in ("'", '"'):
        why = "is in quotes"
    elif re.match(r"(export\s+)?\w+=", bare):
        why = "has a name before it, as in a shell"
    elif not re.fullmatch(r"[!-~]+", text):
        why = "has spaces, a line end or characters beyond ASCII (such as a byte order mark)"
    else:
        return
    raise NoLogin(f"{what} {why}", fix=f"Save nothing but the token, in one line. {HOW_TO_LOG_IN}")


def _torn_file(api: Any) -> str:
    """Describes a credentials file that cannot be read: the kaggle package skips it silently."""
    path = Path(api.config)
    for elsewhere in (path.with_name("access_token"), path.with_name("access_token.txt")):
        if elsewhere.exists() and elsewhere.parent != Path.home() / ".kaggle":
            return f": {elsewhere} is not read, as a token is looked for in ~/.kaggle whatever KAGGLE_CONFIG_DIR names"
    try:
        values = json.loads(path.read_bytes())
    except FileNotFoundError:
        return ""
    except (OSError, ValueError):
        return f": {path} cannot be read as JSON, it is torn or was edited"
    names = [name for name in ("username", "key") if not (isinstance(values, dict) and values.get(name))]
    return f": {path} lacks {' and '.join(names)}" if names else ""


def _api_class() -> Any:
    """KaggleApi, for the environment that KAGGLE_API_ENVIRONMENT names.

    Importing the kaggle package logs in, over the network if there is a token. That is prevented here, because login()
    does it later. KaggleApi itself always uses production, whatever the environment says.
    """
    from kagglesdk.kaggle_client import KaggleClient
    from kagglesdk.kaggle_env import get_env
    from kagglesdk.kaggle_http_client import KaggleHttpClient

    network_call = KaggleHttpClient.call
    KaggleHttpClient.call = _not_now
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            from kaggle.api.kaggle_api_extended import KaggleApi
    except ImportError as error:
        raise MlecoreError(f"the kaggle package does not work: {error}", fix="Reinstall it: kaggle>=2.1") from None
    except OSError as error:  # it makes its configuration folder
        raise NoLogin(f"the kaggle package cannot be imported ({cause(error)})", fix="Set KAGGLE_CONFIG_DIR") from None
    finally:
        KaggleHttpClient.call = network_call

    class Api(KaggleApi):  # type: ignore[misc]
        def build_kaggle_client(self) -> Any:
            values = self.config_values
            return _patient(
                KaggleClient(
                    env=get_env(),
                    username=values.get(self.CONFIG_NAME_USER),
                    password=values.get(self.CONFIG_NAME_KEY),
                    api_token=values.get(self.CONFIG_NAME_TOKEN),
                )
            )

    return Api


def _not_now(*_: object, **__: object) -> None:
    raise ConnectionError("not while importing")


@contextmanager
def competitions_client(headers: Mapping[str, str] | None = None) -> Iterator[Any]:
    """The logged-in client's part for competitions, with time-outs; one per thread.

    ``headers`` are sent to the storage to which Kaggle redirects a download.
    """
    with login().build_kaggle_client() as client:
        yield _patient(client, headers).competitions.competition_api_client


def _patient(client: Any, headers: Mapping[str, str] | None = None) -> Any:
    """Adds time-outs to the client, which has none."""
    from requests.adapters import HTTPAdapter

    class Patient(HTTPAdapter):  # type: ignore[misc]
        def send(self, request: Any, **options: Any) -> Any:
            if request.method == "GET":  # Kaggle's own calls are POST
                request.headers.update(headers or {})
            usual = TIMEOUT if request.method == "GET" else (_CONNECT, TIMEOUT[1])
            return super().send(request, **{**options, "timeout": options.get("timeout") or usual})

    http = client.http_client()
    http._init_session()
    http._session.mount("https://", Patient())
    http._session.mount("http://", Patient())
    return client


def call_patiently(
    function: Callable[[], T], what: str, facts: Facts | None = None, progress: Progress | None = None
) -> T:
    """Call, and repeat it on status 429 or 5xx or a bad connection. Other errors become errors of mlecore."""
    import requests

    try:
        answer: T = patience(REACH, progress)(call, function, what, facts)
        return answer
    except Unreachable as error:
        raise KaggleUnreachable(f"{what}: {error}", fix="Try again once the network works") from None
    except Transient as error:
        raise KaggleUnreachable(f"{what}: {error} ({PATIENCE} times in a row)", fix="Try again later") from None
    except requests.exceptions.RequestException as error:
        raise KaggleUnreachable(f"{what}: {cause(error)}") from None


def call(function: Callable[[], T], what: str, facts: Facts | None = None) -> T:
    """Call once; raises Transient if another attempt may help."""
    import requests

    try:
        return function()
    except requests.exceptions.HTTPError as error:
        raise translated(error, facts, what) from None
    except (requests.exceptions.ConnectionError, requests.exceptions.Timeout) as error:
        kind = Unreachable if _never_connected(error) else Transient
        raise kind(f"Kaggle cannot be reached ({cause(error)})") from None


def _never_connected(error: Exception) -> bool:
    """Was there no such host, or nothing that listens?"""
    from requests.exceptions import ConnectTimeout, ProxyError
    from urllib3.exceptions import NewConnectionError

    reason = getattr(error.args[0], "reason", None) if error.args else None
    return isinstance(error, (ConnectTimeout, ProxyError)) or isinstance(reason, NewConnectionError)


def entered() -> set[str]:
    """Slugs of the competitions whose rules this account has accepted, from Kaggle's listing."""
    api = login()
    slugs: set[str] = set()
    token = ""
    while True:
        page = call_patiently(
            lambda token=token: api.competitions_list(group="entered", page_size=100, page_token=token or None),  # type: ignore[misc]
            "listing the competitions of this account",
        )
        slugs |= {entry.ref.rstrip("/").rpartition("/")[2] for entry in page.competitions if entry.user_has_entered}
        token = page.next_page_token
        if not token or not page.competitions:
            return slugs
