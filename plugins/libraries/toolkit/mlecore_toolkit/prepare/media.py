"""Pictures, sounds and DICOM files for synthetic data, as bytes. The same input gives the same bytes.

Pillow and pydicom are dependencies of the competitions that use them; they are imported when a file is encoded.
"""

from __future__ import annotations

import hashlib
import io
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def encode(pixels: NDArray[np.uint8], kind: Literal["JPEG", "PNG", "TIFF", "BMP"]) -> bytes:
    """A picture file of pixels: (height, width) for grey, (height, width, 3) for colour."""
    from PIL import Image

    out = io.BytesIO()
    Image.fromarray(pixels).save(out, kind)
    return out.getvalue()


def wav(samples: NDArray[np.int16], rate: int) -> bytes:
    """A mono WAV file with 16 bits and ``rate`` samples per second."""
    import wave

    out = io.BytesIO()
    with wave.open(out, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(samples.astype("<i2").tobytes())
    return out.getvalue()


def dicom(pixels: NDArray[Any], *, modality: str = "OT", patient: str = "", number: int = 1) -> bytes:
    """A small valid DICOM file of grey pixels (height, width), uint8 or uint16, uncompressed.

    ``number`` is the instance's number in its series. Unique ids are derived from the content.
    """
    from pydicom.dataset import Dataset, FileMetaDataset
    from pydicom.filewriter import dcmwrite
    from pydicom.uid import UID, ExplicitVRLittleEndian, SecondaryCaptureImageStorage

    bits = pixels.dtype.itemsize * 8
    data = pixels.astype(pixels.dtype.newbyteorder("<")).tobytes()
    key = hashlib.sha256(data + f"{modality} {patient} {number}".encode()).digest()
    uid = f"2.25.{int.from_bytes(key[:15], 'big')}"
    meta = FileMetaDataset()
    meta.MediaStorageSOPClassUID = SecondaryCaptureImageStorage
    meta.MediaStorageSOPInstanceUID = UID(uid)
    meta.TransferSyntaxUID = ExplicitVRLittleEndian
    meta.ImplementationClassUID = UID("2.25.1")  # not pydicom's, which changes with its version
    meta.ImplementationVersionName = "MLECORE"
    file = Dataset()
    file.file_meta = meta
    file.SOPClassUID, file.SOPInstanceUID = meta.MediaStorageSOPClassUID, meta.MediaStorageSOPInstanceUID
    file.StudyInstanceUID, file.SeriesInstanceUID = UID(f"{uid}.1"), UID(f"{uid}.2")
    file.Modality, file.PatientID, file.InstanceNumber = modality, patient, number
    file.Rows, file.Columns = pixels.shape
    file.SamplesPerPixel, file.PhotometricInterpretation, file.PixelRepresentation = 1, "MONOCHROME2", 0
    file.BitsAllocated, file.BitsStored, file.HighBit = bits, bits, bits - 1
    file.PixelData = data + b"\0" * (len(data) % 2)
    file["PixelData"].VR = "OW" if bits == 16 else "OB"
    out = io.BytesIO()
    dcmwrite(out, file, enforce_file_format=True)
    return out.getvalue()
