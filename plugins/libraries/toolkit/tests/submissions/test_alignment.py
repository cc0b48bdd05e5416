"""Submission and answers come together as the sheets say, and a refusal names what is wrong."""

from random import Random

import numpy as np
import pandas as pd
import pytest
from pandas.testing import assert_frame_equal

from mlecore.errors import GradingError, InvalidSubmission
from mlecore_toolkit import columns_of, read_answers, require_known_ids, require_same_ids
from mlecore_toolkit.submissions import alignment
from mlecore_toolkit.submissions.format import Format

ANSWERS = pd.DataFrame({"id": ["b", "c", "a"], "y": [1, 2, 0]})


def pair(submission, answers, **keys):
    """``(truth, predictions)`` as the ``[submission]`` table of these keys says, whatever the values."""
    return Format.parse({"id": "id", "columns": {"*": {"type": "any"}}, **keys}).read(submission, answers)


def test_pairs_rows_by_id_whatever_their_order(table):
    truth, predictions = pair(table("y,extra,id\n12,x,c\n10,x,a\n11,x,b\n"), ANSWERS)
    assert list(truth["id"]) == list(predictions["id"]) == ["b", "c", "a"]
    assert list(truth.index) == list(predictions.index) == [0, 1, 2]
    assert list(predictions["y"] - truth["y"]) == [10, 10, 10]


def test_ids_in_one_order_pair_without_sorting(table):
    truth, predictions = pair(table("id,y\nb,1\nc,2\na,0\n"), ANSWERS)
    assert list(truth["y"]) == list(predictions["y"]) == [1, 2, 0]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "empty"),
        ("id,Y\nb,1\n", "lacks 1 column: 'y' (names must be the same to the letter, unlike 'Y')"),
        ("id,y\n", "has 0 rows; expected 3"),
        ("id,y\nb,1\nc,2\n", "has 2 rows; expected 3"),
        ("id,y\nb,1\nc,2\nz,3\n", "1 unexpected id: 'z'"),
        ("id,y\nb,1\nc,2\n,3\n", "1 unexpected id: missing"),
        ("id,y\nb,1\nc,2\nc,3\n", "lacks 1 id: 'a'"),
        ("id,y\n1,1\n2,2\n3,3\n", "3 unexpected ids: 1, 2, 3 (expected text, such as 'a')"),
    ],
)
def test_refuses_other_rows(table, text, said):
    with pytest.raises(InvalidSubmission) as caught:
        pair(table(text), ANSWERS)
    assert said in str(caught.value)


def test_refuses_an_id_repeated_more_often_than_asked_for(table):
    answers = pd.DataFrame({"id": ["a", "a", "b"]})
    assert len(pair(table("id\nb\na\na\n"), answers)[1]) == 3
    with pytest.raises(InvalidSubmission, match="1 id repeated too often: 'b'; 'b' is in 2 rows, expected 1"):
        pair(table("id\nb\na\nb\n"), answers)


def test_ids_match_by_value(table):
    answers = pd.DataFrame({"id": [12, 7], "y": [1, 0]})
    assert list(pair(table("id,y\n12.0,1\n007.0,0\n"), answers)[1]["y"]) == [0, 1]
    with pytest.raises(InvalidSubmission, match="expected numbers, such as 7"):
        pair(table("id,y\n12,1\nx7,0\n"), answers)


def test_mixed_ids_cannot_be_sorted(table):
    mixed = table("id,y\n1,1\n2,2\n3,3\n")
    mixed.frame()["id"] = pd.Series(["a", 2, 3.5], dtype=object)
    with pytest.raises(InvalidSubmission, match="mixes text and numbers"):
        pair(mixed, ANSWERS)


def test_pairs_without_comparing(table):
    _, predictions = pair(table("id,y\nz,3\nx,1\ny,2\n"), ANSWERS, ids="any")
    assert list(predictions["y"]) == [1, 2, 3]
    truth, predictions = pair(table("y\n3\n1\n2\n"), ANSWERS, ids="any", order="sample")
    assert list(truth["y"]) == [1, 2, 0]
    assert list(predictions["y"]) == [3, 1, 2]
    with pytest.raises(InvalidSubmission, match="has 1 row; expected 3"):
        pair(table("y\n3\n"), ANSWERS, ids="any", order="sample")


@pytest.mark.parametrize("ids", ["set", "subset"])
def test_each_row_meets_the_answer_of_its_id(table, ids):
    truth, predictions = pair(table("id,y\na,5\nb,6\na,7\nc,8\n"), ANSWERS, ids=ids, rows="any")
    assert list(truth["id"]) == list(predictions["id"]) == ["a", "b", "a", "c"]
    assert list(truth["y"]) == [0, 1, 0, 2]
    assert list(predictions["y"]) == [5, 6, 7, 8]


def test_places_count_though_ids_are_compared(table):
    truth, predictions = pair(table("id,y\na,5\nb,6\nc,7\n"), ANSWERS, order="sample")
    assert list(truth["id"]) == ["b", "c", "a"]
    assert list(predictions["id"]) == ["a", "b", "c"]
    with pytest.raises(InvalidSubmission, match="unexpected id: 'z'"):
        pair(table("id,y\na,5\nb,6\nz,7\n"), ANSWERS, order="sample")


def test_rows_of_any_number_are_not_paired_by_place(table):
    truth, predictions = pair(table("id,y\na,5\n"), ANSWERS, ids="any", rows="any", order="sample")
    assert (len(truth), len(predictions)) == (3, 1)


def test_repeated_ids_meet_as_pandas_sorts_them(table):
    """The published grader sorts both tables by an id that repeats, with pandas' default sort."""
    rng = np.random.default_rng(3)
    ids = rng.integers(0, 40, 300)
    answers = pd.DataFrame({"id": ids, "y": np.arange(300)})
    order = rng.permutation(300)
    submission = "id,y\n" + "".join(f"{ids[k]},{k}\n" for k in order)
    truth, predictions = pair(table(submission), answers)
    frame = table(submission).frame()
    assert list(truth["y"]) == list(answers.sort_values("id")["y"])
    assert list(predictions["y"]) == list(frame.sort_values("id")["y"])


def test_only_these_columns(table):
    columns_of(table("y,id\n1,a\n"), ["id", "y"], only=True)
    with pytest.raises(InvalidSubmission, match="that are not allowed: 'z'"):
        columns_of(table("id,y,z\na,1,2\n"), ["id", "y"], only=True)


def test_ids_as_a_set(table):
    frame = table("id\nc\na\na\nb\n").frame()
    require_same_ids(frame, ANSWERS, "id")
    require_known_ids(frame.iloc[:2], ANSWERS, "id")
    with pytest.raises(InvalidSubmission, match="lacks 1 id: 'b'"):
        require_same_ids(frame.iloc[:2], ANSWERS, "id")
    with pytest.raises(InvalidSubmission, match="unexpected id: 'z'"):
        require_known_ids(pd.DataFrame({"id": ["z"]}), ANSWERS, "id")


def test_only_the_columns_of_the_answers_that_are_needed_are_read(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("id,note,y\n1,long,0.1\n")
    assert read_answers(path).to_dict("list") == {"id": [1], "note": ["long"], "y": [0.1]}
    assert read_answers(path, ["y", "id"]).to_dict("list") == {"id": [1], "y": [0.1]}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::pandas.errors.DtypeWarning")
def test_columns_are_typed_as_where_all_are_read(tmp_path):
    """By pieces of the whole table, whose size hangs on its width."""
    path = tmp_path / "a.csv"
    rows = (f"{row},{'x' if row == 100_000 else 1},1,2,3,4,5,6,7,8\n" for row in range(300_000))
    path.write_text("id,y,a,b,c,d,e,f,g,h\n" + "".join(rows))
    both = [
        [type(value) for value in answers["y"]] for answers in (read_answers(path), read_answers(path, ["id", "y"]))
    ]
    assert both[0] == both[1]
    assert set(both[0]) == {int, str}


def test_bad_answers_are_our_error(tmp_path):
    with pytest.raises(GradingError, match="cannot be read"):
        read_answers(tmp_path / "none.csv")
    path = tmp_path / "a.csv"
    path.write_text("id,y\n1,0.1\n")
    with pytest.raises(GradingError, match="lack 1 column: 'z'"):
        read_answers(path, ["id", "z"])


@pytest.mark.parametrize(
    ("column", "reason"),
    [
        ({"type": "number"}, "found id 'd': 'xd'; id 'a': 'xa'; id 'c': 'xc' (and 2 more rows)"),
        ({"type": "mask", "pixels": 9}, "id 'd': "),
        ({"type": "records", "record": ["number"]}, "id 'd': "),
    ],
)
def test_the_first_rows_of_the_file_are_named_however_rows_are_paired(table, column, reason):
    """So the reason of the check, whose sample has another order than the answers, is that of the grader."""
    form = Format.parse({"id": "id", "columns": {"y": column}})

    def refusal(submitted: str, asked: str) -> str:
        with pytest.raises(InvalidSubmission) as refused:
            submission = table("id,y\n" + "".join(f"{name},x{name}\n" for name in submitted))
            form.read(submission, pd.DataFrame({"id": list(asked), "y": 1}))
        return str(refused.value)

    reasons = {refusal("dacbe", asked) for asked in ("abcde", "edcba", "cabed", "dacbe")}
    assert len(reasons) == 1 and reason in reasons.pop()
    assert refusal("dacbdacb", "aabbccdd") == refusal("dacbdacb", "dcbadcba")  # these are sorted to be paired
    assert "id 'd'" in refusal("dacbdacb", "aabbccdd")


@pytest.mark.parametrize("ids", ["list", "set"])
def test_missing_ids_and_examples_do_not_depend_on_the_order_of_the_answers(table, ids):
    keys = {"ids": ids, "rows": "same" if ids == "list" else "any"}
    for text, words in (("id,y\na,1\na,1\na,1\n", "lacks 2 ids: 'b', 'c'"), ("id,y\n7,1\n8,1\n9,1\n", "such as 'a'")):
        for asked in ("abc", "cba", "bac"):
            with pytest.raises(InvalidSubmission, match=words):
                pair(table(text), pd.DataFrame({"id": list(asked), "y": 0}), **keys)


@pytest.mark.parametrize("seed", range(50))
def test_different_ids_are_found_as_python_finds_them(seed, monkeypatch):
    random = Random(seed)
    asked = random.choice([["a", "b", "c"], [1, 2, 3], [1.0, 2.5, -0.0], ["a", 1, True], [1, 2, None], ["a", "a", "b"]])
    ids = random.choices(asked, k=random.randint(1, 5)) if random.random() < 0.7 else asked
    frame, answers = (pd.DataFrame({"id": of, "row": range(len(of))}) for of in (ids, random.sample(asked, 3)))
    found = alignment.joined(frame, answers, "id")
    monkeypatch.setattr(alignment, "_found", lambda *_: None)
    for one, other in zip(found, alignment.joined(frame, answers, "id"), strict=True):
        assert_frame_equal(one, other)
