import { once } from "node:events"
import { formatFault } from "../../config/error.ts"
import type { ResolvedConfig } from "../../config/model.ts"
import type { Hub } from "../../hub/model.ts"
import { watchFiles } from "../../hub/watch.ts"
import { UsageError, type CommandDefinition, type CommandArgs, type CommandIO } from "../model.ts"
import { printError, note, escapeForTerminal, styled } from "../output.ts"
import { missingLines, missingPackages, packagesOfServer, packagesOfSources } from "../packages.ts"
import { configFor } from "../target/config.ts"

export const command: CommandDefinition = {
  usage: "",
  details: [
    "Opens all sources at once; one that fails is tried again while the others serve. Changes of the",
    "configuration, of scanned folders and of documents are taken up without ending a call.",
    "With --stdio one MCP client is served on standard input and output, and nothing else.",
  ].join(" "),
  examples: [
    ["serve", "the configuration here or above, on its port or 3000"],
    ["serve --port 0 --openapi ./petstore.yaml", "one document, on any port that is free"],
    ["serve --stdio", "as the command of an MCP server in an editor's configuration"],
  ],
  options: {
    port: { type: "string", short: "p", value: "number", description: "0 for any that is free" },
    host: { type: "string", value: "address", description: "Default: 127.0.0.1" },
    stdio: { type: "boolean", description: "Serve MCP on standard input and output" },
    watch: { type: "boolean", description: "Apply changes of files; on by default" },
    "no-watch": { type: "boolean", description: "Do not apply changes of files" },
  },
  hasSources: true,
  arity: [0, 0],
  run,
}

async function run(args: CommandArgs, io: CommandIO): Promise<number> {
  checkOptions(args)
  if (!args.flag("stdio")) return await serve(args, io, (hub) => serveWeb(hub, args, io))
  // Standard output is for the protocol: nothing else may be written there.
  const release = protectStdout()
  const own = { ...io, stdout: io.stderr }
  try {
    return await serve(args, own, (hub) => serveStdio(hub, own, release))
  } finally {
    release()
  }
}

/** Opens the hub, uses it, and closes it. */
async function serve(
  args: CommandArgs,
  io: CommandIO,
  use: (hub: Hub) => Promise<void>,
): Promise<number> {
  const watch = !args.flag("no-watch")
  await using hub = await openHub(await configFor(args, io), watch, io)
  const load = (): Promise<ResolvedConfig> => configFor(args, io, { fresh: true })
  const following = watch ? followConfig(hub, load, io) : undefined
  try {
    await use(hub)
  } finally {
    await following?.close()
  }
  return 0
}

function checkOptions(args: CommandArgs): void {
  if ((args.count("port") ?? 0) > 65_535) {
    throw new UsageError(`--port takes a number up to 65535; got "${args.text("port")}".`)
  }
  if (args.flag("watch") && args.flag("no-watch")) {
    throw new UsageError("Give either --watch or --no-watch; got both.")
  }
  const web = ["port", "host", "json"].find((name) => args.flag(name))
  if (args.flag("stdio") && web !== undefined) {
    throw new UsageError(`--stdio serves no port, and prints nothing; it goes without --${web}.`)
  }
  if (args.flag("hub")) {
    throw new UsageError("--hub names a running hub. To serve its operations: --remote <url>")
  }
}

async function openHub(config: ResolvedConfig, watch: boolean, io: CommandIO): Promise<Hub> {
  const [{ createHub }, { approvalsFile }, { commandLogger }, { printProgress, noteSlowSources }] =
    await Promise.all([
      import("../../hub/create-hub.ts"),
      import("../target/open-hub.ts"),
      import("../serve/logger.ts"),
      import("../serve/summary.ts"),
    ])
  for (const warning of config.warnings ?? [])
    note(io, escapeForTerminal(formatFault(warning, config.file)))
  const hub = createHub(config, {
    ...{ env: io.env, logger: commandLogger(io), watch },
    approvalsFile: approvalsFile(config, io),
  })
  printProgress(hub, io)
  noteSlowSources(hub, io)
  return hub
}

async function serveWeb(hub: Hub, args: CommandArgs, io: CommandIO): Promise<void> {
  const [{ serveHub }, { printSummary }] = await Promise.all([
    import("../../hub/serve-hub.ts"),
    import("../serve/summary.ts"),
  ])
  printMissingPackages(hub.config, io)
  const served = await serveHub(hub, { port: args.count("port"), host: args.text("host") })
  try {
    const stopped = Promise.race([untilAborted(io.signal), parentGone(io.env, io.signal)])
    await Promise.race([hub.ready(), stopped])
    if (!io.signal.aborted) printSummary(hub, served, args.flag("json"), io)
    await stopped
    note(io, "Stopping: running calls are finished, new ones are refused.")
  } finally {
    await served.close()
  }
}

/** Reports packages that are not installed, and what cannot be served or opened without them. */
function printMissingPackages(config: ResolvedConfig, io: CommandIO): void {
  const needed = [...packagesOfServer(config), ...packagesOfSources(config.sources)]
  const { yellow } = styled(io, io.stderr)
  for (const line of missingLines(missingPackages(needed), io)) {
    printError(io, `${yellow("!")} ${escapeForTerminal(line)}`)
  }
}

async function serveStdio(hub: Hub, io: CommandIO, release: () => void): Promise<void> {
  const [{ toMCP }, { commandLogger }] = await Promise.all([
    import("../../to-mcp.ts"),
    import("../serve/logger.ts"),
  ])
  const stopped = untilAborted(io.signal)
  // The client started this process and can read its log anyway.
  const { title = "operations", description, errors = "expose" } = hub.config.server
  const server = toMCP(hub.registry, {
    name: title,
    logger: commandLogger(io),
    errors,
    // Many clients give up when a server does not answer within ten seconds: only lists wait for sources.
    ready: hub.ready(),
    ...(description !== undefined && { instructions: description }),
  })
  try {
    release()
    const connection = await server.stdio({ exit: false })
    await Promise.race([connection.closed, stopped])
  } finally {
    await server.close()
  }
}

async function untilAborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, "abort")
}

/**
 * Resolves when the parent process is gone; never if that cannot be detected.
 *
 * `npm` signals the shell of a script, and many shells exit without passing it on: stopping
 * `npm start` would leave a hub running unnoticed.
 */
export function parentGone(
  env: Readonly<Record<string, string | undefined>>,
  signal: AbortSignal,
): Promise<void> {
  const parent = process.ppid
  return new Promise((resolve) => {
    if (env["npm_lifecycle_event"] === undefined || process.platform === "win32") return
    const timer = setInterval(() => {
      if (process.ppid === parent) return
      clearInterval(timer)
      resolve()
    }, 500)
    timer.unref()
    signal.addEventListener("abort", () => clearInterval(timer), { once: true })
  })
}

/**
 * Redirects standard output to standard error until the protocol claims it.
 *
 * Configurations and modules run before that, and some of them print.
 */
export function protectStdout(): () => void {
  const { stdout, stderr } = process
  const original = stdout.write.bind(stdout)
  const replaced = stderr.write.bind(stderr)
  stdout.write = replaced
  return () => {
    if (stdout.write === replaced) stdout.write = original
  }
}

/** Reloads the configuration whenever its file changes; after a mistake the previous one stays in use. */
export function followConfig(
  hub: Hub,
  load: () => Promise<ResolvedConfig>,
  io: CommandIO,
): { close(): Promise<void> } {
  const { file } = hub.config
  if (file === undefined) return { close: () => Promise.resolve() }
  let running = Promise.resolve()
  let isClosed = false
  const reload = async (): Promise<void> => {
    if (isClosed) return
    try {
      const config = await load()
      if (isClosed) return
      const isServedAnew = startedWith(config) !== startedWith(hub.config)
      await hub.apply(config)
      note(io, `${escapeForTerminal(file)} has changed and is in use.`)
      if (isServedAnew) {
        note(io, `Changes under "server" take effect after a restart, except for API keys.`)
      }
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      printError(io, `${escapeForTerminal(reason)}\nThe previous configuration stays in use.`)
    }
  }
  const watching = watchFiles([file], () => {
    // Sequentially, so that the last version of the file wins.
    running = running.then(reload)
  })
  return {
    async close() {
      isClosed = true
      watching.close()
      await running
    },
  }
}

/** The settings that need a restart: all of the server's but its API keys, unless these are the first or the last. */
function startedWith({ server }: ResolvedConfig): string {
  const hasKeys = (server.apiKeys ?? []).length > 0
  return JSON.stringify({ ...server, apiKeys: hasKeys })
}
