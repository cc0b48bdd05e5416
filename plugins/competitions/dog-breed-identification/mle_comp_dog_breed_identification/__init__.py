"""Dog Breed Identification: which of 120 breeds is the dog in a photograph?"""

from __future__ import annotations

from pathlib import Path

from mlecore.hookspecs import hookimpl
from mlecore_toolkit import Format, Table, ensure_unique, link_files, log_loss, one_hot, read_csv, split, write_csv

BREEDS = """
affenpinscher afghan_hound african_hunting_dog airedale american_staffordshire_terrier appenzeller
australian_terrier basenji basset beagle bedlington_terrier bernese_mountain_dog black-and-tan_coonhound
blenheim_spaniel bloodhound bluetick border_collie border_terrier borzoi boston_bull bouvier_des_flandres boxer
brabancon_griffon briard brittany_spaniel bull_mastiff cairn cardigan chesapeake_bay_retriever chihuahua chow
clumber cocker_spaniel collie curly-coated_retriever dandie_dinmont dhole dingo doberman english_foxhound
english_setter english_springer entlebucher eskimo_dog flat-coated_retriever french_bulldog german_shepherd
german_short-haired_pointer giant_schnauzer golden_retriever gordon_setter great_dane great_pyrenees
greater_swiss_mountain_dog groenendael ibizan_hound irish_setter irish_terrier irish_water_spaniel
irish_wolfhound italian_greyhound japanese_spaniel keeshond kelpie kerry_blue_terrier komondor kuvasz
labrador_retriever lakeland_terrier leonberg lhasa malamute malinois maltese_dog mexican_hairless
miniature_pinscher miniature_poodle miniature_schnauzer newfoundland norfolk_terrier norwegian_elkhound
norwich_terrier old_english_sheepdog otterhound papillon pekinese pembroke pomeranian pug redbone
rhodesian_ridgeback rottweiler saint_bernard saluki samoyed schipperke scotch_terrier scottish_deerhound
sealyham_terrier shetland_sheepdog shih-tzu siberian_husky silky_terrier soft-coated_wheaten_terrier
staffordshire_bullterrier standard_poodle standard_schnauzer sussex_spaniel tibetan_mastiff tibetan_terrier
toy_poodle toy_terrier vizsla walker_hound weimaraner welsh_springer_spaniel west_highland_white_terrier whippet
wire-haired_fox_terrier yorkshire_terrier
""".split()


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    labels = read_csv(raw / "labels.csv")[["id", "breed"]]
    ensure_unique(labels["id"], "ids of labels.csv")
    truth = labels[["id"]].join(one_hot(labels["breed"], BREEDS))  # of all rows: no other breed may occur anywhere
    train, test = split(labels, test_size=0.1)
    answers = truth.loc[test.index]
    write_csv(train, public / "labels.csv")
    write_csv(answers, private / "test.csv")
    write_csv(answers.assign(**dict.fromkeys(BREEDS, 1 / 120)), public / "sample_submission.csv")
    for part, folder in ((train, "train"), (test, "test")):
        link_files(raw / "train", public / folder, [f"{image}.jpg" for image in part["id"]])


@hookimpl
def grade(submission: Table, private: Path, format: Format) -> float:
    truth, predictions = format.read(submission, private / "test.csv")
    return log_loss(truth[BREEDS], predictions[BREEDS])
