// Calls operations whose audit log is the file of its first argument, and prints what became of them.

import { openAudit } from "../../../src/node.ts"
import { createRegistry, isCallError } from "../../../src/index.ts"
import { silentLogger } from "../../../src/internal/logger.ts"
import { operation } from "../../support/operations.ts"

const [file = "", how = "", onFailure] = process.argv.slice(2)
const print = (value: unknown): void => void process.stdout.write(`${JSON.stringify(value)}\n`)

let ran = 0
const registry = createRegistry([
  operation("t.write", { type: "mutation", handler: () => ++ran }),
  operation("t.read", { type: "query", handler: (input: unknown) => input }),
])

try {
  const audit = await openAudit(file, {
    key: "the key of two processes",
    fsync: "never",
    onFailure: onFailure as "refuse" | undefined,
    logger: silentLogger,
  })
  audit.attach(registry)
  if (how === "hold") {
    await registry.execute("t.write", 0)
    print({ ready: true })
    process.stdin.resume()
    process.stdin.once("data", () => void audit.close())
  } else if (how === "endless") {
    // Until it is killed.
    for (let at = 0; ; at++) {
      await Promise.all(Array.from({ length: 20 }, () => registry.execute("t.write", { at })))
      print({ ran })
    }
  } else if (how === "fill") {
    await fill()
    await audit.close()
  }
} catch (error) {
  print({ code: isCallError(error) ? error.code : "?", message: (error as Error).message })
}

/** Calls mutations until one is refused, then queries. */
async function fill(): Promise<void> {
  let calls = 0
  let refused: unknown
  while (refused === undefined && calls < 2000) {
    calls++
    await registry.execute("t.write", { at: calls }).catch((error: unknown) => (refused = error))
  }
  const before = ran
  const reads = await Promise.all([1, 2, 3].map((at) => registry.execute("t.read", at)))
  const { code, mayHaveExecuted } = (refused ?? {}) as { code?: string; mayHaveExecuted?: boolean }
  print({ calls, ran: before, code, mayHaveExecuted, reads: reads.map(({ data }) => data) })
}
