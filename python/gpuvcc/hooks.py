"""What the hooks of compilers share: the answers that they collect, and when an answer is an error."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterator
from types import TracebackType
from typing import Any, TypeVar

from typing_extensions import Self

from .reports import Report, Results
from .verification import NotVerified

T = TypeVar("T", bound="Check")


class Check:
    """Verifies kernels as long as it is open; ``with`` closes it, and so does ``close``.

    ``allow`` names the verdicts that are no error. With ``raises``, another one is raised where the kernel is
    compiled; otherwise it is only kept in ``reports``.
    """

    def __init__(self, remove: Callable[[], None], *, allow: Collection[str], raises: bool) -> None:
        self._remove: Callable[[], None] | None = remove
        self._allow = frozenset(allow)
        self._raises = raises
        #: The answers so far, in the order of the compilations.
        self.reports: list[Report] = []

        self._answers: dict[Hashable, Results] = {}

    def add(self, key: Hashable, verify: Callable[[], Results]) -> None:
        """Keeps answers, found once for a key; raises `NotVerified` where they are errors, each time."""
        if key not in self._answers:
            self._answers[key] = verify()
            self.reports += self._answers[key].kernels
        if self._raises:
            self.raise_not_verified(self._answers[key].kernels)

    def raise_not_verified(self, reports: Collection[Report] | None = None) -> None:
        """Raises `NotVerified` if a kernel (of these, or of all so far) has a verdict that is not allowed."""
        refused = [one for one in (self.reports if reports is None else reports) if one.verdict not in self._allow]
        if refused:
            raise NotVerified(refused)

    def close(self) -> None:
        """Verifies no more."""
        if self._remove is not None:
            self._remove()
            self._remove = None

    def __iter__(self) -> Iterator[Report]:
        return iter(self.reports)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


ALLOWED = ("verified", "verified-when")


def options(values: dict[str, Any], *own: str) -> dict[str, Any]:
    """Options of ``verify``, without those that a hook gives itself."""
    for name in own:
        if name in values:
            raise TypeError(f"`{name}` is known where a kernel is compiled, and no option of check()")
    return values
