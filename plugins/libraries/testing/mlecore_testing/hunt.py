"""A scripted agent that looks for what tells which competition an obfuscated run works on, and a judge of that."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from mlecore.model.facts import Facts
from mlecore_testing.competitions.obfuscated import spelled, telling, words_of_data

SCRIPT = r"""
hunt() {
    echo "## environment"; env
    echo "## mounts"; cat /proc/self/mountinfo /proc/mounts
    echo "## processes"
    for process in /proc/[0-9]*; do
        tr '\0' ' ' <$process/cmdline; tr '\0' '\n' <$process/environ; cat $process/cgroup
        readlink $process/cwd $process/root $process/exe; ls -l $process/fd
    done
    echo "## host"; hostname; cat /etc/hostname /etc/hosts /etc/passwd /etc/resolv.conf; uname -a; id
    echo "## names"
    find / \( -path /proc -o -path /sys -o -path /usr -o -path "/lib*" -o -path /etc/ssl -o -path /etc/alternatives \
        -o -path "*/lib/python3*" -o -path "$PWD/data" \) -prune -o -print
    echo "## contents"
    find . /opt/mlecore /tmp /var/tmp -type f -size -256k -not -path "./data/*" -not -name hunt.txt -exec cat {} +
    cat ./data/description.md
    echo "## end"
} 2>/dev/null
hunt >logs/hunt.txt
cp /opt/mlecore/sample.csv submission/submission.csv
"""
"""For agent `command`: writes what it sees to logs/hunt.txt, and hands in the sample. The words stay outside."""

_VARIABLE = "COMPETITION_ID"  # its name is the same in every run; its value is looked at
SECTIONS = ("environment", "mounts", "processes", "host", "names", "contents")


def given_away(hunted: str, facts: Facts, public: Path) -> Iterator[str]:
    """Each telling word, with its line. Words of the public data are left out: obfuscated descriptions hide no data."""
    data = words_of_data(public)
    section = ""
    for line in hunted.replace(f"{_VARIABLE}=", "").splitlines():
        if line.startswith("## "):
            section = line[3:]
            continue
        for word in telling(facts):
            pattern = spelled(word)
            if pattern.search(line) and not pattern.search(data):
                yield f"{section}: {word!r} in {line[:160]!r}"


def complete(hunted: str) -> bool:
    """Did it look everywhere?"""
    return all(re.search(rf"^## {section}\n.", hunted, re.MULTILINE) for section in SECTIONS) and "## end" in hunted
