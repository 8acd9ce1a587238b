"""Words in C are those of Python: every character, runs of words, stop words and buckets."""

import ctypes
import re
from pathlib import Path

import numpy as np
import pytest
from export_cases import N_ROWS, NAMES, TABLE
from export_compared import difference_of
from export_runners import c, compiled

import baytree as bt

_TOKENS = """
long tokens(const char *document, char *out) {
  const unsigned char *const text = (const unsigned char *)document, *at = text, *first;
  int length;
  char *end = out;
  while ((at = model_word(text, at, 1, &first, end, 1000, &length))) {
    end += length;
    *end++ = 10;
  }
  return end - out;
}
"""
DOCUMENTS = [
    "",
    " ",
    "ΟΔΟΣ ΟΔΟΣ. ΣΑΣ",
    "İstanbul İİ",
    "naïve café_42 9",
    "x" * 500 + " cat",
    "Straße ǅ ﬀ ﬁn",
    "mat\x01cat ѠѠ",
]
OPTIONS = [
    {"ngrams": (1, 3)},
    {"ngrams": (2, 2), "stop_words": ("the", "was")},
    {"hashing": 64},
    {"hashing": 7, "ngrams": (1, 2), "stop_words": ("on", "with")},
    {"lowercase": False},
    {"tfidf": True},
]


@pytest.mark.slow
def test_every_character_is_read_as_python_reads_it(tmp_path: Path):
    words = bt.NaiveBayesClassifier(schema={"a": bt.Text()}).fit({"a": ["one two", "two three"]}, ["x", "y"])
    library = compiled(words.export("c") + _TOKENS, tmp_path)
    library.tokens.restype = ctypes.c_long
    everything = map(chr, range(1, 0x110000))
    document = " ".join(f"a{c}b q{c}\u03a3 .{c}\u03a3{c}b" for c in everything)
    content = document.encode("utf-8", "surrogatepass")
    out = ctypes.create_string_buffer(2 * len(content))
    length = library.tokens(content, out)
    found = out.raw[:length].decode("utf-8", "surrogatepass").split("\n")[:-1]
    assert found == re.findall(r"\w\w+", document.lower())


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_words_are_counted_as_in_python(tmp_path: Path, options: dict):
    given = {"review": TABLE["review"]}
    model = bt.NaiveBayesClassifier(schema={"review": bt.Text(**options)}).fit(given, NAMES)
    rows = [{"review": text} for text in (*TABLE["review"], *DOCUMENTS, " ".join(DOCUMENTS).upper())]
    rows += [{"review": f"{a} {b}"} for a, b in zip(DOCUMENTS, TABLE["review"], strict=False)]
    run = lambda rows, classes: c(model.export("c"), rows, classes, tmp_path)  # noqa: E731
    assert difference_of(model, ("review",), rows, run) <= 1e-12


def test_more_words_than_a_stack_holds_are_refused():
    documents = [" ".join(f"w{i}x{k}" for k in range(500)) for i in range(N_ROWS)]
    model = bt.NaiveBayesClassifier(schema={"a": bt.Text()}).fit({"a": documents}, np.arange(N_ROWS) % 2)
    with pytest.raises(ValueError, match=r"80,000 words are more than the 65,536 .* export to Python"):
        model.export("c")
