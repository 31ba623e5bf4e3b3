// oxlint-disable no-console -- the console is what is looked at
import { Writable } from "node:stream"
import nodeConsole from "node:console"
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest"
import { claimOutput } from "../../../src/serve/mcp/stdout.ts"
import type { ClaimedOutput, OutputLike } from "../../../src/serve/mcp/stdout.ts"

/** A stream that keeps what was written to it. */
class Kept extends Writable {
  text = ""

  override _write(chunk: unknown, _encoding: unknown, done: () => void): void {
    this.text += String(chunk)
    done()
  }
}

const claims: ClaimedOutput[] = []

function claim(stdout: Kept, stderr: Kept): ClaimedOutput {
  const claimed = claimOutput(stdout as unknown as OutputLike, stderr as unknown as OutputLike)
  claims.push(claimed)
  return claimed
}

/** Puts another console in place until the end of a test. */
function withConsole(parts: Record<string, unknown>): Record<string, unknown> {
  vi.stubGlobal("console", parts)
  return parts
}

let stdout = new Kept()
let stderr = new Kept()
beforeEach(() => {
  stdout = new Kept()
  stderr = new Kept()
})
afterEach(() => {
  for (const claimed of claims.splice(0)) claimed.release()
  vi.unstubAllGlobals()
})

describe("standard output that is claimed", () => {
  test("is written to by the one who claimed it; what others write goes to standard error", () => {
    const { write } = claim(stdout, stderr)

    write("message\n")
    stdout.write("a stray line\n")

    expect(stdout.text).toBe("message\n")
    expect(stderr.text).toBe("a stray line\n")
  })

  test("is everyone's again when it is released", () => {
    const claimed = claim(stdout, stderr)
    claimed.release()

    stdout.write("mine again")

    expect(stdout.text).toBe("mine again")
    expect(stderr.text).toBe("")
  })

  test("an output that was replaced meanwhile is not restored", () => {
    const claimed = claim(stdout, stderr)
    const theirs = (): boolean => true
    stdout.write = theirs

    claimed.release()

    expect(stdout).toHaveProperty("write", theirs)
  })
})

describe("the console", () => {
  test("speaks to standard error while standard output is claimed", () => {
    const log = vi.fn()
    const { Console } = nodeConsole
    const shared = withConsole({ Console, log, own: vi.fn(), count: 7, notMine: () => undefined })
    const { own, notMine } = shared
    const claimed = claim(stdout, stderr)

    console.log("hello", { a: 1 })

    expect(stderr.text).toBe("hello { a: 1 }\n")
    expect(log).not.toHaveBeenCalled()
    expect(shared).toMatchObject({ Console, own, count: 7, notMine })
    claimed.release()
    console.log("as before")
    expect(log).toHaveBeenCalledExactlyOnceWith("as before")
  })

  test("keeps a method that someone has replaced since", () => {
    const theirs = vi.fn()
    const shared = withConsole({ Console: nodeConsole.Console, log: vi.fn(), warn: vi.fn() })
    const { warn } = shared
    const claimed = claim(stdout, stderr)
    shared["log"] = theirs

    claimed.release()

    expect(shared).toMatchObject({ log: theirs, warn })
  })

  test("is left alone where no other can be made", () => {
    const log = vi.fn()
    withConsole({ log })
    claim(stdout, stderr).release()
    claim(stdout, stderr)

    console.log("said")

    expect(log).toHaveBeenCalledExactlyOnceWith("said")
    expect(stderr.text).toBe("")
  })
})
