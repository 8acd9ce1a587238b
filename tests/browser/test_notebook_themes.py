"""Results in notebooks: readable in the notebook's theme, whatever the system's, and untouched by the notebook's style."""

import pytest

import baytree as bt
from conftest import PENGUINS

pytestmark = [pytest.mark.browser, pytest.mark.filterwarnings("ignore::baytree.BaytreeWarning")]

# What a notebook's theme may do to everything that is not isolated.
HOST_STYLE = """
table { font-size: 40px; background: #c00; } th, td { color: #c00 !important; padding: 40px; } p, h2, h3 { color: #c00; }
.card, .grid, .tile, .legend { display: none; } .figures { position: fixed; } * { letter-spacing: .3em; }
"""

# Contrast of every text with what is behind it, and the widest letter spacing, in the view and its shadow root.
CONTRASTS = """() => {
  const channels = (text) => [...text.match(/[\\d.]+/g).map(Number), 1].slice(0, 4);
  const scaled = (text) => channels(text).map((c, k) => (k < 3 ? c * 255 : c));
  const colour = (text) => text.startsWith("color(srgb") ? scaled(text) : channels(text);
  const linear = (c) => (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4);
  const luminance = ([r, g, b]) => 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
  const over = (top, below) => top.slice(0, 3).map((c, k) => c * top[3] + below[k] * (1 - top[3]));
  const parent = (each) => each.parentElement || each.getRootNode().host || null;
  const ground = (each) => {
    const layers = [];
    for (let at = each; at; at = parent(at)) layers.push(colour(getComputedStyle(at).backgroundColor));
    return layers.reverse().reduce((below, top) => over(top, below), [255, 255, 255]);
  };
  const found = [];
  for (const host of document.querySelectorAll(".baytree-view")) {
    const root = host.shadowRoot || host;
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const each = walker.currentNode.parentElement, style = getComputedStyle(each);
      const text = walker.currentNode.textContent.trim();
      if (!text || ["STYLE", "SCRIPT"].includes(each.tagName) || !each.getClientRects().length) continue;
      const behind = ground(each), own = colour(each.closest("svg") ? style.fill : style.color);
      const pair = [luminance(over(own, behind)), luminance(behind)].sort((a, b) => b - a);
      const contrast = (pair[0] + 0.05) / (pair[1] + 0.05);
      found.push([contrast, text, luminance(behind), parseFloat(style.fontSize), style.letterSpacing]);
    }
  }
  return found;
}"""


@pytest.fixture(scope="module")
def results():
    tree = bt.CARTClassifier().fit(PENGUINS, "species")
    bayes = bt.NaiveBayesClassifier().fit(PENGUINS, "species")
    return {
        "tree": tree,
        "naive Bayes": bayes,
        "logistic regression": bt.LogisticRegression().fit(PENGUINS, "species"),
        "comparison": bt.compare(PENGUINS, "species", models=["nb", "cart"], cv=3, repeats=1),
        "explanation": tree.explain(PENGUINS.head(2)),
        "cross-validation": bt.cross_validate(bt.CARTClassifier(), PENGUINS, "species", cv=3),
        "ranking": bt.rank_features(PENGUINS, "species"),
        "drift": bt.drift(bayes, PENGUINS.head(60)),
        "evaluation": bt.evaluate(tree, PENGUINS),
        "learning curve": bt.learning_curve(bt.CARTClassifier(), PENGUINS, "species", cv=3),
        "audit": bt.audit(PENGUINS, "species"),
    }


def notebook(tmp_path, view, is_light, body=None):
    """A page that shows a view as a notebook does."""
    attributes = body or f'data-jp-theme-light="{"true" if is_light else "false"}"'
    ground, ink = ("#fff", "#111") if is_light else ("#111", "#eee")
    path = tmp_path / "notebook.html"
    path.write_text(
        f'<!doctype html><meta charset="utf-8"><style>{HOST_STYLE} body {{ background: {ground}; color: {ink} }}</style>'
        f"<body {attributes}>{view}</body>",
        encoding="utf-8",
    )
    return path


def shown(browser, path, is_dark_system, has_scripts=True):
    context = browser.new_context(
        viewport={"width": 1000, "height": 800},
        color_scheme="dark" if is_dark_system else "light",
        java_script_enabled=has_scripts,
    )
    page = context.new_page()
    page.goto(path.as_uri())
    return context, page


NAMES = [
    "tree", "naive Bayes", "logistic regression", "comparison", "explanation", "cross-validation", "ranking", "drift",
    "evaluation", "learning curve", "audit",
]  # fmt: skip


@pytest.mark.parametrize("is_dark_system", [False, True], ids=["light system", "dark system"])
@pytest.mark.parametrize("is_light", [True, False], ids=["light notebook", "dark notebook"])
@pytest.mark.parametrize("name", NAMES)
def test_all_text_is_readable_in_the_theme_of_the_notebook(name, is_light, is_dark_system, results, browser, tmp_path):
    path = notebook(tmp_path, results[name]._repr_html_(), is_light)
    context, page = shown(browser, path, is_dark_system)
    found = page.evaluate(CONTRASTS)
    context.close()
    assert len(found) > 5
    assert [line for line in found if line[0] < 4.5] == []
    assert all((behind > 0.4) == is_light for _, _, behind, _, _ in found)
    assert all((size <= 32 and spacing in ("normal", "0px")) or spacing.startswith("-") for *_, size, spacing in found)


@pytest.mark.parametrize(
    ("body", "is_light"),
    [('class="vscode-dark"', False), ('class="vscode-light"', True), ('class="vscode-high-contrast"', False)],
)
def test_views_follow_the_theme_of_vs_code(body, is_light, results, browser, tmp_path):
    path = notebook(tmp_path, results["drift"]._repr_html_(), is_light, body)
    context, page = shown(browser, path, is_dark_system=is_light)
    found = page.evaluate(CONTRASTS)
    context.close()
    assert all(contrast >= 4.5 and (behind > 0.4) == is_light for contrast, _, behind, _, _ in found)


@pytest.mark.parametrize("is_dark", [False, True])
def test_without_a_theme_of_the_host_views_follow_the_system(is_dark, results, browser, tmp_path):
    path = notebook(tmp_path, results["evaluation"]._repr_html_(), not is_dark, 'class="plain"')
    context, page = shown(browser, path, is_dark_system=is_dark)
    found = page.evaluate(CONTRASTS)
    context.close()
    assert all(contrast >= 4.5 and (behind < 0.4) == is_dark for contrast, _, behind, _, _ in found)
