// An awkward MCP server as a process: `node --import tsx test/sources/mcp/awkward/stdio.ts --crash-on-call`.
// No SDK: it says what a well-behaved one never would. Tests start it by `awkward()` of
// test/sources/mcp/support/awkward.ts.
//
// Flags: those of faults.ts (`--era=modern --pages=3 --loop --groups=names,schemas`...), and
//
//   --ignore-eof          goes on when its input ends
//   --ignore-term         goes on after SIGTERM
//   --noise               lines that are no messages on stdout: at the start and before every answer
//   --stderr=TEXT         this on standard error at the start
//   --stderr-flood=BYTES  so much on standard error at the start, and again on every call
//   --flood=BYTES         a line of so many bytes without an end, instead of an answer to a call
//   --chunks              every answer in pieces of 3 bytes, with Windows line ends
//   --children            starts a process of its own that lives on (its pid in the tool `process`)
//   --pid-file=PATH       writes its pid, and that of its child, a line each
//   --lifetime=MS         ends with code 3 so many milliseconds after its tools were listed
//   --once=PATH           the faults that end or stop it hold while this file is not there; it makes it

import { spawn } from "node:child_process"
import { appendFileSync, existsSync, writeFileSync } from "node:fs"
import { faultsOf, parseFlags, type Faults } from "./faults.ts"
import { AwkwardPeer, type Link } from "./peer.ts"

const flags = parseFlags(process.argv.slice(2), {
  ...faultsOf({}),
  ignoreEof: false,
  ignoreTerm: false,
  noise: false,
  stderr: "",
  stderrFlood: 0,
  flood: 0,
  chunks: false,
  children: false,
  pidFile: "",
  lifetime: 0,
  once: "",
})

if (flags.once !== "" && existsSync(flags.once)) healed(flags)
else if (flags.once !== "") writeFileSync(flags.once, "")

let childPid: number | undefined
if (flags.children) {
  const child = spawn(process.execPath, ["-e", "setInterval(() => {}, 1e9)"], { stdio: "ignore" })
  childPid = child.pid
}
if (flags.pidFile !== "") {
  appendFileSync(flags.pidFile, [process.pid, childPid ?? ""].join("\n").trimEnd() + "\n")
}

if (flags.stderr !== "") process.stderr.write(`${flags.stderr}\n`)
if (flags.stderrFlood > 0) process.stderr.write(flood(flags.stderrFlood))
if (flags.crashAtStart) {
  process.stderr.write("boom: cannot start without a reason\n", () => process.exit(3))
  // Nothing else happens until the line is out.
  await new Promise(() => undefined)
}
if (flags.ignoreTerm) process.on("SIGTERM", () => undefined)

const link: Link = {
  send: (message) => write(JSON.stringify(message)),
  raw: (text) => process.stdout.write(`${text}\n`),
}
const peer = new AwkwardPeer(flags, {
  crash: (code, signal) => {
    if (signal !== undefined) process.kill(process.pid, signal)
    else process.stderr.write("boom: it fell over\n", () => process.exit(code))
  },
  describe: () => ({
    pid: process.pid,
    ppid: process.ppid,
    argv: process.argv.slice(2),
    cwd: process.cwd(),
    childPid,
  }),
})

if (flags.noise) process.stdout.write("Starting the server...\n{not json\n\n")

let rest = ""
process.stdin.setEncoding("utf8")
process.stdin.on("data", (chunk: string) => {
  const lines = (rest + chunk).split("\n")
  rest = lines.pop() ?? ""
  for (const line of lines) take(line)
})
process.stdin.on("end", () => {
  if (flags.ignoreEof) setInterval(() => undefined, 1e9)
  else process.exit(0)
})
process.stdout.on("error", () => {
  if (!flags.ignoreEof) process.exit(0)
})

function take(line: string): void {
  if (line.trim() === "") return
  const message = JSON.parse(line) as { method?: string }
  if (message.method === "tools/list" && flags.lifetime > 0) {
    setTimeout(() => process.exit(3), flags.lifetime)
  }
  if (message.method === "tools/call") {
    if (flags.stderrFlood > 0) process.stderr.write(flood(flags.stderrFlood))
    if (flags.flood > 0) {
      pour(flags.flood)
      return
    }
  }
  peer.receive(message, link)
}

function write(line: string): void {
  if (flags.noise) process.stdout.write("[info] about to answer\n")
  if (!flags.chunks) {
    process.stdout.write(`${line}\n`)
    return
  }
  const bytes = Buffer.from(`${line}\r\n`)
  for (let at = 0; at < bytes.length; at += 3) process.stdout.write(bytes.subarray(at, at + 3))
}

/** A line without an end, as fast as it is read. */
function pour(bytes: number): void {
  const chunk = "x".repeat(1 << 16)
  let left = bytes
  const more = (): void => {
    while (left > 0) {
      left -= chunk.length
      if (!process.stdout.write(chunk)) {
        process.stdout.once("drain", more)
        return
      }
    }
  }
  process.stdout.write('{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"')
  more()
}

function flood(bytes: number): string {
  return `${"e".repeat(127)}\n`.repeat(Math.ceil(bytes / 128))
}

/** The faults that a second start does not have. */
function healed(all: Faults & { flood: number }): void {
  const none = { crashAtStart: false, crashOnCall: false, crashAfter: -1 }
  Object.assign(all, none, { hangAtStart: false, hangOnCall: false, hangOnList: false, flood: 0 })
}
