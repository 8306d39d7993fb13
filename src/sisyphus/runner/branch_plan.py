"""The plan as it is on the branch of a run. Its file may be half written: a worker that merges
moves the branch on, and the files with it."""

from __future__ import annotations

from collections.abc import Sequence

from sisyphus.boulder import find as plan_files
from sisyphus.boulder import follow, plans
from sisyphus.boulder.find import PlanFile
from sisyphus.boulder.plan import parse
from sisyphus.boulder.plans import Checkpoint
from sisyphus.ground import git, markdown, repository
from sisyphus.loops.runs import Worker
from sisyphus.runner import fix_plan, schedule
from sisyphus.runner.drive import Drive
from sisyphus.runner.fix_plan import FixPlan


class BranchPlan:
    """The plan on the branch of a run. It is read again when the branch has moved."""

    def __init__(self, drive: Drive) -> None:
        self._drive = drive
        self._head = ""
        self._file = PlanFile(drive.state.plan, drive.folder)

    def startable(self, at_work: Sequence[Worker], free: int) -> list[str]:
        """Returns the items that may begin now. free: how many, at most."""
        plan = self._read().plan
        if plan is None:
            return []
        names = [worker.state.only for worker in at_work]
        plan = follow.at_checkpoint(plan, self._checkpoint())
        return schedule.startable(plan, (), names, self._drive.state.blocked, free).begin

    def items(self) -> FixPlan:
        return fix_plan.of_file(self._read(), self._checkpoint())

    def _read(self) -> PlanFile:
        drive, head = self._drive, git.head(self._drive.folder)
        if head != self._head:
            path = drive.state.plan
            data = repository.file_at(drive.folder, head, path)
            text = markdown.plain(data.decode("utf-8", "replace")) if data is not None else None
            plan = parse(text, plan_files.tool_of(path)) if text is not None else None
            self._head, self._file = head, PlanFile(path, drive.folder, head, plan)
        return self._file

    def _checkpoint(self) -> Checkpoint | None:
        followed = plans.find(self._drive.store, self._drive.state.plan)
        return followed.checkpoint if followed else None
