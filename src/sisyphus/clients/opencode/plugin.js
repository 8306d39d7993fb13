// sisyphus for OpenCode. It forwards what happens in a session to `sisyphus hook EVENT`, writes the
// session down for it, and does what the reply says. Everything is decided there, nothing here.
//
// OpenCode calls every export as a plugin, so there is one. A hook of ours that throws would end the
// turn or hang the client, so none does. `payload.py` and `transcript.py` say what is sent and written.

import { spawn, spawnSync } from "node:child_process"
import { appendFileSync, existsSync, mkdirSync } from "node:fs"
import { homedir } from "node:os"
import { dirname, join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"

const SECOND = 1000 // milliseconds
const HOOK_SECONDS = 10
const STOP_SECONDS = 900 // the user's check may run
const IDLE_SECONDS = 3600
const OUTPUT_CHARACTERS = 20_000
const TOAST_SECONDS = 15
const MISSING_SECONDS = 60 // before a program that was not there is started again: an update may replace it
const NOTHING = 1 // the exit code of a Python that has nothing to run: a hook of ours exits with 0
const SAFE_ID = /^(?!.*\.\.)[\w.-]{1,128}$/ // of a session, as in `paths.is_id`
const MARK = "sisyphus" // in the metadata of the parts that we send
const ENDS = new Set(["stop", "length"]) // of a step that ends the turn
const HELPERS = new Set(["title", "compaction", "summary"]) // agents of the client itself
const SUBCOMMANDS = new Set(["run", "serve", "web", "acp", "attach"])

// `sisyphus install` puts the names of its commands here, and what starts it.
const COMMANDS = new Set(["@COMMANDS@"])
const [PROGRAM, ...OPTIONS] = ["sisyphus"]

// What leads Python to other code, see `entry.py`. With -I it reads none of it, and a check of the
// user's that we start gets all of it.
const CLEARED = OPTIONS[0] === "-I" ? [] : [
  "PYTHONPATH", "PYTHONHOME", "PYTHONPLATLIBDIR", "PYTHONPYCACHEPREFIX", "PYTHONUSERBASE", "PYTHONWARNINGS",
]

export const Sisyphus = async ({ client, directory }) => {
  if (!["", "0"].includes(process.env.SISYPHUS_DISABLE ?? "")) return {}
  const subcommand = process.argv.slice(2).find((word) => SUBCOMMANDS.has(word))
  const isRun = subcommand === "run"
  const isTerminal = /[\\/]tui[\\/]/.test(process.argv[1] ?? "")
  const sessions = new Map()
  const logged = new Set()
  let current // the session in which the user has typed last
  let missingAt = -Infinity

  // The project's copy and the user's may both be loaded: the last one works.
  const copies = (globalThis[Symbol.for("sisyphus")] ??= new Map())
  const me = {}
  copies.set(directory, me)
  const isMissing = () => Date.now() - missingAt < MISSING_SECONDS * SECOND
  const isOff = () => isMissing() || copies.get(directory) !== me

  // --- sessions ---------------------------------------------------------------------------------

  const sessionOf = (id) => {
    if (!sessions.has(id)) {
      const fields = { parent: undefined, mode: "", last: "", system: "", changedAt: 0, abortedAt: 0 }
      sessions.set(id, { id, ...fields, steps: 0, calls: new Set(), added: new Map(), chain: Promise.resolve({}) })
    }
    return sessions.get(id)
  }

  // A session that was resumed has no `session.created`.
  const mainOf = async (session) => {
    if (session.parent === undefined) {
      const { data } = await client.session.get({ path: { id: session.id } })
      session.parent = data?.parentID ?? null
    }
    return session.parent ? mainOf(sessionOf(session.parent)) : session
  }

  const isMain = async (session) => (await mainOf(session)) === session

  // --- what is written down -----------------------------------------------------------------------

  const home = join(process.env.CLAUDE_CONFIG_DIR || join(homedir(), ".claude"), ".sisyphus", "opencode")

  const fileOf = (main, session) =>
    join(home, main === session ? `${main.id}.jsonl` : `${main.id}.${session.id}.jsonl`)

  // Lines wait until the session's parent is known, and stay in order.
  const write = (session, kind, fields) => {
    const line = `${JSON.stringify({ at: Date.now(), kind, ...fields })}\n`
    session.changedAt = Date.now()
    if (session.parent === null) return append(session, session, line)
    session.chain = session.chain.then(async () => append(await mainOf(session), session, line)).catch(fail)
  }

  const append = (main, session, line) => {
    if (!SAFE_ID.test(main.id) || !SAFE_ID.test(session.id)) return // an id may come from an imported file
    const file = fileOf(main, session)
    try {
      mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
      appendFileSync(file, line, { mode: 0o600 })
    } catch (error) {
      void fail(error)
    }
  }

  // --- hooks --------------------------------------------------------------------------------------

  const words = (event) => [...OPTIONS, "hook", event, "--client", "opencode"]

  const environment = () => {
    const { CLAUDE_PROJECT_DIR, CLAUDE_CODE_SESSION_ID, CLAUDECODE, CLAUDE_PID, ...rest } = process.env
    for (const name of CLEARED) delete rest[name]
    return { ...rest, SISYPHUS_CLIENT_PID: String(process.pid) }
  }

  const payload = (main, session, fields) => {
    const agent = main === session ? "" : session.id
    const transcript = fileOf(main, main)
    return JSON.stringify({ session: main.id, agent, cwd: directory, transcript, mode: session.mode, ...fields })
  }

  const parse = (text) => {
    const reply = text.trim() ? JSON.parse(text) : {}
    return reply && typeof reply === "object" ? reply : {}
  }

  const start = (event, input, seconds, began) =>
    new Promise((resolve, reject) => {
      const stdio = ["pipe", "pipe", "ignore"]
      const child = spawn(PROGRAM, words(event), { cwd: directory, env: environment(), stdio })
      const late = setTimeout(() => (child.kill(), resolve({})), seconds * SECOND)
      const chunks = []
      child.stdout.on("data", (chunk) => chunks.push(chunk))
      child.on("error", (error) => (clearTimeout(late), reject(error)))
      child.on("close", (code) => {
        clearTimeout(late)
        try {
          if (code === NOTHING) throw new NotStarted()
          resolve(parse(Buffer.concat(chunks).toString()))
        } catch (error) {
          reject(error)
        }
      })
      child.stdin.on("error", () => {}) // it has ended before it read everything
      child.stdin.end(input)
      began?.(child)
    })

  const ask = async (session, event, fields = {}, seconds = HOOK_SECONDS, began = undefined) => {
    if (isOff()) return {}
    try {
      return await start(event, payload(await mainOf(session), session, fields), seconds, began)
    } catch (error) {
      await fail(error)
      return {}
    }
  }

  // One after the other in a session, so that no text is sent twice.
  const askInTurn = (session, event, fields) => {
    session.chain = session.chain.then(() => ask(session, event, fields)).catch(() => ({}))
    return session.chain
  }

  // `opencode run` ends when it is idle: only what is asked for before that still counts.
  const askNow = (session, event, fields) => {
    const input = payload(session, session, fields)
    const options = { cwd: directory, env: environment(), timeout: STOP_SECONDS * SECOND, input }
    try {
      const { error, status, stdout } = spawnSync(PROGRAM, words(event), options)
      if (error) throw error
      if (status === NOTHING) throw new NotStarted()
      return parse(stdout.toString())
    } catch (error) {
      void fail(error)
      return {}
    }
  }

  const fail = async (error) => {
    const isSpawn = error?.code === "ENOENT" && error.syscall?.startsWith("spawn")
    const isGone = isSpawn && existsSync(directory) // without its folder it fails alike
    if (isGone || error instanceof NotStarted) missingAt = Date.now()
    const start = [PROGRAM, ...OPTIONS].join(" ")
    const missing = `${start} was not found, so nothing is done. Run \`sisyphus install\` again.`
    const what = isMissing() ? missing : `failed: ${error?.stack ?? error}`
    if (logged.has(what)) return
    logged.add(what)
    await log("error", what)
    if (isMissing()) await toast({ message: what, variant: "error" })
  }

  const log = async (level, text) => {
    const message = `sisyphus: ${text}` // OpenCode's log does not name the service
    if (isRun) process.stderr.write(`${message}\n`)
    try {
      await client.app.log({ body: { service: "sisyphus", level, message } })
    } catch {} // there is nowhere left to say it
  }

  // --- the user -------------------------------------------------------------------------------------

  const toast = async ({ seconds = TOAST_SECONDS, ...shown }) => {
    try {
      const duration = Math.max(Math.round(seconds * SECOND), 1)
      await client.tui.showToast({ body: { title: "sisyphus", variant: "info", duration, ...shown } })
    } catch {}
  }

  const showMessage = async ({ message, alert }) => {
    if (!message) return
    if (isRun) process.stderr.write(`${message}\n`)
    else if (!alert) await toast({ message, variant: "info" }) // the alert says it
  }

  // A note stays in the terminal, and the model never reads it.
  const leaveNote = async (session, text) => {
    const body = { agent: session.mode || undefined, model: session.model, noReply: true }
    await client.session.prompt({
      path: { id: session.id }, body: { ...body, parts: [part(text, { ignored: true })] },
    })
  }

  const part = (text, fields = {}) => ({ type: "text", text, metadata: { [MARK]: true }, ...fields })

  // --- prompts --------------------------------------------------------------------------------------

  const begin = async (session, source) => {
    session.hasBegun = true
    const reply = await askInTurn(session, "session-start", { source })
    void showMessage(reply)
    return reply.text ?? ""
  }

  // What `/new` opens in the terminal follows the session before it, as after `/clear` elsewhere.
  const sourceOf = async (session) => {
    if (!session.isNew) return "resume"
    if (!isTerminal || !current?.hasBegun || current.isBusy || !sessions.has(current.id)) return "startup"
    await end(current, "clear")
    Object.assign(current, { hasBegun: false, isNew: false })
    return "clear"
  }

  // The terminal shows one session, and does not say which. A prompt does: a session that the user
  // has left is not woken, as nobody would see it.
  const isLeft = (session) => isTerminal && current !== undefined && current !== session
  const leaveOther = (session) => {
    if (isLeft(session) && current.isWaiting) interrupt(current)
  }

  const askAboutPrompt = async (session, prompt, id) => {
    leaveOther(session)
    const texts = session.hasBegun ? [] : [await begin(session, await sourceOf(session))]
    current = session
    const reply = await askInTurn(session, "user-prompt-submit", { prompt, id })
    void showMessage(reply)
    return { reason: reply.reason, texts: [...texts, reply.text ?? ""].filter(Boolean) }
  }

  const onPrompt = async (session, text, output) => {
    const { typed } = session
    const prompt = { at: Date.now(), id: output.message.id, text, command: typed?.command }
    Object.assign(session, { isAborted: false, typed: undefined })
    if (!(await isMain(session))) return write(session, "prompt", prompt)
    const { reason, texts } = typed ?? (await askAboutPrompt(session, text, prompt.id))
    if (reason) prompt.command ??= commandIn(text) // we answer it, so it is no instruction
    write(session, "prompt", prompt)
    session.isAnswer = (typed?.isAnswered || Boolean(reason)) && !session.isBusy
    const whole = [session.system, ...texts, reason && repeat(reason)].filter(Boolean)
    session.system = ""
    if (whole.length) push(output, whole.join("\n\n"))
  }

  const push = (output, text) => {
    const { id, sessionID } = output.message
    const name = `prt_zz${crypto.randomUUID().replaceAll("-", "")}` // parts are in the order of their ids
    output.parts.push({ id: name, sessionID, messageID: id, ...part(text, { synthetic: true }) })
  }

  // OpenCode has no answer to a command: a note shows it, and a failed command asks for no model.
  const answer = async (session, { reason, texts }, output) => {
    if (isRun) {
      process.stdout.write(`${reason}\n`)
      process.exit(0)
    }
    if (!isTerminal) return output.parts.splice(0, Infinity, { type: "text", text: repeat(reason) })
    session.system = [session.system, ...texts].filter(Boolean).join("\n\n") // for the next prompt
    await leaveNote(session, reason)
    throw new Answered()
  }

  // --- the end of a turn ------------------------------------------------------------------------------

  // Something happens in the session: what was to be decided is not.
  const interrupt = (session) => {
    session.steps += 1
    session.child?.kill()
    Object.assign(session, { child: undefined, isDeciding: false, isWaiting: false })
  }

  // Without the agent and the model the client would leave its plan mode.
  const goOn = async (session, reply) => {
    const parts = [part(reply.reason), ...(reply.text ? [part(reply.text, { synthetic: true })] : [])]
    const body = { parts, agent: session.mode || undefined, model: session.model, variant: session.variant }
    const { error } = (await client.session.promptAsync({ path: { id: session.id }, body })) ?? {}
    if (error) await fail(new Error(`the session could not be told to go on: ${JSON.stringify(error)}`))
  }

  const stop = async (session) => {
    Object.assign(session, { hasTurned: false, isDeciding: true })
    const { steps } = session
    try {
      await decide(session, steps)
    } finally {
      if (session.steps === steps) interrupt(session)
    }
  }

  const decide = async (session, steps) => {
    const fields = { last: session.last, can_wake: isTerminal || subcommand === "serve" }
    const began = (child) => (session.child = child)
    const reply = await ask(session, "stop", fields, STOP_SECONDS, began)
    if (session.steps !== steps) return
    session.isDeciding = false
    await showMessage(reply)
    if (reply.reason) return resume(session, reply, steps)
    if (!fields.can_wake || session.steps !== steps || isLeft(session)) return
    session.isWaiting = true
    const wake = await ask(session, "idle", fields, IDLE_SECONDS, began)
    if (session.steps === steps && wake.reason) await resume(session, wake, steps)
  }

  const resume = async (session, reply, steps) => {
    if (reply.alert && !(await announce(session, reply.alert, steps))) return
    if (session.steps === steps && !session.isAborted && sessions.has(session.id)) await goOn(session, reply)
  }

  // Tells the user before enforcement makes the session go on; false = they came first.
  const announce = async (session, alert, steps) => {
    const { variant, message, seconds, countdown = 0, abort_seconds = 0, stability_seconds = 0 } = alert
    if (Date.now() - session.abortedAt < abort_seconds * SECOND) return false
    const isChanging = () => Date.now() - session.changedAt < stability_seconds * SECOND
    while (session.steps === steps && isChanging()) await sleep(SECOND / 10)
    for (let left = countdown; left > 0 && session.steps === steps; left -= 1) {
      await toast({ message: `${message} (in ${left} s)`, variant, seconds: 1 })
      await sleep(SECOND)
    }
    if (session.steps !== steps) return false
    await toast({ message, variant, seconds })
    return true
  }

  const stopInRun = (session) => {
    session.hasTurned = false
    const reply = askNow(session, "stop", { last: session.last })
    void showMessage(reply)
    if (reply.reason && !session.isAborted) void goOn(session, reply).catch(fail)
  }

  // --- events -------------------------------------------------------------------------------------------

  const onTool = (session, { callID, tool, state }) => {
    if (!session.calls.has(callID) || (state.status !== "completed" && state.status !== "error")) return
    session.calls.delete(callID)
    const exit = state.metadata?.exit ?? (tool === "bash" ? -1 : 0) // a command that was killed has none
    const failed = state.status === "error" || exit !== 0
    const output = String(state.output ?? state.error ?? "")
    const own = session.added.get(callID) ?? ""
    session.added.delete(callID)
    const text = own && output.endsWith(own) ? output.slice(0, -own.length) : output
    write(session, "result", { call: callID, text: text.slice(-OUTPUT_CHARACTERS), failed })
  }

  const onPart = (session, found) => {
    if (session.summaries?.has(found.messageID)) return
    if (found.type === "tool") onTool(session, found)
    if (found.type !== "step-finish") return
    const { messageID: id, tokens, reason } = found
    write(session, "usage", { id, tokens, window: session.window })
    // A command's answer that the model repeats is no turn: nothing is decided after it.
    session.hasTurned = ENDS.has(reason) && !session.isAnswer && !(isRun && isFull(session, tokens))
    if (isRun && session.hasTurned && session.parent === null && !session.isAborted && !isOff()) stopInRun(session)
  }

  const onError = (session, error) => {
    if (error?.name === "ContextOverflowError") return // the client compacts, and asks again
    interrupt(session)
    session.hasTurned = false
    if (error?.name === "MessageAbortedError") abort(session)
    else if (session.parent === null) void ask(session, "stop-failure", { error: error?.name ?? "unknown" })
  }

  const abort = (session) => {
    interrupt(session)
    Object.assign(session, { isAborted: true, abortedAt: Date.now() })
  }

  // An abort between two turns has no error: the session is idle a second time.
  const onIdle = async (session) => {
    if (!session.isBusy && session.child) abort(session)
    session.isBusy = false
    if (isRun || !session.hasTurned || session.isAborted || !(await isMain(session))) return
    await stop(session)
  }

  const onCompacted = async (session) => {
    if (!(await isMain(session))) return
    write(session, "compacted", {})
    session.system = await begin(session, "compact")
  }

  const end = async (session, reason) => {
    interrupt(session)
    if (session.hasBegun && session.parent === null) await ask(session, "session-end", { reason })
  }

  const on = {
    "session.created": ({ info }) => Object.assign(sessionOf(info.id), { parent: info.parentID ?? null, isNew: true }),
    "session.deleted": async ({ info }) => {
      if (sessions.has(info.id)) await end(sessionOf(info.id), "deleted")
      sessions.delete(info.id)
    },
    "session.updated": ({ info }) => info.revert && interrupt(sessionOf(info.id)), // the user thinks
    "session.status": ({ sessionID, status }) => status.type !== "idle" && onBusy(sessionOf(sessionID)),
    "session.error": ({ sessionID, error }) => sessionID && onError(sessionOf(sessionID), error),
    "session.idle": ({ sessionID }) => onIdle(sessionOf(sessionID)),
    "session.compacted": ({ sessionID }) => (sessionOf(sessionID).compacted = onCompacted(sessionOf(sessionID))),
    "message.updated": ({ info }) => {
      if (info.summary === true) (sessionOf(info.sessionID).summaries ??= new Set()).add(info.id)
    },
    "message.part.updated": ({ part: found }) => onPart(sessionOf(found.sessionID), found),
    "todo.updated": ({ sessionID }) => (sessionOf(sessionID).changedAt = Date.now()),
  }

  // No prompt came before if it is a shell command of the user, or a compaction: the Stop that was
  // being decided is decided after it.
  const onBusy = (session) => {
    if (!session.isBusy) {
      session.hasTurned = session.isDeciding === true
      interrupt(session)
    }
    session.isBusy = true
  }

  const safely = (hook) => async (input, output) => {
    if (isOff()) return
    try {
      await hook(input, output)
    } catch (error) {
      if (error instanceof Answered) throw error
      await fail(error)
    }
  }

  return {
    event: safely(({ event }) => on[event.type]?.(event.properties)),

    "chat.params": safely(({ sessionID, agent, model }) => {
      const { context = 0, input = 0 } = model?.limit ?? {}
      if (!HELPERS.has(agent?.name ?? agent)) sessionOf(sessionID).window = input || context
    }),

    "chat.message": safely(async ({ sessionID }, output) => {
      if (output.parts.every((found) => found.ignored)) return
      const session = sessionOf(sessionID)
      const { id, agent, model } = output.message
      Object.assign(session, { mode: agent ?? "", isAnswer: false })
      interrupt(session)
      session.model = model && { providerID: model.providerID, modelID: model.modelID }
      session.variant = model?.variant
      const isOurs = output.parts.some((found) => found.metadata?.[MARK])
      const isTyped = !isOurs && output.parts.some((found) => !found.synthetic)
      const texts = output.parts.filter((found) => found.type === "text" && !(isTyped && found.synthetic))
      const text = unquoted(texts.map((found) => found.text).join("\n"), isRun)
      if (isTyped) await onPrompt(session, text, output)
      else write(session, "prompt", { id, text, is_ours: true })
    }),

    "command.execute.before": safely(async ({ command: name, sessionID, ...found }, output) => {
      if (!COMMANDS.has(name)) return
      const session = sessionOf(sessionID)
      interrupt(session)
      const given = unquoted(found.arguments ?? "", isRun)
      const reply = await askAboutPrompt(session, `/${name} ${given}`.trimEnd(), "")
      if (reply.reason) await answer(session, reply, output)
      const command = { name, arguments: given }
      session.typed = { texts: reply.texts, command, isAnswered: Boolean(reply.reason) }
    }),

    "tool.execute.before": safely(({ tool, sessionID, callID }, { args }) => {
      const session = sessionOf(sessionID)
      session.calls.add(callID)
      write(session, "tool", { call: callID, tool, args, folder: directory })
    }),

    "tool.execute.after": safely(async ({ tool, sessionID, callID, args }, output) => {
      const session = sessionOf(sessionID)
      const reply = await askInTurn(session, "post-tool-use", { tool, call: callID, args })
      void showMessage(reply)
      if (!reply.text) return
      if (typeof output.output === "string") {
        session.added.set(callID, `\n\n${reply.text}`)
        output.output += session.added.get(callID)
      } else session.system = [session.system, reply.text].filter(Boolean).join("\n\n")
    }),

    "experimental.text.complete": safely(({ sessionID, messageID }, { text }) => {
      const session = sessionOf(sessionID)
      if (session.summaries?.has(messageID) || !text) return
      session.last = text
      write(session, "text", { id: messageID, text })
    }),

    "experimental.chat.system.transform": safely(async ({ sessionID }, output) => {
      const session = sessions.get(sessionID)
      await session?.compacted // the next request comes at once, and has to hold what was lost
      if (session?.system) output.system.push(session.system)
    }),

    "experimental.session.compacting": safely(async ({ sessionID }, output) => {
      const session = sessionOf(sessionID)
      if (!(await isMain(session))) return
      const reply = await askInTurn(session, "pre-compact", {})
      if (reply.text) output.context.push(reply.text)
    }),

    "shell.env": safely(async ({ sessionID }, output) => {
      if (!sessionID) return
      const main = await mainOf(sessionOf(sessionID))
      Object.assign(output.env, { SISYPHUS_SESSION_ID: main.id, SISYPHUS_CLIENT_PID: String(process.pid) })
      if (process.env.CLAUDE_CODE_SESSION_ID) Object.assign(output.env, { CLAUDE_CODE_SESSION_ID: "", CLAUDE_PID: "" })
    }),

    dispose: safely(async () => {
      await Promise.all([...sessions.values()].map((session) => end(session, "other")))
      if (copies.get(directory) === me) copies.delete(directory)
    }),
  }
}

// The client compacts then, goes on by itself, and would lose what is said meanwhile.
const isFull = ({ window }, { input, output, reasoning, cache }) =>
  window > 0 && input + output + reasoning + cache.read + cache.write >= window

// `opencode run` puts an argument that has a space into quotes.
const unquoted = (text, isRun) =>
  isRun && /^"(?:[^"\\]|\\.)*"$/s.test(text) ? text.slice(1, -1).replaceAll('\\"', '"') : text

const commandIn = (text) => {
  const [, name, rest] = /^\/(\S+)\s*([^]*)$/.exec(text) ?? []
  return name && { name, arguments: rest }
}

const repeat = (text) => `Answer with exactly this text, and do nothing else:\n\n${text}`

// Python has found nothing to run.
class NotStarted extends Error {}

class Answered extends Error {}
