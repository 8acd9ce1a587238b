"""The colours of classes and of text, for pages, notebooks, SVG and matplotlib alike.

A class has the same colour everywhere, by its position in the declared order. There are eight colours that people with a
colour vision deficiency can tell apart (after Okabe and Ito, 2008). From the eighth class on, if there are more than eight,
classes are grey: no colour stands for two classes, and the legends say that grey means the others.
"""

from __future__ import annotations

from collections.abc import Sequence

CLASS_COLOURS = ("#0072b2", "#e08a00", "#009e73", "#c2538f", "#4ba3d8", "#c04a00", "#8a7a00", "#6f6f6f")

CLASS_COLOURS_ON_DARK = ("#4aa8e0", "#f0a93a", "#2fc79a", "#e389ba", "#8fd0f5", "#ef7f3d", "#d4c443", "#a8a8a8")

OTHER = len(CLASS_COLOURS) - 1  # position of grey: the eighth class, or all from the eighth on

POSITIVE, NEGATIVE = "#1e6b46", "#a63d22"  # effects for and against a prediction

POSITIVE_ON_DARK, NEGATIVE_ON_DARK = "#6fcf9f", "#f0917a"

ACCENT, QUIET = CLASS_COLOURS[0], "#7b858d"  # the one line that matters, and what it is compared with

_SURFACES = {  # variable: colour on light, colour on dark
    "ground": ("#fbfaf7", "#14171a"),
    "card": ("#ffffff", "#1c2024"),
    "ink": ("#1d2327", "#e8eaec"),
    "quiet": ("#566069", "#a7b0b8"),
    "line": ("#dcdfe2", "#343b41"),
    "track": ("#eceef0", "#2a3036"),
    "link": ("#1f5c8b", "#86c5f4"),
    "good": (POSITIVE, POSITIVE_ON_DARK),
    "bad": (NEGATIVE, NEGATIVE_ON_DARK),
}


def colour_code(code: int) -> int:
    """Position of the colour of a class."""
    return min(code, OTHER)


def class_colour(code: int) -> str:
    """Colour of a class on a light background."""
    return CLASS_COLOURS[colour_code(code)]


def legend_labels(classes: Sequence[str]) -> list[str]:
    """Labels of a legend, one per colour: of more than eight classes the first seven and one for the others."""
    if len(classes) <= len(CLASS_COLOURS):
        return list(classes)
    return [*classes[:OTHER], f"{len(classes) - OTHER:,} other classes"]


def css_variables(is_dark: bool) -> str:
    """Declarations of all colours as CSS variables: `--ink`, `--c0` and so on."""
    colours = {name: pair[is_dark] for name, pair in _SURFACES.items()}
    colours |= {f"c{k}": colour for k, colour in enumerate(CLASS_COLOURS_ON_DARK if is_dark else CLASS_COLOURS)}
    return " ".join(f"--{name}: {colour};" for name, colour in colours.items())
