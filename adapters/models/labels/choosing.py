"""Choose the labels to stand by: a wider one where the narrower ones are not sure enough."""

from typing import TYPE_CHECKING

from muniment.adapters.models.labels.words import PRINT, words
from muniment.adapters.ports import Label

if TYPE_CHECKING:
    import numpy as np

# Each class, even the least fitting, is given some share: the widest group has 398 of them.
WIDEST = "animal"


def labels_in(
    shares: "np.ndarray", *, least_class: float, least_group: float, least_widest: float
) -> list[Label]:
    """Return the labels whose share of the probability reaches their least, the narrowest first.

    A group's share is that of all its classes together.
    """
    said = words()
    groups: dict[str, float] = {}
    for name, share in zip(said.classes, shares.tolist(), strict=True):
        for group in said.above(name.group):
            groups[group] = groups.get(group, 0.0) + share
    best = said.classes[int(shares.argmax())]
    found = []
    if shares.max() >= least_class and best.group != PRINT:
        found.append(Label(best.english, best.chinese, float(shares.max())))
    surest = sorted(groups.items(), key=lambda group: (group[1], group[0] == WIDEST))
    for group, share in surest:
        name = said.groups[group]
        if group != PRINT and share >= (least_widest if group == WIDEST else least_group):
            found.append(Label(name.english, name.chinese, min(1.0, share)))
    return found
