"""Text becomes counts: scikit-learn's tokens and numbers, whatever the script, the parts or the threads."""

from __future__ import annotations

import signal
import time
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from scipy.sparse import csr_array
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfVectorizer

from baytree.data.encoding import Tokens
from baytree.data.encoding import bag_of_words as text
from baytree.data.encoding.bag_of_words import DocumentFrequency, inverse_frequency, within_limits
from baytree.data.encoding.bags import joined, recode, union, weighed
from baytree.data.schema import Text
from law_settings import settings

OPTIONS = [
    Text(),
    Text(lowercase=False),
    Text(ngrams=(1, 2)),
    Text(ngrams=(2, 3), lowercase=False),
    Text(stop_words=("the", "if", "ärger", "i̇s", "")),
    Text(stop_words="english", ngrams=(1, 3)),
]

FRAGMENTS = (
    "the", "The", "cat", "İSTANBUL", "i̇s", "ΟΔΟΣ", "ΣΑΣ", "straße", "ÄRGER", "x²", "½½", "٣٤", "_a", "__",
    "a", "日本語", "e\u0301a", "a\0b", "\ud800", "ab\udfffcd", "ﬀ", "ǅ", "𐐀𐐁", "👍🏽", "don't", "if",
    "\u200d", "\0", "नमस्ते", "\x85", "\xa0", "\u212a",
)  # fmt: skip

documents_strategy = st.lists(
    st.one_of(
        st.text(),
        st.text(alphabet=st.characters()),  # lone surrogates too
        st.lists(st.sampled_from(FRAGMENTS)).map(" ".join),
        st.lists(st.sampled_from(FRAGMENTS)).map("".join),
        st.text(alphabet="abcABC_12 .é"),
    ),
    max_size=12,
)


def vectorizer(options: Text, kind: type = CountVectorizer, **more):
    """scikit-learn's vectorizer with the same settings."""
    stop_words = options.stop_words
    listed = list(stop_words) if isinstance(stop_words, tuple) else stop_words
    return kind(ngram_range=options.ngrams, lowercase=options.lowercase, stop_words=listed, **more)


def bags(vocabulary: tuple[str, ...], tokens: Tokens) -> list[Counter]:
    """Each row as a Counter of tokens."""
    codes, counts = (np.split(entries, tokens.start[1:-1])[: len(tokens)] for entries in (tokens.code, tokens.count))
    return [Counter({vocabulary[k]: n for k, n in zip(*row, strict=True)}) for row in zip(codes, counts, strict=True)]


def matrix(vocabulary: tuple[str, ...], tokens: Tokens) -> csr_array:
    return csr_array((tokens.count, tokens.code, tokens.start), shape=(len(tokens), len(vocabulary)))


def assert_same(one: Tokens, other: Tokens) -> None:
    for name in ("start", "code", "count", "missing"):
        a, b = getattr(one, name), getattr(other, name)
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(a, b)


def assert_sound(vocabulary: tuple[str, ...], tokens: Tokens) -> None:
    assert list(vocabulary) == sorted(set(vocabulary))
    assert (tokens.start.dtype, tokens.code.dtype, tokens.count.dtype) == (np.int64, np.int32, np.float64)
    rows = np.split(tokens.code, tokens.start[1:-1])
    assert all((np.diff(row) > 0).all() for row in rows)
    assert set(tokens.code.tolist()) == set(range(len(vocabulary)))


@pytest.mark.slow
@given(documents=documents_strategy, options=st.sampled_from(OPTIONS))
@settings(max_examples=200, deadline=None)
def test_tokens_are_those_of_scikit_learn_on_any_unicode(options, documents):
    vocabulary, tokens = text.count(documents, options)
    assert_sound(vocabulary, tokens)
    analyzer = vectorizer(options).build_analyzer()
    assert bags(vocabulary, tokens) == [Counter(analyzer(document)) for document in documents]


@pytest.mark.slow
def test_every_code_point_makes_or_parts_words_as_in_scikit_learn():
    documents = [f"a{chr(c)}b {chr(c)}{chr(c)}" for c in range(0x110000) if c % 7 == 0 or c < 0x3000]
    vocabulary, tokens = text.count(documents)
    theirs = vectorizer(Text()).fit(documents)
    assert vocabulary == tuple(theirs.get_feature_names_out())
    ours = matrix(vocabulary, tokens)
    assert abs(ours - theirs.transform(documents)).nnz == 0


@given(first=documents_strategy, second=documents_strategy, options=st.sampled_from(OPTIONS))
@settings(max_examples=100, deadline=None)
def test_counts_of_parts_merge_into_the_counts_of_the_whole(first, second, options):
    parts = [text.count(first, options), text.count(second, options)]
    vocabulary, mappings = union([words for words, _ in parts])
    tokens = joined([tokens for _, tokens in parts], mappings)
    whole, expected = text.count(first + second, options)
    assert vocabulary == whole
    assert_same(tokens, expected)


@given(documents=documents_strategy, options=st.sampled_from(OPTIONS))
@settings(max_examples=50, deadline=None)
def test_encoding_with_the_own_vocabulary_gives_the_same_bags(documents, options):
    vocabulary, tokens = text.count(documents, options)
    assert_same(text.encode(documents, options, vocabulary), tokens)


@given(documents=documents_strategy, known=documents_strategy)
@settings(max_examples=50, deadline=None)
def test_words_outside_the_vocabulary_are_dropped(documents, known):
    vocabulary, _ = text.count(known)
    encoded = text.encode(documents, None, vocabulary)
    expected = [
        Counter({word: n for word, n in bag.items() if word in set(vocabulary)}) for bag in bags(*text.count(documents))
    ]
    assert bags(vocabulary, encoded) == expected


@given(documents=documents_strategy)
@settings(max_examples=50, deadline=None)
def test_recoding_in_any_order_keeps_the_bags_and_adds_up_merged_words(documents):
    vocabulary, tokens = text.count(documents)
    backwards = np.arange(len(vocabulary), dtype=np.int32)[::-1]
    assert bags(vocabulary[::-1], recode(tokens, backwards)) == bags(vocabulary, tokens)
    one = recode(tokens, np.zeros(len(vocabulary), np.int32))
    assert [bag.total() for bag in bags(("any",), one)] == [bag.total() for bag in bags(vocabulary, tokens)]


def test_stop_words_in_a_list_may_change_between_calls():
    stop_words = ["cat"]
    assert text.count(["cat dog"], Text(stop_words=stop_words))[0] == ("dog",)
    stop_words.append("dog")
    assert text.count(["cat dog"], Text(stop_words=stop_words))[0] == ()


@pytest.fixture(scope="module")
def corpus() -> list[str | None]:
    random = np.random.default_rng(0)
    words = np.array([f"w{i:x}" for i in range(3000)] + list(FRAGMENTS), object)
    corpus = [" ".join(random.choice(words, random.integers(0, 30))) for _ in range(9000)]
    return [None if i % 97 == 0 else document for i, document in enumerate(corpus)]


@pytest.mark.parametrize("n_threads", [2, 3, 8])
def test_the_number_of_threads_never_shows(corpus, n_threads):
    vocabulary, tokens = text.count(corpus, n_threads=1)
    again, others = text.count(corpus, n_threads=n_threads)
    assert vocabulary == again
    assert_same(tokens, others)
    assert_same(text.encode(corpus, None, vocabulary, n_threads), tokens)


LIMITS = [(1, 1.0), (2, 1.0), (3, 40), (0.003, 0.005), (0.0, 40), (30, 0.0045)]


@pytest.mark.parametrize(("low", "high"), LIMITS)
def test_document_frequency_limits_are_those_of_scikit_learn(corpus, low, high):
    documents = [document or "" for document in corpus]
    vocabulary, tokens = text.count(documents)
    kept = within_limits(DocumentFrequency.of(vocabulary, tokens), Text(min_df=low, max_df=high))
    theirs = CountVectorizer(min_df=low, max_df=high).fit(documents)
    assert tuple(word for word, keep in zip(vocabulary, kept, strict=True) if keep) == tuple(theirs.get_feature_names_out())


def test_tfidf_is_that_of_scikit_learn(corpus):
    documents = [document or "" for document in corpus]
    vocabulary, tokens = text.count(documents)
    idf = inverse_frequency(DocumentFrequency.of(vocabulary, tokens))
    ours = matrix(vocabulary, replace(tokens, count=weighed(tokens, idf, True)))
    assert abs(ours - TfidfVectorizer().fit_transform(documents)).max() <= 1e-15


@pytest.mark.parametrize("buckets", [1, 7, 2**10, 2**20])
def test_hashed_codes_are_those_of_scikit_learn_without_signs(corpus, buckets):
    documents = [(document or "").encode("utf-8", "replace").decode() for document in corpus]
    vocabulary, tokens = text.count(documents, Text(hashing=buckets, ngrams=(1, 2)))
    theirs = vectorizer(
        Text(ngrams=(1, 2)), HashingVectorizer, n_features=buckets, alternate_sign=False, norm=None
    ).transform(documents)
    assert len(vocabulary) == buckets
    assert abs(matrix(vocabulary, tokens) - theirs).nnz == 0


@given(first=documents_strategy, second=documents_strategy)
@settings(max_examples=50, deadline=None)
def test_document_frequencies_add_up_and_can_be_taken_away(first, second):
    one, two, both = (DocumentFrequency.of(*text.count(documents)) for documents in (first, second, first + second))
    total = one + two
    assert total.vocabulary == both.vocabulary
    assert total.documents.tolist() == both.documents.tolist()
    assert total.total == both.total
    rest = total - two
    seen = rest.documents > 0
    assert [word for word, has in zip(rest.vocabulary, seen, strict=True) if has] == list(one.vocabulary)
    assert rest.documents[seen].tolist() == one.documents.tolist()


def test_weight_two_is_the_document_twice_and_weight_zero_is_no_document():
    counted = text.count(["cat dog", "cat", "cow"])
    weighted = DocumentFrequency.of(*counted, np.array([2.0, 1.0, 0.0]))
    repeated = DocumentFrequency.of(*text.count(["cat dog", "cat dog", "cat"]))
    assert weighted.total == repeated.total
    kept = within_limits(weighted, Text())
    assert [word for word, keep in zip(counted[0], kept, strict=True) if keep] == list(repeated.vocabulary)
    assert weighted.documents[kept].tolist() == repeated.documents.tolist()


def test_missing_documents_are_marked_and_empty_ones_are_not():
    documents = [None, float("nan"), "", "...", "cat", np.nan]
    vocabulary, tokens = text.count(documents)
    assert vocabulary == ("cat",)
    assert tokens.missing.tolist() == [True, True, False, False, False, True]
    assert tokens.start.tolist() == [0, 0, 0, 0, 0, 1, 1]
    assert DocumentFrequency.of(vocabulary, tokens).total == 3


@pytest.mark.parametrize("documents", [[], [""], ["?!"], [None], ["a b c"]])
def test_documents_without_words_have_an_empty_vocabulary(documents):
    vocabulary, tokens = text.count(documents)
    assert vocabulary == ()
    assert tokens.start.tolist() == [0] * (len(documents) + 1)
    assert len(weighed(tokens, np.zeros(0), True)) == 0


def test_ten_megabytes_in_one_document_are_counted():
    long = "word\0" * 1_000_000 + "Ä" * 5_000_000
    vocabulary, tokens = text.count([long, "word"])
    assert vocabulary == ("word", "ä" * 5_000_000)
    assert tokens.count.tolist() == [1_000_000, 1, 1]


LIBRARIES = ["numpy object", "numpy str", "pandas", "pandas str", "polars", "pyarrow", "tuple"]


@pytest.mark.parametrize("library", LIBRARIES)
def test_every_kind_of_column_gives_the_same_counts(library):
    documents = ["The cat", "ÄRGER mit der Katze", "", "cat cat"]
    vocabulary, tokens = text.count(_as(library, documents))
    expected = text.count(documents)
    assert vocabulary == expected[0]
    assert_same(tokens, expected[1])
    if library != "numpy str":
        assert text.count(_as(library, [*documents, None]))[1].missing.tolist() == [False] * 4 + [True]


def _as(library: str, documents: list[str | None]):
    if library.startswith("pandas"):
        pd = pytest.importorskip("pandas")
        index = np.linspace(3, 1, len(documents))
        return pd.Series(documents, dtype=object if library == "pandas" else "string", index=index)
    if library == "polars":
        return pytest.importorskip("polars").Series(documents)
    if library == "pyarrow":
        return pytest.importorskip("pyarrow").chunked_array([documents[:2], documents[2:]])
    if library == "tuple":
        return tuple(documents)
    return np.array(documents, object if library == "numpy object" else None)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (Text(ngrams=(0, 1)), r"ngrams=\(0, 1\)"),
        (Text(ngrams=(2, 1)), r"ngrams=\(2, 1\)"),
        (Text(min_df=-1), "min_df=-1"),
        (Text(max_df=1.5), "max_df=1.5"),
        (Text(min_df=3, max_df=2), "max_df=2 is below min_df=3"),
        (Text(hashing=0), "hashing=0"),
        (Text(stop_words="the"), "stop_words='the'"),
    ],
)
def test_options_that_cannot_be_are_named(options, words):
    with pytest.raises(ValueError, match=words):
        text.count(["cat"], options)


def test_a_value_that_is_no_text_is_named_with_its_row():
    with pytest.raises(ValueError, match="row 1 of a text column is 5, which is not a string"):
        text.count(["cat", 5])


@pytest.mark.parametrize("n_threads", [1, 2])
def test_an_interrupt_is_answered_while_counting(n_threads):
    documents = ["one two three four five " * 80] * 200_000
    began = time.perf_counter()
    previous = signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    try:
        with pytest.raises(KeyboardInterrupt):
            text.count(documents, n_threads=n_threads)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
    assert time.perf_counter() - began < 1.5  # 0.2 s and some patience with a busy machine
