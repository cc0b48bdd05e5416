"""What keeps a run from starting is named, in the cluster's words; what never heals is told from what does."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from mlecore.model.backends import Image, JobStatus

if TYPE_CHECKING:
    from conftest import Lab

pytestmark = [pytest.mark.kubernetes, pytest.mark.slow, pytest.mark.xdist_group("kubernetes-3")]


def stuck(lab: Lab, **changes: Any) -> JobStatus:
    """The status of a job once it is stuck."""
    handle = lab.start("true", **changes)

    def found() -> JobStatus | None:
        status = lab.status(handle)
        assert status.phase == "pending", status
        return status if status.stuck else None

    return lab.until(found, lambda: lab.status(handle))


def test_an_image_that_does_not_exist(lab: Lab) -> None:
    missing = lab.image.ref.partition("@")[0].rpartition(":")[0] + ":no-such-tag"
    status = stuck(lab, image=Image(ref=missing, digest="sha256:none"))
    assert "ErrImagePull" in status.reason or "ImagePullBackOff" in status.reason
    assert "no-such-tag" in status.reason


def test_a_pod_that_podsecurity_rejects(make_lab: Callable[..., Lab]) -> None:
    """It is known before the start; a Job that was started all the same is stuck."""
    lab = make_lab(**{"pod-template": '{"spec": {"hostNetwork": true}}'})
    (problem,) = lab.backend.preflight()
    assert "violates PodSecurity" in problem.description and "-B pod-template" in problem.fix and problem.fatal
    assert not lab.left()  # it was a dry run
    assert "violates PodSecurity" in stuck(lab).reason
