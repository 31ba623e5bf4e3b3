import { field } from "../field-checks.ts"
import { textOf } from "../names.ts"
import type { CommonSource, SourceDescription } from "./kind.ts"

/** A folder of skills: each is a folder with a `SKILL.md`, and other files. */
export interface SkillsSource extends CommonSource {
  /** Relative to the config file. */
  readonly skills: string
}

export const skills: SourceDescription<SkillsSource> = {
  about: "A folder of skills for agents.",
  example: "skills",
  fields: {
    skills: field({ required: "text" }, "A folder of skills, relative to the config.", {
      refers: true,
    }),
  },
  nameOf: () => "skills",
  originOf: (source) => textOf(source.skills),
  isPath: () => true,
  namespaces: "source",
}
