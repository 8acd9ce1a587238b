"""Words that mean something in a table whatever its columns are: missing values, yes and no, months, names of ids."""

from __future__ import annotations

import re
from functools import cache


def _listed(text: str) -> frozenset[str]:
    return frozenset(word for line in text.split("\n") for word in line.strip().split(" | ") if word)


# no value, in any column
NOTHING = frozenset(("", "\\n")) | _listed(
    """
    ? | na | n/a | n.a. | n.a | #n/a | #na | #nv | nan | -nan | <na> | null | nil | nat | (null)
    #null! | #value! | #ref! | #div/0! | #name? | #num!
    """
)
# no value among numbers and dates; elsewhere possibly a level like any other
NO_NUMBER = _listed(
    """
    - | -- | --- | – | — | . | .. | ... | … | * | / | // | xx | xxx | none | unknown | unk | unknwn | missing
    not available | not applicable | not known | no data | nodata | not recorded | not measured | undefined | undef
    blank | empty | tbd | tba | pending | error | invalid | refused | unbekannt | keine angabe | k.a. | k. a.
    fehlt | inconnu | desconocido | sconosciuto | nd | n.d. | n.r.
    """
)

YES = _listed("yes | y | true | t | 1 | 1.0 | on | ja | j | oui | si | sí | wahr | x | ✓ | ✔ | yeah | yep")
NO = _listed("no | n | false | f | 0 | 0.0 | off | nein | non | falsch | ✗ | ✘ | nope")

CURRENCIES = _listed(
    """
    $ | € | £ | ¥ | ₹ | ₽ | ₩ | ₺ | ₫ | ฿ | us$ | a$ | c$ | r$ | au$ | hk$ | £stg | euro | euros | dollar | dollars
    usd | eur | gbp | chf | jpy | cny | inr | aud | cad | nzd | sek | nok | dkk | pln | czk | huf | brl | zar | rub
    try | mxn | krw | rs | rs. | fr | fr. | kr | kr. | zł | kč | sfr | sfr. | dm
    """
)
BOUNDS = _listed("< | > | ≤ | ≥ | <= | >= | ~ | ≈ | ca. | ca | c. | approx. | approx | about | ± | # | nr. | no.")
SCALES = {"k": 1e3, "K": 1e3, "M": 1e6, "Mio": 1e6, "Mio.": 1e6, "mn": 1e6, "MM": 1e6, "mio": 1e6, "B": 1e9, "bn": 1e9,
          "Bn": 1e9, "Mrd": 1e9, "Mrd.": 1e9, "T": 1e12, "tn": 1e12}  # fmt: skip

_MONTHS = (
    ("january", "jan", "januar", "jänner", "janvier", "janv", "enero", "ene", "gennaio", "gen", "janeiro"),
    ("february", "feb", "februar", "février", "fevrier", "févr", "fév", "febrero", "febbraio", "fevereiro", "fev"),
    ("march", "mar", "märz", "mrz", "maerz", "mär", "mars", "marzo", "março"),
    ("april", "apr", "avril", "avr", "abril", "abr", "aprile"),
    ("may", "mai", "mayo", "maggio", "mag", "maio"),
    ("june", "jun", "juni", "juin", "junio", "giugno", "giu", "junho"),
    ("july", "jul", "juli", "juillet", "juil", "julio", "luglio", "lug", "julho"),
    ("august", "aug", "août", "aout", "agosto", "ago"),
    ("september", "sep", "sept", "septembre", "septiembre", "settembre", "set", "setembro"),
    ("october", "oct", "oktober", "okt", "octobre", "octubre", "ottobre", "ott", "outubro", "out"),
    ("november", "nov", "novembre", "noviembre", "novembro"),
    ("december", "dec", "dezember", "dez", "décembre", "decembre", "déc", "diciembre", "dic", "dicembre", "dezembro"),
)
MONTH = {name: k for k, names in enumerate(_MONTHS, start=1) for name in names}

_ID = re.compile(
    r"(?:^|[_\W])(?:id|ids|idx|index|uuid|guid|uid|key|pk|rowid|row|rownum|rownames?|nr|no|num|lfd|obs|serial|seq|sequence"
    r"|record|unnamed)(?:$|[_\W\d])|(?:[a-z]ID|Id|Nr|No)$|^(?:#|no\.|nr\.|n°|№)$"
)
_NO_ID = re.compile(
    r"^(?:[a-z]{1,2}\d*)$|year|jahr|time|zeit|day|tag|week|month|hour|minute|second|age|dose|temp|step|lag|period|epoch"
)


@cache
def plain(text: str) -> str:
    """A word without its case and the blanks around it, any blanks inside as one."""
    return " ".join(text.split()).casefold()


def is_id_name(name: str) -> bool:
    """Whether a column of this name is meant to tell rows apart.

    >>> is_id_name("PassengerId"), is_id_name("order_id"), is_id_name("idea")
    (True, True, False)
    """
    return bool(_ID.search(name) or _ID.search(name.lower()))


def is_measure_name(name: str) -> bool:
    """Whether a column of this name may well count upwards by one and yet be a measurement: a year, a time, an `x1`."""
    return bool(_NO_ID.search(name.lower()))
