-- The data model of sisyphus, on one page. `store.py` runs it when it makes the database.
-- Times (`at`, `…_at`) are seconds since 1970. Each JSON column is written and read in one place.

-- One context of a model: a session of a client, or a subagent of one (agent is '' otherwise).
CREATE TABLE session (
    n        INTEGER PRIMARY KEY,
    client   TEXT NOT NULL,
    id       TEXT NOT NULL,
    agent    TEXT NOT NULL,
    project  TEXT NOT NULL,
    source   TEXT NOT NULL DEFAULT '',  -- why it last started: startup, resume, clear, compact, fork
    fork     TEXT NOT NULL DEFAULT '',  -- '' = it is none; new = nobody has looked for its parent; known
    started_at REAL,                    -- its last start
    seen_at  REAL NOT NULL,             -- the last event that we acted on
    ended_at REAL,                      -- its end, as the client reported it
    process  TEXT NOT NULL DEFAULT '',  -- the client's process, "PID START", or ''
    plan     INTEGER REFERENCES plan ON DELETE SET NULL,  -- the plan that it follows
    transcript TEXT NOT NULL DEFAULT '',   -- the client's file of the session, or ''
    wiring   TEXT NOT NULL DEFAULT '',  -- whose hooks its last start ran: plugin, settings or both
    context_tokens INTEGER NOT NULL DEFAULT 0,  -- in its context, by its status line; 0 = unknown
    context_window INTEGER NOT NULL DEFAULT 0,  -- tokens that fit, by its status line; 0 = unknown
    stops    TEXT NOT NULL DEFAULT '{}',   -- JSON: its Stops, hook/stops.py Stops
    rests    TEXT NOT NULL DEFAULT '',  -- why it may stop until the user's next prompt, or ''
    question TEXT NOT NULL DEFAULT '',  -- what it asked the user when it stopped, or ''
    failed   TEXT NOT NULL DEFAULT '',  -- the error that ended its last turn, or ''
    interrupted INTEGER NOT NULL DEFAULT 0,  -- 1: its user broke its last turn off
    idle_since REAL,                    -- when we let it stop, or its user interrupted it; NULL = it
                                        -- works, or nobody noted it
    level    INTEGER NOT NULL DEFAULT 0,   -- of its context, that it was told of: 0 to 3
    dialog   TEXT NOT NULL DEFAULT '',  -- the tool and what it asks for, while it waits
                                        -- for the user's permission, or ''
    dialog_at REAL,                     -- since when
    started_in TEXT NOT NULL DEFAULT '',   -- the client's process at its last start, or ''
    UNIQUE (client, id, agent)
);
CREATE INDEX session_project ON session (project, seen_at);

-- The ledger: what the model of a session has been sent, each text once.
CREATE TABLE sent (
    session INTEGER NOT NULL REFERENCES session ON DELETE CASCADE,
    hash    TEXT NOT NULL,
    kind    TEXT NOT NULL,              -- rules, readme, agents, …
    path    TEXT NOT NULL,              -- of the file that the text comes from, or ''
    at      REAL NOT NULL,
    PRIMARY KEY (session, hash)
) WITHOUT ROWID;

-- The queue: texts that did not fit into a reply and go out with the next ones, ordered by seq.
CREATE TABLE waiting (
    session INTEGER NOT NULL REFERENCES session ON DELETE CASCADE,
    seq     INTEGER NOT NULL,
    kind    TEXT NOT NULL,
    path    TEXT NOT NULL,
    hash    TEXT NOT NULL,
    frame   TEXT NOT NULL,              -- JSON list: the text before, between and after such texts
    part    TEXT NOT NULL,              -- of a document, as "part 2 of 4"; '' = all of it
    text    TEXT NOT NULL,
    PRIMARY KEY (session, seq)
) WITHOUT ROWID;

-- The journal: one row for each hook that did something. `sisyphus why` shows it.
CREATE TABLE event (
    n        INTEGER PRIMARY KEY,
    session  INTEGER NOT NULL REFERENCES session ON DELETE CASCADE,
    at       REAL NOT NULL,
    name     TEXT NOT NULL,             -- post-tool-use, stop, …
    ms       REAL NOT NULL,             -- from the start of the hook to its reply
    decision TEXT NOT NULL,             -- block, allow, or '' for none
    notes    TEXT NOT NULL,             -- JSON list: what was decided, and why; each a text, or [kind, text]
    texts    TEXT NOT NULL              -- JSON list: kind and file of each text sent
);
CREATE INDEX event_session ON event (session, n);

-- Plans that are or were followed, each file once.
CREATE TABLE plan (
    n       INTEGER PRIMARY KEY,
    path    TEXT NOT NULL UNIQUE,
    project TEXT NOT NULL,
    name    TEXT NOT NULL,
    state   TEXT NOT NULL,              -- active, no_tasks, complete, missing, dismissed
    stamp   TEXT NOT NULL,              -- its file's stamp when we last looked, or ''
    used_at REAL NOT NULL,              -- when a session last worked on it; 0 = never
    record  TEXT NOT NULL               -- JSON: the rest of boulder/plans.py PlanRecord
);
CREATE INDEX plan_project ON plan (project, used_at);
CREATE INDEX plan_used ON plan (used_at);
CREATE INDEX session_plan ON session (plan) WHERE plan IS NOT NULL;

-- What we know of the tasks of a plan that are done, or that name a check. See boulder/ticks.py.
CREATE TABLE tick (
    plan     INTEGER NOT NULL REFERENCES plan ON DELETE CASCADE,
    task     TEXT NOT NULL,             -- its name; '' = the whole plan
    is_done  INTEGER NOT NULL,          -- 1: its box is ticked
    at       REAL NOT NULL,             -- when it was ticked last; 0 = never
    evidence TEXT NOT NULL,             -- what stands behind the tick, boulder/evidence.py; '' = it
                                        -- was there before anybody looked
    checks   TEXT NOT NULL,             -- its checks as the plan has them, one a line
    lost     TEXT NOT NULL,             -- those that it had before
    output   TEXT NOT NULL,             -- the end of what its check printed when it failed, or ''
    is_told  INTEGER NOT NULL,          -- 1: a model was told that its check has not passed
    changed_at REAL NOT NULL,           -- when a file last changed before the tick; 0 = nobody looked
    PRIMARY KEY (plan, task)
) WITHOUT ROWID;

-- The checks of plans that their user has read, and lets us run in a project.
CREATE TABLE trusted_check (
    project TEXT NOT NULL,
    command TEXT NOT NULL,              -- letter by letter
    run     TEXT NOT NULL,              -- the id of the run that alone may run it; '' = for good
    at      REAL NOT NULL,
    files   TEXT NOT NULL,              -- JSON: the files that it depends on → their digests then
    PRIMARY KEY (project, command, run)
) WITHOUT ROWID;

-- What happened to plans, the last 5,000 entries.
CREATE TABLE history (
    n         INTEGER PRIMARY KEY,
    at        REAL NOT NULL,
    project   TEXT NOT NULL,
    plan      TEXT NOT NULL,            -- its path
    what      TEXT NOT NULL,            -- new, progressed, completed, emptied, gone, back, unreadable,
                                        -- started, checkpoint, cleared
    completed INTEGER NOT NULL,
    total     INTEGER NOT NULL
);

-- Loops, holds and runs. The current loop of a session is the last one that has not ended; earlier
-- ones wait for it. A hold holds every session that follows its plan. A run works in one session
-- after the other, and its workers do, too, each at one item; table `run` has the rest of both.
CREATE TABLE loop (
    n          INTEGER PRIMARY KEY,
    id         TEXT NOT NULL UNIQUE,    -- five letters and digits; of a worker RUN-NUMBER
    kind       TEXT NOT NULL,           -- loop, hold, run, worker
    session    INTEGER REFERENCES session,  -- of a loop, else NULL
    plan       INTEGER REFERENCES plan ON DELETE CASCADE,  -- of a hold, else NULL
    project    TEXT NOT NULL,
    prompt     TEXT NOT NULL,
    options    TEXT NOT NULL,           -- JSON: how it was started, loops/loops.py Options
    started_at REAL NOT NULL,
    origin     TEXT NOT NULL,           -- the prompt, tool call or line that started it, or ''
    counters   TEXT NOT NULL,           -- JSON: what has happened in it, loops/loops.py Counters
    status     TEXT NOT NULL,           -- active, paused, blocked, stuck, ended
    outcome    TEXT NOT NULL,           -- why it ended: success, cancelled, max_iterations, limit,
                                        -- fatal_error (of runs), error (its row was unusable)
    why        TEXT NOT NULL,           -- the same in words, or why it is paused or blocked
    ended_at   REAL,
    left_at    REAL,                    -- when its session was found to be over; NULL = it is not
    file       TEXT NOT NULL,           -- its state file as last written, or ''
    stamp      TEXT NOT NULL,           -- that file's stamp then
    by_model   INTEGER NOT NULL,        -- 1: the model started it, not the user
    logged     INTEGER NOT NULL         -- lines in sessions.jsonl: 0, 1 = start, 2 = start and end,
                                        -- 3 = start and an end as abandoned
);
CREATE INDEX loop_live ON loop (session, n) WHERE ended_at IS NULL;
CREATE INDEX loop_ended ON loop (session, ended_at);
CREATE INDEX loop_hold ON loop (plan) WHERE kind = 'hold' AND ended_at IS NULL;
CREATE INDEX loop_origin ON loop (origin);
CREATE INDEX loop_unlogged ON loop (n) WHERE logged < 2;

-- One row for each Stop that a loop or hold decided, and for each client process of a run.
CREATE TABLE iteration (
    loop     INTEGER NOT NULL REFERENCES loop ON DELETE CASCADE,
    session  INTEGER REFERENCES session ON DELETE SET NULL,  -- the session that stopped
    number   INTEGER NOT NULL,          -- the iteration that ended with this Stop
    at       REAL NOT NULL,
    decision TEXT NOT NULL,             -- block, pause, end; of a run, see runner/decide.py
    why      TEXT NOT NULL,
    tokens   INTEGER NOT NULL,
    said     TEXT NOT NULL DEFAULT '',  -- the end of the agent's last message
    seconds  REAL NOT NULL DEFAULT 0,
    files    INTEGER NOT NULL DEFAULT 0,   -- changed in it
    percent  INTEGER NOT NULL DEFAULT 0,   -- of the context, the most; 0 = unknown
    -- Of runs alone:
    item     TEXT NOT NULL DEFAULT '',  -- what it worked on, or ''
    is_done  INTEGER NOT NULL DEFAULT 0,   -- 1: that is done now
    cost     REAL NOT NULL DEFAULT 0,   -- in US dollars, as the client counts
    denied   TEXT NOT NULL DEFAULT '[]', -- JSON list: tool calls that the client did not allow
    evidence TEXT NOT NULL DEFAULT ''   -- what stands behind the tick, boulder/evidence.py, or ''
);
CREATE INDEX iteration_loop ON iteration (loop);
CREATE INDEX iteration_at ON iteration (at);

-- The rest of a run: a loop of kind `run` works in fresh contexts, one client process after the
-- other (`sisyphus ralph run`). And of its workers (`--jobs`): a loop of kind `worker` is there as
-- long as somebody has to work at its item; its iterations are those of the run.
CREATE TABLE run (
    loop    INTEGER PRIMARY KEY REFERENCES loop ON DELETE CASCADE,
    session INTEGER REFERENCES session ON DELETE SET NULL,  -- that works at it, or did last
    runner  TEXT NOT NULL,              -- our process that drives it, "PID START"
    client  TEXT NOT NULL,              -- the client's process, "PID START", or '' between two
    action  TEXT NOT NULL,              -- what its agent did last, or '' = nothing yet
    percent INTEGER NOT NULL,           -- of its context
    heard_at REAL NOT NULL,             -- when it was last heard of
    options TEXT NOT NULL,              -- JSON: loops/runs.py RunOptions
    state   TEXT NOT NULL,              -- JSON: loops/runs.py RunState
    tokens  INTEGER NOT NULL DEFAULT 0, -- that the client's process has used so far,
    cost    REAL NOT NULL DEFAULT 0     -- and dollars; those of earlier ones are in the state
);
CREATE INDEX run_session ON run (session);

-- What `sisyphus ralph decide` remembers of a loop that somebody else drives.
CREATE TABLE foreign_loop (
    path  TEXT PRIMARY KEY,             -- of its ralph-state.json
    at    REAL NOT NULL,                -- the last call
    state TEXT NOT NULL                 -- JSON: runner/decide_command.py
) WITHOUT ROWID;

-- Projects in which enforcement is on.
CREATE TABLE enforced (
    project TEXT PRIMARY KEY,
    at      REAL NOT NULL               -- since when
) WITHOUT ROWID;

-- What enforcement did in a session, see enforce/enforcements.py Enforcement.
CREATE TABLE enforcement (
    session    INTEGER PRIMARY KEY REFERENCES session ON DELETE CASCADE,
    iteration  INTEGER NOT NULL,        -- how often it made the session go on
    failures   INTEGER NOT NULL,        -- of these, the last ones in a row without a tool call
    at         REAL NOT NULL,           -- the last time; 0 = never
    is_pending INTEGER NOT NULL,        -- 1: the session has not stopped since
    is_stopped INTEGER NOT NULL         -- 1: the user stopped it until their next prompt
);

-- Handoffs: documents with which a session passes its work on.
CREATE TABLE handoff (
    n       INTEGER PRIMARY KEY,
    session INTEGER NOT NULL REFERENCES session ON DELETE CASCADE,
    loop    TEXT NOT NULL,              -- the id of the loop, hold or run that it is about, or ''
    project TEXT NOT NULL,
    file    TEXT NOT NULL UNIQUE,
    state   TEXT NOT NULL,              -- open: nobody has got it yet; given; closed: a later one
                                        -- took its place, or its work has ended
    level   INTEGER NOT NULL,           -- of the context when it was written
    percent INTEGER NOT NULL,
    at      REAL NOT NULL,
    resume  TEXT NOT NULL,              -- the resume block for the next session
    summary TEXT NOT NULL,              -- its next step, or ''
    files   TEXT NOT NULL,              -- JSON: the files to resume, [[path, lines], …]
    plan    TEXT NOT NULL,              -- the file of the open plan that it is about, or ''
    why     TEXT NOT NULL,              -- why it was written: context, compaction, user, cut off
    taker   INTEGER NOT NULL,           -- the session that got it; 0 = none, or a run
    said    TEXT NOT NULL DEFAULT ''    -- what the agent said last of its work, or ''
);
CREATE INDEX handoff_session ON handoff (session, state);
CREATE INDEX handoff_project ON handoff (project, state);

-- The rules of a folder, compiled, so that a hook needs neither YAML nor pathspec. What a client
-- loads by itself differs, so each has an index of its own.
CREATE TABLE rule_index (
    n      INTEGER PRIMARY KEY,
    client TEXT NOT NULL,
    folder TEXT NOT NULL,
    version INTEGER NOT NULL,           -- format version of the next two columns
    stamps TEXT NOT NULL,               -- JSON: path → stamp of every file and folder that was read
    rules  TEXT NOT NULL,               -- JSON: see rules/index.py
    UNIQUE (client, folder)
);
CREATE TABLE rule_text (
    rule_index INTEGER NOT NULL REFERENCES rule_index ON DELETE CASCADE,
    hash       TEXT NOT NULL,
    text       TEXT NOT NULL,
    PRIMARY KEY (rule_index, hash)
) WITHOUT ROWID;

-- Settings files as we last read them. A row is valid as long as the file's stamp is the same.
CREATE TABLE settings_file (
    path  TEXT PRIMARY KEY,
    stamp TEXT NOT NULL,
    data  TEXT NOT NULL                 -- JSON: dotted key → value
);

-- Advice that the user of a project has got, each once.
CREATE TABLE advice (
    project TEXT NOT NULL,
    about   TEXT NOT NULL,
    PRIMARY KEY (project, about)
) WITHOUT ROWID;

-- Messages for the user, shown at the next session start.
CREATE TABLE notice (text TEXT PRIMARY KEY);

-- What `sisyphus install` added to a client's settings file, so that `uninstall` takes out that alone.
CREATE TABLE installed (
    file    TEXT PRIMARY KEY,           -- the settings file, or that of a plugin
    client  TEXT NOT NULL,
    project TEXT NOT NULL,              -- '' = for the user, in all projects
    added   TEXT NOT NULL               -- JSON: setup/record.py Additions
);

-- Work that is done once a day: retention.
CREATE TABLE chore (
    name TEXT PRIMARY KEY,
    at   REAL NOT NULL                  -- when it was last done
);
