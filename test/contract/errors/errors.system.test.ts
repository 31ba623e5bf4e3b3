import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { HIDDEN_MESSAGE } from "../../../src/internal/error-text.ts"
import { provideBrokers } from "../../support/brokers.ts"
import { SECRET, startUpstream } from "./operations.ts"
import { openSurface, SURFACES } from "../../support/surfaces.ts"
import type { Surface } from "../../support/surfaces.ts"

const BROKERS = await provideBrokers()

interface Row {
  readonly code: string
  /** What a caller reads when everything is shown, and whether that is also so by default. */
  readonly message: string
  readonly isPublic?: true
  readonly details?: unknown
  readonly items?: readonly unknown[]
  /** What the one log line has, beside what all have; none where the error is part of the contract. */
  readonly logged?: Readonly<Record<string, unknown>>
}

const here = expect.stringContaining("operations.ts") as string

const ROWS: Readonly<Record<string, Row>> = {
  "err.plain": {
    code: "EXECUTION_ERROR",
    message: SECRET,
    logged: {
      error: SECRET,
      cause: `Error: ${SECRET}; caused by Error: the socket was closed`,
      stack: here,
    },
  },
  "err.text": {
    code: "UNKNOWN_ERROR",
    message: `Something that is not an Error was thrown: "${SECRET}"`,
    logged: { cause: `"${SECRET}"`, stack: expect.any(String) as string },
  },
  "err.purpose": {
    code: "EXECUTION_ERROR",
    message: "The printer is out of paper.",
    isPublic: true,
    logged: { error: "The printer is out of paper.", stack: here },
  },
  "err.busy": { code: "BUSY", message: "Come back later.", isPublic: true },
  "err.declared": {
    code: "SOLD_OUT",
    message: "Sold out.",
    isPublic: true,
    details: { sku: "tea" },
  },
  "err.nested": {
    code: "EXECUTION_ERROR",
    message: SECRET,
    logged: { cause: `Error: ${SECRET}`, failedIn: "err.inner", stack: here },
  },
  "err.stream": {
    code: "EXECUTION_ERROR",
    message: SECRET,
    items: [1, 2],
    logged: { cause: `Error: ${SECRET}`, stack: here },
  },
  "err.strict": {
    code: "OUTPUT_VALIDATION_ERROR",
    message: `Output of "err.strict" is invalid: /${SECRET} must be number, got string.`,
    logged: { error: expect.stringContaining(SECRET) as string },
  },
  "err.upstream": {
    code: "EXECUTION_ERROR",
    message: "The upstream says no",
    isPublic: true,
    logged: { error: expect.stringContaining("HTTP 500") as string },
  },
}

describe.each(Object.keys(SURFACES))("errors of operations over %s", (name) => {
  const isBroker = name === "NATS" || name === "Redis"
  const isOneApplication = name === "memory" || name === "worker"

  describe
    .skipIf(isBroker && BROKERS[name] === undefined)
    .each(["hide", "expose", undefined] as const)("with errors: %s", (errors) => {
    const hides = errors === "hide" || (errors === undefined && !isOneApplication)
    let surface: Surface
    const opened: AsyncDisposable[] = []
    beforeAll(async () => {
      const upstream = await startUpstream()
      opened.push(upstream)
      const broker = await BROKERS[name]?.()
      if (broker !== undefined) opened.push(broker)
      surface = await openSurface(name, { upstream: upstream.url, errors, broker: broker?.url })
      opened.push(surface)
    })
    afterAll(async () => {
      for (const one of opened.toReversed()) await one[Symbol.asyncDispose]()
    })

    test.each(Object.entries(ROWS))("%s", async (id, row) => {
      const open = row.items === undefined ? surface.call : surface.stream
      if (open === undefined) return
      for (const list of [surface.lines, surface.reported, surface.reportedByRegistry])
        list.length = 0

      const seen = await open(id)

      const { requestId } = seen
      expect(requestId).toEqual(expect.any(String))
      expect(seen).toMatchObject(visibleOf(row, hides))
      expect(surface.lines).toEqual(
        linesOf(row, { operationId: id, requestId, identity: "ada", code: row.code }),
      )
      for (const reports of [surface.reported, surface.reportedByRegistry]) {
        expect(reports.map(([error, call]) => [error.code, call])).toEqual(
          reportsOf(row, { operationId: id, requestId }),
        )
        expect(reports.every(([, { identity }]) => identity?.id === "ada")).toBe(true)
      }
    })
  })
})

function visibleOf(row: Row, hides: boolean): Readonly<Record<string, unknown>> {
  const { code, items = [] } = row
  if (hides && row.isPublic !== true) {
    return { code, items, message: HIDDEN_MESSAGE, details: undefined }
  }
  const message = expect.stringContaining(row.message) as string
  return { code, items, message, ...(row.details !== undefined && { details: row.details }) }
}

function linesOf({ logged }: Row, about: Readonly<Record<string, unknown>>): readonly unknown[] {
  const line = ["error", expect.objectContaining({ ...about, ...logged })]
  return logged === undefined ? [] : [line]
}

function reportsOf(
  { code, logged }: Row,
  call: Readonly<Record<string, unknown>>,
): readonly unknown[] {
  const report = [code, expect.objectContaining(call)]
  return logged === undefined ? [] : [report]
}
