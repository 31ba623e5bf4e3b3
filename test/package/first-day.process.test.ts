import { spawn } from "node:child_process"
import type { ChildProcess } from "node:child_process"
import { once } from "node:events"
import { cp, mkdir, mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { basename, join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { freePort } from "../support/free-port.ts"
import { manifest, root } from "../support/manifest.ts"
import { BUILD_TIMEOUT, buildPackage } from "./build.ts"

/** A block of the page: a file to write, commands to type, or what they print. */
interface Block {
  readonly kind: "ts" | "json" | "sh" | "text"
  readonly name: string
  readonly text: string
}

/** Time for a block of commands, in milliseconds: some install packages. */
const COMMAND_TIMEOUT = 300_000

const PORTS = ["3000", "3001", "3002", "3003"]

/** The blocks of "Getting started", in their order. */
async function readBlocks(): Promise<Block[]> {
  const page = await readFile(join(root, "docs/getting-started.md"), "utf8")
  const fences = page.matchAll(
    /^```(ts|json|sh|text) (?:file|out)=examples\/first-day\/(\S+)\n([\s\S]*?)^```$/gm,
  )
  return Array.from(fences, ([, kind = "", name = "", text = ""]) => ({
    kind: kind as Block["kind"],
    name,
    text,
  }))
}

/** As many free ports as the page names. */
async function freePorts(): Promise<Map<string, string>> {
  return new Map(
    await Promise.all(PORTS.map(async (port) => [port, String(await freePort())] as const)),
  )
}

/** Replaces packages by the ones to test with: this one by its tarball, others by the version installed here. */
async function pinPackages(commands: string, tarball: string): Promise<string> {
  const lines = commands.split("\n").map(async (line) => {
    if (!line.startsWith("npm install ")) return line
    const words = line.split(" ").map(async (word, at) => {
      if (at < 2 || word.startsWith("-")) return word
      if (word === manifest.name) return tarball
      const installed = await readFile(join(root, "node_modules", word, "package.json"), "utf8")
      return `${word}@${(JSON.parse(installed) as { version: string }).version}`
    })
    return `${(await Promise.all(words)).join(" ")} --silent --prefer-offline --no-audit --no-fund`
  })
  return (await Promise.all(lines)).join("\n")
}

describe("docs/getting-started.md, followed in an empty folder with the packed tarball", () => {
  let folder: string
  let app: string
  let tarball: string
  const servers: ChildProcess[] = []

  beforeAll(async () => {
    folder = await realpath(await mkdtemp(join(tmpdir(), "operations-first-day-")))
    app = join(folder, "app")
    await using built = await buildPackage()
    tarball = join(folder, "operations.tgz")
    await cp(built.tarball, tarball)
  }, BUILD_TIMEOUT)

  afterAll(async () => {
    for (const server of servers) {
      if (server.exitCode !== null || server.signalCode !== null) continue
      const ended = once(server, "exit")
      process.kill(-(server.pid as number), "SIGTERM")
      await ended
    }
    await rm(folder, { recursive: true, force: true })
  })

  /** Types commands into a shell. */
  function type(commands: string): ChildProcess {
    return spawn("bash", ["-e", "-c", commands], {
      cwd: app,
      // A group of its own, so that what npx starts ends with it.
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
      env: {
        ...process.env,
        NO_COLOR: "1",
        FORCE_COLOR: undefined,
        CI: "true",
        // `operations init` trusts what it writes: nothing else may be needed.
        OPERATIONS_TRUST: undefined,
      },
    })
  }

  /** Types commands and waits for their end; for those that serve, for what they are to print. */
  async function printed(commands: string, until: string | undefined): Promise<string> {
    const child = type(commands)
    let [stdout, stderr] = ["", ""]
    child.stderr?.on("data", (chunk) => (stderr += String(chunk)))
    return await new Promise((resolve, reject) => {
      child.stdout?.on("data", (chunk) => {
        stdout += String(chunk)
        if (until !== undefined && stdout.includes(until)) resolve(until)
      })
      if (until !== undefined) servers.push(child)
      child.once("error", reject)
      child.once("close", (code) => {
        if (code === 0) resolve(stdout)
        else reject(new Error(`${commands}\nexited with ${code}:\n${stdout}\n${stderr}`))
      })
    })
  }

  test(
    "works word for word",
    async () => {
      const blocks = await readBlocks()
      const ports = await freePorts()
      const local = (text: string): string =>
        text.replaceAll(/\b300[0-3]\b/g, (port) => ports.get(port) ?? port)
      await mkdir(app)

      const expected: string[] = []
      const actual: string[] = []
      for (const [at, { kind, name, text }] of blocks.entries()) {
        if (kind === "ts" || kind === "json") {
          await writeFile(join(app, basename(name)), local(text))
        }
        if (kind !== "sh") continue
        const next = blocks[at + 1]
        const shown = next?.kind === "text" ? local(next.text) : undefined
        const isServer = name.startsWith("start-")
        const output = await printed(
          await pinPackages(local(text), tarball),
          isServer ? shown : undefined,
        )
        expected.push(`${name}:\n${shown ?? ""}`)
        actual.push(`${name}:\n${shown === undefined ? "" : output}`)
      }

      expect(actual).toEqual(expected)
      expect(expected).toHaveLength(13)
      // All files of the page are there by now, and what each of them needs is installed.
      expect(await printed("npm run -s types", undefined)).toBe("")
    },
    10 * COMMAND_TIMEOUT,
  )
})
