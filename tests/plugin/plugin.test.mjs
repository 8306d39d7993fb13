// The plugin for OpenCode under node: a client that notes what it is asked for, and a program
// `sisyphus` that answers by a table. Events come in the order in which OpenCode 1.18.33 sends them.

import assert from "node:assert/strict"
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { after, beforeEach, test } from "node:test"
import { setTimeout as sleep } from "node:timers/promises"

const SOURCE = new URL("../../src/sisyphus/clients/opencode/plugin.js", import.meta.url)
const MAIN = "ses_1"
const CHILD = "ses_2"
const MODEL = { providerID: "p", modelID: "m" }
const TERMINAL = ["bun", "/$bunfs/root/src/cli/tui/worker.js"]
const SERVE = ["bun", "index.js", "serve"]
const RUN = ["bun", "index.js", "run", "go"]

const root = mkdtempSync(join(tmpdir(), "plugin-"))
const home = join(root, "home")
const transcripts = join(home, ".sisyphus", "opencode")
const { argv } = process
delete process.env.SISYPHUS_DISABLE
after(() => {
  process.argv = argv
  rmSync(root, { recursive: true })
})

// Each event runs `EVENT.sh`, if the test has written one, with the payload on stdin.
const PROGRAM = `#!/bin/sh
read -r payload
printf '%s %s\\n' "$2" "$payload" >> "$FAKE/calls"
if [ -f "$FAKE/$2.sh" ]; then . "$FAKE/$2.sh"; fi
`

let number = 0
let fake = ""
beforeEach(() => {
  number += 1
  fake = join(root, String(number))
  mkdirSync(join(fake, "bin"), { recursive: true })
  writeFileSync(join(fake, "bin", "sisyphus"), PROGRAM, { mode: 0o755 })
  rmSync(home, { recursive: true, force: true })
  Object.assign(process.env, { FAKE: fake, PATH: `${join(fake, "bin")}:/usr/bin:/bin`, CLAUDE_CONFIG_DIR: home })
  process.argv = SERVE
})

const act = (event, script) => writeFileSync(join(fake, `${event}.sh`), script)
const answer = (event, reply) => act(event, `cat <<'END'\n${JSON.stringify(reply)}\nEND\n`)
const answerOnce = (event, reply) =>
  act(event, `cat <<'END'\n${JSON.stringify(reply)}\nEND\nrm "$FAKE/${event}.sh"\n`)

// What the plugin has sent, as [event, payload].
const calls = () => {
  try {
    const lines = readFileSync(join(fake, "calls"), "utf8").trim().split("\n")
    return lines.map((line) => [line.slice(0, line.indexOf(" ")), JSON.parse(line.slice(line.indexOf(" ")))])
  } catch {
    return []
  }
}
const names = () => calls().map(([name]) => name)
const lines = (name) => readFileSync(join(transcripts, name), "utf8").trim().split("\n").map(JSON.parse)

const until = async (isTrue, seconds = 5) => {
  for (let left = seconds * 100; left > 0 && !isTrue(); left -= 1) await sleep(10)
  assert.ok(isTrue(), `waited for ${isTrue}; calls: ${names()}`)
}
const settled = () => sleep(150) // whoever would do something has done it

// A second of the plugin is a tenth of one here.
const load = async (replaced = []) => {
  let text = readFileSync(SOURCE, "utf8").replace("const SECOND = 1000", "const SECOND = 100")
  text = text.replace('"@COMMANDS@"', '"boulder-status", "ralph-loop"')
  for (const [old, now] of replaced) text = text.replace(old, now)
  const file = join(fake, "plugin.mjs")
  writeFileSync(file, text)
  const asked = { toasts: [], prompts: [], notes: [], logs: [] }
  const client = {
    app: { log: async ({ body }) => asked.logs.push(body.message) },
    tui: { showToast: async ({ body }) => asked.toasts.push(body.message) },
    session: {
      get: async ({ path }) => ({ data: path.id === CHILD ? { parentID: MAIN } : {} }),
      prompt: async (request) => asked.notes.push(request),
      promptAsync: async (request) => {
        asked.prompts.push(request)
        return { data: undefined }
      },
    },
  }
  const exported = await import(file)
  assert.deepEqual(Object.keys(exported), ["Sisyphus"], "OpenCode calls every export")
  const hooks = await exported.Sisyphus({ client, directory: fake })
  return { ...new Session(hooks), hooks, client, ...asked }
}

// A session of OpenCode with the plugin.
class Session {
  constructor(hooks) {
    this.send = (type, properties) => hooks.event({ event: { type, properties } })

    this.create = (id = MAIN, parentID = undefined) =>
      this.send("session.created", { sessionID: id, info: { id, parentID } })

    this.status = (type, id = MAIN) => this.send("session.status", { sessionID: id, status: { type } })

    this.prompt = async (text, id = MAIN, agent = "build") => {
      const message = { id: `msg_${text}`, sessionID: id, agent, model: { ...MODEL, variant: "high" } }
      const output = { message, parts: [{ type: "text", text, id: "prt_1" }] }
      await hooks["chat.message"]({ sessionID: id }, output)
      await this.status("busy", id)
      await hooks["chat.params"]({ sessionID: id, agent: { name: agent }, model: { limit: { context: 1000 } } })
      return output.parts
    }

    this.tool = async (id = MAIN) => {
      const call = { tool: "read", sessionID: id, callID: "call_1" }
      const args = { filePath: "/a.py" }
      const output = { title: "a.py", output: "x = 1", metadata: {} }
      await hooks["tool.execute.before"](call, { args })
      await hooks["tool.execute.after"]({ ...call, args }, output)
      const state = { status: "completed", output: output.output }
      const part = { type: "tool", callID: "call_1", sessionID: id, state }
      await this.send("message.part.updated", { sessionID: id, part })
      return output.output
    }

    this.say = async (text, id = MAIN, reason = "stop", messageID = `msg_${text}`) => {
      await hooks["experimental.text.complete"]({ sessionID: id, messageID }, { text })
      const tokens = { input: 10, output: 5, reasoning: 0, cache: { read: 0, write: 0 } }
      const part = { type: "step-finish", reason, messageID, sessionID: id, tokens }
      await this.send("message.part.updated", { sessionID: id, part })
    }

    this.idle = async (id = MAIN) => {
      await this.status("idle", id)
      void this.send("session.idle", { sessionID: id }) // OpenCode does not wait for it
    }

    this.abort = async (id = MAIN) => {
      await this.send("session.error", { sessionID: id, error: { name: "MessageAbortedError" } })
      await this.idle(id)
      await this.idle(id)
    }

    this.turn = async (text) => {
      await this.say(text)
      await this.idle()
    }
  }
}

// ---------------------------------------------------------------- texts for the model

test("a start's and a prompt's texts are added to the first prompt, once", async () => {
  answer("session-start", { text: "PLAN" })
  answer("user-prompt-submit", { text: "HANDOFF" })
  const code = await load()
  await code.create()

  const [, first] = await code.prompt("go")
  assert.equal(first.text, "PLAN\n\nHANDOFF")
  assert.ok(first.synthetic)
  await code.prompt("more")
  assert.deepEqual(names(), ["session-start", "user-prompt-submit", "user-prompt-submit"])
  const [, { session, agent, cwd, source }] = calls()[0]
  assert.deepEqual([session, agent, cwd, source], [MAIN, "", fake, "startup"])
})

test("a session without `session.created` is a resumed one", async () => {
  const code = await load()
  await code.prompt("go")

  assert.equal(calls()[0][1].source, "resume")
})

test("a tool's output gets the text", async () => {
  answer("post-tool-use", { text: "RULE" })
  const code = await load()
  await code.create()

  assert.equal(await code.tool(), "x = 1\n\nRULE")
  const [[, { tool, args, call }]] = calls()
  assert.deepEqual([tool, args, call], ["read", { filePath: "/a.py" }, "call_1"])
})

test("an output that is no text stays as it is, and the text comes with the next request", async () => {
  answer("post-tool-use", { text: "RULE" })
  const code = await load()
  await code.create()
  const output = { content: [{ type: "text", text: "from an MCP server" }] }

  await code.hooks["tool.execute.after"]({ tool: "mcp", sessionID: MAIN, callID: "c", args: {} }, output)
  assert.deepEqual(output, { content: [{ type: "text", text: "from an MCP server" }] })
  const system = []
  await code.hooks["experimental.chat.system.transform"]({ sessionID: MAIN }, { system })
  assert.deepEqual(system, ["RULE"])
})

test("what a compaction took comes back with the next request", async () => {
  answer("pre-compact", { text: "KEEP" })
  answer("session-start", { text: "AGAIN" })
  const code = await load()
  await code.create()
  const context = []
  await code.hooks["experimental.session.compacting"]({ sessionID: MAIN }, { context })
  assert.deepEqual(context, ["KEEP"])

  void code.send("session.compacted", { sessionID: MAIN })
  const system = ["s"]
  await code.hooks["experimental.chat.system.transform"]({ sessionID: MAIN }, { system })
  assert.deepEqual(system, ["s", "AGAIN"])
  assert.equal(calls().at(-1)[1].source, "compact")
})

// ---------------------------------------------------------------- the end of a turn

test("a Stop's reason goes to the session, with its agent and model", async () => {
  answerOnce("stop", { reason: "Go on.", text: "NEWS" })
  const code = await load()
  await code.create()
  await code.prompt("go", MAIN, "plan")

  await code.turn("Not yet.")
  await until(() => code.prompts.length === 1)
  const [{ path, body }] = code.prompts
  assert.deepEqual([path.id, body.agent, body.model, body.variant], [MAIN, "plan", MODEL, "high"])
  assert.deepEqual(body.parts.map((part) => [part.text, part.synthetic]), [["Go on.", undefined], ["NEWS", true]])
  const { last, mode, can_wake } = calls().find(([name]) => name === "stop")[1]
  assert.deepEqual([last, mode, can_wake], ["Not yet.", "plan", true])

  const sent = { id: "msg_x", sessionID: MAIN, agent: "plan", model: MODEL }
  await code.hooks["chat.message"]({ sessionID: MAIN }, { message: sent, parts: body.parts })
  await code.turn("Now it is.")
  await until(() => names().filter((name) => name === "stop").length === 2)
  await settled()
  assert.equal(code.prompts.length, 1)
  assert.ok(!names().slice(2).includes("user-prompt-submit"), "our own prompt is nobody's")
})

test("in `opencode run` the answer is there before the session is idle", async () => {
  process.argv = RUN
  const file = '"$CLAUDE_CONFIG_DIR/.sisyphus/opencode/ses_1.jsonl"'
  act("stop", `grep -q '"usage"' ${file} && echo '{"reason": "Go on."}'`)
  const code = await load()
  await code.create()
  await code.prompt('"go on"')
  assert.equal(lines(`${MAIN}.jsonl`)[0].text, "go on", "the client has put it into quotes")

  await code.say("Not yet.")
  assert.equal(code.prompts.length, 1)
  await code.idle()
  await settled()
  assert.equal(names().filter((name) => name === "stop").length, 1)
  assert.ok(!calls().find(([name]) => name === "stop")[1].can_wake)
})

test("in `opencode run`, where nobody sees a toast, an alert is a line on stderr", async () => {
  process.argv = RUN
  answerOnce("stop", { reason: "Prove it.", message: "Enforcement 1 of 50", alert: { message: "1 of 50" } })
  const code = await load()
  await code.create()
  await code.prompt("go")
  const { write } = process.stderr
  const written = []
  process.stderr.write = (text) => written.push(text)
  try {
    await code.say("Done.")
  } finally {
    process.stderr.write = write
  }

  assert.deepEqual(written, ["Enforcement 1 of 50\n"])
  assert.equal(code.prompts.length, 1)
})

for (const args of [SERVE, RUN])
  test(`an aborted turn does not go on (${args[2]})`, async () => {
    process.argv = args
    answer("stop", { reason: "Go on." })
    const code = await load()
    await code.create()
    await code.prompt("go")

    await code.abort()
    await settled()
    assert.deepEqual(code.prompts, [])
    assert.ok(!names().includes("stop"))
  })

test("an abort while the Stop is decided does not go on", async () => {
  act("stop", `sleep 0.3; echo '{"reason": "Go on."}'`)
  const code = await load()
  await code.create()
  await code.prompt("go")
  await code.turn("Not yet.")
  await until(() => names().includes("stop"))

  await code.abort()
  await sleep(500)
  assert.deepEqual(code.prompts, [])
})

test("an abort between the turns, which has no error, does not go on", async () => {
  act("stop", `sleep 0.3; echo '{"reason": "Go on."}'`)
  const code = await load()
  await code.create()
  await code.prompt("go")
  await code.turn("Not yet.")
  await until(() => names().includes("stop"))

  await code.idle()
  await sleep(500)
  assert.deepEqual(code.prompts, [])

  answer("stop", { reason: "Go on." })
  await code.prompt("go on")
  await code.turn("Not yet.")
  await until(() => code.prompts.length === 1)
})

test("an abort ends the countdown", async () => {
  answer("idle", { reason: "Wake up.", alert: ALERT })
  const code = await load()
  await code.create()
  await code.prompt("go")
  await code.turn("So far.")
  await until(() => code.toasts.length === 1)

  await code.idle()
  await sleep(500)
  assert.deepEqual(code.prompts, [])
})

test("a shell command of the user while the Stop is decided does not lose it", async () => {
  act("stop", "sleep 0.6; echo '{}'")
  const code = await load()
  await code.create()
  await code.prompt("go")
  await code.turn("Not yet.")
  await until(() => names().includes("stop"))

  answerOnce("stop", { reason: "Go on." })
  await code.status("busy")
  await code.idle()
  await until(() => code.prompts.length === 1)
})

test("a shell command after the Stop was decided is no second one", async () => {
  act("idle", "sleep 0.6")
  const code = await load()
  await code.create()
  await code.prompt("go")
  await code.turn("Not yet.")
  await until(() => names().includes("idle"))

  await code.status("busy")
  await code.idle()
  await settled()
  assert.equal(names().filter((name) => name === "stop").length, 1)
})

test("who comes while the user is told is not waited for", async () => {
  answer("stop", { message: "Hello" })
  const code = await load()
  await code.create()
  await code.prompt("go")
  let close
  code.client.tui.showToast = () => new Promise((resolve) => (close = resolve))
  await code.turn("So far.")
  await until(() => close)

  await code.prompt("I am here")
  close()
  await settled()
  assert.ok(!names().includes("idle"))
})

test("a prompt while the Stop is decided comes first", async () => {
  act("user-prompt-submit", `if [ -f "$FAKE/slow" ]; then sleep 0.6; fi`)
  act("stop", `sleep 0.3; echo '{"reason": "Go on."}'`)
  const code = await load()
  await code.create()
  await code.prompt("go")
  await code.turn("Not yet.")
  await until(() => names().includes("stop"))
  writeFileSync(join(fake, "slow"), "")

  await code.prompt("wait") // what was decided comes while this is asked about
  await settled()
  assert.deepEqual(code.prompts, [])
})

for (const isKnown of [true, false])
  test(`a subagent is never held (${isKnown ? "created here" : "resumed"})`, async () => {
    answer("stop", { reason: "Go on." })
    answer("post-tool-use", { text: "RULE" })
    const code = await load()
    await code.create()
    if (isKnown) await code.create(CHILD, MAIN)

    await code.prompt("look", CHILD)
    assert.equal(await code.tool(CHILD), "x = 1\n\nRULE")
    await code.say("Found.", CHILD)
    await code.idle(CHILD)
    await settled()
    assert.deepEqual(names(), ["post-tool-use"])
    assert.deepEqual([calls()[0][1].session, calls()[0][1].agent], [MAIN, CHILD])
    assert.deepEqual(code.prompts, [])
  })

test("a compaction's summary is no end of a turn", async () => {
  const code = await load()
  await code.create()
  await code.prompt("go")
  const info = { id: "msg_s", sessionID: MAIN, role: "assistant", summary: true, agent: "compaction" }

  await code.send("message.updated", { info })
  await code.say("Summary", MAIN, "stop", "msg_s")
  await code.idle()
  await settled()
  assert.ok(!names().includes("stop"))
  assert.ok(!lines(`${MAIN}.jsonl`).some((line) => line.text === "Summary"))
})

test("only a turn that ends is a Stop", async () => {
  const code = await load()
  await code.create()
  await code.prompt("go")

  await code.say("First I read.", MAIN, "tool-calls")
  await code.idle() // the user has rejected a permission
  await settled()
  assert.ok(!names().includes("stop"))
})

test("a failed turn is told, and an overflow is not", async () => {
  const code = await load()
  await code.create()
  await code.send("session.error", { sessionID: MAIN, error: { name: "ContextOverflowError" } })
  await code.send("session.error", { sessionID: MAIN, error: { name: "APIError" } })

  await until(() => names().includes("stop-failure"))
  assert.deepEqual(calls().map(([name, { error }]) => [name, error]), [["stop-failure", "APIError"]])
})

// ---------------------------------------------------------------- enforcement

const ALERT = { variant: "warning", message: "Not done", seconds: 15, countdown: 3, abort_seconds: 3 }

test("a countdown is shown before the session is woken", async () => {
  answer("idle", { reason: "Wake up.", alert: ALERT })
  const code = await load()
  await code.create()
  await code.prompt("go")
  await code.turn("So far.")

  await until(() => code.prompts.length === 1)
  const counts = ["Not done (in 3 s)", "Not done (in 2 s)", "Not done (in 1 s)", "Not done"]
  assert.deepEqual(code.toasts, counts)
})

test("a prompt ends the countdown", async () => {
  answer("idle", { reason: "Wake up.", alert: ALERT })
  const code = await load()
  await code.create()
  await code.prompt("go")
  await code.turn("So far.")
  await until(() => code.toasts.length === 1)

  await code.prompt("I am here")
  await sleep(500)
  assert.deepEqual(code.prompts, [])
  assert.ok(code.toasts.length < 3, code.toasts)
})

test("soon after an abort nothing is enforced", async () => {
  answer("stop", { reason: "Prove it.", alert: { ...ALERT, abort_seconds: 60 } })
  const code = await load()
  await code.create()
  await code.prompt("go")
  await code.abort()

  await code.prompt("no, so")
  await code.turn("Done.")
  await until(() => names().includes("stop"))
  await settled()
  assert.deepEqual([code.prompts, code.toasts], [[], []])
})

test("nothing waits beside a session that nobody can wake", async () => {
  process.argv = ["bun", "index.js", "attach"]
  const code = await load()
  await code.create()
  await code.prompt("go")
  await code.turn("So far.")

  await until(() => names().includes("stop"))
  await settled()
  assert.ok(!names().includes("idle"))
})

// ---------------------------------------------------------------- commands

const command = async (code, name, args = "") => {
  const output = { parts: [{ type: "text", text: "template" }] }
  await code.hooks["command.execute.before"]({ command: name, sessionID: MAIN, arguments: args }, output)
  return output.parts
}

test("in the terminal a command's answer is a note, and no model is asked", async () => {
  process.argv = TERMINAL
  answer("user-prompt-submit", { reason: "0/2 tasks" })
  const code = await load()
  await code.create()

  await assert.rejects(command(code, "boulder-status"))
  const [{ body }] = code.notes
  assert.ok(body.noReply)
  assert.deepEqual(body.parts.map((part) => [part.text, part.ignored]), [["0/2 tasks", true]])
  assert.equal(calls().at(-1)[1].prompt, "/boulder-status")
})

test("a server has no place for a note: the model repeats the answer", async () => {
  answer("user-prompt-submit", { reason: "0/2 tasks" })
  const code = await load()
  await code.create()

  const [part] = await command(code, "boulder-status")
  assert.match(part.text, /exactly this text.*\n\n0\/2 tasks$/s)
})

test("after an answer that the model repeats nothing is decided, until the next prompt", async () => {
  answerOnce("user-prompt-submit", { reason: "The plan is held." })
  answer("stop", { reason: "Go on." })
  const code = await load()
  await code.create()
  await command(code, "boulder-status")
  await code.prompt("Answer with exactly this text")

  await code.turn("The plan is held.")
  await settled()
  assert.ok(!names().includes("stop"))

  await code.prompt("go")
  await code.turn("Done.")
  await until(() => code.prompts.length === 1)
})

test("a command in the middle of a turn does not keep the turn from being decided", async () => {
  const code = await load()
  await code.create()
  await code.prompt("go")
  answer("user-prompt-submit", { reason: "0/2 tasks" })
  await command(code, "boulder-status")
  await code.prompt("Answer with exactly this text")

  await code.turn("0/2 tasks")
  await until(() => names().includes("stop"))
})

test("a command that starts a loop is written down, and its text follows", async () => {
  answer("user-prompt-submit", { text: "STARTED" })
  const code = await load()
  await code.create()
  await command(code, "ralph-loop", "build it")

  const parts = await code.prompt("Work on it: build it")
  assert.equal(parts.at(-1).text, "STARTED")
  const [line] = lines(`${MAIN}.jsonl`)
  assert.deepEqual(line.command, { name: "ralph-loop", arguments: "build it" })
})

test("a command of somebody else is none of our business", async () => {
  const code = await load()
  await code.create()

  assert.deepEqual(await command(code, "deploy"), [{ type: "text", text: "template" }])
  assert.deepEqual(names(), [])
})

// ---------------------------------------------------------------- what is written down

test("each session has a file that only the user can read", async () => {
  const code = await load()
  await code.create()
  await code.create(CHILD, MAIN)
  await code.prompt("go")
  await code.tool()
  await code.say("Done.")
  await code.prompt("look", CHILD)
  await code.tool(CHILD)

  const files = [`${MAIN}.jsonl`, `${MAIN}.${CHILD}.jsonl`]
  await until(() => readdirSync(transcripts).length === 2)
  await settled()
  assert.deepEqual(readdirSync(transcripts).sort(), files)
  for (const file of files) assert.equal(statSync(join(transcripts, file)).mode & 0o777, 0o600)
  assert.equal(statSync(transcripts).mode & 0o777, 0o700)
  assert.deepEqual(lines(files[0]).map((line) => line.kind), ["prompt", "tool", "result", "text", "usage"])
  assert.deepEqual(lines(files[1]).map((line) => line.kind), ["prompt", "tool", "result"])
  assert.equal(lines(files[0])[4].window, 1000)
})

test("what we add to a tool's output is not written down as its output", async () => {
  answer("post-tool-use", { text: "RULE" })
  const code = await load()
  await code.create()
  await code.prompt("go")
  const output = await code.tool()

  assert.equal(output, "x = 1\n\nRULE")
  assert.equal(lines(`${MAIN}.jsonl`).find((line) => line.kind === "result").text, "x = 1")
})

test("a prompt that we answer is written down as a command", async () => {
  const code = await load()
  await code.create()
  await code.prompt("/not-ours go")
  answer("user-prompt-submit", { reason: "72 %" })
  await code.prompt("/ralph context --json")

  const commands = lines(`${MAIN}.jsonl`).map((line) => line.command)
  assert.deepEqual(commands, [undefined, { name: "ralph", arguments: "context --json" }])
})

for (const id of ["ses_/../../../out", "ses_..", `ses_${"1".repeat(200)}`])
  test(`an id that is no file name writes nothing (${id.slice(0, 9)})`, async () => {
    const code = await load()
    await code.create(id)
    await code.prompt("go", id)
    await code.create(CHILD, id)
    await code.prompt("look", CHILD)

    await settled()
    const files = readdirSync(root, { recursive: true }).map(String)
    assert.deepEqual(files.filter((file) => file.endsWith(".jsonl")), [])
  })

test("a folder that cannot be written is said once, and the turn goes on", async () => {
  writeFileSync(home, "a file")
  answer("post-tool-use", { text: "RULE" })
  const code = await load()
  await code.create()

  assert.equal(await code.tool(), "x = 1\n\nRULE")
  assert.equal(await code.tool(), "x = 1\n\nRULE")
  assert.ok(code.logs.length > 0)
})

// ---------------------------------------------------------------- when something is wrong

for (const args of [SERVE, RUN])
  test(`without the program there is one toast, and nothing else (${args[2]})`, async () => {
    process.argv = args
    process.env.PATH = "/nowhere"
    const code = await load()
    await code.create()

    for (let turn = 0; turn < 3; turn += 1) {
      assert.equal((await code.prompt("go")).length, 1)
      assert.equal(await code.tool(), "x = 1")
      await code.turn("Done.")
    }
    await settled()
    assert.deepEqual(code.toasts, ["sisyphus was not found, so nothing is done. Run `sisyphus install` again."])
    assert.equal(code.logs.length, 1)
    assert.match(code.logs[0], /^sisyphus: /)
    assert.deepEqual(code.prompts, [])
  })

for (const args of [SERVE, RUN])
  test(`a program that does not start is as one that is gone (${args[2]})`, async () => {
    process.argv = args
    for (const event of ["session-start", "user-prompt-submit", "post-tool-use", "stop"]) act(event, "exit 1")
    const code = await load()
    await code.create()

    for (let turn = 0; turn < 3; turn += 1) {
      await code.prompt("go")
      await code.turn("Done.")
    }
    await settled()
    assert.deepEqual(code.toasts, ["sisyphus was not found, so nothing is done. Run `sisyphus install` again."])
    assert.deepEqual(names(), ["session-start"])
  })

const LEADS = ["PYTHONPATH", "PYTHONHOME", "PYTHONPLATLIBDIR", "PYTHONPYCACHEPREFIX", "PYTHONUSERBASE", "PYTHONWARNINGS"]

for (const [name, options] of [["its name", ""], ["an isolated Python", ', "-I", "-m", "sisyphus"']])
  test(`what leads Python elsewhere reaches only the second: ${name}`, async () => {
    for (const each of LEADS) process.env[each] = "/evil"
    const seen = join(fake, "seen")
    writeFileSync(join(fake, "bin", "sisyphus"), `#!/bin/sh\nenv > ${seen}\n`, { mode: 0o755 })
    const code = await load([['= ["sisyphus"]', `= ["sisyphus"${options}]`]])
    await code.create()
    await code.prompt("go")

    const text = readFileSync(seen, "utf8")
    for (const each of LEADS) {
      delete process.env[each]
      assert.equal(text.includes(`${each}=`), options !== "", each)
    }
  })

test("a program that comes back is started again", async () => {
  answer("post-tool-use", { text: "RULE" })
  const { PATH } = process.env
  process.env.PATH = "/nowhere"
  const code = await load([["const MISSING_SECONDS = 60", "const MISSING_SECONDS = 3"]])
  await code.create()
  assert.equal(await code.tool(), "x = 1")
  process.env.PATH = PATH
  assert.equal(await code.tool(), "x = 1")

  await sleep(400)
  assert.equal(await code.tool(), "x = 1\n\nRULE")
})

test("a project's folder that is gone is no missing program", async () => {
  answer("post-tool-use", { text: "RULE" })
  const { client, toasts } = await load()
  const directory = join(fake, "project")
  const { Sisyphus } = await import(join(fake, "plugin.mjs"))
  const hooks = await Sisyphus({ client, directory })
  const code = new Session(hooks)
  await code.create()
  assert.equal(await code.tool(), "x = 1")

  mkdirSync(directory)
  assert.equal(await code.tool(), "x = 1\n\nRULE")
  assert.deepEqual(toasts, [])
})

test("the program may be started by a path, and with words before ours", async () => {
  process.env.PATH = "/nowhere"
  writeFileSync(join(fake, "start"), `#!/bin/sh\nshift\nexec "${join(fake, "bin")}/sisyphus" "$@"\n`, { mode: 0o755 })
  answer("post-tool-use", { text: "RULE" })
  process.env.PATH = "/usr/bin:/bin"
  const code = await load([['["sisyphus"]', JSON.stringify([join(fake, "start"), "-q"])]])
  await code.create()

  assert.equal(await code.tool(), "x = 1\n\nRULE")
})

for (const [what, script] of [
  ["dies", "exit 3"],
  ["is killed", "kill -9 $$"],
  ["says no JSON", "echo '{\"text\": \"RU'"],
  ["says JSON that is no object", "echo '[7]'; echo"],
  ["says null", "echo null"],
  ["does not end", "trap '' TERM; sleep 3"],
])
  test(`a hook that ${what} stops nothing`, async () => {
    act("post-tool-use", script)
    act("stop", script)
    const code = await load()
    await code.create()
    await code.prompt("go")

    const began = Date.now()
    assert.equal(await code.tool(), "x = 1")
    assert.ok(Date.now() - began < 2500)
    act("post-tool-use", "")
    answer("post-tool-use", { text: "RULE" })
    assert.equal(await code.tool(), "x = 1\n\nRULE")
    if (what === "does not end") return
    await code.turn("Done.")
    await settled()
    assert.deepEqual(code.prompts, [])
  })

test("no input makes a hook throw", async () => {
  const code = await load()
  await code.create()
  const odd = [undefined, null, 7, {}, [], { sessionID: MAIN }, { sessionID: {}, args: null }, { event: {} },
    { event: { type: "constructor", properties: null } }, { event: { type: "message.part.updated", properties: {} } },
    { event: { type: "session.error", properties: { sessionID: MAIN } } }]

  for (const hook of Object.values(code.hooks))
    for (const input of odd) for (const output of [undefined, {}, { parts: null, output: null }]) await hook(input, output)
  assert.equal(await code.tool(), "x = 1")
})

test("a client whose calls fail makes no hook throw", async () => {
  answer("stop", { reason: "Go on.", message: "Hello" })
  const text = readFileSync(SOURCE, "utf8")
  writeFileSync(join(fake, "bare.mjs"), text)
  const fails = async () => { throw new Error("gone") }
  const { Sisyphus } = await import(join(fake, "bare.mjs"))
  const session = { get: fails, prompt: fails, promptAsync: fails }
  const hooks = await Sisyphus({ client: { app: { log: fails }, tui: { showToast: fails }, session }, directory: fake })
  const code = new Session(hooks)

  await code.prompt("go")
  await code.tool()
  await code.turn("Done.")
  await code.create()
  await code.turn("Done.")
  await until(() => names().includes("stop"))
})

test("SISYPHUS_DISABLE switches everything off", async () => {
  process.env.SISYPHUS_DISABLE = "1"
  const code = await load()
  delete process.env.SISYPHUS_DISABLE

  assert.deepEqual(code.hooks, {})
})

test("of two copies in a project one works", async () => {
  answer("post-tool-use", { text: "RULE" })
  const first = await load()
  mkdirSync(join(fake, "other"))
  const text = readFileSync(join(fake, "plugin.mjs"), "utf8")
  writeFileSync(join(fake, "other", "plugin.mjs"), text)
  const { Sisyphus } = await import(join(fake, "other", "plugin.mjs"))
  const second = await Sisyphus({ client: { session: { get: async () => ({}) } }, directory: fake })
  const output = { output: "x = 1" }

  for (const hooks of [first.hooks, second])
    await hooks["tool.execute.after"]({ tool: "read", sessionID: MAIN, callID: "c", args: {} }, output)
  assert.equal(output.output, "x = 1\n\nRULE")
})

test("what the terminal opens anew follows the session before it", async () => {
  process.argv = TERMINAL
  const code = await load()
  await code.create()
  await code.prompt("go")
  await code.turn("So far.")
  await until(() => names().includes("stop"))
  await code.create("ses_3")
  await code.prompt("more", "ses_3")

  const ends = calls().filter(([name]) => name === "session-end")
  assert.deepEqual(ends.map(([, { session, reason }]) => [session, reason]), [[MAIN, "clear"]])
  const starts = () => calls().filter(([name]) => name === "session-start").map(([, p]) => [p.session, p.source])
  assert.deepEqual(starts(), [[MAIN, "startup"], ["ses_3", "clear"]])
  await code.turn("Done.")
  await code.prompt("back", MAIN)
  assert.deepEqual(starts().at(-1), [MAIN, "resume"])
})

// The hook of an event answers when the user has gone on in `ses_3`, which was there before, too.
const leaveDuring = async (event) => {
  act(event, `until [ -f "$FAKE/left" ]; do sleep 0.05; done; echo '{"reason": "Go on."}'`)
  const code = await load()
  await code.prompt("go")
  await code.turn("So far.")
  await until(() => names().includes(event))
  await code.prompt("more", "ses_3")
  writeFileSync(join(fake, "left"), "")
  return code
}

test("an idle session that its user has left for another one is not woken", async () => {
  process.argv = TERMINAL
  const code = await leaveDuring("idle")

  await settled()
  assert.deepEqual(code.prompts, [])
  assert.ok(!names().includes("session-end"))
})

test("nothing waits beside a session that its user has left while it worked", async () => {
  process.argv = TERMINAL
  const code = await load()
  const idle = () => calls().filter(([name]) => name === "idle").map(([, { session }]) => session)
  await code.prompt("go")
  await code.prompt("more", "ses_3")
  await code.turn("So far.")
  await until(() => names().includes("stop"))
  await code.say("Here, too.", "ses_3")
  await code.idle("ses_3")

  await until(() => idle().includes("ses_3"))
  assert.deepEqual(idle(), ["ses_3"])
})

for (const [words, event, what] of [[SERVE, "idle", "in a server it is woken"], [TERMINAL, "stop", "its Stop counts"]])
  test(`but ${what}`, async () => {
    process.argv = words
    const code = await leaveDuring(event)

    await until(() => code.prompts.length === 1)
    assert.equal(code.prompts[0].path.id, MAIN)
  })

test("beside a session that works, and in a server, a new one is a session of its own", async () => {
  for (const words of [TERMINAL, SERVE]) {
    process.argv = words
    const code = await load()
    await code.create()
    await code.prompt("go")
    if (words === SERVE) await code.turn("Done.")
    await code.create("ses_3")
    await code.prompt("more", "ses_3")

    assert.equal(names().includes("session-end"), false)
    assert.equal(calls().findLast(([name]) => name === "session-start")[1].source, "startup")
    rmSync(join(fake, "calls"))
  }
})

test("a session that its user deletes is told as such", async () => {
  const code = await load()
  await code.create()
  await code.prompt("go")
  await code.send("session.deleted", { sessionID: MAIN, info: { id: MAIN } })

  assert.deepEqual(calls().at(-1)[1].reason, "deleted")
})

test("a session that ends is told, and so is the client's end", async () => {
  const code = await load()
  await code.create()
  await code.prompt("go")
  await code.hooks.dispose()

  assert.equal(names().at(-1), "session-end")
})

test("the agent's own commands know their session", async () => {
  const code = await load()
  await code.create()
  await code.create(CHILD, MAIN)
  const output = { env: {} }

  await code.hooks["shell.env"]({ sessionID: CHILD, cwd: fake }, output)
  assert.deepEqual(output.env, { SISYPHUS_SESSION_ID: MAIN, SISYPHUS_CLIENT_PID: String(process.pid) })
})
