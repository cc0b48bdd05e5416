"""The kit's rule leaks: answers in the texts of test pictures are found, and other texts are not taken for them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

pytestmark = pytest.mark.slow

Judge = Callable[..., list[str]]

PICTURES = """import io
from PIL import Image
from PIL.PngImagePlugin import PngInfo
(public / 'images').mkdir()
for id, y in test[['id', 'inside']].itertuples(index=False):
    image, out = Image.new('L', (4, 4), id % 256), io.BytesIO()
    SAVE
    (public / 'images' / f'{id}.KIND').write_bytes(out.getvalue())"""
SAVE = {  # the kind, how it is saved, and what the rule names
    "in a PNG's text": (
        "png",
        "info = PngInfo(); info.add_text('Label', str(y)); image.save(out, 'PNG', pnginfo=info)",
        "text Label",
    ),
    "as a word of a PNG's compressed text": (
        "png",
        "info = PngInfo(); info.add_text('Note', f'ring={y} {id}', zip=True); image.save(out, 'PNG', pnginfo=info)",
        "text Note, word 2",
    ),
    "in EXIF": (
        "jpg",
        "exif = image.getexif(); exif[270] = str(y); image.save(out, 'JPEG', exif=exif)",
        "EXIF ImageDescription",
    ),
    "in the comment of EXIF": (
        "jpg",
        "exif = image.getexif(); exif.get_ifd(0x8769)[37510] = b'ASCII\\0\\0\\0' + str(y).encode()\n"
        "    image.save(out, 'JPEG', exif=exif)",
        "EXIF UserComment",
    ),
    "in the comment of a JPEG": ("jpg", "image.save(out, 'JPEG', comment=str(y))", "text comment"),
    "in a tag of a TIFF": ("tif", "image.save(out, 'TIFF', description=f'{y}')", "EXIF ImageDescription"),
}


def _pictures(kind: str, save: str) -> str:
    return PICTURES.replace("KIND", kind).replace("SAVE", save)


@pytest.mark.parametrize("what", SAVE)
def test_answers_in_texts_of_pictures_are_found(judge_preparing: Judge, what: str) -> None:
    kind, save, expected = SAVE[what]
    found = judge_preparing("leaks", _pictures(kind, save))
    assert any(f"its field {expected!r} is 'inside' of the answers" in place for place in found), found


def test_answers_in_texts_of_packed_pictures_are_found(judge_preparing: Judge) -> None:
    kind, save, expected = SAVE["in a PNG's text"]
    pack = "\n__import__('shutil').make_archive(str(public / 'images'), 'zip', public / 'images')"
    found = judge_preparing("leaks", _pictures(kind, save) + pack)
    assert any(place.startswith("public/images.zip!") and repr(expected) in place for place in found), found


def test_other_texts_and_broken_pictures_are_no_leak(judge_preparing: Judge) -> None:
    save = (
        "info = PngInfo(); info.add_text('Label', str(id % 2)); image.save(out, 'PNG', pnginfo=info)\n"
        "    out = out if id % 3 else io.BytesIO(b'no picture')"
    )
    assert judge_preparing("leaks", _pictures("png", save)) == []
