"""A model file is one document: it comes back bit for bit, and every damage is refused."""

import base64
import hashlib
import json
import os
import random
import resource
import subprocess
import sys
import threading
from pathlib import Path

import msgspec
import numpy as np
import pandas as pd
import pytest

import baytree as bt
from baytree import storage
from baytree.storage.files import ModelFileError
from crafted_models import faults_under_limit

RNG = np.random.default_rng(0)
FRAME = pd.DataFrame(
    {
        "a": RNG.normal(size=60),
        "day": pd.Timestamp("2020-01-01") + pd.to_timedelta(RNG.integers(0, 99, 60), "D"),
        "c": RNG.choice(["x", "y", None], 60),
        "y": RNG.choice(["no", "yes"], 60),
    }
)
GOLDEN = Path(__file__).parents[1] / "golden"


def small_model():
    return bt.NaiveBayesClassifier(alpha=0.5).fit(FRAME[["a", "c", "y"]], "y")


def resealed(document: object, version: int = 3) -> bytes:
    """A file whose digest is right, whatever its document says."""
    body = json.dumps(document).encode() if not isinstance(document, bytes) else document
    digest = hashlib.sha256(b"baytree %d " % version + body).hexdigest().encode()
    return b'{"baytree": %d, "sha256": "%s", "document": ' % (version, digest) + body + b"}\n"


def costs_section(rows: list[list[float]]) -> dict:
    values = [cost for row in rows for cost in row]
    return {"amounts": {"dtype": "<f8", "shape": [len(rows), len(rows[0])], "values": values}, "by_model": False}


def document_of(model) -> dict:
    return json.loads(storage.dumps(model))["document"]


@pytest.mark.parametrize("schema", [None, {"c": "nominal"}, {"a": "nominal"}, {"c": ["x", "y"]}])
def test_what_is_loaded_predicts_and_saves_bit_for_bit(tmp_path, schema):
    model = bt.NaiveBayesClassifier(schema=schema).fit(FRAME, "y")
    bt.save(model, tmp_path / "m.baytree")
    loaded = bt.load(tmp_path / "m.baytree")
    assert np.array_equal(loaded.predict_proba(FRAME), model.predict_proba(FRAME))
    assert loaded.get_params() == model.get_params()
    assert loaded.classes_.tolist() == model.classes_.tolist()
    assert storage.dumps(loaded) == (tmp_path / "m.baytree").read_bytes()


def test_a_loaded_model_goes_on_learning_merges_and_forgets(tmp_path):
    first, second = FRAME[:30], FRAME[30:]
    bt.save(bt.NaiveBayesClassifier().fit(first, "y"), tmp_path / "m.baytree")
    whole = bt.NaiveBayesClassifier().fit(FRAME, "y")
    loaded = bt.load(tmp_path / "m.baytree")
    assert loaded.merge(bt.NaiveBayesClassifier().fit(second, "y")).seen_ == whole.seen_
    assert loaded.partial_fit(second, "y").seen_ == whole.seen_
    assert loaded.forget(second, "y").seen_ == bt.NaiveBayesClassifier().fit(first, "y").seen_


@pytest.mark.parametrize("classes", [[1, 2], [True, False], ["a", "a\0"], [1.0, 2.0], ["é", "<b>"]])
def test_classes_come_back_in_their_type(tmp_path, classes):
    labels = np.array(classes, dtype=object)[(FRAME.a > 0).astype(int)]
    model = bt.NaiveBayesClassifier().fit(FRAME[["a"]], labels.tolist())
    bt.save(model, tmp_path / "m.baytree")
    assert bt.load(tmp_path / "m.baytree").predict(FRAME[["a"]]).tolist() == model.predict(FRAME[["a"]]).tolist()


def test_labels_that_json_cannot_hold_are_refused_before_writing(tmp_path):
    model = bt.NaiveBayesClassifier().fit(FRAME[["a"]], [("t", k % 2) for k in range(60)])
    with pytest.raises(ValueError, match="tuple"):
        bt.save(model, tmp_path / "m.baytree")
    assert not list(tmp_path.iterdir())


def test_an_unfitted_estimator_is_refused(tmp_path):
    with pytest.raises(ValueError, match="not fitted"):
        bt.save(bt.NaiveBayesClassifier(), tmp_path / "m.baytree")


def test_every_flipped_bit_and_every_truncation_is_refused():
    content = storage.dumps(bt.NaiveBayesClassifier().fit({"a": [1.0, 2.0], "y": [0, 1]}, "y"))
    for place in range(len(content)):
        for bit in range(8):
            broken = bytearray(content)
            broken[place] ^= 1 << bit
            with pytest.raises(ModelFileError):
                storage.document.read(bytes(broken), "broken")
        with pytest.raises(ModelFileError):
            storage.document.read(content[:place], "cut")
    with pytest.raises(ModelFileError):
        storage.document.read(content + b" ", "longer")


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda d: d.update(extra=1), "the section 'extra' is unknown to this version of baytree; update baytree"),
        (lambda d: d.update(costs=costs_section([[0.0, 1.0]])), "the cost matrix does not fit the classes"),
        (lambda d: d.update(costs=costs_section([[0.0, -1.0], [1.0, 0.0]])), "impossible cost"),
        (lambda d: d.update(costs=costs_section([[0.0, 1.0], [1.0, 0.0]]) | {"other": 1}), "other"),
        (lambda d: d.pop("model"), "model"),
        (lambda d: d.update(estimator="os.system"), "does not know"),
        (lambda d: d.update(estimator="load", parameters={"path": "other.baytree"}), "does not know"),
        (lambda d: d["model"].update(type="pickle"), "does not know"),
        (lambda d: d["model"]["likelihoods"][0].update(columns=[7]), "does not exist"),
        (lambda d: d["schema"]["columns"][1].update(levels=["x"]), "does not fit"),
        (lambda d: d["schema"]["columns"][1].update(levels=[["x"], {}]), "distinct"),
        (lambda d: d["schema"]["target"].update(dtype="V99999999"), "type"),
        (lambda d: d["schema"]["target"].update(dtype="<U9999999"), "wider"),
        (lambda d: d["model"]["log_prior"].update(shape=[10**18]), "fit"),
        (lambda d: d["model"]["log_prior"].update(dtype="O"), "dtype"),
        (lambda d: d["seen"]["groups"][0].update(event="none"), "event"),
        (lambda d: d["seen"]["classes"]["cells"].update(low=10**9), "range"),
        (lambda d: d["parameters"].update(alpha={"$exec": 1}), "cannot have the type"),
        (lambda d: d["parameters"].update(nonsense=1), "nonsense"),
    ],
)
def test_a_document_with_a_right_digest_and_wrong_content_is_refused(damage, words):
    document = document_of(small_model())
    damage(document)
    with pytest.raises(ModelFileError) as error:
        storage.loads(resealed(document))
    assert words in str(error.value)


def test_a_newer_format_is_refused_by_name():
    content = storage.dumps(small_model()).replace(b'"baytree": 3', b'"baytree": 7', 1)
    with pytest.raises(ModelFileError, match=r"format 7.*update baytree"):
        storage.loads(content)


def mutated(value: object, chance: random.Random) -> object:
    """The document with one random place replaced, removed, doubled or moved."""
    places: list[tuple] = []
    waiting = [value]
    while waiting:
        node = waiting.pop()
        items = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
        for key, item in items:
            places.append((node, key))
            waiting.append(item)
    node, key = chance.choice(places)
    junk = [
        None,
        True,
        -1,
        0,
        1,
        2**31,
        2**63,
        2**70,
        1e308,
        -0.5,
        "",
        "x",
        "\0",
        [],
        {},
        [[]],
        "naive_bayes",
        "<f8",
        "numeric",
    ]
    action = chance.randrange(5)
    if action == 0 and isinstance(node, dict):
        node[chance.choice(["type", "low", "zzz"])] = chance.choice(junk)
    elif action == 1:
        del node[key]
    elif action == 2 and isinstance(node[key], (int, float)) and not isinstance(node[key], bool):
        node[key] = node[key] * chance.choice([-1, 2, 1000]) + chance.choice([-1, 0, 1])
    elif action == 3 and isinstance(node[key], str):
        raw = base64.b64encode(bytes(chance.randrange(256) for _ in range(chance.randrange(40)))).decode()
        node[key] = chance.choice([node[key][:-1], node[key] * 2, raw])
    else:
        node[key] = chance.choice(junk)
    return value


def try_mutations(n: int, seed: int) -> int:
    """How many of n mutations were refused; anything but a model or a clear error is a failure."""
    chance = random.Random(seed)
    original = json.dumps(document_of(small_model()))
    rows = FRAME[["a", "c"]][:3]
    refused = 0
    for _ in range(n):
        document = json.loads(original)
        for _ in range(chance.randint(1, 3)):
            document = mutated(document, chance)
        try:
            model = storage.loads(resealed(document))
        except ModelFileError as error:
            refused += 1
            assert len(str(error)) < 2000
            continue
        try:  # what was accepted must work, or say in the door's words that the rows do not fit its schema
            model.predict_proba(rows)
        except (ValueError, TypeError) as error:
            assert "column" in str(error) or "features" in str(error), repr(error)
    return refused


def test_mutations_with_a_right_digest_end_in_a_model_or_a_clear_error():
    assert try_mutations(1_500, seed=1) > 750


@pytest.mark.slow
def test_many_mutations_fill_no_memory():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert try_mutations(5_000, seed=2) > 2_500
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 300_000  # kilobytes


def test_small_files_that_claim_huge_sizes_are_refused_before_memory_is_taken():
    assert faults_under_limit(0, 0) == []


def test_crafted_files_load_or_are_refused_with_512_megabytes():
    assert faults_under_limit(250, seed=1) == []


def test_loading_runs_nothing_and_writes_nothing(tmp_path):
    bt.save(small_model(), tmp_path / "m.baytree")
    code = f"""
import sys, baytree
baytree.load({str(tmp_path / "m.baytree")!r})
seen = []
def watch(event, arguments):
    if event in ("exec", "compile", "pickle.find_class", "subprocess.Popen", "os.system", "socket.__new__", "import"):
        seen.append((event, arguments[:1]))
    if event == "open" and isinstance(arguments[1], str) and set(arguments[1]) & set("wax+"):
        seen.append((event, arguments))
sys.addaudithook(watch)
baytree.load({str(tmp_path / "m.baytree")!r})
print(seen)
"""
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout == "[]\n"


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "m.baytree"
    bt.save(small_model(), path)
    before = path.read_bytes()

    def full(*_):
        raise OSError(28, "No space left on device")

    for name in ("fsync", "replace"):
        with monkeypatch.context() as patch:
            patch.setattr(os, name, full)
            with pytest.raises(OSError, match="No space"):
                bt.save(bt.NaiveBayesClassifier().fit(FRAME, "y"), path)
        assert path.read_bytes() == before
        assert os.listdir(tmp_path) == ["m.baytree"]


@pytest.mark.slow
def test_a_kill_while_saving_leaves_a_valid_file_and_the_next_save_tidies_up(tmp_path):
    path = tmp_path / "m.baytree"
    bt.save(small_model(), path)
    code = f"""
import os, signal, baytree as bt
model = bt.load({str(path)!r})
os.replace = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
bt.save(model, {str(path)!r})
"""
    subprocess.run([sys.executable, "-c", code], check=False)
    assert len(os.listdir(tmp_path)) == 2
    bt.load(path)
    bt.save(small_model(), path)
    assert os.listdir(tmp_path) == ["m.baytree"]


def test_two_writers_with_one_process_id_both_save_and_readers_find_whole_files(tmp_path):
    """Threads share a process id, and so do the first processes of two containers."""
    models = [small_model(), bt.NaiveBayesClassifier(alpha=2.0).fit(FRAME, "y")]
    path, contents, faults = tmp_path / "m.baytree", {storage.dumps(model) for model in models}, []
    bt.save(models[0], path)

    def save(model) -> None:
        try:
            for _ in range(25):
                bt.save(model, path)
        except Exception as fault:
            faults.append(fault)

    writers = [threading.Thread(target=save, args=(model,)) for model in models * 2]
    for writer in writers:
        writer.start()
    while any(writer.is_alive() for writer in writers):
        assert path.read_bytes() in contents
    assert not faults
    assert os.listdir(tmp_path) == ["m.baytree"]


def test_a_draft_is_never_written_through_a_planted_link(tmp_path, monkeypatch):
    victim, tokens = tmp_path / "victim", iter([bytes(8), bytes([17] * 8)])
    victim.write_bytes(b"old")
    monkeypatch.setattr(os, "urandom", lambda _: next(tokens))
    (tmp_path / f".baytree-{'0' * 16}.saving").symlink_to(victim)
    (tmp_path / f".m.baytree.{os.getpid()}.saving").symlink_to(victim)
    bt.save(small_model(), tmp_path / "m.baytree")
    assert victim.read_bytes() == b"old"
    assert not (tmp_path / "m.baytree").is_symlink()


@pytest.mark.parametrize("owner", ["99999999999999", "²", "", "-1", "x" * 40, "0" * 16])
def test_foreign_names_beside_a_model_file_do_not_matter(owner, tmp_path):
    for name in (f".m.baytree.{owner}.saving", f".baytree-{owner}.saving"):
        os.mkfifo(tmp_path / name)
    before = set(os.listdir(tmp_path))
    bt.save(small_model(), tmp_path / "m.baytree")
    assert set(os.listdir(tmp_path)) == before | {"m.baytree"}


def test_a_name_as_long_as_the_system_takes_is_saved(tmp_path):
    bt.save(small_model(), tmp_path / ("m" * 255))
    assert [len(name) for name in os.listdir(tmp_path)] == [255]


def test_a_pipe_or_a_folder_is_no_model_file(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ModelFileError, match="regular file"):
        bt.load(tmp_path / "pipe")
    with pytest.raises(OSError, match="directory"):
        bt.load(tmp_path)


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("*.baytree")), ids=lambda path: path.stem)
def test_files_of_earlier_versions_load_and_predict_as_they_did(path):
    stored = json.loads(path.with_suffix(".json").read_text())
    model = bt.load(path)
    answer = model.predict_proba(stored["rows"]) if "probabilities" in stored else model.predict(stored["rows"])
    # bit for bit on one machine; another one may have another logarithm or another order of sums in its BLAS
    assert np.allclose(answer, stored.get("probabilities", stored.get("values")), rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("*.baytree")), ids=lambda path: path.stem)
def test_files_of_earlier_formats_become_files_of_format_3_that_stay_as_they_are(path):
    content = storage.dumps(bt.load(path))
    assert content.startswith(b'{"baytree": 3, ')
    assert storage.dumps(storage.loads(content)) == content
    stored = json.loads(path.with_suffix(".json").read_text())
    assert np.array_equal(storage.loads(content).predict(stored["rows"]), bt.load(path).predict(stored["rows"]))


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("1-*.baytree")), ids=lambda path: path.stem)
def test_files_of_formats_1_and_2_become_the_same_file(path):
    assert storage.dumps(bt.load(path)) == storage.dumps(bt.load(GOLDEN / path.name.replace("1-", "2-", 1)))


@pytest.mark.parametrize("estimator", [bt.CARTClassifier, bt.DecisionTreeClassifier, bt.C50Classifier])
def test_files_of_format_2_keep_the_costs_that_their_trees_learnt_with(estimator):
    model = estimator(costs={"yes": {"no": 9}, "no": {"yes": 1}}).fit(FRAME[["a", "c", "y"]], "y")
    document = document_of(model)
    del document["costs"]
    content = resealed(document, version=2)
    loaded, predictor = storage.loads(content), storage.predictor_of(content)
    assert loaded.predict(FRAME).tolist() == predictor.predict(FRAME).tolist() == model.predict(FRAME).tolist()
    assert loaded.predict(FRAME, reject={"cost": 0.5}).tolist() == model.predict(FRAME, reject={"cost": 0.5}).tolist()
    assert storage.dumps(loaded) == storage.dumps(model)


def test_a_tree_of_format_1_with_bins_is_a_tree_with_cuts():
    model = bt.load(GOLDEN / "1-tree-merge.baytree")
    assert len(model.tree_.more_cuts.node)
    assert len(model.tree_.significance.node) == model.n_nodes_ - model.n_leaves_
    assert str(model).count("adjusted p") == model.n_nodes_ - model.n_leaves_


def test_a_model_that_could_not_be_loaded_is_not_saved(tmp_path):
    model = bt.CARTClassifier(cp=0.0).fit(FRAME[["a", "c", "y"]], "y")
    model.model_ = msgspec.structs.replace(model.model_, column=np.where(model.model_.column >= 0, 1, -1).astype(np.int32))
    with pytest.raises(ModelFileError, match="the model file of this CARTClassifier"):
        bt.save(model, tmp_path / "m.baytree")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("width", [21, 3000])
def test_classes_in_an_array_of_wider_strings_are_saved(width, tmp_path):
    """Whole numbers as strings are 21 wide in numpy, however long they are."""
    label = (np.arange(40) % 2).astype(f"U{width}")
    model = bt.CARTClassifier().fit(np.arange(40.0)[:, None], label)
    bt.save(model, tmp_path / "model.bt")
    again = bt.load(tmp_path / "model.bt")
    assert again.classes_.dtype == "<U1"
    assert again.predict([[3.0], [4.0]]).tolist() == model.predict([[3.0], [4.0]]).tolist()
