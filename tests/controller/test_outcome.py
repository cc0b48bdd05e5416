"""What an agent reports of its end decides nothing."""

from __future__ import annotations


def test_a_report_does_not_change_who_is_to_blame(lab):
    """Neither excuses it a crash, nor makes it a failure worth a retry."""
    words = "submitted", "no_answer: the endpoint is down", "lost: by the backend"
    lab.make(*(("worker", {"outcome": text, "code": "3"}) for text in words))
    lab.run()
    for record in lab.records().values():
        assert (record.state, record.ended, len(record.attempts)) == ("graded", "crashed", 1)
        assert record.outcome is not None and record.reason == "exit code 3"
