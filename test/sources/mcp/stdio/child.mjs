// A child with the manners that its first argument names. Every one says "ready" first.
//   echo             answers every line with its text
//   wild             says what the second argument (JSON: string or array of strings) holds, as it is, in pieces
//   stubborn         ignores the end of its input and SIGTERM
//   term             ignores the end of its input only
//   crash            ends with code 3 after its last words
//   flood            100 MB without the end of a line
//   noisy            50 MB on standard error, then echo
//   mute             closes its standard output and runs on
//   deaf             never reads
//   wrap             starts `sh -c` around itself with the rest of its arguments, and waits for it
//   leave            starts itself with the rest of its arguments in its group, and ends at once
//   escape           starts a process outside of its group that holds its pipes, and ends
import { spawn } from "node:child_process"
import { closeSync, writeSync } from "node:fs"
import { createInterface } from "node:readline"

const [manners, ...rest] = process.argv.slice(2)
const say = (method, params) =>
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", method, params })}\n`)
const stay = () => setInterval(() => {}, 1000)
const echo = () =>
  createInterface({ input: process.stdin }).on("line", (line) => say("echo", { line }))

// Set up before anyone knows of the process: a signal that comes early must find it ready.
if (manners === "stubborn") process.on("SIGTERM", () => say("refused", {}))
const args = manners === "wild" ? [] : rest
say("ready", { pid: process.pid, args, env: process.env, cwd: process.cwd() })

switch (manners) {
  case "echo":
    echo()
    break
  case "wild":
    for (const piece of [JSON.parse(rest[0])].flat()) {
      await new Promise((resolve) => process.stdout.write(piece, resolve))
      await new Promise((resolve) => setImmediate(resolve))
    }
    process.stdin.resume()
    break
  case "stubborn":
  case "term":
    stay()
    break
  case "crash":
    process.stderr.write("no database at db.example\n")
    say("last words", {})
    process.stdout.end(() => process.exit(3))
    break
  case "flood": {
    const chunk = Buffer.alloc(1_000_000, "x")
    for (let at = 0; at < 100; at++) {
      await new Promise((resolve) => process.stdout.write(chunk, resolve))
    }
    stay()
    break
  }
  case "noisy": {
    const chunk = Buffer.alloc(1_000_000, "é")
    for (let at = 0; at < 50; at++) {
      await new Promise((resolve) => process.stderr.write(chunk, resolve))
    }
    process.stderr.write("the end")
    echo()
    break
  }
  case "mute":
    // A write that waits for its turn would find the descriptor closed.
    await new Promise((resolve) => process.stdout.write("", resolve))
    closeSync(1)
    stay()
    break
  case "deaf":
    stay()
    break
  case "wrap": {
    const inner = [process.execPath, import.meta.filename, ...rest]
    spawn("sh", ["-c", `"$@"; exit $?`, "sh", ...inner], { stdio: "inherit" }).on("exit", (code) =>
      process.exit(code ?? 1),
    )
    break
  }
  case "leave":
  case "escape":
    spawn(process.execPath, [import.meta.filename, ...rest], {
      stdio: "inherit",
      detached: manners === "escape",
    }).on("spawn", () => process.exit(0))
    break
  default:
    writeSync(2, `no such manners: ${manners}\n`)
    process.exit(2)
}
