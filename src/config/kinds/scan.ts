import type { OutputMode } from "../../core/types.ts"
import { SCAN_OPTIONS, type ScanOptions } from "../../sources/scan/options.ts"
import { describe, field } from "../field-checks.ts"
import { nameOfPath, textOf } from "../names.ts"
import type { CommonSource, SourceDescription } from "./kind.ts"

/** Options that the hub sets. */
type HubOptions = "onProblem" | "logger" | "signal"

/** A folder of TypeScript or JavaScript modules. Modules have 30 seconds to load, while many sources are starting. */
export interface ScanSource extends CommonSource, Omit<ScanOptions, HubOptions> {
  /** Relative to the config file. */
  readonly scan: string
  /** How to treat results that do not match their schema; default: that of the registry. */
  readonly output?: OutputMode | undefined
}

export const scan: SourceDescription<ScanSource> = {
  about: "A folder of TypeScript or JavaScript modules.",
  example: "tools",
  fields: {
    scan: field({ required: "text" }, "A folder of modules, relative to the config.", {
      refers: true,
    }),
    output: field(
      { oneOf: ["warn", "strict", "off"] },
      "How to treat results that do not match their schema; default: that of the registry.",
    ),
    ...describe<ScanOptions, Exclude<keyof ScanOptions, HubOptions>>(
      SCAN_OPTIONS,
      {
        importTimeout: "Timeout of loading a module in milliseconds; default: 30,000.",
        extensions: "The extensions of modules; default: .ts, .js and .mjs.",
      },
      { refers: true },
    ),
  },
  hints: { dir: `Write "scan".`, folder: `Write "scan".`, directory: `Write "scan".` },
  nameOf: (source) => nameOfPath(textOf(source.scan)),
  originOf: (source) => source.scan,
  isPath: () => true,
  namespaces: "own",
}
