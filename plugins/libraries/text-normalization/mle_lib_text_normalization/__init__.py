"""What the two text normalization challenges share: the split by sentences, and the form of their synthetic data."""

from mle_lib_text_normalization.preparing import split_sentences
from mle_lib_text_normalization.synthetic import Tokens, write_raw

__all__ = ["Tokens", "split_sentences", "write_raw"]
