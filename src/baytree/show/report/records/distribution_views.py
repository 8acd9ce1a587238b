"""Records of models that are one distribution of all columns together: Gaussian classes, and the joint table."""

from __future__ import annotations

import msgspec


class EllipseView(msgspec.Struct, frozen=True):
    """A class over two features: its middle, and the outlines of one and two standard deviations, in a box of 300 by 200."""

    place: int  # of the class
    x: float
    y: float
    inner: str
    outer: str


class PairView(msgspec.Struct, frozen=True):
    """Two features, what their axes begin and end with, and the classes over them."""

    across: str
    upwards: str
    ends: tuple[str, str, str, str]  # left, right, bottom, top
    ellipses: tuple[EllipseView, ...]


class EllipsesView(msgspec.Struct, frozen=True):
    """Gaussian classes with a covariance each, over the features that keep them apart most."""

    classes: tuple[str, ...]
    prior: tuple[float, ...]
    pairs: tuple[PairView, ...]
    hidden: int  # features that are not drawn
    id: str = "ellipses"
    title: str = "How the classes lie"


class CombinationView(msgspec.Struct, frozen=True):
    """A combination of levels: its share of all rows, and how that is made up of classes, as parts of the longest bar."""

    tests: tuple[str, ...]
    share: float
    parts: tuple[tuple[int, float, float], ...]  # class, where its part of the bar begins, and how long it is, up to 100


class JointView(msgspec.Struct, frozen=True):
    """The heaviest combinations of a joint table."""

    classes: tuple[str, ...]
    combinations: tuple[CombinationView, ...]
    occurring: int
    possible: str
    id: str = "combinations"
    title: str = "The heaviest combinations"
