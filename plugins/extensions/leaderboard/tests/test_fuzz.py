"""Damaged and hostile exports: no command that reads a stranger's files ends with a raw exception, nor a good entry.

Each case is drawn from its number. Longer campaigns than the one here: ``Campaign(...).run(range(5000))``.
"""

from __future__ import annotations

import hashlib
import io
import json
import random
import re
import shutil
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from click.testing import CliRunner

from mlecore.agents import McpServer, Outcome, Usage
from mlecore.backends import Enforcement, Handle, Sandbox
from mlecore.cli import main
from mlecore.detectors import Evidence, Finding, NotRead
from mlecore.model_access import ModelAccess
from mlecore.registry.provenance import PluginUse
from mlecore.runs.findings import Findings, write_findings
from mlecore.runs.measured import ModelCalls, ModelUse, ServerToolUse
from mlecore.runs.record import Attempt, Availability, Replaced, RunRecord
from mlecore.runs.store import read_record
from mlecore.sharing import bundle
from mlecore.sharing.exporting import export_group
from mlecore.sharing.signed import add_signature
from mlecore.sharing.ssh_signatures import sign

pytestmark = pytest.mark.slow

COMPETITION = "spaceship-titanic"
Files = dict[str, bytes]

HOSTILE = (
    *("null", "true", "0", "-1", "1e400", "NaN", "-Infinity", "9" * 4000, "1e308", "-1e308", "1e-320"),
    *("9223372036854775807", "12345678901234567890123", "0.5", '""', '" "', '"\\ud800"', '"\\udfff x"'),
    *('"\\u0000\\u001b[31m\\u202e\\u2028"', '"../../etc/passwd"', '"=1+1"', '"<script>"', '"nan"', '"1e400"'),
    *('"2026-13-45T99:99"', '"9999-12-31T23:59:59-23:59"', '"0001-01-01T00:00:00+23:59"', '"published"', '"graded"'),
    *(f'"{"x" * 10**6}"', "[]", "{}", "[[]]", '[{"a": [{}]}]', '{"a": {"b": null}}', "[" * 10**5, '{"a":' * 10**5),
    *("[" * 90 + "]" * 90, '["x", 5, null]', "[0, 1]", '{"\\ud800": 1}', '"http://[x"', '"a, b 1, source x"'),
)
"""Values of JSON as text."""

TOML = (
    *("inf", "nan", "-1", "9" * 4000, "9" * 5000, "1e400", '""', '"\\u0000"', "[]", "{}", "[" * 10**5, "true"),
    *(f'"{"x" * 10**5}"', "2026-01-01", "[[[]]]", '"../x"', "1000000", "[1, 1]", '["a"]', "{ a = { b = 1 } }"),
)
"""Values of TOML."""


def full_record(record: RunRecord) -> RunRecord:
    """With a value for nearly every key."""
    attempt = Attempt(
        number=1,
        job="j",
        handle=Handle(name="j", id="i"),
        started_at="2026-01-01T00:00:00+00:00",
        ended_at="2026-01-01T01:00:00+00:00",
        outcome=Outcome(kind="gave_up", detail="x"),
        availability=Availability(tried=2, failed=1, last_error="x"),
    )
    enforced = Enforcement(level="enforced")
    limits = dict.fromkeys(("time", "cpus", "memory", "processes", "disk", "network"), enforced)
    return evolve(
        record,
        data_kind="published",
        attempts=(attempt,),
        sandbox=Sandbox(isolation="x", user="x", details={"a": "b"}, **limits),
        limits=evolve(record.limits, cpus=2, memory=10**9, allow=("h:1",), mcp={"m": McpServer(url="https://m/x")}),
        access=ModelAccess(endpoint="https://x/v1", spent={"usd": 1.0}, prices={"m": {"input": 1.0}}),
        calls=ModelCalls(models=(ModelUse(model="m"),), server_tools=(ServerToolUse(tool="t"),)),
        reported_usage=Usage(models=("m",), input_tokens=1, cost_usd=0.5),
        forced=(Replaced(attempt=1, at="2026-01-01T00:00:00+00:00", status="graded", score="0.5"),),
        relay_refused={"h:1": 2},
        model="m",
        endpoint="https://x/v1",
        plugins=(PluginUse(name=COMPETITION, version="1", source="5" * 64),),
        installed=("x 1",),
        digests=None,
    )


class Campaign:
    """A board with a good entry, and an export that is damaged in many ways and put beside it."""

    def __init__(self, folder: Path, key: Path, board: Path) -> None:
        self.folder, self.key, self.board = folder, key, board
        self.entry = {path.name: path.read_bytes() for path in (board / "entries" / "bad").iterdir()}
        self.sound = self.entry.pop("export.zip")
        with zipfile.ZipFile(io.BytesIO(self.sound)) as archive:
            every = {name: archive.read(name) for name in archive.namelist()}
        self.files = without_signatures(every)
        self.signed = {name: content for name, content in every.items() if name not in self.files}
        self.listed = [name for name in self.files if name not in (bundle.HEAD, bundle.FILES)]
        self.keys = [(name, key) for name in self.json_files for key in paths_of(json.loads(self.text_of(name)))]

    @property
    def json_files(self) -> list[str]:
        found = [name for name in (*self.files, *self.signed) if name.endswith(".json") and name != bundle.HEAD]
        return [*found, bundle.HEAD, "results.json"]

    def text_of(self, name: str) -> bytes:
        return {**self.entry, **self.signed, **self.files}[name]

    def run(self, numbers: Iterable[int], draw: Callable[[Campaign, random.Random], Case]) -> list[str]:
        """What went wrong, in words. Ten cases share a board, where one must not touch the others."""
        drawn = [(number, draw(self, random.Random(number))) for number in numbers]
        return [wrong for at in range(0, len(drawn), 10) for wrong in self._wrong(drawn[at : at + 10])]

    def _wrong(self, drawn: Sequence[tuple[int, Case]]) -> Iterator[str]:
        shutil.rmtree(scratch := self.folder / "case", ignore_errors=True)
        for bad in (self.board / "entries").glob("bad*"):
            shutil.rmtree(bad)
        for number, (words, export, entry) in drawn:
            path, runs, bad = scratch / f"{number}.zip", scratch / str(number), self.board / "entries" / f"bad-{number}"
            runs.mkdir(parents=True)
            path.write_bytes(export)
            calls = [["runs", "verify", str(path), "--allowed-signers", str(self.board / "allowed_signers")]]
            calls += [["leaderboard", "add", bad.name, str(path), "--board", str(self.board)]]
            if unpack(path, runs / "g"):
                run = next((each.name for each in sorted((runs / "g").iterdir()) if "--" in each.name), "x")
                of_groups = ("list", "list g", f"show g/{run}", f"show g/{run} --json", "show g/x", "verify g")
                of_reports = ("", "--csv", "--markdown", "--json", f"--html {runs}/page.html")
                commands = [f"runs {random.Random(number).choice(of_groups)}"]
                commands += [f"report g --mix {random.Random(number).choice(of_reports)}"]
                calls += [[*command.split(), "--runs", str(runs)] for command in commands]
            for call in calls:
                yield from raised(f"{number}: {words}", *call)
            bad.mkdir(exist_ok=True)
            for name, content in {**self.entry, **entry, "export.zip": export}.items():
                (bad / name).write_bytes(content)
        every = "; ".join(f"{number}: {words}" for number, (words, *_) in drawn)
        board = ("--board", str(self.board))
        comment, site = str(scratch / "comment.md"), str(scratch / "site")
        yield from raised(every, "leaderboard", "check", "--comment", comment, *board, has="good: accepted")
        yield from raised(every, "leaderboard", "build", "--to", site, *board, has="folders in entries")

    def zipped(self, files: Files, *, like: Files) -> tuple[bytes, Files]:
        """An export whose list, digests and signature are computed again, and the entry.toml that names it."""
        files = {name: sealed(name, content, like.get(name, b"")) for name, content in files.items()}
        for run in {name.partition("/")[0] for name in files if name.endswith("/run.json")}:
            old, new = (hashlib.sha256(each.get(f"{run}/grade.json", b"")).hexdigest() for each in (like, files))
            record = files[f"{run}/run.json"].replace(old.encode(), new.encode())
            files[f"{run}/run.json"] = sealed("run.json", record, record)
        plan, new_plan = (hashlib.sha256(each["plan.toml"]).hexdigest().encode() for each in (like, files))
        files["group.json"] = files["group.json"].replace(plan, new_plan)
        head = files.pop(bundle.HEAD)
        old = hashlib.sha256(files.pop(bundle.FILES, b"")).hexdigest().encode()
        listed = "".join(
            f"{hashlib.sha256(content).hexdigest()} {len(content)} {json.dumps(name)}\n"
            for name, content in files.items()
        ).encode()
        head = head.replace(old, hashlib.sha256(listed).hexdigest().encode())
        files = {bundle.HEAD: head, bundle.FILES: listed, **files}
        for name, content in self.signed.items():
            if not name.endswith(".sig"):
                text = files.get(name) or content
                for each in (bundle.HEAD, bundle.FILES):
                    was, now = (hashlib.sha256(of[each]).hexdigest().encode() for of in (self.files, files))
                    text = text.replace(was, now)
                files |= {name: text, f"{name}.sig": sign(text, self.key)}
        return packed(files), {"entry.toml": self.naming(head)}

    def naming(self, head: bytes) -> bytes:
        """entry.toml with the hash of another bundle.json."""
        new = hashlib.sha256(head).hexdigest()
        return re.sub(rb'sha256 = "\w+"', f'sha256 = "{new}"'.encode(), self.entry["entry.toml"])


Case = tuple[str, bytes, Files]  # what it is, the export, files of its entry


def packed(files: Files) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return out.getvalue()


def sealed(name: str, content: bytes, before: bytes) -> bytes:
    """With its own digest, where it has one, computed again."""
    found = re.search(rb'"(record|digest)": "([0-9a-f]{64})"', before)
    if name.endswith(bundle.HEAD) or not found or found[0] not in content:
        return content
    empty = content.replace(found[2], b"")
    return content.replace(found[2], hashlib.sha256(empty).hexdigest().encode())


def unpack(path: Path, folder: Path) -> bool:
    """As somebody else's program does it."""
    try:
        with zipfile.ZipFile(path) as archive:
            archive.extractall(folder)
    except Exception:
        return False
    return True


def raised(words: str, *call: str, has: str = "") -> Iterator[str]:
    """What a command did that none should, in words."""
    done = CliRunner().invoke(main, call)
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        yield f"{words}: {call[:2]}: {done.exception!r:.300}"
    elif re.search(r"damaged: \w+: .*, line \d+\)", done.output):  # by the last line of defence: a kind to mend
        yield f"{words}: {call[:2]} caught {done.output[:2000]!r}"
    elif has not in done.output or any(not each.isprintable() for each in done.output.splitlines()):
        yield f"{words}: {call[:2]} printed {done.output[:2000]!r}"


def paths_of(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Of every key and the first items of every list."""
    if at:
        yield at
    items = value.items() if isinstance(value, dict) else enumerate(value[:2]) if isinstance(value, list) else ()
    for name, inner in items:
        yield from paths_of(inner, (*at, name))


def changed_bytes(content: bytes, draw: random.Random) -> bytes:
    """A few bytes replaced, removed, inserted, or everything from one on cut off."""
    data = bytearray(content)
    for _ in range(draw.choice((1, 1, 1, 3, 20))):
        at = draw.randrange(len(data) + 1) if data else 0
        how = draw.choice("=========+-x")
        if how == "=" and at < len(data):
            data[at] = draw.choice((draw.randrange(256), data[at] ^ 1 << draw.randrange(8), 0, 255, *b'9-"[{'))
        elif how == "+":
            data[at:at] = draw.randbytes(draw.choice((1, 4)))
        elif how == "-":
            del data[at : at + draw.choice((1, 4, 100))]
        elif how == "x" and draw.random() < 0.2:
            del data[at:]
    return bytes(data)


def damaged(campaign: Campaign, draw: random.Random) -> Case:
    """Random changes of bytes: of the zip, of a file, or of a file that its lists then agree with."""
    how = draw.choice(("zip", "file", "agreed", "agreed", "entry"))
    if how == "zip":
        return "bytes of the zip", changed_bytes(campaign.sound, draw), {}
    if how == "entry":
        name = draw.choice(sorted(campaign.entry))
        return f"bytes of {name}", campaign.sound, {name: changed_bytes(campaign.entry[name], draw)}
    files = {**campaign.files, **campaign.signed}
    name = draw.choice([*campaign.listed, bundle.HEAD, bundle.FILES, *campaign.signed])
    changed = {**files, name: changed_bytes(files[name], draw)}
    if how == "file" or name not in campaign.listed:
        return f"bytes of {name}", packed(changed), {"entry.toml": campaign.naming(changed[bundle.HEAD])}
    return f"bytes of {name}, agreed", *campaign.zipped(without_signatures(changed), like=campaign.files)


def without_signatures(files: Files) -> Files:
    return {name: content for name, content in files.items() if not name.startswith(bundle.SIGNATURES)}


def hostile(campaign: Campaign, draw: random.Random) -> Case:
    """A hostile value in the place of another, in a file that the lists agree with."""
    if draw.random() < 0.1:
        name = draw.choice(("plan.toml", "entry.toml"))
        text = campaign.text_of(name).decode()
        line = draw.choice([line for line in text.splitlines() if " = " in line and not line.startswith("#")])
        value = draw.choice(TOML)
        words = f"{name}: {line.partition(' = ')[0]} = {value[:40]}"
        content = text.replace(line, f"{line.partition(' = ')[0]} = {value}").encode()
        return with_file(campaign, name, content, words)
    name, key = draw.choice(campaign.keys)
    value = draw.choice(HOSTILE)
    values = json.loads(campaign.text_of(name))
    at = values
    for part in key[:-1]:
        at = at[part]
    at[key[-1]] = "@@"
    content = json.dumps(values, indent=1, ensure_ascii=False).encode().replace(b'"@@"', value.encode())
    return with_file(campaign, name, content, f"{name}: {key} = {value[:40]}")


def with_file(campaign: Campaign, name: str, content: bytes, words: str) -> Case:
    if name in campaign.entry:
        return words, campaign.sound, {name: content}
    files = campaign.files | {name: content}
    return words, *campaign.zipped(files, like=campaign.files)


@pytest.fixture(scope="module")
def campaign(tmp_path_factory: pytest.TempPathFactory, key: Path) -> Campaign:
    folder = tmp_path_factory.mktemp("fuzz")
    return new_campaign(folder, key)


def new_campaign(folder: Path, key: Path) -> Campaign:
    from mlecore_testing import drawn_groups

    from mlecore.runs.store import write_record

    board = folder / "board"
    done = CliRunner().invoke(main, ["leaderboard", "new", str(board)])
    assert done.exit_code == 0, done.output
    rules = (board / "leaderboard.toml").read_text().replace("seeds = 3", "seeds = 1")
    (board / "leaderboard.toml").write_text(rules.replace('low = ["low"]\nall = ["all"]', f'one = ["{COMPETITION}"]'))
    (board / "allowed_signers").write_text(f"alice@example.org {key.with_suffix('.pub').read_text()}")
    for name in ("sound", "good"):
        group = drawn_groups.write_group(folder / "runs", name, competitions=[COMPETITION], seeds=2, agent=name)
        for run in sorted(group.glob("*--*")):
            submission = run / "submission" / "submission.csv"
            if submission.exists():
                submission.write_text(f"{name} {run.name}\n")
            record = full_record(read_record(run))
            if record.submission:
                record.submission.write_text(f"{name} {record.seed}\n")  # no copy of the other one
            write_record(record)
            found = Finding(
                rule="r", verdict="note", summary="s", confidence=0.5, evidence=(Evidence(file="x", line=1, quote="q"),)
            )
            use = PluginUse(name="rules", options={"a": "b"})
            not_read = (NotRead(file="x", why="y"),)
            common = {"created_at": "2026-01-01T00:00:00+00:00", "seconds": 1.0, "group": "g", "settings": {"n": 1}}
            write_findings(
                record, Findings(run=record.uid, detector=use, findings=(found,), not_read=not_read, **common)
            )
        export_group(group, folder / f"{name}-export.zip")
        add_signature(folder / f"{name}-export.zip", group, key)
    for name, export in (("good", "good"), ("bad", "sound")):
        words = ["leaderboard", "add", name, str(folder / f"{export}-export.zip"), "--board", str(board)]
        done = CliRunner().invoke(main, words)
        assert done.exit_code == 0, done.output
        path = board / "entries" / name / "entry.toml"
        text = re.sub(r"(?m)^# (\w+ = false).*$", r"\1", path.read_text()).replace('["..."]', '["Alice"]')
        path.write_text(text.replace("hidden_scores = false", "hidden_scores = true"))
    done = CliRunner().invoke(main, ["leaderboard", "check", "--board", str(board)])
    assert done.exit_code == 0, done.output
    return Campaign(folder, key, board)


@pytest.mark.parametrize("draw", [damaged, hostile])
def test_no_raw_exception(campaign: Campaign, draw: Callable[[Campaign, random.Random], Case]) -> None:
    assert not campaign.run(range(40), draw)
