import type { SkillsSource } from "../../config/kinds/skills.ts"
import type { CommandSource } from "../model.ts"

export const skills: CommandSource<SkillsSource> = {
  option: {
    value: "folder",
    description: "A folder of skills, without a configuration",
    complete: "directory",
  },
  sourceOf: async (folder) => ({ skills: folder }),
  recognises: () => false,
  consequence: (source) => `reads the files in ${source.skills}`,
}
