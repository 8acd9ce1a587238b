"""Prints a digest of each of eight models of four bundled tables: python tests/core/digests.py PATH_OF_CORE."""

import hashlib
import importlib.util
import sys
import warnings

import baytree as bt


def load_core(path: str) -> None:
    """Takes the core from this file instead of the one that is installed."""
    spec = importlib.util.spec_from_file_location("baytree._core", path)
    assert spec is not None
    assert spec.loader is not None
    sys.modules["baytree._core"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(sys.modules["baytree._core"])


def main() -> None:
    load_core(sys.argv[1])
    from baytree.storage import dumps

    trees = (bt.CARTClassifier(), bt.C45Classifier(), bt.C50Classifier(rules=True), bt.CHAIDClassifier())
    others = (bt.NaiveBayesClassifier(), bt.LinearDiscriminantAnalysis(), bt.LogisticRegression(), bt.MARSClassifier())
    for name, target in (("iris", "species"), ("penguins", "species"), ("titanic", "survived"), ("mushroom", "class")):
        frame = bt.datasets.load(name)
        for model in (*trees, *others):
            written = dumps(model.fit(frame, target))
            content = written if isinstance(written, bytes) else written.encode()
            print(name, type(model).__name__, hashlib.sha256(content).hexdigest()[:16])


if __name__ == "__main__":
    warnings.filterwarnings("ignore")
    main()
