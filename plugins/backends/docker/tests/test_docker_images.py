"""Images from recipes: built once, used as they are, listed and pruned; a failed build says why."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import re
import threading
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner, Result
from mle_backend_docker.settings import Settings
from mle_ext_setup.images import command

from mlecore.cli import main
from mlecore.errors import BackendError, ImageGone, MlecoreError
from mlecore.model.agents import Recipe
from mlecore.model.backends import Image
from mlecore.runs.store import load_group
from mlecore_jobs.mirrors import PIP
from mlecore_sandboxes.containers import images, installed, installing, names
from mlecore_sandboxes.containers.settings import BASE
from mlecore_testing.package_index import (
    GREEDY,
    GREEDY_MODULE,
    MODULE,
    NAME,
    WHEEL,
    greedy_sdist,
    npm_registry,
    package_index,
    serving,
    wheel,
)

if TYPE_CHECKING:
    from conftest import Lab

pytestmark = pytest.mark.docker


@pytest.fixture
def owner(monkeypatch: pytest.MonkeyPatch) -> str:
    """An owner of images of the test's own, so that it touches no others."""
    name = f"test:{uuid.uuid4().hex}"
    monkeypatch.setattr(images, "owner", lambda: name)
    return name


@pytest.fixture
def nonce(lab: Lab, owner: str) -> Iterator[dict[str, bytes]]:
    """Files that no other recipe has; images that the test built are removed afterwards."""
    yield {"/etc/nonce": uuid.uuid4().hex.encode()}
    lab.backend.prune([each for each in lab.backend.cached_images() if each.ours and not each.used])


def dangling(lab: Lab) -> set[str]:
    """Untagged images of the test's own; others may build at the same engine."""
    filters = {"dangling": True, "label": f"{names.OWNER}={images.owner()}"}
    return {each["Id"] for each in lab.engine.api.images(filters=filters)}


def test_a_recipe_is_built_once_and_its_files_and_programs_are_there(
    lab: Lab, nonce: dict[str, bytes], tmp_path: Path
) -> None:
    files = {**nonce, "/usr/local/bin/greet": b"#!/bin/sh\necho greetings\n", '/srv/a "b"/c d': b"odd"}
    recipe = Recipe(files=files, programs=("greet", "python3"))
    before = dangling(lab)
    image = lab.backend.build(recipe, tmp_path / "one.log")
    assert image.ref.startswith("mlecore/agent:") and image.digest.startswith("sha256:")
    assert "Step" in (tmp_path / "one.log").read_text()
    assert lab.backend.build(recipe, tmp_path / "two.log") == image
    assert (tmp_path / "two.log").read_text() == f"{image.ref} already exists\n"
    assert lab.run("greet; cat '/srv/a \"b\"/c d'", image=image) == "greetings\nodd"
    assert image.installed[0].startswith("CPython 3.") and image.installed[1].startswith("Linux ")
    assert any(re.fullmatch(r"pip==[\d.]+", line) for line in image.installed)
    assert lab.backend.build(Recipe(image=image.ref), tmp_path / "log").installed == image.installed
    assert dangling(lab) <= before


@pytest.mark.parametrize("program", ["sleep 60", "head -c 100000 /dev/zero"])
def test_an_image_that_cannot_say_what_is_installed_is_used_all_the_same(
    lab: Lab, nonce: dict[str, bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: str
) -> None:
    monkeypatch.setattr(installed, "_SECONDS", 2)
    files = {**nonce, "/usr/local/bin/python3": f"#!/bin/sh\n{program}\n".encode()}
    image = lab.backend.build(Recipe(files=files), tmp_path / "log")
    assert image.installed == ()
    assert lab.run("echo here", image=image) == "here\n"
    label = {"label": f"{names.ROLE}=image"}
    assert not [each for each in lab.engine.api.containers(all=True, filters=label) if "python3" in each["Command"]]


@pytest.mark.parametrize(
    "recipe",
    [Recipe(pip=("x\nRUN evil",)), Recipe(base="a\nb"), Recipe(files={"relative": b""}), Recipe(files={"/a\n": b""})],
)
def test_no_recipe_can_write_lines_of_its_own(recipe: Recipe) -> None:
    with pytest.raises(MlecoreError):
        images.context(recipe, Settings())


def test_words_of_a_recipe_are_quoted() -> None:
    made = images.context(Recipe(pip=("pandas>=2", "x; touch /y"), apt=("a b",), npm=("@a/b@1",)), Settings())
    assert "'pandas>=2' 'x; touch /y'" in made.dockerfile
    assert "'a b'" in made.dockerfile


def test_a_failed_build_shows_the_end_of_its_log_and_what_it_leaves_is_pruned_by_its_owner(
    lab: Lab, nonce: dict[str, bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, log = dangling(lab), tmp_path / "build.log"
    with pytest.raises(BackendError, match="the program no-such-program is not on PATH") as error:
        lab.backend.build(Recipe(files=nonce, programs=("no-such-program",)), log)
    assert str(log) in str(error.value)
    left = dangling(lab) - before
    assert left and "no-such-program" in log.read_text()
    with monkeypatch.context() as patch:
        patch.setattr(images, "owner", lambda: "another:installation")
        lab.backend.prune([])
    assert left <= dangling(lab)
    lab.backend.prune([])
    assert not left & dangling(lab)


def test_one_recipe_by_several_controllers_at_once_becomes_one_image(
    lab: Lab, nonce: dict[str, bytes], tmp_path: Path
) -> None:
    recipes = [Recipe(files=nonce), Recipe(files={**nonce, "/etc/other": b""})]
    before = dangling(lab)
    made: list[tuple[int, Image]] = []

    def build(number: int) -> None:
        made.append((number % 2, lab.backend.build(recipes[number % 2], tmp_path / f"{number}.log")))

    threads = [threading.Thread(target=build, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 6 and len(set(made)) == 2
    assert dangling(lab) <= before


def assert_nowhere(lab: Lab, image: Image, secret: str) -> None:
    """No file that an installation may have left in the image holds it."""
    api = lab.engine.api
    search = ["grep", "-rlF", secret, "/etc", "/opt", "/root", "/run", "/tmp", "/usr/local", "/var"]
    searching = api.create_container(image.ref, search, user="0")["Id"]
    try:
        api.start(searching)
        assert api.wait(searching)["StatusCode"] == 1, api.logs(searching)  # 1: found nowhere
    finally:
        api.remove_container(searching, force=True)


@pytest.mark.network
@pytest.mark.slow
def test_node_packages_come_from_a_registry_whose_password_no_image_shows(
    lab: Lab, nonce: dict[str, bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, token = dangling(lab), uuid.uuid4().hex
    host = lab.machine()
    try:
        node = lab.backend.build(Recipe(apt=("nodejs", "npm"), files=nonce), tmp_path / "node.log").ref
    except BackendError as error:
        pytest.skip(f"no Node.js can be installed in an image here: {error}")
    npmrc = tmp_path / ".npmrc"
    for name in (*PIP, "NPM_CONFIG_REGISTRY", "npm_config_registry", "npm_config_userconfig"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NPM_CONFIG_USERCONFIG", str(npmrc))
    with npm_registry(token, host) as settings:
        registry, key, secret = settings.strip().partition("_auth=")
        npmrc.write_text(f"{registry}{key}${{TEST_NPM_TOKEN}}\n")  # npm puts the variable in its place
        monkeypatch.setenv("TEST_NPM_TOKEN", secret)
        image = lab.backend.build(Recipe(base=node, npm=(NAME,), programs=(NAME,), files=nonce), tmp_path / "log")
        monkeypatch.setenv("TEST_NPM_TOKEN", "d3Jvbmc=")
        with pytest.raises(BackendError, match="downloading packages ended with exit code"):
            lab.backend.build(Recipe(base=node, npm=(NAME, "other"), files=nonce), tmp_path / "wrong.log")
    assert lab.run(NAME, image=image) == "from the registry\n"
    seen = lab.run(f'cat "$(npm root --global)/{NAME}/seen"', image=image)
    assert "PATH=" in seen and secret not in seen  # its script ran, where the settings are not
    shown = json.dumps([lab.engine.api.history(image.ref), lab.engine.api.inspect_image(image.ref)])
    shown += (tmp_path / "log").read_text()
    for hidden in (token, secret):
        assert_nowhere(lab, image, hidden)
        assert hidden not in shown
    lab.backend.prune([])
    assert dangling(lab) <= before


def test_packages_come_from_a_mirror_whose_password_no_image_shows(
    lab: Lab, nonce: dict[str, bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, password = dangling(lab), uuid.uuid4().hex
    api = lab.engine.api
    host = lab.machine()
    recipe = Recipe(pip=(NAME,), files=nonce, programs=("python3",))
    with package_index(password, host) as url:
        monkeypatch.setenv("PIP_INDEX_URL", url)
        monkeypatch.setenv("PIP_TRUSTED_HOST", host)
        monkeypatch.delenv("PIP_CERT", raising=False)
        image = lab.backend.build(recipe, tmp_path / "log")
        monkeypatch.setenv("PIP_INDEX_URL", url.replace(password, "wrong"))
        with pytest.raises(BackendError, match="downloading packages ended with exit code 1"):
            lab.backend.build(Recipe(pip=(NAME, "other"), files=nonce), tmp_path / "wrong.log")
    assert lab.run(f"python3 -c 'import {MODULE}; print({MODULE}.VALUE)'", image=image) == "from the index\n"
    assert_nowhere(lab, image, password)
    shown = json.dumps([api.history(image.ref), api.inspect_image(image.ref)])
    assert password not in shown + (tmp_path / "log").read_text() and MODULE not in shown and NAME in shown
    config, base = (api.inspect_image(ref)["Config"] for ref in (image.ref, BASE))
    assert [config[key] or [] for key in ("Cmd", "Env", "Entrypoint")] == [
        base[key] or [] for key in ("Cmd", "Env", "Entrypoint")
    ]
    lab.backend.prune([])
    assert dangling(lab) <= before


@pytest.fixture
def greedy_index(lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, str]]:
    """The password of a mirror with a greedy source distribution, and that distribution's hash."""
    password, packages = uuid.uuid4().hex, tmp_path / "packages"
    host = lab.machine()
    packages.mkdir()
    name, sdist = greedy_sdist()
    (packages / name).write_bytes(sdist)
    (packages / WHEEL).write_bytes(wheel())
    monkeypatch.setenv("PIP_TRUSTED_HOST", host)
    monkeypatch.delenv("PIP_CERT", raising=False)
    with serving(packages, password, host) as at:
        monkeypatch.setenv("PIP_INDEX_URL", f"http://user:{password}@{at}/simple")
        yield password, hashlib.sha256(sdist).hexdigest()


def assert_greedy_in_vain(lab: Lab, image: Image, password: str, log: str) -> None:
    """Its code ran, with the package that its build requires, and found no password; nor does anybody in the image."""
    seen = lab.run(f"python3 -c 'import {GREEDY_MODULE}; print({GREEDY_MODULE}.SEEN)'", image=image)
    assert "from the index" in seen and "PATH" in seen and password not in seen
    assert_nowhere(lab, image, password)
    api = lab.engine.api
    assert password not in json.dumps([api.history(image.ref), api.inspect_image(image.ref)]) + log
    assert not [each for each in api.volumes()["Volumes"] or () if image.ref.rpartition(":")[2] in each["Name"]]


def test_code_of_a_source_distribution_cannot_read_the_password_of_its_mirror(
    lab: Lab, nonce: dict[str, bytes], tmp_path: Path, greedy_index: tuple[str, str]
) -> None:
    image = lab.backend.build(Recipe(files=nonce, pip=(NAME,), pip_alone=(GREEDY,)), tmp_path / "log")
    assert_greedy_in_vain(lab, image, greedy_index[0], (tmp_path / "log").read_text())


def test_the_hash_of_a_source_distribution_is_checked_where_a_wheel_is_built_of_it(
    lab: Lab, nonce: dict[str, bytes], tmp_path: Path, greedy_index: tuple[str, str]
) -> None:
    password, digest = greedy_index
    probe = f"{NAME}==1.0 --hash=sha256:{hashlib.sha256(wheel()).hexdigest()}"
    right, wrong = (f"{GREEDY}==1.0 --hash=sha256:{each}" for each in (digest, "0" * 64))
    image = lab.backend.build(Recipe(files=nonce, pip=(probe, right)), tmp_path / "log")
    assert_greedy_in_vain(lab, image, password, (tmp_path / "log").read_text())
    with pytest.raises(BackendError, match="downloading packages ended with exit code 1"):
        lab.backend.build(Recipe(files=nonce, pip=(probe, wrong)), tmp_path / "wrong.log")


def test_code_of_a_build_cannot_have_pip_read_the_mirror_s_settings() -> None:
    for text in ("evil===${PIP_INDEX_URL}", "evil @ file:///run/mlecore/settings", "-r /run/mlecore/settings"):
        assert installing._missing(f"ERROR: No matching distribution found for {text}\n") is None
    assert installing._missing("ERROR: No matching distribution found for hatchling>=1\n") == "hatchling>=1"


def test_a_base_image_that_does_not_exist_is_reported_in_words(make_lab: Callable[..., Lab], tmp_path: Path) -> None:
    with pytest.raises(BackendError, match="pull=never"):
        make_lab(base="mlecore-test/none:1", pull="never").backend.build(Recipe(), tmp_path / "log")
    for recipe, advises in ((Recipe(), True), (Recipe(image="127.0.0.1:9/other:1"), False)):
        with pytest.raises(BackendError, match="cannot be pulled") as error:
            make_lab(base="127.0.0.1:9/none:1").backend.build(recipe, tmp_path / "log")
        assert "docker login" in str(error.value) and ("-B base=" in str(error.value)) is advises


def test_a_bundle_of_authorities_is_trusted_in_what_is_built(make_lab: Callable[..., Lab], tmp_path: Path) -> None:
    bundle = tmp_path / "ca.pem"
    # Unlike any other test's that runs at the same engine, as the image is removed in the end.
    bundle.write_text(f"{uuid.uuid4().hex}\n-----BEGIN CERTIFICATE-----\nmarker\n-----END CERTIFICATE-----\n")
    lab = make_lab(**{"ca-bundle": str(bundle)})
    try:
        said = lab.run('cat "$SSL_CERT_FILE" | tail -n 2; [ "$PIP_CERT" = "$REQUESTS_CA_BUNDLE" ] && echo same')
        assert said.splitlines() == ["marker", "-----END CERTIFICATE-----", "same"]
    finally:
        lab.clear()
        lab.engine.api.remove_image(lab.image.ref)


# With all that MLE-bench's start scripts and entrypoint rely on; what root installed below /home is for anybody.
MLE_BENCH = """
FROM {base}
RUN useradd --create-home --uid 1500 nonroot && mkdir -m 700 /private && touch /home/validate_submission.sh
ENV LOGS_DIR=/home/logs CODE_DIR=/home/code SUBMISSION_DIR=/home/submission AGENT_DIR=/home/agent
RUN mkdir -p $LOGS_DIR $CODE_DIR $SUBMISSION_DIR $AGENT_DIR/package && echo 1 >$AGENT_DIR/package/state
RUN echo {start} | base64 -d >$AGENT_DIR/start.sh
ENTRYPOINT ["/bin/sh", "-c", "echo this is the image's own entrypoint; exit 9"]
"""
START = b"""
set -e
cd $AGENT_DIR
id; echo "$HOME $COMPETITION_ID $(( TIME_LIMIT_SECS / 60 )) min: $@"; ls /private || true
cp /home/instructions.txt full_instructions.txt; cat /home/data/description.md >>full_instructions.txt
ln -s $SUBMISSION_DIR package/best; ln -s $LOGS_DIR package/logs; echo 2 >>package/state
timeout $TIME_LIMIT_SECS env steps=$STEP_LIMIT cp /home/data/sample_submission.csv package/best/submission.csv
cp package/state package/logs/; echo "print()" >$CODE_DIR/solution.py
bash /home/validate_submission.sh $SUBMISSION_DIR/submission.csv
"""


def test_an_image_of_mle_bench_runs_unchanged_as_its_user_nonroot(lab: Lab, tmp_path: Path) -> None:
    tag = f"mlecore-test/mleb:{uuid.uuid4().hex[:12]}"
    dockerfile = io.BytesIO(MLE_BENCH.format(base=BASE, start=base64.b64encode(START).decode()).encode())
    built = list(lab.engine.api.build(fileobj=dockerfile, tag=tag, rm=True, decode=True))
    assert not any("error" in event for event in built), built
    try:
        words = ["--agent", "command", "-A", f"image={tag}", "-A", "argv=bash /home/agent/start.sh agent.x=1"]
        words += ["--competition", "spaceship-titanic", "--synthetic", "--time-limit", "10m", "--group", "g"]
        words += ["--backend", "docker", "--data", str(tmp_path / "data"), "--runs", str(tmp_path / "runs")]
        done = CliRunner().invoke(main, ["run", *words])
        assert done.exit_code == 0, done.output
    finally:
        lab.engine.api.remove_image(tag)
    (run,) = load_group(tmp_path / "runs" / "g")
    said = (run.folder / "logs" / "output.log").read_text()
    assert (run.ended, json.loads((run.folder / "grade.json").read_text())["status"]) == ("finished", "graded"), said
    assert "uid=1500(nonroot) gid=1500(nonroot)" in said and "Permission denied" in said
    assert "/home/nonroot spaceship-titanic 10 min: agent.x=1" in said and "own entrypoint" not in said
    assert (run.folder / "logs" / "state").read_text() == "1\n2\n"
    assert (run.folder / "code" / "solution.py").is_file()


def said(verb: str, *words: str, input: str | None = None) -> Result:
    return CliRunner().invoke(command, [verb, "--backend", "docker", *words], input=input)


def tags(lab: Lab) -> set[str]:
    return {each.name for each in lab.backend.cached_images()}


def test_images_are_listed_and_pruned_by_the_command(lab: Lab, nonce: dict[str, bytes], tmp_path: Path) -> None:
    used = lab.backend.build(Recipe(files={**nonce, "/used": b""}), tmp_path / "log")
    lab.start("true", image=used)
    unused = lab.backend.build(Recipe(files=nonce), tmp_path / "log")
    in_use = {each["name"]: each["used"] for each in json.loads(said("list", "--json").output)}
    assert in_use[used.ref] is True and in_use[unused.ref] is False
    assert unused.ref in said("list").output
    for no in ("n\n", ""):
        declined = said("prune", input=no)
        assert declined.exit_code == 1 and unused.ref in declined.output and used.ref not in declined.output
        assert "Remove 1 image?" in declined.output and unused.ref in tags(lab)
    pruned = said("prune", input="y\n")
    assert pruned.exit_code == 0 and "removed 1 image," in pruned.output
    assert used.ref in tags(lab) and unused.ref not in tags(lab)


def test_others_images_are_pruned_only_when_all_are_asked_for(
    lab: Lab, nonce: dict[str, bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = images.owner()
    others = lab.backend.build(Recipe(files=nonce), tmp_path / "log")
    labels = lab.engine.api.inspect_image(others.ref)["Config"]["Labels"]
    assert labels[names.OWNER] == mine
    with monkeypatch.context() as patch:
        patch.setattr(images, "owner", lambda: "another:installation")
        assert said("prune", "--yes").output == "removed 0 images, 0 B\n"
        assert others.ref in tags(lab)
        assert f"of {mine}" in said("list").output
        declined = said("prune", "--all", input="n\n")
        assert declined.exit_code == 1 and others.ref in declined.output


def test_an_image_that_was_removed_is_reported_as_gone(lab: Lab, nonce: dict[str, bytes], tmp_path: Path) -> None:
    recipe = Recipe(files=nonce)
    image = lab.backend.build(recipe, tmp_path / "log")
    lab.engine.api.remove_image(image.ref)
    with pytest.raises(ImageGone):
        lab.start("true", image=image)
    again = lab.backend.build(recipe, tmp_path / "log")
    assert lab.run("cat /etc/nonce", image=again) == nonce["/etc/nonce"].decode()
