import type { IconName } from "../ui/icon-paths.ts"
import { plain, tokensOf } from "./words.ts"

/** Something that the palette does, beside opening operations. */
export interface Command {
  readonly key: string
  readonly kind: "view" | "action" | "source" | "tag"
  readonly label: string
  readonly detail?: string | undefined
  readonly icon: IconName
  readonly run: () => void
}

/** The commands that have every word of a query as the beginning of a word, in their order; `first` if the query begins the label. */
export function findCommands(
  commands: readonly Command[],
  query: string,
): { readonly first: readonly Command[]; readonly others: readonly Command[] } {
  const whole = plain(query).trim()
  const wanted = tokensOf(whole)
  const first: Command[] = []
  const others: Command[] = []
  if (wanted.length === 0) return { first, others }
  for (const command of commands) {
    const label = plain(command.label)
    const words = tokensOf(label)
    if (!wanted.every((part) => words.some((word) => word.startsWith(part)))) continue
    // Who types the name of a tag or a source mostly looks for an operation.
    const isMeant = command.kind === "view" || command.kind === "action"
    if (isMeant && label.startsWith(whole)) first.push(command)
    else others.push(command)
  }
  return { first, others }
}
