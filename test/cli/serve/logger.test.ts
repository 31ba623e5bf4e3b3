import { expect, test } from "vitest"
import { commandLogger } from "../../../src/cli/serve/logger.ts"
import { testIO } from "../support/run.ts"

test("an error of an operation is a line with its fields, and its stack line by line", () => {
  const io = testIO({})
  const logger = commandLogger(io)
  logger.error("An operation failed", {
    operationId: "a.b",
    stack: "Error: x\n    at \u001B[2Jhere\n    at there",
  })
  logger.error("Alone")
  logger.warn("Not without --verbose", { stack: "x" })
  expect(io.stderr.text).toBe(
    [
      'An operation failed {"operationId":"a.b"}',
      "Error: x",
      String.raw`    at \u001b[2Jhere`,
      "    at there",
      "Alone",
      "",
    ].join("\n"),
  )
})
