"""Codes that do not fit into memory: in a temporary folder, which goes when nobody uses them any more."""

from __future__ import annotations

import tempfile
from typing import Any

from scipy import sparse

from ..core.folders import ScratchFolder
from ..engine.sources.base import SourceError
from ..engine.sources.csr import CsrFiles
from ..engine.sources.csr_writer import CsrWriter


class DiskCodes(CsrFiles):
    """Codes in a temporary folder. Indexing reads rows into memory, as a csr_array; so does pickle, with all rows."""

    def __init__(self, folder: ScratchFolder) -> None:
        self._folder = folder  # removed with this object
        super().__init__(folder.path)

    def __reduce__(self) -> Any:
        return sparse.csr_array, (self[:],)


class DiskCodeStack:
    """Blocks of codes put under one another in files; as `CodeStack`, which does so in memory.

    Examples
    --------
    >>> stack = DiskCodeStack(2)
    >>> for _ in range(2):
    ...     stack.add(sparse.csr_array([[1.0, 0.0], [0.0, 3.0]]))
    >>> codes = stack.codes()
    >>> codes.shape, codes.nnz, codes[1:3].toarray().tolist()
    ((4, 2), 4, [[0.0, 3.0], [1.0, 0.0]])
    """

    def __init__(self, n_columns: int) -> None:
        self.n_columns = n_columns
        try:
            self._folder = ScratchFolder("anchorview-codes-")
        except OSError as error:
            raise SourceError(
                f"Codes cannot be written to {tempfile.gettempdir()}: {error.strerror or error}. Set TMPDIR to a "
                "folder that can be written to, or raise memory_limit."
            ) from error
        self._writer: CsrWriter | None = None

    def add(self, block: sparse.csr_array) -> None:
        """Append the rows of a block."""
        if self._writer is None:
            self._writer = CsrWriter(self._folder.path, self.n_columns, block.dtype)
        self._writer.add(block)

    def codes(self) -> sparse.csr_array | DiskCodes:
        """Return all rows; nothing can be added afterwards."""
        if self._writer is None:
            return sparse.csr_array((0, self.n_columns))
        self._writer.close()
        return DiskCodes(self._folder)
