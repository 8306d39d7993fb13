"""State on disk. `lock_deadline` (monotonic seconds) ends all waiting for locks in this process."""

lock_deadline: float | None = None
