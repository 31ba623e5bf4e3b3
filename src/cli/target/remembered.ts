import { stringsOf } from "../../internal/guards.ts"
import { resolve } from "node:path"
import { findConfig } from "../../hub/config-file/find.ts"
import type { CommandArgs, CommandIO, Target } from "../model.ts"
import { nestedPropertiesOf } from "../schema-text.ts"
import { SOURCE_NAMES } from "../shared-options.ts"
import { hashOf, readState, writeState } from "../state.ts"
import { hubAddress } from "./hub-address.ts"

/** Names that earlier commands have seen, for completion, which opens no source. */
export interface RememberedNames {
  readonly sources: readonly string[]
  readonly operations: readonly string[]
  /** Inputs of operations that were looked up. */
  readonly inputs: Readonly<Record<string, readonly string[]>>
}

const NOTHING: RememberedNames = { sources: [], operations: [], inputs: {} }
const MAX_OPERATIONS = 5_000
const MAX_INPUTS = 200

/** The remembered names of a command line's sources. */
export async function recall(args: CommandArgs, io: CommandIO): Promise<RememberedNames> {
  const state = (await readState(io.env, await fileOf(args, io))) as
    | Partial<RememberedNames>
    | null
    | undefined
  const { sources, operations, inputs } = state ?? {}
  return {
    sources: stringsOf(sources),
    operations: stringsOf(operations),
    inputs: typeof inputs === "object" && inputs !== null ? inputs : {},
  }
}

/** Wraps a target so that the names it returns are remembered. */
export function remembering(
  target: Target,
  sources: readonly string[],
  args: CommandArgs,
  io: CommandIO,
): Target {
  const list = target.list.bind(target)
  const find = target.find.bind(target)
  target.list = async (query) => {
    const listed = await list(query)
    const isAll = query.query === undefined && listed.operations.length === listed.total
    if (isAll && query.namespace === undefined && query.type === undefined) {
      const operations = listed.operations.slice(0, MAX_OPERATIONS).map(({ id }) => id)
      await update(args, io, (remembered) => ({ ...remembered, sources, operations }))
    }
    return listed
  }
  target.find = async (id) => {
    const spec = await find(id)
    const inputs = (nestedPropertiesOf(spec.inputSchema) ?? [])
      .map(({ name }) => name)
      // Objects in lists are given as JSON.
      .filter((name) => !name.includes("[]."))
    await update(args, io, (remembered) => {
      const kept = Object.entries(remembered.inputs).filter(([one]) => one !== id)
      return {
        ...remembered,
        sources,
        inputs: Object.fromEntries([...kept, [id, inputs] as const].slice(-MAX_INPUTS)),
      }
    })
    return spec
  }
  return target
}

async function update(
  args: CommandArgs,
  io: CommandIO,
  change: (remembered: RememberedNames) => RememberedNames,
): Promise<void> {
  try {
    const remembered = await recall(args, io).catch(() => NOTHING)
    const next = change(remembered)
    if (JSON.stringify(remembered) === JSON.stringify(next)) return
    await writeState(io.env, await fileOf(args, io), next)
  } catch {
    // A command works even if names cannot be stored.
  }
}

/** The file name for a command line's sources. */
async function fileOf(args: CommandArgs, io: CommandIO): Promise<string> {
  const hub = hubAddress(args, io)?.url
  const own = SOURCE_NAMES.map((name) => args.texts(name))
  const named = args.text("config")
  const isFound = hub === undefined && own.every((texts) => texts.length === 0)
  const config = named === undefined ? (isFound ? await findConfig(io.cwd) : io.cwd) : named
  const place = [hub ?? null, own, config === undefined ? null : resolve(io.cwd, config)]
  return `names-${hashOf(JSON.stringify(place)).slice(0, 32)}.json`
}
