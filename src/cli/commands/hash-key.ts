import { randomBytes } from "node:crypto"
import { InputReader, textOf } from "../input/read.ts"
import { UsageError, type CommandDefinition, type CommandIO } from "../model.ts"
import { printError, note, print, printJson } from "../output.ts"
import { withTerminal } from "../prompt/terminal.ts"

/** Maximum length of a key: a file that is piped in by mistake is not hashed. */
const MAX_KEY = 4096

export const command: CommandDefinition = {
  usage: "",
  details: `The key is typed without being shown, or comes from standard input. It is never an argument: those
are kept in the history of the shell, and other users see them in the list of processes. With
--generate a new key is made, and shown once on standard error. Only the hash belongs into a
configuration:
  apiKeys: [{ hash: "…", identity: { id: "ada", scopes: [] } }]`,
  examples: [
    ["hash-key", "Type a key"],
    ["hash-key --generate", "Make a key"],
    ["hash-key < key.txt", "The key of a file"],
  ],
  options: {
    generate: { type: "boolean", description: "Make a random key, and show it once" },
  },
  hasSources: false,
  arity: [0, 100],
  async run(args, io) {
    if (args.positionals.length > 0) {
      throw new UsageError(
        `"hash-key" takes no key as an argument: it would stay in the history of the shell, where this one is now. ` +
          "Make a new one with --generate, or type or pipe a key.",
      )
    }
    const isNew = args.flag("generate")
    const key = isNew ? randomBytes(32).toString("base64url") : await readKey(io)
    const hash = await hashOf(key)
    if (args.flag("json")) {
      printJson(io, isNew ? { hash, key } : { hash })
      return 0
    }
    // Also under --quiet: the key cannot be recovered later.
    if (isNew) printError(io, `The key, which is shown only now: ${key}`)
    print(io, hash)
    note(io, `For "apiKeys": { hash: "${hash}", identity: { id: "<who>", scopes: [] } }`)
    return 0
  },
}

async function readKey(io: CommandIO): Promise<string> {
  if (io.stdin.isTTY === true) {
    if (io.stderr.isTTY !== true) {
      throw new UsageError("Pipe the key into standard input, or make one with --generate.")
    }
    const typed = await withTerminal(io, (terminal) =>
      terminal.ask("API key (not shown): ", { isHidden: true }),
    )
    return typed.trim()
  }
  const what = "standard input"
  const key = textOf(await new InputReader(io).stdin(what), what).trim()
  if (key === "") {
    throw new UsageError(
      "There is no key on standard input. Pipe one into it, or make one with --generate.",
    )
  }
  return key
}

/** The hash; an error describes a valid key, and never shows the input. */
async function hashOf(key: string): Promise<string> {
  const { hashApiKey } = await import("../../to-http.ts")
  try {
    if (key.length <= MAX_KEY) return hashApiKey(key)
  } catch {
    // Reported below, in the words of the command.
  }
  throw new UsageError(
    `An API key has 16 to ${MAX_KEY} visible ASCII characters without spaces. Make one with --generate.`,
  )
}
