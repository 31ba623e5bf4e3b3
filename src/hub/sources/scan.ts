import type { ScanSource } from "../../config/kinds/scan.ts"
import { nodeFS } from "../../node/fs.ts"
import { scanDefinitions, type ScanProblem } from "../../sources/scan/scanner.ts"
import { freshImporter, withoutStamp } from "../config-file/fresh-import.ts"
import { SCAN_OPTIONS } from "../../sources/scan/options.ts"
import { fill, fillOptions } from "../resolve-references.ts"
import type { HubSource, ReportItem } from "../model.ts"
import { pathOf } from "../origin.ts"

/** The folders that this process has loaded: Node keeps their modules, also for a source that is new. */
const loaded = new Set<string>()

/** The operations of a folder. Opening it again reloads changed modules and what they import. */
export const scan: HubSource<ScanSource> = {
  async open({ name, config }, context) {
    const dir = pathOf(await fill(config.scan, context.resolve, name, "scan"), context.baseDir)
    const problems: ScanProblem[] = []
    const fs = loaded.has(dir) ? { ...nodeFS, importModule: freshImporter() } : nodeFS
    loaded.add(dir)
    const scanned = await scanDefinitions(dir, fs, {
      signal: context.signal,
      // Modules load slowly while many sources are starting.
      importTimeout: 30_000,
      ...(await fillOptions(config, SCAN_OPTIONS, context.resolve, name)),
      logger: context.logger,
      onProblem: ({ file, reason }) => problems.push({ file, reason: withoutStamp(reason) }),
    })
    const { output } = config
    const operations = output === undefined ? scanned : scanned.map((one) => ({ output, ...one }))
    for (const { file, reason } of problems) {
      context.logger.error("Skipped a file of the scanned folder", { file, reason })
    }
    const items = (): ReportItem[] => [
      ...operations.map(({ namespace, name: operation }): ReportItem => {
        const id = `${namespace}.${operation}`
        return { id, origin: id, status: "kept", notes: [] }
      }),
      ...problems.map(({ file, reason }): ReportItem => ({
        origin: file,
        status: "skipped",
        notes: [reason],
      })),
    ]
    const warnings =
      problems.length === 0 ? [] : [`${problems.length} of its files or exports cannot be used.`]
    return {
      operations: () => operations,
      report: () => ({ items: items(), warnings }),
      onChange: () => () => {},
      files: [dir],
      close: async () => {},
    }
  },
}
