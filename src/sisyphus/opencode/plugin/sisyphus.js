// sisyphus for OpenCode: forwards what happens in a session to `sisyphus hook EVENT`, and does what
// the answer says. All decisions are taken there. One export only: OpenCode calls each as a plugin.

const SISYPHUS = "sisyphus"

const HOOK_SECONDS = 10
const STOP_SECONDS = 900 // a command that checks a promise may take its time
const TOAST_SECONDS = 15
const LEAST_REST_SECONDS = 0.5
const LONGEST_TIMER = 2 ** 31 - 1 // milliseconds; a longer one fires at once
const LINES = 2_000 // kept between two hooks, at most
const ANSWER_TOKENS = 32_000 // kept free for an answer, at most; of OpenCode, like the next one
const RESERVED_TOKENS = 20_000
const CHARACTERS = 20_000 // of one tool's output
const ENDS = new Set(["stop", "length"]) // of a step; behind all others the client or an error goes on
const MARK = "sisyphus" // in the metadata of what we say ourselves
const HELPERS = /^You are a (title generator|context summarization agent)/ // not told what the session is
const OUR_COMMAND = /`sisyphus |<promise>/ // in the text of a command; the user may have one of the same name
const CLIENTS_COMMANDS = new Set(["run", "serve", "web", "acp", "attach"]) // options may stand before them
const COMMANDS = new Set([
  "boulder-clear", "boulder-enforce", "boulder-list", "boulder-status", "boulder-switch", "cancel-ralph",
  "checkpoint", "enforce", "list-ralph-loops", "ralph-checkpoint", "ralph-context", "ralph-help", "ralph-loop",
  "ralph-pause", "ralph-resume", "ralph-stats", "ralph-status", "start-work",
])

export const Sisyphus = async ({ client, directory }) => {
  if (!["", "0"].includes(process.env.SISYPHUS_DISABLE ?? "")) return {}
  const isRun = process.argv.slice(2).find((word) => CLIENTS_COMMANDS.has(word)) === "run"
  const isTerminal = /[\\/]tui[\\/]/.test(process.argv[1] ?? "")
  const sessions = new Map()
  const logged = new Set()
  let isMissing = false
  let compaction = {} // as the user has set it

  // Two copies (the project's and the user's) are loaded one after the other: the last one works.
  const alone = (globalThis[Symbol.for("sisyphus")] ??= new Map())
  const me = {}
  alone.set(directory, me)
  const isOff = () => isMissing || alone.get(directory) !== me

  // --- sessions -------------------------------------------------------------------------------

  const of = (id) => {
    if (!sessions.has(id)) {
      const state = { parent: undefined, agent: "", text: "", system: "", moves: 0, abortedAt: 0 }
      sessions.set(id, { id, ...state, lines: [], calls: new Map(), chain: Promise.resolve({}) })
    }
    return sessions.get(id)
  }

  const parentOf = async (session) => {
    if (session.parent === undefined) {
      const { data } = await client.session.get({ path: { id: session.id } })
      if (!data) throw new Error(`session ${session.id} is not known`)
      session.parent = data.parentID ?? null
    }
    return session.parent
  }

  const mainOf = async (session) => {
    const parent = await parentOf(session)
    session.main = parent ? await mainOf(of(parent)) : session
    return session.main
  }

  const note = (session, kind, fields) => {
    session.lines.push({ kind, at: Date.now(), ...fields })
    if (session.lines.length > LINES) session.lines.shift()
  }

  // --- hooks ----------------------------------------------------------------------------------

  const environment = () => {
    const { CLAUDE_PROJECT_DIR, CLAUDE_CODE_SESSION_ID, CLAUDECODE, CLAUDE_PID, ...rest } = process.env
    return rest // what a Claude Code around us has set is not about our sessions
  }
  const command = (event) => [SISYPHUS, "hook", event, "--client", "opencode"]

  const message = (session, main, fields) => {
    const { tool, ...plain } = fields
    const told = {
      agent: session.agent, model: session.model, window: main.window, text: session.text, tool,
      lines: session.lines.splice(0), others: main === session ? othersOf(main) : undefined,
    }
    const whole = { session_id: main.id, cwd: directory, ...plain, opencode: told }
    return main === session ? whole : { ...whole, agent_id: session.id }
  }

  // What subagents did since their own last hook: when they end, no hook of theirs follows.
  const othersOf = (main) => {
    const found = [...sessions.values()].filter((one) => one !== main && one.main === main && one.lines.length)
    return Object.fromEntries(found.map((one) => [one.id, one.lines.splice(0)]))
  }

  const failed = async (error) => {
    if (error?.code === "ENOENT" && !Bun.which(SISYPHUS)) isMissing = true
    const what = isMissing ? "the command is not there; nothing is done until OpenCode starts again" : "a hook failed"
    if (logged.has(what)) return
    logged.add(what)
    await log("warn", `${what}: ${error}`)
  }

  const answer = (text) => {
    const found = text.trim() ? JSON.parse(text) : {}
    return found && typeof found === "object" ? found : {}
  }

  const run = async (event, body, seconds, started) => {
    if (isOff()) return {}
    try {
      const input = new Blob([JSON.stringify(body)])
      const child = Bun.spawn(command(event), {
        stdin: input, stdout: "pipe", stderr: "ignore", cwd: directory, env: environment(),
      })
      started?.(child)
      const late = setTimeout(() => child.kill(), seconds * 1000)
      const text = await new Response(child.stdout).text()
      clearTimeout(late)
      return answer(text)
    } catch (error) {
      await failed(error)
      return {}
    }
  }

  // One after the other in a session, so that its lines stay in order and no text is sent twice.
  const ask = (session, event, fields = {}, seconds = HOOK_SECONDS, started = undefined) => {
    session.chain = session.chain.then(async () => {
      const main = await mainOf(session)
      return run(event, message(session, main, fields), seconds, started)
    }).catch(() => ({}))
    return session.chain
  }

  // `opencode run` ends at its idle event: only what is asked for before that still counts.
  const askNow = (session, event, fields) => {
    try {
      const body = JSON.stringify(message(session, session, fields))
      const options = { stdin: Buffer.from(body), cwd: directory, timeout: STOP_SECONDS * 1000, env: environment() }
      return answer(Bun.spawnSync(command(event), options).stdout.toString())
    } catch {
      return {}
    }
  }

  // --- what the answer asks for -----------------------------------------------------------------

  // `opencode run` may end before its log is written.
  const log = async (level, text) => {
    if (isRun && level === "warn") process.stderr.write(`sisyphus: ${text}\n`)
    try {
      await client.app.log({ body: { service: "sisyphus", level, message: `sisyphus: ${text}` } })
    } catch {} // nowhere left to say it
  }

  const toast = async (body) => {
    try {
      const { seconds = TOAST_SECONDS, ...shown } = body
      const duration = Math.max(Math.round(seconds * 1000), 1)
      await client.tui.showToast({ body: { title: "sisyphus", variant: "info", duration, ...shown } })
    } catch {}
  }

  const tellUser = async (reply) => {
    if (!reply.systemMessage) return
    if (isRun) process.stderr.write(`${reply.systemMessage}\n`)
    else await toast({ message: reply.systemMessage })
  }

  // False where the user, or anything else, came first.
  const announce = async (session, toasts, moves) => {
    for (const { countdown, ...body } of toasts) {
      for (let left = Math.ceil(countdown); left > 0 && session.moves === moves; left -= 1) {
        await toast({ ...body, message: `${body.message} (in ${left} s)`, seconds: 1 })
        await Bun.sleep(1000)
      }
      if (session.moves !== moves || session.busy) return false
      void toast(body)
    }
    return true
  }

  const textOf = (reply) => reply.hookSpecificOutput?.additionalContext ?? ""

  const part = (text, fields = {}) => ({ type: "text", text, metadata: { [MARK]: true }, ...fields })

  // The agent and the model stay: without them OpenCode leaves the plan agent by itself.
  const goOn = async (session, reply) => {
    const parts = [part(reply.reason)]
    if (textOf(reply)) parts.push(part(textOf(reply), { synthetic: true }))
    const body = { parts, agent: session.agent, model: session.model, variant: session.variant }
    const done = await client.session.promptAsync({ path: { id: session.id }, body })
    if (done.error) await log("error", `the session could not be told to go on: ${JSON.stringify(done.error)}`)
  }

  // What enforces by itself gives way to whatever happens; a loop goes on unless the user ended the turn.
  const mayGoOn = async (session, { toasts, abort_seconds }, moves) => {
    const isTooSoon = toasts && Date.now() - session.abortedAt < abort_seconds * 1000
    if (isTooSoon || (toasts && !(await announce(session, toasts, moves)))) return false
    return !session.aborted && sessions.get(session.id) === session
  }

  // --- the end of a turn --------------------------------------------------------------------------

  // A check of the user's may take minutes: `interrupt` ends it.
  const stopped = async (session) => {
    session.turned = false
    const { moves } = session
    const started = (child) => (session.stopping = child)
    const reply = await ask(session, "stop", { hook_event_name: "Stop" }, STOP_SECONDS, started)
    session.stopping = undefined
    await settle(session, reply, moves)
  }

  const stoppedInRun = (session) => {
    session.turned = false
    const reply = askNow(session, "stop", { hook_event_name: "Stop" })
    void tellUser(reply)
    for (const { title, message: told } of reply.opencode?.toasts ?? []) process.stderr.write(`${title}: ${told}\n`)
    if (reply.decision === "block" && !session.aborted) void goOn(session, reply).catch(() => {})
  }

  // Something happens in the session: nobody waits any more, and what was to be decided is not.
  const interrupt = (session) => {
    session.moves += 1
    clearTimeout(session.timer)
    session.stopping?.kill()
  }

  // What ended the work is still there when the user comes back: a toast is not.
  const tellEnd = (session, reply) => {
    const isKept = isTerminal && !session.busy && reply.decision !== "block" && reply.systemMessage?.startsWith("[")
    return isKept ? leaveNote(session, reply.systemMessage).catch(() => {}) : tellUser(reply)
  }

  const settle = async (session, reply, moves) => {
    await tellEnd(session, reply)
    if (reply.decision === "block") {
      if (await mayGoOn(session, reply.opencode ?? {}, moves)) await goOn(session, reply)
    } else if (reply.opencode?.wake_after !== undefined && session.moves === moves) {
      rest(session, reply.opencode)
    }
  }

  const rest = (session, { wake_after, stability_seconds = 0 }) => {
    clearTimeout(session.timer)
    const due = Date.now() + Math.max(wake_after, LEAST_REST_SECONDS) * 1000
    const look = () => {
      const left = Math.max(due, (session.changed ?? 0) + stability_seconds * 1000) - Date.now()
      if (left <= 0) return void wake(session).catch(() => {})
      session.timer = setTimeout(look, Math.min(left, LONGEST_TIMER))
    }
    look()
  }

  const wake = async (session) => {
    if (session.busy || session.aborted || isOff()) return
    const { moves } = session
    await settle(session, await ask(session, "idle", { hook_event_name: "Stop" }), moves)
  }

  // --- prompts --------------------------------------------------------------------------------------

  const begin = async (session, fields = {}) => {
    const source = fields.source ?? (session.isNew ? "startup" : "resume")
    const reply = await ask(session, "session-start", { source })
    session.begun = true
    void tellUser(reply)
    return textOf(reply)
  }

  // In `opencode run` a command that is answered ends the process, and the session begins with another one.
  const heard = async (session, prompt, id, isCommand = false) => {
    const texts = []
    if (!session.begun && !(isRun && isCommand)) texts.push(await begin(session))
    const reply = await ask(session, "user-prompt-submit", { prompt, prompt_id: id })
    const reason = reply.decision === "block" ? reply.reason : ""
    if (!session.begun && !reason) texts.push(await begin(session))
    void tellUser(reply)
    return { texts: [...texts, textOf(reply)].filter(Boolean), reason }
  }

  // The user speaks: what there is to tell the model goes along.
  const said = async (session, text, output) => {
    const { id } = output.message
    const { typed } = session
    Object.assign(session, { aborted: false, typed: undefined })
    session.calls.clear()
    note(session, "prompt", { id, text, command: typed?.command })
    if ((await mainOf(session)) !== session) return
    if (isTerminal) [...sessions.values()].filter((one) => one !== session).forEach((one) => clearTimeout(one.timer))
    const { texts, reason } = typed ?? (await heard(session, text, id))
    const whole = [session.system, ...texts, reason && repeat(reason)].filter(Boolean)
    session.system = ""
    if (whole.length) push(output, whole.join("\n\n"), { synthetic: true })
  }

  const plain = (text) => (isRun ? unquoted(text) : text)

  const joined = (texts) => texts.map((one) => one.text).join("\n")

  const remember = (session, output) => {
    const { agent, model } = output.message
    session.agent = agent
    session.model = model && { providerID: model.providerID, modelID: model.modelID }
    session.variant = model?.variant
  }

  // Ours, or that of another plugin: only what the user says lifts what he stopped.
  const isUsers = (parts) => !parts.some((one) => one.metadata?.[MARK]) && !parts.every((one) => one.synthetic)

  const push = (output, text, fields) => {
    const { id, sessionID } = output.message
    const name = `prt_zz${crypto.randomUUID().replaceAll("-", "")}` // parts are sorted by name
    output.parts.push({ id: name, sessionID, messageID: id, ...part(text, fields) })
  }

  // A command that only shows or changes our state needs no model. OpenCode knows no answer to a command:
  // in its terminal a note that the model never reads shows it, and a failed command asks for nothing.
  const answerUser = async (session, { reason, texts }, output) => {
    if (isRun) {
      process.stdout.write(`${reason}\n`)
      process.exit(0)
    }
    if (!isTerminal) return output.parts.splice(0, Infinity, { type: "text", text: repeat(reason) })
    session.system = [session.system, ...texts].filter(Boolean).join("\n\n") // for the next prompt
    if (session.busy) await toast({ message: reason })
    else await leaveNote(session, reason)
    throw new Answered()
  }

  const whoWorks = async ({ id, agent, model, variant }) => {
    if (agent) return { agent, model, variant }
    const { data } = await client.session.get({ path: { id } })
    const named = data?.model && { providerID: data.model.providerID, modelID: data.model.id }
    return { agent: data?.agent, model: named }
  }

  const leaveNote = async (session, text) => {
    const who = await whoWorks(session)
    const body = { ...who, noReply: true, parts: [part(text, { ignored: true })] }
    await client.session.prompt({ path: { id: session.id }, body })
  }

  // --- events -----------------------------------------------------------------------------------------

  const onPart = (session, { type, ...found }) => {
    if (session.summaries?.has(found.messageID)) return
    if (type === "tool") onTool(session, found)
    if (type !== "step-finish") return
    note(session, "usage", { id: found.messageID, model: session.model?.modelID, tokens: found.tokens })
    session.turned = ENDS.has(found.reason) && !(isRun && isFull(session, found.tokens))
    if (isRun && session.turned && session.parent === null && !session.aborted && !isOff()) stoppedInRun(session)
  }

  // The client compacts then, goes on by itself, and swallows what is said meanwhile.
  const isFull = ({ window }, { input, output, reasoning, cache }) =>
    window > 0 && input + output + reasoning + cache.read + cache.write >= window

  const onTool = (session, { tool, callID, messageID, state }) => {
    const known = session.calls.get(callID)
    if (!known || known === "ended" || state.status === "pending") return // the user's own `!command` is not known
    const told = { call: callID, tool, args: state.input }
    if (known === "called") note(session, "tool", { id: messageID, ...told })
    session.calls.set(callID, state.status === "running" ? "told" : "ended")
    if (state.status === "running") return
    const text = String(state.output ?? state.error ?? "").slice(0, CHARACTERS)
    note(session, "result", { ...told, text, metadata: state.metadata, failed: state.status === "error" })
  }

  const onError = (session, error) => {
    if (error?.name === "ContextOverflowError") return // the client compacts and asks again
    interrupt(session)
    session.turned = false
    if (error?.name === "MessageAbortedError") abort(session)
    else if (session.parent === null) void ask(session, "stop-failure", { error: error?.name ?? "unknown" })
  }

  const abort = (session) => {
    interrupt(session)
    Object.assign(session, { aborted: true, abortedAt: Date.now() })
  }

  const onIdle = async (session) => {
    session.busy = false
    if (session.stopping) return abort(session) // nothing else ends a turn that has ended
    if (isRun || !session.turned || session.aborted || (await parentOf(session))) return
    await stopped(session)
  }

  const onCompacted = async (session) => {
    if (await parentOf(session)) return
    note(session, "compacted", {})
    session.system = await begin(session, { source: "compact" })
  }

  const on = {
    "session.created": ({ info }) => Object.assign(of(info.id), { parent: info.parentID ?? null, isNew: true }),
    "session.deleted": ({ info }) => {
      const session = sessions.get(info.id)
      if (!session) return
      interrupt(session)
      if (session.begun && session.parent === null) void ask(session, "session-end", { reason: "other" })
      sessions.delete(info.id)
    },
    "session.updated": ({ info }) => info.revert && interrupt(of(info.id)), // `/undo`: the user thinks
    "session.status": ({ sessionID, status }) => {
      const session = of(sessionID)
      if (status.type !== "idle" && !session.busy) interrupt(session)
      session.busy = status.type !== "idle"
    },
    "session.error": ({ sessionID, error }) => sessionID && onError(of(sessionID), error),
    "session.idle": ({ sessionID }) => onIdle(of(sessionID)),
    "session.compacted": ({ sessionID }) => (of(sessionID).compacted = onCompacted(of(sessionID))),
    "message.updated": ({ info }) => {
      const session = of(info.sessionID)
      session.changed = Date.now()
      if (info.summary === true) (session.summaries ??= new Set()).add(info.id)
    },
    "message.part.updated": ({ part: found }) => {
      const session = of(found.sessionID)
      session.changed = Date.now()
      onPart(session, found)
    },
    "todo.updated": ({ sessionID }) => (of(sessionID).changed = Date.now()),
  }

  // OpenCode must never see a failure of ours: a hook that throws ends the turn, or hangs the client.
  const safely = (hook) => async (input, output) => {
    if (isOff()) return
    try {
      await hook(input, output)
    } catch (error) {
      if (error instanceof Answered) throw error
      await log("error", String(error?.stack ?? error))
    }
  }

  return {
    config: safely((config) => void (compaction = config.compaction ?? {})),

    event: safely(({ event }) => on[event.type]?.(event.properties)),

    "chat.params": safely(({ sessionID, agent, model }) => {
      if (agent !== "title" && agent !== "compaction") of(sessionID).window = usable(model?.limit ?? {}, compaction)
    }),

    "chat.message": safely(async (input, output) => {
      if (output.parts.every((one) => one.ignored)) return
      const session = of(input.sessionID)
      interrupt(session)
      remember(session, output)
      const texts = output.parts.filter((one) => one.type === "text")
      const { id } = output.message
      session.text = ""
      if (!isUsers(output.parts)) return note(session, "prompt", { id, text: joined(texts), ours: true })
      await said(session, plain(joined(texts.filter((one) => !one.synthetic))), output)
    }),

    "command.execute.before": safely(async ({ command: name, sessionID, ...found }, output) => {
      if (!COMMANDS.has(name) || !OUR_COMMAND.test(output.parts[0]?.text ?? "")) return
      const session = of(sessionID)
      interrupt(session)
      const given = plain(found.arguments)
      const reply = await heard(session, `/sisyphus:${name} ${given}`.trimEnd(), "", true)
      if (reply.reason) await answerUser(session, reply, output)
      session.typed = { texts: reply.texts, command: { name, arguments: given } }
    }),

    "tool.execute.before": safely(({ sessionID, callID }) => void of(sessionID).calls.set(callID, "called")),

    "tool.execute.after": safely(async ({ tool, sessionID, callID, args }, output) => {
      const session = of(sessionID)
      const text = String(output.output ?? "").slice(0, CHARACTERS)
      const told = { tool, call: callID, args, output: text, metadata: output.metadata }
      const reply = await ask(session, "post-tool-use", { tool: told })
      void tellUser(reply)
      if (textOf(reply) && typeof output.output === "string") output.output += `\n\n${textOf(reply)}`
    }),

    "experimental.text.complete": safely(({ sessionID, messageID, partID }, { text }) => {
      const session = of(sessionID)
      if (session.summaries?.has(messageID) || !text) return
      session.text = text
      note(session, "text", { id: messageID, part: partID, text })
    }),

    "experimental.chat.system.transform": safely(async ({ sessionID }, output) => {
      const session = sessions.get(sessionID)
      if (!session || HELPERS.test(output.system[0] ?? "")) return
      await session.compacted // the next request comes at once, and is to hold what was forgotten
      if (session.system) output.system.push(session.system)
    }),

    "experimental.session.compacting": safely(async ({ sessionID }, output) => {
      const session = of(sessionID)
      if (await parentOf(session)) return
      const reply = await ask(session, "pre-compact", { trigger: "auto" })
      const keep = (reply.opencode?.keep ?? []).map((item) => `- ${item}`)
      if (keep.length) output.context.push(["Keep in the summary:", ...keep].join("\n"))
    }),

    "shell.env": safely(({ sessionID }, output) => {
      if (!sessionID) return
      output.env.SISYPHUS_SESSION_ID = of(sessionID).main?.id ?? sessionID
      if (process.env.CLAUDE_CODE_SESSION_ID) output.env.CLAUDE_CODE_SESSION_ID = "" // of one around us
    }),

    dispose: safely(async () => {
      for (const session of sessions.values()) {
        interrupt(session)
        if (session.begun && session.parent === null) await ask(session, "session-end", { reason: "other" })
      }
      if (alone.get(directory) === me) alone.delete(directory)
    }),
  }
}

// How many tokens of a model's window OpenCode fills before it compacts.
const usable = ({ context, input, output }, { auto = true, reserved }) => {
  if (!auto) return context
  const answer = Math.min(output || ANSWER_TOKENS, ANSWER_TOKENS)
  return input ? input - (reserved ?? Math.min(RESERVED_TOKENS, answer)) : context - answer
}

// `opencode run` puts an argument that has a space into quotes.
const unquoted = (text) => (/^"(?:[^"\\]|\\.)*"$/s.test(text) ? text.slice(1, -1).replaceAll('\\"', '"') : text)

const repeat = (text) => `Answer with exactly this text, and do nothing else:\n\n${text}`

class Answered extends Error {}
