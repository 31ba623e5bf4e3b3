import type { ScanSource } from "../../config/kinds/scan.ts"
import type { CommandSource } from "../model.ts"

export const scan: CommandSource<ScanSource> = {
  option: {
    value: "folder",
    description: "Operations of a folder of modules, without a configuration",
    complete: "directory",
  },
  sourceOf: async (folder) => ({ scan: folder }),
  recognises: ({ at }) => at === "folder",
  consequence: (source) => `runs the modules in ${source.scan}`,
}
