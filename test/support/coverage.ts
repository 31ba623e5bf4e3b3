/**
 * Vitest's provider of V8 coverage, without what it does once for each test file and project.
 *
 * It merges the report of each test file into that of all files before it, and converts the result of each project by
 * itself: that took longer than many tests. Here reports are merged many at a time, and converted once.
 */
import { readFile } from "node:fs/promises"
import { createRequire } from "node:module"
import v8 from "@vitest/coverage-v8"
import type { CoverageProvider, CoverageProviderModule, TestProject, Vitest } from "vitest/node"
import { root } from "./manifest.ts"

/** What V8 reports about a script, and how much of it is Vitest's. */
interface ScriptReport {
  readonly url: string
  readonly startOffset: number
}

interface Report {
  readonly result: readonly ScriptReport[]
}

/** The parts of the provider that are not public. */
interface Provider extends CoverageProvider {
  readonly ctx: Vitest
  /** Files of reports, by project, environment and test file. */
  readonly coverageFiles: Map<string, Record<string, Record<string, string>>>
  readonly pendingPromises: readonly Promise<void>[]
  isIncluded(file: string): boolean
  readCoverageFiles(options: ReadOptions): Promise<void>
}

interface ReadOptions {
  readonly onFileRead: (report: Report) => void
  readonly onFinished: (project: TestProject, environment: string) => Promise<void>
}

/** Reports that are merged at a time: all at once would take too much memory. */
const AT_ONCE = 50

/** The package that the provider itself merges with. */
const ofProvider = createRequire(createRequire(import.meta.url).resolve("@vitest/coverage-v8"))
const { mergeProcessCovs } = ofProvider("@bcoe/v8-coverage") as {
  mergeProcessCovs: (reports: readonly Report[]) => Report
}

const SOURCES = `file://${root}/src/`

const module: CoverageProviderModule = {
  ...v8,

  async takeCoverage(options): Promise<Report> {
    const report = (await v8.takeCoverage?.(options)) as Report | undefined
    return { result: (report?.result ?? []).filter(({ url }) => url.startsWith(SOURCES)) }
  },

  async getProvider(): Promise<CoverageProvider> {
    const provider = (await v8.getProvider()) as Provider
    // The pattern of the configuration, which Vitest would compile anew for every file.
    provider.isIncluded = (file) => file.startsWith(`${root}/src/`) && file.endsWith(".ts")
    provider.readCoverageFiles = async ({ onFileRead, onFinished }) => {
      await Promise.all(provider.pendingPromises)
      const files = [...provider.coverageFiles.values()].flatMap((project) =>
        Object.values(project).flatMap((reports) => Object.values(reports)),
      )
      onFileRead(await mergedReport(files))
      // All projects transform a source alike: what one of them has transformed is there.
      const [name = ""] = provider.coverageFiles.keys()
      await onFinished(provider.ctx.getProjectByName(name), "ssr")
    }
    return provider
  },
}

export default module

async function mergedReport(files: readonly string[]): Promise<Report> {
  const offsets = new Map<string, number>()
  let merged: Report = { result: [] }
  for (let at = 0; at < files.length; at += AT_ONCE) {
    const texts = await Promise.all(
      files.slice(at, at + AT_ONCE).map((file) => readFile(file, "utf8")),
    )
    const reports = texts.map((text) => JSON.parse(text) as Report)
    for (const { url, startOffset } of reports.flatMap(({ result }) => result))
      if (startOffset > 0) offsets.set(url, startOffset)
    merged = mergeProcessCovs([merged, ...reports])
  }
  return {
    result: merged.result.map((script) => ({
      ...script,
      startOffset: offsets.get(script.url) ?? 0,
    })),
  }
}
