import { spawn } from "node:child_process"
import { once } from "node:events"
import { appendFileSync } from "node:fs"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { JournalWriter, readJournal } from "../../tools/faults/journal.ts"

let folder = ""
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "operations-journal-"))
})
afterEach(async () => {
  await rm(folder, { recursive: true, force: true })
})

describe("a journal", () => {
  test("has what several workers wrote, in the order of time", () => {
    const [one, other] = [new JournalWriter(folder, "w1"), new JournalWriter(folder, "w2")]
    const first = one.start("ä\n日本")
    const second = other.start("c2")
    other.note("aborted", "c2", second, 7)
    one.note("end", "ä\n日本", first)
    const { entries, torn } = readJournal(folder)
    expect(torn).toEqual([])
    expect(entries.map(({ what, call, worker }) => `${worker} ${what} ${call}`).toSorted()).toEqual(
      ["w1 end ä\n日本", "w1 start ä\n日本", "w2 aborted c2", "w2 start c2"],
    )
    const times = entries.map(({ at }) => at)
    expect(times).toEqual(times.toSorted((earlier, later) => earlier - later))
    expect(first).not.toBe(second)
  })

  test("shows lines that cannot be read instead of leaving them out", () => {
    new JournalWriter(folder, "w1").start("c1")
    const junk = ['{"what":"start"}', "null", "[]", '{"what":"start","call":"c', "7"]
    appendFileSync(join(folder, "w1.journal"), junk.join("\n"))
    const { entries, torn } = readJournal(folder)
    expect(entries).toHaveLength(1)
    expect(torn).toEqual(junk)
  })

  test("has the last entry of a process that is killed in the next instant", async () => {
    const file = pathToFileURL(join(import.meta.dirname, "../../tools/faults/journal.ts")).href
    const script = `
      const { JournalWriter } = await import(${JSON.stringify(file)})
      const journal = new JournalWriter(${JSON.stringify(folder)}, "w1")
      for (let at = 0; at < 500; at++) journal.start("c" + at)
      process.kill(process.pid, "SIGKILL")`
    const args = ["--import", "tsx", "--input-type=module", "-e", script]
    const [code, signal] = await once(spawn(process.execPath, args), "exit")
    expect([code, signal]).toEqual([null, "SIGKILL"])
    expect(readJournal(folder).entries).toHaveLength(500)
  })

  test("without workers is empty", () => {
    expect(readJournal(folder)).toEqual({ entries: [], torn: [] })
  })
})
