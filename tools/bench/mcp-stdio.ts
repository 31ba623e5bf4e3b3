/** A server on standard input and output: its start, and its calls, next to one that is written by hand. */
import assert from "node:assert/strict"
import { spawn } from "node:child_process"
import { createInterface } from "node:readline"
import { resolve } from "node:path"
import { quoteInputs } from "./cases.ts"
import { TOOL } from "./contenders/mcp-servers.ts"
import { spreadOf } from "./measure.ts"

/** CPU of processes, in milliseconds of a start and microseconds of a call; medians. */
export interface StdioCost {
  readonly name: string
  /** Until `initialize` is answered, over Node alone. */
  readonly startMs: number
  readonly callMicroseconds: number
}

export const STDIO = "a server over stdio"
const PROGRAMS = ["node", "hand", "ours"] as const
const CALLS = 2000

/** Measures fresh processes, one of each in turn. */
export async function measureStdio(rounds: number): Promise<StdioCost[]> {
  const costs = PROGRAMS.map((): { start: number; call: number }[] => [])
  // The first round fills caches, and does not count.
  for (let round = 0; round <= rounds; round++) {
    for (const [at, program] of PROGRAMS.entries()) {
      const cost = await costOf(program)
      if (round > 0) costs[at]?.push(cost)
    }
  }
  const [bare = []] = costs
  const starts = (at: number): number[] =>
    (costs[at] ?? []).map(({ start }, round) => start - (bare[round]?.start ?? 0))
  return [`${STDIO}, by hand`, STDIO].map((name, at) => ({
    name,
    startMs: spreadOf(starts(at + 1)).median,
    callMicroseconds: spreadOf((costs[at + 1] ?? []).map(({ call }) => call)).median,
  }))
}

async function costOf(
  program: (typeof PROGRAMS)[number],
): Promise<{ start: number; call: number }> {
  const file = resolve(import.meta.dirname, "mcp-stdio-child.mjs")
  const child = spawn(process.execPath, [file, program], {
    stdio: ["pipe", "pipe", "inherit", "ipc"],
  })
  child.once("exit", (code) => {
    if (!child.killed) throw new Error(`"${program}" of ${file} ended with ${code}.`)
  })
  const waiting: ((line: string) => void)[] = []
  const { stdin, stdout } = child
  assert.ok(stdin !== null && stdout !== null)
  createInterface({ input: stdout }).on("line", (line) => waiting.shift()?.(line))
  const ask = (id: number, method: string, params: object): Promise<string> =>
    new Promise((done) => {
      waiting.push(done)
      stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`)
    })
  /** Microseconds of CPU so far. */
  const cpu = (): Promise<number> =>
    new Promise((done) => {
      child.once("message", (used) => done(used as number))
      child.send("cpu")
    })
  try {
    if (program === "node") return { start: (await cpu()) / 1000, call: 0 }
    const clientInfo = { name: "bench", version: "1.0.0" }
    const opening = { protocolVersion: "2025-11-25", capabilities: { elicitation: {} }, clientInfo }
    assert.match(await ask(0, "initialize", opening), /"protocolVersion"/)
    const start = (await cpu()) / 1000
    const call = async (count: number): Promise<void> => {
      for (let id = 1; id <= count; id++) {
        const input = quoteInputs[id % quoteInputs.length]
        const answer = await ask(id, "tools/call", { name: TOOL, arguments: input })
        assert.ok(answer.includes("structuredContent"), answer)
      }
    }
    await call(CALLS)
    const before = await cpu()
    await call(CALLS)
    return { start, call: ((await cpu()) - before) / CALLS }
  } finally {
    child.kill()
  }
}
