"""All commands, in the order of the help. Help and completion read this table; the module of a
command is imported when somebody calls it."""

from typing import NamedTuple

from sisyphus.hook.event import ANSWERED

SETUP, AGENTS = "Setup", "For agents, which call these"


class Row(NamedTuple):
    """A command, or a group of them.

    words: what the user types. place: the function, as `module:name` below `sisyphus`; "" = it is
    a group. help: the first paragraph of the function's docstring, as one line; a test compares
    them. panel: the heading in the help that it stands under. is_default: its group does this where
    no command is named, so that the help does not list it.
    """

    words: str
    place: str
    help: str
    panel: str = ""
    epilog: str = ""
    is_default: bool = False

    @property
    def name(self) -> str:
        return self.words.split()[-1]


TABLE = (
    Row("status", "cli.status:status",
        "Show the plan, the loops and runs, the context and the wiring of this project, and what "
        "waits for you."),
    Row("dashboard", "dashboard.commands:dashboard",
        "Show plans, loops, runs and sessions on a page in the browser, of all projects."),
    Row("boulder", "", "Follow a plan across sessions."),
    Row("boulder status", "boulder.commands:show_status",
        "Show the plan that is followed here: how far it is, and what is next."),
    Row("boulder start", "boulder.commands:start",
        "Follow a plan from now on: the named one, else the only one with open tasks."),
    Row("boulder checkpoint", "boulder.commands:checkpoint",
        "Record how far the plan is, for the next session."),
    Row("boulder clear", "boulder.commands:clear",
        "Stop following this project's plan. Its file stays as it is."),
    Row("boulder hold", "boulder.hold_commands:hold",
        "Make every session that follows the plan go on until the plan is complete."),
    Row("boulder checks", "boulder.checks_commands:checks",
        "List the checks of a plan, or let sisyphus run their commands."),
    Row("ralph", "", "Start and manage loops: the agent works until a task is done."),
    Row("ralph start", "ralph.commands:start",
        'Start a loop: `sisyphus ralph start --completion-promise DONE -- "Make it green"`.'),
    Row("ralph list", "cli.loops:list_loops",
        "List the loops and runs that have not ended, or show one."),
    Row("ralph log", "ralph.commands:log",
        "List ended loops and runs, newest first, or what one of them did, or figures over all."),
    Row("ralph pause", "ralph.commands:pause",
        "Pause a loop, so that its session can stop, or a run, so that it stops after its "
        "iteration. `resume` continues it."),
    Row("ralph resume", "ralph.commands:resume",
        "Resume a paused loop. With an id and --session-id, move it to that session first."),
    Row("ralph delete", "ralph.commands:delete",
        "Delete loops and runs that have ended, with all that is known of their Stops. On a "
        "terminal it asks."),
    Row("ralph cancel", "ralph.commands:cancel",
        "Cancel a loop, hold or run. Without an id: all loops of the session that you are in, else "
        "those of the only session of this project that has one, and the hold of its plan."),
    Row("ralph run", "runner.commands:run",
        "Work at a task overnight: each iteration is a new client with an empty context, which "
        "does one item of fix_plan.md."),
    Row("ralph decide", "runner.decide_command:decide",
        "Tell a loop of your own whether to go on: exit 0 = stop, 1 = go on, 2 = cannot tell."),
    Row("enforce", "", "Keep agents working that say they are done, or that have stopped."),
    Row("enforce on", "enforce.commands:on",
        "Switch enforcement on in this project: its sessions go on when they say that they are "
        "done."),
    Row("enforce off", "enforce.commands:off", "Switch enforcement off in this project."),
    Row("enforce stop", "enforce.commands:stop",
        "Leave sessions alone until their user's next prompt. Default: this session or, in a "
        "terminal, all of this project."),
    Row("enforce status", "enforce.commands:status",
        "Show whether enforcement is on, what keeps a session from being enforced now, and when it "
        "may come next. Default: this session, else the one that was enforced last."),
    Row("context", "handoff.commands:context", "Show how full the context of a session is."),
    Row("handoff", "handoff.commands:handoff",
        "Write a handoff now: what was done, what failed, where to go on. It ends nothing."),
    Row("rules", "",
        "List the rules of this project, show which apply to a file, or find mistakes in them."),
    Row("rules show", "rules.commands:show_rules",
        "List all rules, or show which are sent when a tool touches FILE, and why.",
        epilog="`sisyphus rules lint` finds mistakes in rules.", is_default=True),
    Row("rules lint", "rules.commands:lint_rules",
        "Find rules that are invalid, misspelled, cut, sent twice or never sent."),
    Row("why", "cli.sessions:why",
        "Show what hooks did in a session, and why. Default: this project's latest session."),
    Row("sessions", "cli.sessions:sessions",
        "List the sessions of this project by their first prompt, and what was sent to each."),
    Row("demo", "cli.demo:demo",
        "Play how a false tick is found, through the real hooks, in a temporary home and project."),
    Row("doctor", "doctor.commands:doctor",
        "Check that sisyphus works here: clients, hooks, database, settings.", SETUP),
    Row("install", "setup.commands:install",
        "Add sisyphus to your clients: hooks or a plugin, slash commands or skills, a status line.",
        SETUP),
    Row("uninstall", "setup.commands:uninstall",
        "Take out of all clients what `install` added, and nothing else.", SETUP),
    Row("config", "", "Show the settings, or change one.", SETUP),
    Row("config show", "cli.config:config", "Show the settings, or change one.",
        epilog="`sisyphus config schema` prints a JSON schema of the file, for your editor.",
        is_default=True),
    Row("config schema", "cli.settings_schema:schema",
        "Print a JSON schema of the settings, by which an editor checks your file."),
    Row("purge", "cli.purge:purge",
        "Remove what we know of sessions, loops and plans that were not used for 30 days.", SETUP),
    Row("notify", "", "Your own command for when something needs you or ends.", SETUP),
    Row("notify test", "cli.notify:test",
        "Run the command of `notify.command` once, with a sample, and show what it says."),
    Row("plugin-path", "setup.commands:plugin_path",
        'Print the folder of the plugin, for `claude --plugin-dir "$(sisyphus plugin-path)"`.',
        SETUP),
    Row("statusline", "cli.agents:statusline",
        "Print one line for the client's status line: plan, loop, context.", AGENTS),
    Row("hook", "cli.agents:hook",
        "Answer one hook event: reads a JSON payload from stdin, prints at most one JSON object.",
        AGENTS,
        f"Events: {', '.join(ANSWERED)}. All others are accepted and get no answer."),
)  # fmt: skip


def within(group: str) -> list[Row]:
    """Returns the rows of the commands in a group; "" = those that are in none."""
    return [row for row in TABLE if row.words.rpartition(" ")[0] == group]
