"""The agent's user inside its container: never root; the image's own user if it has one."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Mapping
from typing import Any

from attrs import frozen

from mlecore_sandboxes.containers import names
from mlecore_sandboxes.containers.engine import Engine, locked

DEFAULT = 1000


@frozen(kw_only=True)
class User:
    uid: int
    gid: int
    home: str

    @property
    def spec(self) -> str:
        return f"{self.uid}:{self.gid}"


OURS = User(uid=DEFAULT, gid=DEFAULT, home="/home/agent")  # in the images that we build


def user_of(engine: Engine, image: Mapping[str, Any], option: tuple[int, int] | None) -> User:
    """For an image as inspected: the option's user, the image's own, its ``nonroot``, else one without a name."""
    config = image.get("Config") or {}
    own = str(config.get("User") or "")
    if option is None and (config.get("Labels") or {}).get(names.RECIPE):
        return OURS
    passwd = _passwd(engine, image["Id"])
    if option is not None:
        uid, gid = option
        home = next((entry.home for entry in passwd.values() if entry.uid == uid), "")
        return User(uid=uid, gid=gid, home=_writable(home))
    name, _, group = own.partition(":")
    found = _lookup(passwd, name)
    if found is None or found.uid == 0:
        found, group = passwd.get(names.USER), ""
    if found is None:
        return OURS
    gid = int(group) if group.isdigit() else found.gid
    return User(uid=found.uid, gid=gid, home=_writable(found.home))


def _lookup(passwd: Mapping[str, User], name: str) -> User | None:
    if not name.isdigit():
        return passwd.get(name)
    uid = int(name)
    return next((entry for entry in passwd.values() if entry.uid == uid), User(uid=uid, gid=uid, home=""))


def _writable(home: str) -> str:
    """The image's home where it lies in the sandbox tree, which is all that can be written everywhere."""
    return home if home.startswith("/home/") else OURS.home


def _passwd(engine: Engine, image: str) -> dict[str, User]:
    """The users of an image, read from a container that is never started."""
    import docker.errors

    container = f"mlecore-look-{image.rpartition(':')[2][:12]}"
    with locked(container), engine.request("looking at the image's users"):
        api = engine.api
        engine.remove(container)  # of somebody who was killed here
        labels = {names.ROLE: "look"}
        api.create_container(image, ["true"], name=container, labels=labels, network_disabled=True)
        try:
            stream, _ = api.get_archive(container, "/etc/passwd")
            data = b"".join(stream)
        except docker.errors.NotFound:
            return {}
        finally:
            engine.remove(container)
    users: dict[str, User] = {}
    with tarfile.open(fileobj=io.BytesIO(data)) as tar:
        members = [member for member in tar if member.isreg() and member.size < 1 << 20]
        text = b"".join((tar.extractfile(member) or io.BytesIO()).read() for member in members)
    for line in text.decode("utf-8", "replace").splitlines():
        fields = line.split(":")
        if len(fields) >= 6 and fields[2].isdigit() and fields[3].isdigit():
            users.setdefault(fields[0], User(uid=int(fields[2]), gid=int(fields[3]), home=fields[5]))
    return users
