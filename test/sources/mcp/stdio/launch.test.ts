import { describe, expect, test, vi } from "vitest"
import { launch, launchFailure } from "../../../../src/sources/mcp/client/stdio/launch.ts"
import type { NodeLike } from "../../../../src/sources/mcp/client/stdio/node.ts"

const parameters = { command: "run", args: ["a"], env: { A: "1" } }

/** As much of Node as starting takes. */
function node(platform = "linux", folder: boolean | Error = true, spawn?: unknown): NodeLike {
  return {
    host: { platform },
    spawn,
    stat: async () => {
      if (folder instanceof Error) throw folder
      return { isDirectory: () => folder }
    },
  } as unknown as NodeLike
}

const coded = (code: unknown): Error => Object.assign(new Error("spawn"), { code })

async function said(
  cause: unknown,
  parts: { command?: string; cwd?: string } = {},
  on: NodeLike = node(),
): Promise<{ readonly retryable: boolean; readonly message: string }> {
  return await launchFailure("It", on, { ...parameters, ...parts }, cause)
}

test("a program leads a group of its own where there are groups, and runs without a shell", () => {
  const [onLinux, onWindows] = [vi.fn(), vi.fn()]

  launch(node("linux", true, onLinux), { ...parameters, cwd: "/tmp" })
  launch(node("win32", true, onWindows), parameters)

  expect(onLinux).toHaveBeenCalledExactlyOnceWith(
    "run",
    ["a"],
    expect.objectContaining({ cwd: "/tmp", detached: true, shell: false }),
  )
  expect(onWindows).toHaveBeenCalledExactlyOnceWith(
    "run",
    ["a"],
    expect.not.objectContaining({ cwd: expect.anything(), detached: true }),
  )
})

describe("a program that did not start", () => {
  test.each<[string, boolean, string]>([
    ["ENOENT", false, "there is no such program. Install it"],
    ["EACCES", false, "(EACCES): it may not be executed"],
    ["EPERM", false, "(EPERM): it may not be executed"],
    ["E2BIG", false, "too large together"],
    ["EAGAIN", true, "(EAGAIN): the system is out of resources"],
    ["EMFILE", true, "out of resources"],
    ["ENFILE", true, "out of resources"],
    ["ENOMEM", true, "out of resources"],
    ["EODD", false, "could not be started (EODD). Install it"],
  ])("for %s", async (code, retryable, words) => {
    const error = await said(coded(code))

    expect(error).toMatchObject({ code: "UNAVAILABLE", retryable, mayHaveExecuted: false })
    expect(error.message).toContain(words)
  })

  test("for a reason that the system does not name", async () => {
    for (const cause of [coded(7), "odd", null, undefined]) {
      expect((await said(cause)).message).toContain("could not be started. Install it")
    }
  })

  test("because its folder is not there, which the system does not tell", async () => {
    for (const on of [node("linux", false), node("linux", new Error("none"))]) {
      const { message } = await said(coded("ENOENT"), { cwd: "/gone" }, on)
      expect(message).toContain(`"cwd" is not an accessible folder: "/gone"`)
    }
    expect((await said(coded("ENOENT"), { cwd: "/there" })).message).toContain("no such program")
  })

  test("comes with a cure for where it runs and how it was written", async () => {
    expect((await said(coded("ENOENT"), {}, node("win32"))).message).toContain(`"command": "cmd"`)
    expect((await said(coded("ENOENT"), { command: "npx -y x" })).message).toContain(
      `put what follows it into "args"`,
    )
  })
})
