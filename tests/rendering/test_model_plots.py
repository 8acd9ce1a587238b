"""Plot methods of models: what is drawn is what the model says, in the colours of the palette."""

import numpy as np
import pytest

import baytree as bt
from baytree.display import palette

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
pyplot = pytest.importorskip("matplotlib.pyplot")

TITANIC = bt.datasets.load("titanic")
IRIS = bt.datasets.load("iris")


@pytest.fixture(autouse=True)
def closed_figures():
    yield
    pyplot.close("all")


@pytest.fixture(scope="module")
def binary():
    return bt.LogisticRegression().fit(TITANIC, "survived")


@pytest.fixture(scope="module")
def several():
    return bt.NaiveBayesClassifier().fit(IRIS, "species")


@pytest.mark.parametrize("name", ["plot_roc", "plot_precision_recall", "plot_lift", "plot_confusion", "plot_calibration"])
def test_plots_of_an_evaluation_draw_on_given_axes_and_name_both(binary, several, name):
    for model, frame in ((binary, TITANIC), (several, IRIS)):
        own = pyplot.subplots()[1]
        ax = getattr(model, name)(frame, ax=own)
        assert ax is own
        assert ax.get_xlabel()
        assert ax.get_ylabel()


def test_a_class_has_the_same_colour_in_every_plot(binary, several):
    second = palette.class_colour(1)
    assert binary.plot_roc(TITANIC).lines[-1].get_color() == second
    assert binary.plot_precision_recall(TITANIC).lines[-1].get_color() == second
    assert [line.get_color() for line in several.plot_roc(IRIS).lines[1:]] == [palette.class_colour(k) for k in range(3)]
    assert [line.get_color() for line in several.plot(IRIS.columns[2]).lines] == [palette.class_colour(k) for k in range(3)]


def test_the_confusion_matrix_shows_its_counts(several):
    counts = bt.evaluate(several, IRIS).confusion
    texts = [text.get_text() for text in several.plot_confusion(IRIS).texts]
    assert texts == [str(count) for count in counts.ravel()]


def test_partial_dependence_is_the_mean_prediction_with_the_column_set(several):
    column = "petal_width"
    ax = several.plot_partial_dependence(IRIS, column, label="virginica")
    line = ax.lines[-1]
    for position in (0, len(line.get_xdata()) - 1):
        value = float(line.get_xdata()[position])
        changed = {name: (np.full(len(IRIS), value) if name == column else np.asarray(IRIS[name])) for name in IRIS.columns}
        expected = several.predict_proba({name: changed[name] for name in changed if name != "species"})[:, 2].mean()
        assert line.get_ydata()[position] == pytest.approx(expected)


def test_a_column_that_the_model_lacks_is_refused_with_those_it_has(several):
    with pytest.raises(ValueError, match="no such column; choose one of 'sepal_length'"):
        several.plot_partial_dependence(IRIS, "colour")


def test_the_waterfall_ends_at_the_sum_of_the_explanation(binary):
    explanation = binary.explain(TITANIC[:1])[0]
    table = explanation.to_table()
    ax = binary.plot_explanation(TITANIC[:1])
    assert ax.get_yticklabels()[-1].get_text() == f"sum  {table.total:+.3g}"
    assert sum(bar.get_width() for bar in ax.patches) + table.start == pytest.approx(table.total)


def test_the_waterfall_of_several_rows_is_refused(binary):
    with pytest.raises(ValueError, match=r"pass frame\[:1\]"):
        binary.plot_explanation(TITANIC[:2])


def test_residuals_are_actual_minus_predicted():
    model = bt.LinearRegression().fit(IRIS, "petal_width")
    points = model.plot_residuals(IRIS).collections[0].get_offsets()
    expected = np.asarray(IRIS["petal_width"], float) - model.predict(IRIS)
    assert np.allclose(np.asarray(points)[:, 1], expected)


def test_drift_draws_a_bar_per_column_and_colours_what_has_changed(several):
    drift = bt.drift(several, IRIS[:60])
    ax = drift.plot()
    coloured = [bar.get_facecolor() for bar in ax.patches]
    assert len(coloured) == len(drift.columns)
    assert sum(colour == matplotlib.colors.to_rgba(palette.ACCENT) for colour in coloured) == len(drift.alarms)


def test_of_more_than_eight_classes_the_legend_says_that_grey_is_the_others():
    names = [f"class {k}" for k in range(11)]
    assert palette.legend_labels(names) == [*names[:7], "4 other classes"]
    assert len({palette.class_colour(k) for k in range(8)}) == 8
    assert palette.class_colour(10) == palette.class_colour(7)


def test_every_colour_of_text_has_a_contrast_of_at_least_four_and_a_half():
    def luminance(colour):
        channels = np.array([int(colour[k : k + 2], 16) for k in (1, 3, 5)]) / 255
        linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
        return linear @ [0.2126, 0.7152, 0.0722]

    for is_dark in (False, True):
        colours = dict(part.strip("- ").split(": ") for part in palette.css_variables(is_dark).split(";") if part.strip())
        for text in ("ink", "quiet", "link", "good", "bad"):
            for ground in ("ground", "card"):
                light, dark = sorted((luminance(colours[text]), luminance(colours[ground])), reverse=True)
                assert (light + 0.05) / (dark + 0.05) >= 4.5, (text, ground, is_dark)
