"""Signed bundles: who says what, what verifying sees, and what hostile signatures do."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest
from attrs import evolve
from click.testing import CliRunner, Result
from mle_ext_sharing.exporting import export_group
from mle_ext_sharing.rerun import compare
from mle_ext_sharing.signed import add_signature
from mle_ext_sharing.ssh_signatures import BadSignature, allowed_key, sign, signer_of
from mle_ext_sharing.statement import Comparison, Role, Statement

from mlecore.cli import main
from mlecore.errors import UsageError
from mlecore.runs.store import load_group, open_group, write_info
from mlecore.util.child_environment import child_environment
from mlecore_testing import drawn_groups

pytestmark = pytest.mark.skipif(not shutil.which("ssh-keygen"), reason="needs ssh-keygen (OpenSSH)")


def new_key(folder: Path, name: str, passphrase: str = "") -> Path:
    words = ["ssh-keygen", "-q", "-t", "ed25519", "-N", passphrase, "-C", f"{name}@example.org", "-f", folder / name]
    subprocess.run(words, check=True, env=child_environment())
    return folder / name


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("keys")
    found = {name: new_key(folder, name) for name in ("alice", "bob")}
    return {**found, "locked": new_key(folder, "locked", "a passphrase")}


@pytest.fixture
def allowed(keys: dict[str, Path], tmp_path: Path) -> Path:
    path = tmp_path / "allowed_signers"
    path.write_text(f"alice@example.org {keys['alice'].with_suffix('.pub').read_text()}")
    return path


def runs(*words: object) -> Result:
    return CliRunner().invoke(main, ["runs", *map(str, words)])


@pytest.fixture(params=["b", "b.zip"])
def signed(request: pytest.FixtureRequest, group: Path, keys: dict[str, Path], tmp_path: Path) -> Path:
    path = tmp_path / request.param
    done = runs("export", "g", "--runs", group.parent, "--to", path, "--sign", keys["alice"])
    assert done.exit_code == 0, done.output
    return path


@pytest.mark.parametrize("name", ["b", "b.zip"])
def test_a_kill_while_signing_leaves_no_unsigned_bundle(
    group: Path, keys: dict[str, Path], tmp_path: Path, name: str
) -> None:
    killer = tmp_path / "bin" / "ssh-keygen"
    killer.parent.mkdir()
    killer.write_text("#!/bin/sh\nkill -9 $PPID\n")
    killer.chmod(0o755)
    words = ["runs", "export", "g", "--runs", str(group.parent), "--to", str(tmp_path / name)]
    words += ["--sign", str(keys["alice"])]
    path = f"{killer.parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        [sys.executable, "-m", "mlecore.cli", *words], env={**child_environment(), "PATH": path}, check=False
    )
    assert done.returncode == -signal.SIGKILL and not (tmp_path / name).exists()
    assert CliRunner().invoke(main, words).exit_code == 0
    assert runs("verify", tmp_path / name, "--key", keys["alice"].with_suffix(".pub")).exit_code == 0
    assert not list(tmp_path.glob(".*"))


def test_a_signed_bundle_says_who_says_what(signed: Path, allowed: Path, keys: dict[str, Path]) -> None:
    done = runs("verify", signed, "--allowed-signers", allowed)
    assert done.exit_code == 0, done.output
    words = " ".join(done.output.split())
    assert "alice@example.org (ED25519 key SHA256:" in words
    assert "I ran 4 runs of the group g" in words and "leaf-classification, spaceship-titanic" in words
    assert "image by digest: absent" in words
    assert "Not proved: that the runs happened as recorded" in words
    by_key = runs("verify", signed, "--key", keys["alice"].with_suffix(".pub"))
    assert by_key.exit_code == 0 and "alice@example.org (" in by_key.output
    nobody = runs("verify", signed)
    assert nobody.exit_code == 0 and "Whose keys these are is unknown" in nobody.output


def test_another_signer_is_not_accepted(signed: Path, keys: dict[str, Path]) -> None:
    done = runs("verify", signed, "--key", keys["bob"].with_suffix(".pub"))
    assert done.exit_code == 1 and "not one of the allowed signers" in done.output


def test_an_unsigned_bundle_is_rejected_where_a_signature_is_demanded(
    group: Path, allowed: Path, tmp_path: Path
) -> None:
    export_group(group, tmp_path / "b")
    assert runs("verify", tmp_path / "b").exit_code == 0
    done = runs("verify", tmp_path / "b", "--allowed-signers", allowed)
    assert done.exit_code == 1 and "Nobody has signed it" in done.output
    assert runs("verify", group, "--allowed-signers", allowed).exit_code == 2


def test_the_signed_bytes_are_the_statement_of_the_lists(group: Path, keys: dict[str, Path], tmp_path: Path) -> None:
    export_group(group, tmp_path / "b")
    add_signature(tmp_path / "b", group, keys["alice"])
    (path,) = (tmp_path / "b" / "signatures").glob("*.json")
    values = json.loads(path.read_text())
    assert values["_type"] == "https://in-toto.io/Statement/v1" and values["predicateType"] == "urn:mlecore:export:v1"
    for subject in values["subject"]:
        there = subprocess.run(["sha256sum", tmp_path / "b" / subject["name"]], capture_output=True, text=True)
        assert there.stdout.split()[0] == subject["digest"]["sha256"]
    assert Statement.loads(path.read_bytes()).dumps() == path.read_bytes()


@pytest.fixture
def folder(group: Path, keys: dict[str, Path], tmp_path: Path) -> Path:
    export_group(group, tmp_path / "b")
    add_signature(tmp_path / "b", group, keys["alice"])
    return tmp_path / "b"


def statement_of(bundle: Path) -> Path:
    return next((bundle / "signatures").glob("*.json"))


def test_changes_are_seen(folder: Path, allowed: Path) -> None:
    path = statement_of(folder)
    before = path.read_bytes()
    path.write_bytes(before.replace(b'"any_medal": ', b'"any_medal": 1'))
    done = runs("verify", folder, "--allowed-signers", allowed)
    assert done.exit_code == 1 and "incorrect signature" in done.output
    path.write_bytes(before)
    path.with_name(f"{path.name}.sig").unlink()
    assert "is missing" in runs("verify", folder).output
    (folder / "signatures" / "more.txt").write_text("x")
    assert "more.txt: is not in the list" in runs("verify", folder).output


def test_a_signature_of_another_bundle_is_worth_nothing(
    folder: Path, group: Path, allowed: Path, tmp_path: Path
) -> None:
    """Who computes all hashes again has to sign again."""
    run = load_group(group)[0].folder
    (run / "submission" / "submission.csv").write_text("better")
    export_group(group, tmp_path / "c")
    shutil.copytree(folder / "signatures", tmp_path / "c" / "signatures")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("mle_ext_sharing.verifying._problems", lambda *_: ())
        done = runs("verify", tmp_path / "c", "--allowed-signers", allowed)
    assert done.exit_code == 1 and "signed for another bundle" in done.output


def test_a_claim_that_the_records_do_not_bear_out_is_an_error(
    folder: Path, keys: dict[str, Path], allowed: Path
) -> None:
    path = statement_of(folder)
    statement = Statement.loads(path.read_bytes())
    said = statement.predicate
    more = evolve(statement, predicate=evolve(said, claim=evolve(said.claim, any_medal=99)))
    path.write_bytes(more.dumps())
    path.with_name(f"{path.name}.sig").write_bytes(sign(more.dumps(), keys["alice"]))
    done = runs("verify", folder, "--allowed-signers", allowed)
    assert done.exit_code == 1 and "not what the records say" in done.output


@pytest.mark.parametrize("content", [b"", b"-----BEGIN SSH SIGNATURE-----\nAAAA\n", b"\xff\0" * 40])
def test_hostile_signatures_are_errors(folder: Path, allowed: Path, content: bytes) -> None:
    path = statement_of(folder)
    path.with_name(f"{path.name}.sig").write_bytes(content)
    done = runs("verify", folder, "--allowed-signers", allowed)
    assert done.exit_code == 1 and path.name in done.output and "Traceback" not in done.output


@pytest.mark.parametrize("content", [b"[" * 100_000, b"{}", b'{"_type": 1, "predicateType": "urn:mlecore:export:v1"}'])
def test_hostile_statements_are_errors(folder: Path, keys: dict[str, Path], content: bytes) -> None:
    path = statement_of(folder)
    path.write_bytes(content)
    path.with_name(f"{path.name}.sig").write_bytes(sign(content, keys["alice"]))
    done = runs("verify", folder)
    assert done.exit_code == 1 and path.name in done.output, done.output


def test_many_statements_and_bombs_are_cut_off(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "bomb.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in folder.rglob("*"):
            if file.is_file() and "signatures" not in file.parts:
                archive.write(file, file.relative_to(folder).as_posix())
        archive.writestr("signatures/ran-a.json", b" " * 10**8)
        for number in range(150):
            archive.writestr(f"signatures/x-{number}.json", b"{}")
    done = runs("verify", path)
    assert done.exit_code == 1 and "151 statements; at most 100" in done.output and "has more than" in done.output


def test_a_key_with_a_passphrase_and_no_terminal(
    group: Path, keys: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSH_ASKPASS", "/bin/false")
    monkeypatch.setenv("SSH_ASKPASS_REQUIRE", "force")
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    done = runs("export", "g", "--runs", group.parent, "--to", tmp_path / "b", "--sign", keys["locked"])
    assert done.exit_code == 2, done.output
    assert "could not sign" in done.output and "passphrase" in done.output
    assert not (tmp_path / "b").exists()


def test_a_key_in_the_agent(keys: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only its public half is on disk."""
    socket = tmp_path / "agent"
    agent = subprocess.Popen(["ssh-agent", "-D", "-a", str(socket)], stdout=subprocess.DEVNULL, env=child_environment())
    try:
        for _ in range(3000):
            if socket.exists():
                break
            time.sleep(0.02)
        monkeypatch.setenv("SSH_AUTH_SOCK", str(socket))
        subprocess.run(["ssh-add", "-q", str(keys["bob"])], check=True, env=child_environment("SSH_AUTH_SOCK"))
        public = tmp_path / "bob.pub"
        shutil.copy(keys["bob"].with_suffix(".pub"), public)
        signature = sign(b"content", public)
    finally:
        agent.terminate()
        agent.wait()
    with allowed_key(public) as allowed:
        assert signer_of(b"content", signature, allowed).name == "bob@example.org"
        with pytest.raises(BadSignature, match="incorrect signature"):
            signer_of(b"other content", signature, allowed)


def test_ssh_keygen_sees_no_key_of_the_user(
    keys: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "bin" / "ssh-keygen"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\nenv >> {tmp_path}/seen\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.setenv("OPENAI_API_KEY", "canary")
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    with pytest.raises(UsageError):
        sign(b"", keys["alice"])
    with pytest.raises(BadSignature):
        signer_of(b"", b"", None)
    assert "canary" not in (tmp_path / "seen").read_text()


@pytest.mark.parametrize("text", ["", "a b\nc d\n", 'x" namespaces="* AAAA'])
def test_what_is_no_public_key(text: str, tmp_path: Path) -> None:
    path = tmp_path / "key.pub"
    path.write_text(text)
    with pytest.raises(UsageError, match="not a public SSH key"), allowed_key(path):
        pass


def test_a_second_party_that_ran_it_again(folder: Path, group: Path, keys: dict[str, Path], tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="the group of the bundle itself"):
        compare(folder, group)
    ids = ["leaf-classification", "spaceship-titanic"]
    again = drawn_groups.write_group(tmp_path / "theirs", "h", competitions=ids, seeds=1)
    other = drawn_groups.write_group(
        tmp_path / "theirs", "other", competitions=["aerial-cactus-identification"], seeds=1
    )
    with pytest.raises(UsageError, match="no graded run of the same"):
        compare(folder, other)
    words = ("verify", folder, "--countersign", keys["bob"], "--rerun", "h", "--runs", again.parent)
    done = runs(*words)
    assert done.exit_code == 0 and "I ran 4 runs of the group g again" in done.output, done.output
    statements = [Statement.loads(path.read_bytes()) for path in (folder / "signatures").glob("*.json")]
    (second,) = [each for each in statements if each.predicate.role == "ran again"]
    assert second.predicate.compared == Comparison(
        runs=2, group_uid=open_group(again).info.uid, same_medal=compare(folder, again).same_medal
    )
    assert runs("verify", folder).output.count("said at") == 2
    write_info(again, evolve(open_group(again).info, plan="0" * 64))
    assert runs(*words).exit_code == 3  # the second party's own group was changed


def put(bundle: Path, statement: Statement, key: Path) -> None:
    """A signature that ``add_signature`` would not create."""
    content = statement.dumps()
    path = bundle / "signatures" / f"forged-{len(list((bundle / 'signatures').iterdir()))}.json"
    path.write_bytes(content)
    path.with_name(f"{path.name}.sig").write_bytes(sign(content, key))


ONE_PARTY = {
    "the same key": ("alice@example.org {alice}", "alice"),
    "one name with two keys": ("alice@example.org {alice}\nalice@example.org {bob}", "bob"),
    "in other letters": ("alice@example.org {alice}\nAlice@Example.org {bob}", "bob"),
    "one key with two names": ("alice@example.org {alice}\nbob@example.org {alice}", "alice"),
    "a name in a list": ("alice@example.org {alice}\nbob@example.org,alice@example.org {bob}", "bob"),
    "a name in a later line": (
        "x@example.org {alice}\ny@example.org {bob}\nz@example.org {alice}\nz@example.org {bob}",
        "bob",
    ),
    "a pattern": ("alice@example.org {alice}\n*@example.org {bob}", "bob"),
    "a pattern of the first party": ("*@example.org {alice}\nbob@example.org {bob}", "bob"),
}


@pytest.mark.parametrize(
    ("name", "role"), [*((name, "graded again") for name in ONE_PARTY), ("a pattern", "ran again")]
)
def test_who_ran_it_is_no_second_party(
    folder: Path, group: Path, keys: dict[str, Path], tmp_path: Path, name: str, role: Role
) -> None:
    text, signer = ONE_PARTY[name]
    allowed = tmp_path / "allowed_signers"
    public = {key: " ".join(keys[key].with_suffix(".pub").read_text().split()[:2]) for key in ("alice", "bob")}
    allowed.write_text(text.format(**public) + "\n")
    compared = Comparison(runs=4, group_uid="x", same_medal=4)
    with pytest.raises(UsageError, match="as a second party"):
        add_signature(folder, group, keys[signer], role, compared, allowed)
    assert runs("verify", folder, "--allowed-signers", allowed).exit_code == 0
    statement = Statement.loads(statement_of(folder).read_bytes())
    put(folder, evolve(statement, predicate=evolve(statement.predicate, role=role, compared=compared)), keys[signer])
    done = runs("verify", folder, "--allowed-signers", allowed)
    assert done.exit_code == 1 and "not a second party's" in done.output, done.output


def test_another_party_is_a_second_one(folder: Path, group: Path, keys: dict[str, Path], allowed: Path) -> None:
    with allowed.open("a") as lines:
        lines.write(f"# alice {keys['bob'].with_suffix('.pub').read_text()}")
        lines.write(f"bob@example.org {keys['bob'].with_suffix('.pub').read_text()}")
    add_signature(folder, group, keys["bob"], "graded again", Comparison(runs=4), allowed)
    done = runs("verify", folder, "--allowed-signers", allowed)
    assert done.exit_code == 0 and "I graded 4 submissions" in done.output, done.output


@pytest.mark.parametrize("compared", [None, Comparison(runs=0), Comparison(runs=3)])
def test_a_countersignature_is_about_all_graded_runs(
    folder: Path, keys: dict[str, Path], compared: Comparison | None
) -> None:
    statement = Statement.loads(statement_of(folder).read_bytes())
    said = evolve(statement.predicate, role="graded again", compared=compared)
    put(folder, evolve(statement, predicate=said), keys["bob"])
    assert runs("verify", folder).exit_code == 1


def test_without_a_first_party_there_is_no_second(group: Path, keys: dict[str, Path], tmp_path: Path) -> None:
    export_group(group, tmp_path / "b")
    with pytest.raises(UsageError, match="nobody has signed that they ran"):
        add_signature(tmp_path / "b", group, keys["bob"], "graded again", Comparison(runs=4))


def test_a_countersignature_needs_something_to_say(folder: Path, keys: dict[str, Path], tmp_path: Path) -> None:
    assert runs("verify", folder, "--countersign", keys["bob"]).exit_code == 2
    empty = tmp_path / "no-data"
    done = runs("verify", folder, "--regrade", "--countersign", keys["bob"], "--data", empty)
    assert done.exit_code == 3 and len(list((folder / "signatures").glob("*.json"))) == 1  # undecided: nothing signed
