import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { brotliDecompressSync, gzipSync } from "node:zlib"
import type { Browser } from "playwright-core"
import { builtConsole } from "../../test/console/e2e/support/build.ts"
import { launch } from "../../test/console/e2e/support/browser.ts"
import { startHub } from "../../test/console/e2e/support/hub.ts"
import { manyOperations } from "../../test/console/e2e/support/many.ts"
import { sourceOf } from "../../test/hub/plain.ts"
import { CHROMIUM, findProgram, missing } from "../../test/support/programs.ts"
import { CONSOLE, EMPTY, OPERATIONS } from "./console-report.ts"
import type { ConsoleResults, Paint, Weight } from "./console-report.ts"

/** Measures when the console is visible, compared with a page with one word; each in a new session, in turn. */
export async function measureConsole({
  isQuick,
  log,
}: {
  readonly isQuick: boolean
  readonly log: (text: string) => void
}): Promise<ConsoleResults> {
  const path = findProgram(CHROMIUM)
  if (path === undefined) throw new Error(missing(CHROMIUM))
  log("Building the console")
  const weight = weigh(await builtConsole())
  const folder = mkdtempSync(join(tmpdir(), "operations-bench-"))
  const document = join(folder, "many.json")
  writeFileSync(document, manyOperations(OPERATIONS))
  const empty = createServer((_request, response) => {
    response.setHeader("content-type", "text/html")
    response.end("<!doctype html><link rel=icon href=data:,><p id=ready>word</p>")
  })
  await new Promise<void>((resolve) => empty.listen(0, "127.0.0.1", resolve))
  const hub = await startHub([sourceOf("many", { openapi: document })])
  const browser = await launch(path)
  try {
    log("Measuring when the console is painted")
    const pages = [
      { name: EMPTY, url: `http://127.0.0.1:${(empty.address() as AddressInfo).port}/` },
      { name: CONSOLE, url: `${hub.url}/` },
    ]
    const rounds: Paint[][] = pages.map(() => [])
    // The first round fills caches of the machine, and does not count.
    for (let round = 0; round <= (isQuick ? 5 : 15); round++) {
      for (const [at, { name, url }] of pages.entries()) {
        const paint = await paintOf(browser, name, url)
        if (round > 0) rounds[at]?.push(paint)
      }
    }
    return { paints: rounds.map(medianOf), weight }
  } finally {
    await browser.close()
    await hub[Symbol.asyncDispose]()
    await new Promise((resolve) => empty.close(resolve))
    rmSync(folder, { recursive: true, force: true })
  }
}

async function paintOf(browser: Browser, name: string, url: string): Promise<Paint> {
  const context = await browser.newContext()
  try {
    const page = await context.newPage()
    await page.goto(url)
    const row = name === EMPTY ? page.getByText("word") : page.getByRole("treeitem")
    await row.first().waitFor()
    const times = await page.evaluate(() => {
      const [paint] = performance.getEntriesByName("first-contentful-paint")
      return { painted: paint?.startTime ?? Number.NaN, now: performance.now() }
    })
    return { name, painted: times.painted, listed: name === EMPTY ? undefined : times.now }
  } finally {
    await context.close()
  }
}

function medianOf(paints: readonly Paint[]): Paint {
  const middle = (values: readonly number[]): number =>
    values.toSorted((left, right) => left - right)[Math.floor(values.length / 2)] ?? Number.NaN
  const listed = paints.flatMap((paint) => paint.listed ?? [])
  return {
    name: paints[0]?.name ?? "",
    painted: middle(paints.map(({ painted }) => painted)),
    listed: listed.length === 0 ? undefined : middle(listed),
  }
}

/** Reads the initial files from the page. */
function weigh(folder: string): Weight {
  const page = readFileSync(join(folder, "index.html"), "utf8")
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((file) =>
    /\.(?:js|css|html)(?:\.br)?$/.test(file),
  )
  const size = (file: string): number => {
    const stored = readFileSync(join(folder, file))
    return gzipSync(file.endsWith(".br") ? brotliDecompressSync(stored) : stored).length
  }
  const sum = (some: readonly string[]): number => some.reduce((all, file) => all + size(file), 0)
  const first = files.filter(
    (file) => file === "index.html" || page.includes(file.replace(/\.br$/, "")),
  )
  return { first: sum(first), all: sum(files) }
}
