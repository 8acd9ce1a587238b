"""Pages in a real browser: Chromium by playwright, axe-core from npm; where they are not installed, tests are skipped."""

import os
import shutil
from pathlib import Path

import pytest

import baytree as bt

ROOT = Path(__file__).parents[2]
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
PENGUINS = bt.datasets.load("penguins", as_="pandas")
MODELS = {
    "tree": bt.CARTClassifier,
    "naive-bayes": bt.NaiveBayesClassifier,
    "logistic": bt.LogisticRegression,
}


@pytest.fixture(scope="session")
def browser():
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: pip install playwright")
    if CHROMIUM is None:
        pytest.skip("Chromium is not installed: apt-get install chromium")
    with playwright.sync_playwright() as running:
        opened = running.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture(scope="session")
def axe():
    path = Path(os.environ.get("BAYTREE_AXE", ROOT / "build" / "browser" / "node_modules" / "axe-core" / "axe.min.js"))
    if not path.exists():
        pytest.skip("axe-core is not installed: npm install --prefix build/browser axe-core")
    return path.read_text(encoding="utf-8")


@pytest.fixture(scope="session")
def pages(tmp_path_factory):
    """The page of each model, and of a comparison."""
    folder = tmp_path_factory.mktemp("pages")
    made = {name: kind().fit(PENGUINS, "species").report(PENGUINS, folder / f"{name}.html") for name, kind in MODELS.items()}
    compared = bt.compare(PENGUINS, "species", models=["nb", "cart"], cv=3, repeats=1)
    old, new = (bt.CARTClassifier().fit(rows, "species") for rows in (PENGUINS[::3], PENGUINS))
    changed = bt.diff(old, new, PENGUINS).report(folder / "difference.html")
    return made | {"comparison": compared.report(folder / "comparison.html"), "difference": changed}


@pytest.fixture
def look(browser):
    """Opens a page and gives it; whatever it complains of, or asks for besides itself, fails the test."""
    contexts, wrong = [], []

    def opened(path, width=1280, dark=False, bypass=False):
        scheme = "dark" if dark else "light"
        context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme, bypass_csp=bypass)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(60_000)
        page.on("console", lambda message: wrong.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("request", lambda request: wrong.append(request.url) if request.url != path.as_uri() else None)
        page.goto(path.as_uri())
        page.wait_for_timeout(400)  # what follows the first drawing is drawn
        return page

    yield opened
    for context in contexts:
        context.close()
    assert wrong == []
