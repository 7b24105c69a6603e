// Hands OpenCode's hooks to `mdmemory bridge`, its one child process, and the answers back. No rule
// stands here. Whatever fails, the session goes on; .mdmemory/bridge.log says why.
import { spawn, type ChildProcess } from "node:child_process"
import { closeSync, constants, existsSync, lstatSync, mkdirSync, openSync, readFileSync, writeSync } from "node:fs"
import { homedir } from "node:os"
import { dirname, join, resolve } from "node:path"
import { fileURLToPath } from "node:url"
import type { Hooks, Plugin, PluginModule, ToolDefinition } from "@opencode-ai/plugin"

const COMMAND: string[] = __MDMEMORY_COMMAND__
const INSTRUCTIONS: string[] = __MDMEMORY_INSTRUCTIONS__ // from this file's folder
const PERSONAL: boolean = __MDMEMORY_PERSONAL__ // for all of a person's projects: a project's own goes first
const PROTOCOL = 1
const RESTARTS = 3
// Milliseconds. A hook that has none of its own is a moment's work.
const PATIENCE = { hello: 10_000, message: 10_000, call: 60_000, dispose: 3_000, other: 3_000 }
const STALLED = 30_000 // a child that is silent for so long is ended, and another one started
const MOST = 200 // requests under way; more means that nobody answers

type Values = Record<string, any>
type Answer = { result?: Values; error?: { message: string; hint: string }; lost?: true }

class Bridge {
  private child?: ChildProcess
  private starts = 0
  private next = 1
  private late = 0 // when a request first went without its answer, 0: none has
  private answered = false
  ended = false // for good
  told?: (event: Values) => void // gets what the bridge says unasked
  private readonly waiting = new Map<number, (answer: Answer) => void>()

  constructor(private readonly directory: string) {}

  /** What the bridge answers; {} when it does not, in time. Never throws. */
  async ask(method: string, params: Values = {}, patience = PATIENCE.other): Promise<Answer> {
    const answer = await this.once(method, params, patience)
    // it died before it answered: whatever is asked may be asked twice
    return answer.lost && method !== "dispose" ? this.once(method, params, patience) : answer
  }

  private async once(method: string, params: Values, patience: number): Promise<Answer> {
    try {
      const child = this.ended && method !== "dispose" ? undefined : this.running()
      if (!child?.stdin || this.waiting.size >= MOST) return {}
      const id = this.next++
      const answered = new Promise<Answer>((done) => this.waiting.set(id, done))
      child.stdin.write(JSON.stringify({ id, method, params }) + "\n")
      // Behind a request that is late nobody waits: this one is done all the same, only later.
      if (this.late && method !== "dispose") return {}
      let timer: ReturnType<typeof setTimeout> | undefined
      const over = new Promise<Answer>((done) => (timer = setTimeout(() => done(this.missed(method)), patience)))
      return await Promise.race([answered, over]).finally(() => clearTimeout(timer))
    } catch (problem) {
      this.say(`${method}: ${problem}`)
      return {}
    }
  }

  /** Let it finish what it was asked, and go. */
  async end(): Promise<void> {
    this.ended = true
    if (this.child) await this.ask("dispose", {}, PATIENCE.dispose)
    this.child?.stdin?.end()
  }

  private missed(method: string): Answer {
    // a call has its own queue in the bridge: while it takes long, hooks are answered
    if (method !== "call") this.late ||= Date.now()
    this.say(`${method}: no answer in time`)
    return {}
  }

  private running(): ChildProcess | undefined {
    if (this.late && Date.now() - this.late > STALLED) this.child?.kill("SIGKILL")
    if (this.child || this.ended || this.starts > RESTARTS) return this.child
    this.starts++
    // Detached: Ctrl-C is for OpenCode; the bridge ends with its input.
    const child = spawn(COMMAND[0]!, [...COMMAND.slice(1), "bridge"], {
      cwd: this.directory,
      env: { ...process.env, PWD: this.directory },
      stdio: ["pipe", "pipe", "ignore"],
      detached: true,
    })
    // A launcher that is gone, or whose program is: nothing is there to be logged or started again.
    child.on("error", (problem: NodeJS.ErrnoException) => {
      this.ended ||= PERSONAL && problem.code === "ENOENT"
      this.lost(child, problem.message)
    })
    child.on("exit", (code, signal) => {
      this.ended ||= code === 0 && !this.answered
      this.lost(child, `it ended (${signal ?? code})`)
    })
    child.stdin.on("error", () => {})
    let rest = ""
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      const lines = (rest + text).split("\n")
      rest = lines.pop() ?? ""
      for (const line of lines) this.heard(line)
    })
    child.unref()
    this.child = child
    return child
  }

  private heard(line: string): void {
    try {
      const answer = JSON.parse(line)
      this.late = 0
      this.answered = true
      if (answer.event) return this.told?.(answer.event)
      this.waiting.get(answer.id)?.(answer)
      this.waiting.delete(answer.id)
    } catch (problem) {
      this.say(`an answer was not understood: ${problem}`)
    }
  }

  private lost(child: ChildProcess, why: string): void {
    if (this.child !== child) return
    this.child = undefined
    this.late = 0
    for (const done of this.waiting.values()) done({ lost: true })
    this.waiting.clear()
    if (this.ended) return
    const again = this.starts > RESTARTS ? "it is not started again until OpenCode is" : "it is started again"
    this.say(`the bridge is gone: ${why}; ${again}`)
  }

  /** A line in the project's log; in the person's own where the project has no memory. */
  say(sentence: string): void {
    try {
      let root = this.directory
      const isOurs = () => lstatSync(join(root, ".mdmemory"), { throwIfNoEntry: false })?.isDirectory()
      while (!isOurs() && root !== dirname(root)) root = dirname(root)
      const state = process.env.XDG_STATE_HOME || join(homedir(), ".local", "state")
      const folder = isOurs() ? join(root, ".mdmemory") : join(state, "mdmemory")
      mkdirSync(folder, { recursive: true })
      const flags = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW
      const log = openSync(join(folder, "bridge.log"), flags, 0o600)
      writeSync(log, `${new Date().toISOString().slice(0, 19)}Z plugin: ${sentence.replaceAll("\n", " ")}\n`)
      closeSync(log)
    } catch {}
  }
}

const EVENTS: Record<string, string> = {
  "session.created": "created",
  "session.idle": "idle",
  "session.compacted": "compacted",
  "session.deleted": "deleted",
  "message.updated": "answered",
  "session.updated": "reverted",
}

/** Has OpenCode read our files and the indexes that the bridge names. It looks into the list before each request. */
class Reading {
  private named: string[] = []
  private listed: string[] = []

  readonly config: Hooks["config"] = async (config) => {
    const before = config.instructions ?? []
    // a person may have listed one, and one is enough
    const isTold = PERSONAL && before.some((name) => name.endsWith("memory/PROTOCOL.md"))
    const files = isTold ? [] : INSTRUCTIONS.map((name) => resolve(fileURLToPath(import.meta.url), "..", name))
    config.instructions = this.listed = [...before, ...files, ...this.named]
  }

  add(files: string[] = []): void {
    this.named.push(...files.filter((file) => !this.named.includes(file)))
    this.listed.push(...files.filter((file) => !this.listed.includes(file)))
  }
}

/** Whether a project brings our plugin or server itself. OpenCode looks for both as far up. */
function isWired(directory: string, worktree: string): boolean {
  const isOurs = (file: string) => existsSync(file) && readFileSync(file, "utf8").startsWith("// mdmemory: ")
  for (let folder = directory; ; folder = dirname(folder)) {
    const [plugin, plugins, server] = ["plugin/mdmemory.ts", "plugins/mdmemory.ts", "opencode.json"].map((name) =>
      join(folder, ".opencode", name),
    )
    if (existsSync(plugin!) || existsSync(plugins!) || isOurs(server!)) return true
    if (folder === worktree || folder === dirname(folder)) return false
  }
}

const server: Plugin = async ({ directory, worktree, client }) => {
  const isAlone = process.env.OPENCODE_DISABLE_PROJECT_CONFIG // then no project's plugin is loaded
  const isLeft = process.env.MDMEMORY_DISABLE || (!isAlone && isWired(directory, worktree))
  if (PERSONAL && isLeft) return {}
  const reading = new Reading()
  if (process.env.MDMEMORY_DISABLE) return { config: reading.config }
  const bridge = new Bridge(directory)
  // One for a folder, the newest, though the plugin may be there for the project and the person.
  const here = Symbol.for(`mdmemory ${directory}`)
  const shared = globalThis as unknown as Record<symbol, Bridge | undefined>
  void shared[here]?.end()
  shared[here] = bridge
  const us = { protocol: PROTOCOL, directory, shows: !!client?.tui?.showToast, mode: process.argv[2] }
  const { result: hello, error } = await bridge.ask("hello", us, PATIENCE.hello)
  if (error) await bridge.end()
  if (PERSONAL && (error || bridge.ended)) return {}
  reading.add(hello?.instructions)
  const heard: string[] | undefined = hello?.hooks // without it all is handed on
  const ask = async (method: string, params: Values, patience?: number): Promise<Values> =>
    !heard || heard.includes(method) ? ((await bridge.ask(method, params, patience)).result ?? {}) : {}
  /** A hook that throws would fail the user's turn. */
  const safe =
    <A extends unknown[]>(hook: (...given: A) => Promise<void>) =>
    (...given: A): Promise<void> =>
      hook(...given).catch((problem) => bridge.say(`a hook failed: ${problem}`))

  /** A line for the person, where the client has a place for it. Never throws, and nobody waits for it. */
  const show = (toast?: Values): void => {
    try {
      if (typeof toast?.message !== "string") return
      const body = { title: "mdmemory", message: toast.message, variant: toast.variant ?? "info" }
      void Promise.resolve(client?.tui?.showToast?.({ body })).catch(() => {})
    } catch {}
  }
  bridge.told = ({ toast }) => show(toast)
  const schemas = new Map<string, Values>()
  const tool: Record<string, ToolDefinition> = {}
  for (const each of hello?.tools ?? []) {
    schemas.set(each.name, each.parameters)
    tool[each.name] = {
      description: each.description,
      args: each.parameters.properties, // JSON schema: OpenCode takes it where it is no zod
      async execute(given, { sessionID }) {
        const params = { session: sessionID, tool: each.name, arguments: given }
        const { result, error } = await bridge.ask("call", params, PATIENCE.call)
        return result?.text ?? (error ? `${error.message} ${error.hint}` : "The memory did not answer.")
      },
    }
  }

  const hooks: Hooks = {
    config: reading.config,
    tool,
    "chat.message": safe(async ({ sessionID }, { message, parts }) => {
      const said = parts.filter((part) => part.type === "text")
      const answer = await ask("message", { session: sessionID, message: message.id, parts: said }, PATIENCE.message)
      show(answer.toast)
      reading.add(answer.instructions) // a first fact may have made a store
      for (const text of answer.parts ?? []) {
        // Parts are put in the order of their ids: a longer one comes right behind its beginning.
        const last = parts.reduce((id, part) => (part.id > id ? part.id : id), "prt_")
        const about = { id: `${last}0`, sessionID, messageID: message.id, synthetic: true }
        parts.push({ ...about, type: "text", text })
      }
    }),
    "command.execute.before": safe(async ({ command, sessionID, arguments: words }, { parts }) => {
      const answer = await ask("command", { session: sessionID, command, arguments: words }, PATIENCE.message)
      for (const text of answer.parts ?? []) parts.push({ type: "text", synthetic: true, text } as any) // without ids
    }),
    "experimental.chat.system.transform": safe(async ({ sessionID, model }, { system }) => {
      const about = { model: model && `${model.providerID}/${model.id}`, limit: model?.limit }
      const { text } = sessionID ? await ask("system", { session: sessionID, ...about }) : {}
      if (text) system.push(text)
    }),
    "experimental.text.complete": safe(async ({ sessionID }, { text }) => {
      await ask("said", { session: sessionID, text })
    }),
    "experimental.session.compacting": safe(async ({ sessionID }, { context }) => {
      const answer = await ask("compacting", { session: sessionID }, PATIENCE.message)
      context.push(...(answer.context ?? []))
    }),
    "tool.execute.after": safe(async ({ tool, sessionID, args }, output) => {
      const shown = { output: output?.output, exit: output?.metadata?.exit }
      const answer = await ask("tool", { session: sessionID, tool, args, ...shown })
      if (typeof answer.output === "string") output.output = answer.output
    }),
    "tool.definition": safe(async ({ toolID }, output) => {
      const own = schemas.get(toolID)
      // Else every parameter would be required; the published type does not name this field.
      if (own) (output as Values).jsonSchema = own
    }),
    event: safe(async ({ event }) => {
      const method = EVENTS[event.type]
      if (!method) return
      const { info = {}, ...about } = event.properties as Values
      // A message is told of at each of its changes, and counts once it is whole.
      if (method === "answered" && !(info.role === "assistant" && info.time?.completed)) return
      if (method === "reverted" && !info.revert) return
      const session = about.sessionID ?? info.sessionID ?? info.id
      const model = `${info.providerID}/${info.modelID}`
      const answer = { message: info.id, model, tokens: info.tokens, summary: !!info.summary }
      const other = { parent: info.parentID, message: info.revert?.messageID }
      if (session) await ask(method, { session, ...(method === "answered" ? answer : other) }, PATIENCE.message)
    }),
    dispose: safe(async () => {
      if (shared[here] === bridge) delete shared[here]
      await bridge.end()
    }),
  }
  return hooks
}

export default { id: "mdmemory", server } satisfies PluginModule
