import { mkdirSync, renameSync, rmSync, utimesSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import { watchFiles } from "../../src/hub/watch.ts"
import { folder } from "./support.ts"

/** Counts changes; `next` settles with the next one. */
function follow(
  paths: readonly string[],
  since?: number,
): { count: number; next(): Promise<void> } {
  const waiting: (() => void)[] = []
  const seen = {
    count: 0,
    next: () => new Promise<void>((resolve) => waiting.push(resolve)),
  }
  const watching = watchFiles(
    paths,
    () => {
      seen.count++
      for (const done of waiting.splice(0)) done()
    },
    { debounceMs: 20, since },
  )
  onTestFinished(() => watching.close())
  return seen
}

function settle(milliseconds = 200): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds))
}

test("watchFiles reports files that are changed, added, moved and removed, also in new folders", async () => {
  const dir = folder({ "a.ts": "1" })
  const seen = follow([dir])
  await settle()
  const steps = [
    () => writeFileSync(join(dir, "a.ts"), "22"),
    () => writeFileSync(join(dir, "b.mjs"), "1"),
    () => renameSync(join(dir, "b.mjs"), join(dir, "c.mjs")),
    () => {
      mkdirSync(join(dir, "deep/er"), { recursive: true })
      writeFileSync(join(dir, "deep/er/d.ts"), "1")
    },
    () => writeFileSync(join(dir, "deep/er/d.ts"), "333"),
    () => rmSync(join(dir, "deep"), { recursive: true }),
  ]
  for (const step of steps) {
    const change = seen.next()
    step()
    await change
    await settle(60)
  }
  expect(seen.count).toBeGreaterThanOrEqual(steps.length)
})

test("watchFiles ignores irrelevant files, and reports nothing after close", async () => {
  const dir = folder({ "a.ts": "1" })
  let count = 0
  const watching = watchFiles([dir], () => count++, { debounceMs: 10 })
  await settle()
  writeFileSync(join(dir, "notes.log"), "1")
  mkdirSync(join(dir, "node_modules"))
  writeFileSync(join(dir, "node_modules/a.js"), "1")
  writeFileSync(join(dir, ".hidden.ts"), "1")
  await settle()
  expect(count).toBe(0)
  watching.close()
  watching.close()
  writeFileSync(join(dir, "a.ts"), "22")
  await settle()
  expect(count).toBe(0)
})

test("watchFiles reports many simultaneous changes once or twice", async () => {
  const dir = folder()
  const seen = follow([dir])
  await settle()
  const change = seen.next()
  for (let index = 0; index < 50; index++) writeFileSync(join(dir, `${index}.ts`), "1")
  await change
  await settle()
  expect(seen.count).toBeLessThan(4)
})

test("watchFiles follows a file that is replaced, and one that does not exist yet", async () => {
  const dir = folder({ "api.yaml": "a: 1" })
  const seen = follow([join(dir, "api.yaml"), join(dir, "later/other.json")])
  await settle()
  let change = seen.next()
  writeFileSync(join(dir, "api.yaml.tmp"), "a: 22")
  renameSync(join(dir, "api.yaml.tmp"), join(dir, "api.yaml"))
  await change
  change = seen.next()
  mkdirSync(join(dir, "later"))
  writeFileSync(join(dir, "later/other.json"), "{}")
  await change
  expect(seen.count).toBe(2)
})

test("watchFiles reports changes since a given time at once, and ignores times in the future", async () => {
  const dir = folder({ "a.ts": "1" })
  const since = Date.now() - 60_000
  utimesSync(join(dir, "package.json"), since / 1000, since / 1000)
  await follow([dir], since - 1).next()
  const later = Date.now() / 1000 + 3600
  utimesSync(join(dir, "a.ts"), later, later)
  const seen = follow([dir])
  await settle()
  expect(seen.count).toBe(0)
})
