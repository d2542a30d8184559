"""The comparison table of the FSSMSC paper, to stand beside our own figures.

Means over 20 draws of labels with their spread (none for the methods without labels), all with parameters chosen by
the evaluation labels; ``OM`` is out of memory.
"""

from __future__ import annotations

METHODS = ("FPMVS", "LMVSC", "MVAR", "MLAN", "AMGL", "GPSNMF", "CONMF", "FSSMSC")
DATA = {  # our name of a file → the paper's name of the data; "_re": same images, features extracted anew
    "hw": "HW",
    "caltech101_7_re": "Caltech7",
    "caltech101_20_re": "Caltech20",
}

Score = tuple[float, float | None]

_TABLE = """
acc      Caltech7    57.1    70.6    91.7±1.7  91.6±2.4  85.3±1.6  93.1±1.5  92.7±1.6  93.7±1.9
acc      HW          82.3    89.4    95.6±2.0  97.3±0.2  86.1±2.3  97.1±0.8  97.0±0.5  97.1±0.5
acc      Caltech20   66.4    48.8    78.9±1.8  78.1±2.2  68.4±3.4  80.8±1.4  80.0±1.2  82.4±1.8
acc      Reuters     57.5    49.6    OM        OM        63.1±1.7  73.1±1.3  75.0±1.0  75.8±2.4
acc      NUS         19.4    14.9    25.5±1.8  OM        19.1±1.3  28.3±1.0  24.8±1.0  29.2±1.6
acc      Caltech101  28.8    25.6    44.3±0.8  45.2±0.6  39.6±1.0  43.1±0.8  47.3±0.8  47.1±0.8
acc      Youtube     24.1    24.8    OM        OM        OM        39.9±2.0  OM        42.3±0.6
nmi      Caltech7    55.6    48.1    78.3±3.8  79.7±3.5  66.4±2.7  82.6±3.5  81.2±2.1  84.3±4.2
nmi      HW          79.2    83.7    91.7±1.1  94.2±0.5  86.0±2.6  93.7±1.2  93.3±0.8  93.4±1.0
nmi      Caltech20   63.9    59.5    67.4±2.6  68.6±2.6  56.5±3.7  72.6±1.7  69.9±1.6  74.6±1.5
nmi      Reuters     35.9    35.6    OM        OM        36.3±2.4  47.0±2.0  49.7±0.9  50.9±2.7
nmi      NUS         13.5    12.5    12.2±1.0  OM        6.7±1.1   14.4±0.6  13.0±0.2  17.7±1.0
nmi      Caltech101  41.8    48.5    41.5±0.8  46.1±0.8  38.1±0.8  44.0±0.7  50.9±0.5  50.9±0.6
nmi      Youtube     24.5    22.2    OM        OM        OM        26.8±1.6  OM        27.6±0.6
ari      Caltech7    41.3    43.0    87.6±4.1  85.4±6.0  65.4±4.1  92.6±3.0  92.4±2.1  93.6±4.1
ari      HW          72.7    80.0    91.1±2.2  94.1±0.5  78.6±4.0  93.7±1.5  93.5±1.1  93.6±1.1
ari      Caltech20   63.6    33.3    80.6±3.7  65.8±6.5  39.0±7.6  84.6±2.2  81.0±2.9  88.8±1.5
ari      Reuters     33.2    22.1    OM        OM        33.1±4.2  48.4±2.1  51.9±1.7  55.1±3.9
ari      NUS         6.5     4.9     6.7±1.8   OM        2.8±1.6   10.8±0.7  10.7±0.5  13.8±2.2
ari      Caltech101  17.4    19.1    41.5±2.4  35.7±3.5  20.6±3.3  39.2±1.9  63.5±1.8  63.8±1.2
ari      Youtube     6.0     4.6     OM        OM        OM        7.8±2.1   OM        13.6±0.6
seconds  Caltech7    23.2    251.7   4.6       10.9      0.9       8.4       12.9      2.8
seconds  HW          25.5    8.6     3.9       11.6      1.5       7.7       6.9       4.8
seconds  Caltech20   26.4    28.8    18.7      23.4      2.5       14.2      24.5      6.3
seconds  Reuters     1342.1  317.7   OM        OM        326.3     1206.3    5096.6    109.5
seconds  NUS         1113.2  1879.4  763.9     OM        990.4     145.4     1431.4    40.7
seconds  Caltech101  684.9   2558.1  137.1     412.8     47.6      54.3      199.8     20.5
seconds  Youtube     3187.1  1152.7  OM        OM        OM        1128.4    OM        209.8
"""


def _read_table(text: str) -> dict[str, dict[str, dict[str, Score | None]]]:
    table: dict[str, dict[str, dict[str, Score | None]]] = {}
    for line in text.strip().splitlines():
        measure, data, *cells = line.split()
        row = {method: _read_cell(cell) for method, cell in zip(METHODS, cells, strict=True)}
        for method, score in row.items():
            table.setdefault(data, {}).setdefault(method, {})[measure] = score
    return table


def _read_cell(cell: str) -> Score | None:
    if cell == "OM":
        return None
    mean, _, spread = cell.partition("±")
    return float(mean), float(spread) if spread else None


PAPER = _read_table(_TABLE)
"""``PAPER["HW"]["MVAR"]["acc"]`` is (95.6, 2.0); None where the method ran out of memory."""


def paper_scores(data: str, method: str) -> dict[str, Score | None] | None:
    """Return the paper's figures for one of our data sets, None if it has none.

    Examples
    --------
    >>> paper_scores("hw", "MVAR")
    {'acc': (95.6, 2.0), 'nmi': (91.7, 1.1), 'ari': (91.1, 2.2), 'seconds': (3.9, None)}
    >>> paper_scores("scene15", "MVAR") is None
    True
    """
    return PAPER.get(DATA.get(data, ""), {}).get(method)
