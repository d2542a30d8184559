"""The paper's other tables: ablation, running time with graphs, operations and memory."""

from __future__ import annotations

Score = tuple[float, float]

_ABLATION = """
acc  without_l1           68.1±2.3   29.2±1.2  34.5±0.6  38.5±0.6  75.8±1.5  89.5±1.9
acc  without_must_link    64.4±2.4   20.8±0.9  35.9±0.8  43.4±0.6  80.5±1.5  96.9±0.6
acc  without_cannot_link  69.5±1.9   17.1±1.3  24.7±0.9  44.8±0.7  82.2±1.7  97.1±0.5
acc  without_smoothness   58.0±12.7  21.9±4.5  30.2±1.5  42.9±1.2  80.5±4.2  86.8±6.3
acc  full                 75.8±2.4   29.2±1.6  42.3±0.6  47.1±0.8  82.4±1.8  97.1±0.5
nmi  without_l1           41.3±2.4   17.2±1.0  21.2±0.7  42.8±0.6  64.7±1.4  82.5±1.5
nmi  without_must_link    37.0±2.6   11.0±0.5  21.1±0.6  47.3±0.5  72.3±1.4  93.2±1.2
nmi  without_cannot_link  44.2±2.0   7.6±0.9   9.7±0.5   47.8±0.7  75.1±1.3  93.6±0.9
nmi  without_smoothness   28.1±15.0  13.6±4.5  16.9±1.3  46.8±1.3  70.6±6.4  77.8±7.8
nmi  full                 50.9±2.7   17.7±1.0  27.6±0.6  50.9±0.6  74.6±1.5  93.4±1.0
acc  without_coupling     75.2±2.5   26.1±1.1  41.0±0.6  46.9±0.7  –         97.0±0.6
nmi  without_coupling     49.9±2.8   14.7±0.6  26.1±0.5  50.4±0.6  –         93.3±1.0
"""
_ABLATION_DATA = ("Reuters", "NUS", "Youtube", "Caltech101", "Caltech20", "HW")

_METHODS = ("MVAR", "MLAN", "AMGL", "GPSNMF", "CONMF", "FSSMSC")
_TIME = """
Caltech20   18.7   23.4(1.4)    2.5(1.7)      14.2(0.6)      24.5(2.3)      6.3
Caltech101  137.1  412.8(20.8)  47.6(27.1)    54.3(4.1)      199.8(8.6)     20.5
NUS         763.9  OM           990.4(440.2)  145.4(42.3)    1431.4(105.5)  40.7
Youtube     OM     OM           OM            1128.4(646.0)  OM             209.8
"""
_FLOPS = """
Caltech101  4.03e13  1.06e14  7.73e12  1.32e13  1.11e13  6.20e11
Reuters     OM       OM       1.03e14  1.59e14  5.41e13  1.63e12
NUS         6.76e13  OM       2.13e14  1.02e14  2.34e13  1.86e12
Youtube     OM       OM       OM       1.18e15  OM       6.53e12
"""
GRAPH_FLOPS = {"Caltech101": 3.15e11, "NUS": 5.75e11, "Youtube": 2.19e13}

MEMORY = {  # bytes of FSSMSC's variables
    "HW": 1.43e8,
    "Caltech7": 1.10e8,
    "Caltech20": 2.39e8,
    "Caltech101": 8.26e8,
    "NUS": 1.74e9,
    "Youtube": 7.05e9,
}


def _read_ablation() -> dict[str, dict[str, dict[str, Score]]]:
    table: dict[str, dict[str, dict[str, Score]]] = {}
    for line in _ABLATION.strip().splitlines():
        measure, variant, *cells = line.split()
        for data, cell in zip(_ABLATION_DATA, cells, strict=True):
            if cell != "–":
                mean, spread = cell.split("±")
                table.setdefault(data, {}).setdefault(variant, {})[measure] = (float(mean), float(spread))
    return table


ABLATION = _read_ablation()
"""``ABLATION["HW"]["without_l1"]["acc"]`` is (89.5, 1.9)."""


def _read_cells(text: str) -> dict[str, dict[str, str]]:
    lines = [line.split() for line in text.strip().splitlines()]
    return {data: dict(zip(_METHODS, cells, strict=True)) for data, *cells in lines}


TIME = {data: {m: cell.replace("(", " (") for m, cell in row.items()} for data, row in _read_cells(_TIME).items()}
"""``TIME["NUS"]["GPSNMF"]`` is "145.4 (42.3)": seconds, and of these similarity graphs."""
FLOPS = _read_cells(_FLOPS)
"""``FLOPS["NUS"]["MVAR"]`` is "6.76e13"."""
