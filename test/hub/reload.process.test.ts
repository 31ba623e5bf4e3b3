import { rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { folder, operationText, start } from "./support.ts"
import { PROCESS_PATIENCE } from "../support/patience.ts"

/** Asks until the answer is the one; nothing takes as long as it waits. */
async function untilAnswer(url: string, isIt: (text: string) => boolean): Promise<string> {
  const end = Date.now() + PROCESS_PATIENCE
  for (;;) {
    const text = await (await fetch(url)).text()
    if (isIt(text)) return text
    if (Date.now() > end) throw new Error(`Still ${text}`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

test("a hub reloads changed files with their imports, and running calls continue", async () => {
  const counter = `export const shared = { calls: 0 }\n`
  const imports = `import { word } from "./lib.ts"\nimport { shared } from "./shared.ts"\n`
  const dir = folder({
    "lib.ts": `export const word: string = "one"\n`,
    "shared.ts": counter,
    "slow.ts":
      imports +
      operationText(
        "w.slow",
        `async () => { await new Promise((resolve) => setTimeout(resolve, 1500)); return word }`,
      ),
    "word.ts": imports + operationText("w.word", `() => [word, ++shared.calls]`),
    "same.ts": imports + operationText("w.same", `() => [word, ++shared.calls]`),
  })
  const { line: url } = await start("hub-process.ts", [dir])
  expect(await untilAnswer(`${url}/api/w/word`, () => true)).toBe('["one",1]')
  expect(await untilAnswer(`${url}/api/w/same`, () => true)).toBe('["one",2]')
  const running = fetch(`${url}/api/w/slow`).then((response) => response.text())
  writeFileSync(join(dir, "lib.ts"), `export const word: string = "two"\n`)
  await untilAnswer(`${url}/api/w/word`, (text) => text.startsWith('["two"'))
  // Modules that were loaded together share what they import.
  const [, before] = JSON.parse(await untilAnswer(`${url}/api/w/word`, () => true)) as [
    string,
    number,
  ]
  expect(await untilAnswer(`${url}/api/w/same`, () => true)).toBe(`["two",${before + 1}]`)
  expect(await running).toBe('"one"')

  writeFileSync(join(dir, "new.ts"), operationText("w.new", `() => "new"`))
  await untilAnswer(`${url}/api/w/new`, (text) => text === '"new"')
  rmSync(join(dir, "new.ts"))
  await untilAnswer(`${url}/api/w/new`, (text) => text.includes("404"))

  // A mistake costs that file, and is mended by saving it again.
  writeFileSync(join(dir, "word.ts"), `export default {`)
  await untilAnswer(`${url}/hub/sources/local/report`, (text) => text.includes("word.ts"))
  expect(await untilAnswer(`${url}/api/w/same`, () => true)).toContain("two")
  writeFileSync(join(dir, "word.ts"), operationText("w.word", `() => "mended"`))
  await untilAnswer(`${url}/api/w/word`, (text) => text === '"mended"')
})

test("a source that was removed has its files as they are when it is added again", async () => {
  const dir = folder({ "word.ts": operationText("w.word", `() => "old"`) })
  const { line } = await start("returning-source.ts", [dir])
  expect(line).toBe("old new")
})
