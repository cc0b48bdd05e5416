"""Rule 5 of docs/editions.md: in edition v2 all rows of one patient, speaker, sentence or similar are on one side.

Every competition is in a table: its groups are in a column, its package tests them by other means, they are not kept
together (docs/editions.md names these, with the reason), or its files name no group of several rows.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import pandas as pd
import pytest
from mlecore_testing import Trial
from mlecore_testing.shared_data import SharedData

from mlecore.competitions import installed

ROOT = Path(__file__).parent.parent
Group = tuple[str, str, Sequence[str], str]  # files of train and test, columns, the part of them that names the group
ALL = "(.*)"

COLUMNS: dict[str, Group] = {
    "champs-scalar-coupling": ("public/train.csv", "public/test.csv", ["molecule_name"], ALL),
    "chaii-hindi-and-tamil-question-answering": ("public/train.csv", "public/test.csv", ["context"], ALL),
    "facebook-recruiting-iii-keyword-extraction": ("public/train.csv", "public/test.csv", ["Title", "Body"], ALL),
    "google-quest-challenge": ("public/train.csv", "public/test.csv", ["question_title", "question_body"], ALL),
    "hms-harmful-brain-activity-classification": ("public/train.csv", "public/test.csv", ["patient_id"], ALL),
    "icecube-neutrinos-in-deep-ice": ("public/train_meta.parquet", "public/test_meta.parquet", ["batch_id"], ALL),
    "iwildcam-2019-fgvc6": ("public/train.csv", "public/test.csv", ["location"], ALL),
    "nfl-player-contact-detection": ("public/train_labels.csv", "private/test.csv", ["game_play"], r"(\d+)_"),
    "osic-pulmonary-fibrosis-progression": ("public/train.csv", "public/test.csv", ["Patient"], ALL),
    "rsna-2022-cervical-spine-fracture-detection": (
        "public/train.csv",
        "public/test.csv",
        ["StudyInstanceUID"],
        ALL,
    ),
    "rsna-breast-cancer-detection": ("public/train.csv", "public/test.csv", ["patient_id"], ALL),
    "siim-covid19-detection": ("public/train_study_level.csv", "private/test.csv", ["id"], "(.*)_study"),
    "siim-isic-melanoma-classification": ("public/train.csv", "public/test.csv", ["patient_id"], ALL),
    "spaceship-titanic": ("public/train.csv", "public/test.csv", ["PassengerId"], r"(\d+)_"),
    "us-patent-phrase-to-phrase-matching": ("public/train.csv", "public/test.csv", ["anchor"], ALL),
    "ventilator-pressure-prediction": ("public/train.csv", "public/test.csv", ["breath_id"], ALL),
}

OTHERWISE = {  # the test of the package
    "3d-object-detection-for-autonomous-vehicles": "test_scenes_are_on_one_side",
    "AI4Code": "test_notebooks_of_one_origin_are_on_one_side",
    "denoising-dirty-documents": "test_no_clean_test_page_is_public",
    "iwildcam-2020-fgvc7": "test_the_share_of_the_test_part",
    "ml2021spring-hw2": "test_parts_do_not_overlap",
    "movie-review-sentiment-analysis-kernels-only": "test_no_sentence_is_in_both_parts",
    "ranzcr-clip-catheter-line-classification": "test_no_patient_is_in_both_parts",
    "smartphone-decimeter-2022": "test_no_date_is_in_both_parts",
    "stanford-covid-vaccine": "test_similar_molecules_are_on_one_side",
    "tensorflow-speech-recognition-challenge": "test_no_speaker_is_in_both_parts",
    "tensorflow2-question-answering": "test_pages_and_questions_are_on_one_side",
    "text-normalization-challenge-english-language": "test_equal_sentences_are_on_one_side",
    "text-normalization-challenge-russian-language": "test_equal_sentences_are_on_one_side",
    "the-icml-2013-whale-challenge-right-whale-redux": "test_no_day_is_in_both_parts",
    "whale-categorization-playground": "test_copies_are_on_one_side",
}

NONE = """
aerial-cactus-identification
alaska2-image-steganalysis
aptos2019-blindness-detection
billion-word-imputation
bms-molecular-translation
cassava-leaf-disease-classification
cdiscount-image-classification-challenge
detecting-insults-in-social-commentary
dog-breed-identification
dogs-vs-cats-redux-kernels-edition
freesound-audio-tagging-2019
google-research-identify-contrails-reduce-global-warming
herbarium-2020-fgvc7
herbarium-2021-fgvc8
herbarium-2022-fgvc9
hotel-id-2021-fgvc8
imet-2020-fgvc7
inaturalist-2019-fgvc6
invasive-species-monitoring
jigsaw-toxic-comment-classification-challenge
leaf-classification
learning-agency-lab-automated-essay-scoring-2
lmsys-chatbot-arena
new-york-city-taxi-fare-prediction
nomad2018-predict-transparent-conductors
paddy-disease-classification
petfinder-pawpularity-score
plant-pathology-2020-fgvc7
playground-series-s3e18
predict-volcanic-eruptions-ingv-oe
random-acts-of-pizza
rsna-miccai-brain-tumor-radiogenomic-classification
seti-breakthrough-listen
spooky-author-identification
tabular-playground-series-dec-2021
tabular-playground-series-may-2022
tgs-salt-identification-challenge
tweet-sentiment-extraction
vesuvius-challenge-ink-detection
vinbigdata-chest-xray-abnormalities-detection
""".split()


@pytest.mark.parametrize("competition", COLUMNS)
def test_groups_are_on_one_side(competition: str, tmp_path: Path, shared_data: SharedData) -> None:
    *files, columns, pattern = COLUMNS[competition]
    trial = Trial(competition, tmp_path, edition="v2", shared=shared_data)
    train, test = (_groups(trial.prepared / file, columns, pattern) for file in files)
    assert train and test
    assert not train & test


def _groups(path: Path, columns: Sequence[str], pattern: str) -> set[tuple[str, ...]]:
    if path.suffix == ".parquet":
        table = pd.read_parquet(path, columns=list(columns)).astype(str)
    else:
        table = pd.read_csv(path, usecols=list(columns), dtype=str, keep_default_na=False)
    parts = [table[column].str.extract(f"^{pattern}", flags=re.DOTALL, expand=False) for column in columns]
    return set(pd.concat(parts, axis=1).dropna().itertuples(index=False, name=None))


def test_every_competition_is_in_a_table() -> None:
    page = (ROOT / "docs" / "editions.md").read_text(encoding="utf-8")
    section = page.partition("## Groups in both parts\n")[2].partition("\n## ")[0]
    exceptions = re.findall(r"^\| ([\w-]+) \|", section, re.MULTILINE)[1:]  # less the head
    named = [*COLUMNS, *OTHERWISE, *exceptions, *NONE]
    assert set(named) == {competition.id for competition in installed() if competition.facts.editions}


def test_packages_have_the_tests_that_are_named() -> None:
    for competition, name in OTHERWISE.items():
        files = (ROOT / "plugins" / "competitions" / competition / "tests").glob("*.py")
        assert any(f"def {name}(" in file.read_text(encoding="utf-8") for file in files), competition
