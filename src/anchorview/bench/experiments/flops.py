"""Tables of floating-point operations: the methods as published, the similarity graphs, and our implementation."""

from __future__ import annotations

from pathlib import Path

from ...report.document import Section, Table, scientific, score_cells
from ..operations import COUNTED, count_operations, graph_operations, published_operations
from ..paper_tables import FLOPS, GRAPH_FLOPS
from ..protocol import label_fraction
from ..registry import REGISTRY
from ..runner import Runner
from ..settings import Settings


def count_flops(settings: Settings, runner: Runner, figures: Path) -> Section:
    """Count for the paper's data sets, which takes their sizes only, and for those given."""
    sizes = [(e.name, e.n_rows, e.view_sizes, e.n_classes, e.n_landmarks, e.name) for e in REGISTRY]
    for _, about in settings.data:
        if about.paper is None:
            sizes.append((about.name, about.n_rows, about.view_sizes, about.n_classes, 500, ""))
    section = Section("flops", "Floating-point operations")
    published = Table("flops", "Estimated operations of the methods as published", ["Dataset", *COUNTED])
    graphs = Table("flops-graphs", "Operations of all n×n similarity matrices", ["Dataset", "n", "d", "dn²", "paper"])
    header = [
        "Dataset",
        "active_set",
        "admm",
        "paper's Algorithm 1",
        "k-means of Algorithm 1",
        "active_set / Algorithm 1",
    ]
    ours = Table("flops-ours", "Operations of this implementation of FSSMSC", header)
    for name, n, views, k, landmarks, twin in sizes:
        n_labelled = int(n * label_fraction(n))
        counts = [published_operations(method, n, views, k, n_labelled, landmarks) for method in COUNTED]
        published.add(name, *score_cells(counts, [scientific(count) for count in counts], smallest=True))
        if twin in FLOPS:
            published.add(f"{name}, paper", *(FLOPS[twin][method] for method in COUNTED))
        d = sum(views)
        known = scientific(GRAPH_FLOPS[twin]) if twin in GRAPH_FLOPS else ""
        graphs.add(name, f"{n:,}", f"{d:,}", scientific(graph_operations(n, d)), known)
        kinds = {s: count_operations(n, d, landmarks, k, n_labelled, solver=s) for s in ("active_set", "admm", "paper")}
        ratio = kinds["active_set"]["total"] / kinds["paper"]["total"]
        totals = [scientific(kinds[solver]["total"]) for solver in ("active_set", "admm", "paper")]
        ours.add(name, *totals, scientific(kinds["paper"]["landmarks"]), f"{ratio:.3f}")
    published.note = "Sparse matrices count as dense, as in the paper. FSSMSC without the k-means of its landmarks."
    section.text = [
        "Counted from the sizes, not measured. What to count for the compared methods was settled with the paper's "
        "totals in view, since it prints no details; so agreement with them is no independent check. A multiplication "
        "and an addition are two operations."
    ]
    section.tables = [published, graphs, ours]
    return section
