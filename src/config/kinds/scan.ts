import type { OutputMode } from "../../core/types.ts"
import { field } from "../field-checks.ts"
import { nameOfPath, textOf } from "../names.ts"
import type { CommonSource, SourceDescription } from "./kind.ts"

/** A folder of TypeScript or JavaScript modules. */
export interface ScanSource extends CommonSource {
  /** Relative to the config file. */
  readonly scan: string
  /** How to treat results that do not match their schema; default: that of the registry. */
  readonly output?: OutputMode | undefined
}

export const scan: SourceDescription<ScanSource> = {
  about: "A folder of TypeScript or JavaScript modules.",
  example: "tools",
  fields: {
    scan: field({ required: "text" }, "A folder of modules, relative to the config."),
    output: field(
      { oneOf: ["warn", "strict", "off"] },
      "How to treat results that do not match their schema; default: that of the registry.",
    ),
  },
  hints: { dir: `Write "scan".`, folder: `Write "scan".`, directory: `Write "scan".` },
  nameOf: (source) => nameOfPath(textOf(source.scan)),
  originOf: (source) => source.scan,
  isPath: () => true,
  namespaces: "own",
}
