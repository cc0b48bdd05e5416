"""Signs bundles and reads their signatures: the folder ``signatures/`` has a statement with its signature per signer
and role."""

from __future__ import annotations

import hashlib
import re
import shutil
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from attrs import field, frozen

from mle_ext_sharing import ssh_signatures
from mle_ext_sharing.bundle import SIGNATURES, OpenBundle
from mle_ext_sharing.ssh_signatures import Signer
from mle_ext_sharing.statement import Attestations, Comparison, Role, Statement, claim_of, state, subjects
from mlecore.errors import DataError, UsageError
from mlecore.util import files
from mlecore.util.schema import LIMIT

_MOST = 100  # statements of one bundle
_SECOND_PARTY = "It needs another key and another name in allowed_signers than everyone who signed that they ran it."
NOT_PROVED = (
    "Not proved: that the runs happened as recorded. Who owns the machine can write any record and sign it. "
    "Grading again (--regrade) shows that the submissions earn their scores; a second party that runs the agent again "
    "shows that it reaches them."
)


@frozen(kw_only=True)
class Signed:
    """One statement and who signed it."""

    signer: Signer
    statement: Statement

    def __str__(self) -> str:
        said = self.statement.predicate
        return f"{self.signer} said at {said.stated_at}: {self.statement}"


@frozen(kw_only=True)
class Signatures:
    """The signatures of a bundle: the good ones, and in words what is wrong with the others."""

    signed: list[Signed] = field(factory=list)
    wrong: list[str] = field(factory=list)

    def by(self, *roles: Role) -> list[Signed]:
        return [each for each in self.signed if each.statement.predicate.role in roles]


def add_signature(
    path: Path,
    group: Path,
    key: Path,
    role: Role = "ran",
    compared: Comparison | None = None,
    allowed: Path | None = None,
) -> Statement:
    """Sign a bundle, whose records are in the folder ``group``.

    Raises UsageError, also if the key is not that of a second party in a role that needs one; DataError.
    """
    with OpenBundle(path) as bundle:
        statement = state(bundle, group, role, compared)
        taken = set(bundle.names())
        ran = [] if role == "ran" else [each.signer for each in read_signatures(bundle, group, allowed).by("ran")]
    content = statement.dumps()
    signature = ssh_signatures.sign(content, key)
    if role != "ran" and (why := _not_second(ssh_signatures.signer_of(content, signature, allowed), ran)):
        raise UsageError(f"{key} cannot sign as a second party: {why}", fix=_SECOND_PARTY)
    stem = f"{SIGNATURES}/{role.replace(' ', '-')}-{hashlib.sha256(signature).hexdigest()[:16]}.json"
    if stem in taken:
        raise UsageError(f"{path} already has this signature")
    pair = {f"{stem}.sig": signature, stem: content}  # a signature without its statement is not read
    if path.is_dir():
        files.make_folder(path / SIGNATURES, below=path)
        for name, text in pair.items():
            files.replace(path / name, text)
        return statement
    with files.output(path) as new:
        shutil.copyfile(path, new)
        with zipfile.ZipFile(new, "a", zipfile.ZIP_DEFLATED) as archive:
            for name, text in pair.items():
                archive.writestr(zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0)), text)
    return statement


def read_signatures(bundle: OpenBundle, group: Path | None, allowed: Path | None) -> Signatures:
    """Read all statements of a bundle, and compare them with its lists and with the records in ``group``, if given."""
    found = Signatures()
    about = None
    read: list[tuple[str, Signed]] = []
    names = sorted(name for name in bundle.names() if re.fullmatch(rf"{SIGNATURES}/[\w-]+\.json", name))
    if len(names) > _MOST:
        found.wrong.append(f"{SIGNATURES}/ has {len(names)} statements; at most {_MOST} are read")
    for name in names[:_MOST]:
        try:
            content = bundle.whole(name, LIMIT)
            signature = bundle.whole(f"{name}.sig", ssh_signatures.LIMIT)
            signer = ssh_signatures.signer_of(content, signature, allowed)
            statement = Statement.loads(content)
        except UsageError:
            raise
        except DataError as error:
            found.wrong.append(f"{name}: {error.message}")
            continue
        about = about or (subjects(bundle), claim_of(group) if group else None)
        problems = list(_problems(statement, *about))
        found.wrong.extend(f"{name}: {problem}" for problem in problems)
        if not problems:
            read.append((name, Signed(signer=signer, statement=statement)))
    ran = [signed.signer for _, signed in read if signed.statement.predicate.role == "ran"]
    for name, signed in read:
        if signed.statement.predicate.role != "ran" and (why := _not_second(signed.signer, ran)):
            found.wrong.append(f"{name}: it is not a second party's: {why}")
        else:
            found.signed.append(signed)
    return found


def has_second_party(signed: Sequence[Signed], role: Role) -> bool:
    """Has a second party said so? Unknown, and so False, for keys without a name."""
    return any(each.statement.predicate.role == role and each.signer.name is not None for each in signed)


def _problems(statement: Statement, about: object, claim: object) -> Iterator[str]:
    said = statement.predicate
    if statement.subject != about:
        yield "it was signed for another bundle: the hashes of bundle.json and bundle.files differ"
    elif claim is not None and said.claim != claim:
        yield "what it claims is not what the records say"
    elif said.role != "ran" and (said.compared is None or said.compared.runs < 1):
        yield f"it says {said.role!r} of no run"
    elif said.role == "graded again" and said.compared and said.compared.runs < said.claim.graded:
        yield f"only {said.compared.runs} of {said.claim.graded} graded runs were graded again"


def _not_second(signer: Signer, ran: Sequence[Signer]) -> str:
    """Why the signer is not another party than those who ran the group; empty if it is one."""
    if not ran:
        return "nobody has signed that they ran the group"
    same = next((each for each in ran if signer.is_same_party(each)), None)
    return f"{same} ran the group" if same else ""


def absent(attestations: Attestations) -> str:
    """What third parties vouch for, in one sentence."""
    return f"image by digest: {', '.join(attestations.images) or 'absent'}"
