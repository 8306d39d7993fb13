"""The phrases that a message is searched for, as long as the settings name no others.

Lower case. They match whole words; a `*` at a phrase's end stands for any rest of its last word.
"""

from __future__ import annotations

CLAIMS = (
    "done", "i am done", "complete", "completed", "task complete", "finished", "wrapped up",
    "finalized", "finalised", "mission accomplished",
    "all set", "good to go", "ready for review", "ready for your review", "ready to merge",
    "ready to ship", "that's it", "that is it", "that's all", "that is all", "that's everything",
    "nothing left to do", "nothing else to do", "nothing more to do", "nothing further to do",
    "nothing is left to do", "nothing left to be done", "nothing more to be done",
    "nothing remains to be done", "no further work", "no more work", "no work left",
    "no work remains", "no tasks left", "no tasks remain",
    "implemented and tested", "tested and working", "fully implemented", "successfully implemented",
    "has been implemented", "have been implemented", "is implemented", "are implemented",
    "this completes", "that completes", "this concludes", "that concludes",
)  # fmt: skip
"""Say that the work is done."""

BESIDE = (
    "tool", "tools", "implement", "implementing", "working on", "not yet",
    "needs to be", "need to be", "has to be", "have to be", "must be",
)  # fmt: skip
"""Hold back a claim of their own sentence; in a sentence behind it they need not speak of work."""

AHEAD = (
    "let me", "let's", "let us", "i will", "i'll", "i shall", "we will", "we'll",
    "i am going to", "i'm going to", "we are going to", "we're going to", "about to",
    "just need to", "only need to", "i need to", "i have to", "i must", "we need to",
    "i am working", "i'm working", "we are working", "we're working",
    "still working", "currently working", "work continues", "more work",
    "in progress", "wip", "under way", "underway", "pending", "outstanding",
    "next i", "next we", "next up", "next step is", "next task is",
    "moving on", "moving to", "move on", "now on to", "on to the next", "onto the next",
    "continuing", "continue with", "continue to", "proceeding", "starting on", "starting with",
    "still need*", "still has to", "still have to", "still to do", "still to be", "still running",
    "still open", "still missing", "still remain*", "still left", "yet to",
    "not started", "not been started", "to be written", "to be added", "to be fixed",
    "to be tested", "to be implemented",
    "remaining", "what remains", "work remains", "task remains", "tasks remain",
    "remains to", "remain to", "left to do", "is left to", "are left to",
)  # fmt: skip
"""Say that work goes on, in whichever sentence they stand."""

WORKS = (*BESIDE, *AHEAD)

NO_WORDS = "no completion words"
