import { PassThrough } from "node:stream"
import { describe, expect, test } from "vitest"
import { createAnswerer } from "../../../src/cli/prompt/answer.ts"
import { Interrupted, withTerminal } from "../../../src/cli/prompt/terminal.ts"
import type { CommandIO } from "../../../src/cli/model.ts"
import { UsageError } from "../../../src/cli/model.ts"

const CTRL_C = "\u0003"
const CTRL_D = "\u0004"

function terminal() {
  const stdin = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => undefined })
  const written: string[] = []
  const stop = new AbortController()
  let wanted: { text: string; done: () => void } | undefined
  const stderr = {
    isTTY: true,
    columns: 80,
    write: (text: string | Uint8Array) => {
      written.push(String(text))
      if (wanted !== undefined && written.join("").includes(wanted.text)) wanted.done()
      return true
    },
  }
  const io = {
    ...{ stdin, stderr, stdout: stderr, env: { NO_COLOR: "1" }, cwd: "/home/ada" },
    ...{ signal: stop.signal, program: "operations" },
  } as unknown as CommandIO
  /** Waits until a text was written, then forgets what was. */
  const seen = async (text: string): Promise<void> => {
    if (!written.join("").includes(text)) {
      await new Promise<void>((done) => {
        wanted = { text, done }
      })
    }
    wanted = undefined
    written.length = 0
  }
  return { io, stdin, stop, seen, shown: () => written.join("") }
}

describe("withTerminal", () => {
  test("lines that were pasted together answer questions to come", async () => {
    const { io, stdin, shown } = terminal()
    const answers = withTerminal(io, async (person) => {
      const first = await person.ask("one> ")
      return [first, await person.ask("two> "), await person.ask("three> ", { isHidden: true })]
    })
    stdin.write("a\r\nb\r\nc\r\n")
    expect(await answers).toEqual(["a", "b", "c"])
    expect(shown()).toContain("two> b\n")
    expect(shown()).toContain("three> \n")
  })

  test("Ctrl-C, Ctrl-D, the end of stdin and a signal each end a question", async () => {
    for (const [end, error] of [
      [({ stdin }) => stdin.write(CTRL_C), Interrupted],
      [({ stdin }) => stdin.write(CTRL_D), UsageError],
      [({ stdin }) => stdin.end(), UsageError],
      [({ stop }) => stop.abort("SIGINT"), Interrupted],
    ] as [(one: ReturnType<typeof terminal>) => void, typeof Error][]) {
      const one = terminal()
      const asked = withTerminal(one.io, (person) => person.ask("> "))
      end(one)
      await expect(asked).rejects.toBeInstanceOf(error)
    }
  })

  test("an earlier signal ends the first question, and no second one is asked", async () => {
    const { io, stop } = terminal()
    stop.abort("SIGINT")
    await expect(withTerminal(io, (person) => person.ask("> "))).rejects.toThrow(Interrupted)
    const other = terminal()
    await withTerminal(other.io, async (person) => {
      const first = person.ask("> ")
      other.stdin.write(CTRL_C)
      await expect(first).rejects.toThrow(Interrupted)
      await expect(person.ask("> ")).rejects.toThrow(Interrupted)
    })
  })

  test("leaves no listener behind", async () => {
    const { io, stdin } = terminal()
    const before = stdin.listenerCount("end")
    for (let round = 0; round < 20; round++) {
      const asked = withTerminal(io, (person) => person.ask("> "))
      stdin.write("x\n")
      expect(await asked).toBe("x")
    }
    expect(stdin.listenerCount("end")).toBe(before)
    expect(stdin.listenerCount("data")).toBeLessThanOrEqual(1)
  })

  test("edits a line, wide characters included", async () => {
    const { io, stdin } = terminal()
    const asked = withTerminal(io, (person) => person.ask("> "))
    stdin.write("日本x\u007F!\n")
    expect(await asked).toBe("日本!")
  })
})

describe("createAnswerer", () => {
  test("asks one question after the other", async () => {
    const { io, stdin, seen } = terminal()
    const answer = createAnswerer(io, () => {})
    const both = Promise.all([
      answer({ type: "url", message: "Pay", url: "https://pay.example/1" }),
      answer({ type: "roots" }),
    ])
    await seen("Have you done it? y/n> ")
    stdin.write("what\n")
    await seen("Type y or n.")
    stdin.write("y\n")
    await seen("Tell it? y/n> ")
    stdin.write("y\n")
    expect(await both).toEqual([
      { action: "accept" },
      { action: "accept", content: { roots: [{ uri: "file:///home/ada" }] } },
    ])
  })

  test("folders are listed only if the user agrees", async () => {
    const { io, stdin, seen } = terminal()
    const answer = createAnswerer(io, () => {})({ type: "roots" })
    await seen("/home/ada")
    stdin.write("n\n")
    expect(await answer).toEqual({ action: "decline" })
  })

  test("a URL is shown with control characters escaped", async () => {
    const { io, stdin, shown } = terminal()
    const url = "https://evil.example/\u001B]8;;x\u0007"
    const answer = createAnswerer(io, () => {})({ type: "url", message: "\u001B[2J", url })
    stdin.write("n\n")
    expect(await answer).toEqual({ action: "decline" })
    expect(shown()).not.toContain("\u001B]8")
    expect(shown()).toContain(String.raw`\u001b[2J`)
  })

  test("a language model cannot be asked, and the next question can", async () => {
    const { io, stdin } = terminal()
    const answer = createAnswerer(io, () => {})
    await expect(answer({ type: "sampling", params: {} })).rejects.toMatchObject({
      code: "UNAVAILABLE",
    })
    const next = answer({ type: "roots" })
    stdin.write("n\n")
    expect(await next).toEqual({ action: "decline" })
  })

  test("Ctrl-C cancels, and ends the call", async () => {
    const { io, stdin, seen } = terminal()
    let interrupts = 0
    const answer = createAnswerer(io, () => interrupts++)
    const asked = answer({ message: "Name?", schema: { properties: { name: {} } } })
    await seen("Answer it?")
    stdin.write(CTRL_C)
    expect(await asked).toEqual({ action: "cancel" })
    expect(interrupts).toBe(1)
  })

  test("after Ctrl-C no other question is shown, neither one that waits nor one that comes", async () => {
    const { io, stdin, seen, shown } = terminal()
    let interrupts = 0
    const answer = createAnswerer(io, () => interrupts++)
    const first = answer({ type: "url", message: "Pay", url: "https://pay.example/1" })
    const waiting = answer({ type: "roots" })
    await seen("Have you done it? y/n> ")
    stdin.write(CTRL_C)
    expect(await Promise.all([first, waiting])).toEqual([
      { action: "cancel" },
      { action: "cancel" },
    ])
    expect(await answer({ type: "roots" })).toEqual({ action: "cancel" })
    expect(shown()).toBe("\n")
    expect(interrupts).toBe(1)
  })
})
