"""Words with a fixed meaning in tables: missing tokens, booleans, currencies, months, typical names of identifier columns.

Regular expressions are compiled on first use, because loading a model for prediction needs few of them.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache, cached_property
from unicodedata import normalize


class Pattern:
    """Regular expression compiled on first use; bound methods are cached, so that repeated calls cost nothing extra.

    >>> Pattern(r"a+").fullmatch("aa").group()
    'aa'
    """

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def compiled(self) -> re.Pattern[str]:
        return re.compile(self.text)

    @cached_property
    def fullmatch(self) -> Callable[[str], re.Match[str] | None]:
        return self.compiled.fullmatch

    @cached_property
    def search(self) -> Callable[[str], re.Match[str] | None]:
        return self.compiled.search

    @cached_property
    def sub(self) -> Callable[[str, str], str]:
        return self.compiled.sub


def _listed(text: str) -> frozenset[str]:
    return frozenset(word for line in text.split("\n") for word in line.strip().split(" | ") if word)


@cache
def plain(text: str) -> str:
    """Return a word case-folded, with blanks stripped and collapsed, and in Unicode normal form C."""
    return " ".join(text.split()).casefold() if text.isascii() else normalize("NFC", " ".join(text.split()).casefold())


# as software writes a missing value: null in a column of numbers as soon as a text file or a sheet is read, without a note
NULL_TOKENS = ("", "?", "NA", "N/A", "NaN", "nan", "null", "NULL")

# missing in any column, compared in their `plain` form
MISSING_TOKENS = frozenset(map(plain, NULL_TOKENS)) | _listed(
    r"""
    \n | n.a. | n.a | #n/a | #na | #nv | -nan | <na> | nil | nat | (null)
    #null! | #value! | #ref! | #div/0! | #name? | #num!
    """
)

# missing in numeric and date columns; possibly a level in others
NUMERIC_MISSING_TOKENS = _listed(
    """
    - | -- | --- | – | — | . | .. | ... | … | * | / | // | xx | xxx | none | unknown | unk | unknwn | missing
    not available | not applicable | not known | no data | nodata | not recorded | not measured | undefined | undef
    blank | empty | tbd | tba | pending | error | invalid | refused | unbekannt | keine angabe | k.a. | k. a.
    0000-00-00 | 0000-00-00 00:00:00 | fehlt | inconnu | desconocido | sconosciuto | nd | n.d. | n.r.
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

INEQUALITIES = _listed("< | > | ≤ | ≥ | <= | >=")  # bounds that say on which side of the number a value lies

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

_ID = Pattern(
    r"(?:^|[_\W])(?:id|ids|idx|index|uuid|guid|uid|key|pk|rowid|row|rownum|rownames?|nr|no|num|lfd|obs|serial|seq|sequence"
    r"|record|unnamed)(?:$|[_\W\d])|(?:[a-z]ID|Id|Nr|No)$|^(?:#|no\.|nr\.|n°|№)$"
)

_CODE = Pattern(
    r"(?:^|[_\W])(?:zip|zip_?codes?|postal|postcode|post_?code|plz|phone|telephone|tel|telefon|mobile|handy|fax|ean|isbn|upc"
    r"|gtin|sku|ssn|iban|bic|account|konto|code|fips|icd)(?:$|[_\W\d])|(?:Zip|Code|Phone)$"
)

_MOMENT = Pattern(
    r"(?:^|[_\W])(?:date|datum|fecha|day|tag|time|timestamp|zeit|zeitstempel|created|updated|modified|birthday|birth|dob|ts)"
    r"(?:$|[_\W\d])|_at$|_on$|(?:[a-z]Date|[a-z]Time|[a-z]At|date|datum)$"
)

_NO_ID = Pattern(
    r"^(?:[a-z]{1,2}\d*)$|year|jahr|time|zeit|day|tag|week|month|hour|minute|second|age|dose|temp|step|lag|period|epoch"
)


def is_id_name(name: str) -> bool:
    """Return whether a column name is typical of row identifiers.

    >>> is_id_name("PassengerId"), is_id_name("order_id"), is_id_name("idea")
    (True, True, False)
    """
    return bool(_ID.search(name) or _ID.search(name.lower()))


def is_code_name(name: str) -> bool:
    """Return whether a column name is typical of codes, which may be written as numbers.

    >>> is_code_name("zip"), is_code_name("phone_number"), is_code_name("area")
    (True, True, False)
    """
    return bool(_CODE.search(name) or _CODE.search(name.lower()))


def is_moment_name(name: str) -> bool:
    """Return whether a column name is typical of dates or times.

    >>> is_moment_name("created_at"), is_moment_name("order date"), is_moment_name("weight")
    (True, True, False)
    """
    return bool(_MOMENT.search(name) or _MOMENT.search(name.lower()))


def is_measure_name(name: str) -> bool:
    """Return whether a column of this name may be a measurement although it counts up by one: a year, a time, an `x1`."""
    return bool(_NO_ID.search(name.lower()))
