"""The learner of best possible trees, and what it hands over where Ctrl-C ends its search."""

from __future__ import annotations

import msgspec

from baytree import notices
from baytree.engine.parts import Parts
from baytree.engine.rounds.number_of_rows import as_rows
from baytree.learner import Learnt
from baytree.show.names import number
from baytree.tree.model.structure import Certificate, Tree
from baytree.tree.optimal.best_tree import Task, best_tree


class StoppedSearch(KeyboardInterrupt):
    """Ctrl-C ended a search; the best tree until then is in it. To others it is an interrupt like any other."""

    def __init__(self, tree: Tree) -> None:
        super().__init__("the search was stopped before its end")
        self.tree = tree


class OptimalTreeLearner(msgspec.Struct, frozen=True):
    """The tree of least cost."""

    task: Task

    def learn(self, rows: Parts) -> Learnt:
        """The tree of these rows, which are all brought here: every set of them may be looked at."""
        tree = best_tree(as_rows(rows).gather(), self.task)
        if certificate_of(tree).stopped == "interrupt":
            raise StoppedSearch(tree)
        if certificate_of(tree).stopped:
            notices.warn(unproved(tree, f"after time_limit={self.task.seconds:g} seconds"))
        return Learnt(tree)


def certificate_of(tree: Tree) -> Certificate:
    """What is known of a tree that was searched for."""
    if not tree.certificate:
        raise ValueError("this tree was pruned after its search, so nothing is known of better ones; see undo()")
    return tree.certificate


def unproved(tree: Tree, when: str) -> str:
    """The sentence about a search that did not come to its end."""
    told = certificate_of(tree)
    return (
        f"the search was stopped {when}: this tree costs {number(told.objective)}, and no tree costs less than "
        f"{number(told.bound)}"
    )
