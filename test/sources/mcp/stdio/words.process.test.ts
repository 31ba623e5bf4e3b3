import { expect, test } from "vitest"
import { rejection } from "../../../support/operations.ts"
import { child } from "./support.ts"

/** A child that runs a program of one line. */
const program = (code: string, parts = {}) => child([], { args: ["-e", code], ...parts })

const HELLO = `console.log('{"jsonrpc":"2.0","method":"hello","params":{}}')`

test("a server without a name is called one", async () => {
  const { transport } = child([], { server: undefined })
  expect(String(await rejection(transport.send({})))).toContain(
    "MCP server cannot be reached: it was not started.",
  )
})

test("a child that has ended is reported by its exit code, and by its signal", async () => {
  for (const [code, words] of [
    ["process.exit(3)", "it has ended (exit code 3)."],
    ["process.kill(process.pid, 'SIGTERM'); setTimeout(() => {}, 9999)", "it has ended (SIGTERM)."],
  ] as const) {
    const { transport, closed } = program(code)
    await transport.start()
    await closed
    expect(String(await rejection(transport.send({})))).toContain(words)
  }
})

test("what a listener throws is reported, whatever it is, and the child lives on", async () => {
  const observed = program(`${HELLO}; setTimeout(() => {}, 9999)`)
  const seen = new Promise<Error>((resolve) => {
    observed.transport.onerror = (error) => {
      resolve(error)
      throw new Error("and that is too much")
    }
  })
  observed.transport.onmessage = () => {
    // oxlint-disable-next-line typescript/only-throw-error -- listeners are the user's
    throw "a text"
  }
  await observed.transport.start()

  expect(await seen).toMatchObject({ name: "Error", message: "a text" })
  expect(observed.transport.exit).toBeUndefined()
})
