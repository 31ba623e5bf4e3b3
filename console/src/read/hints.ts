import type { OperationSpec } from "../api/model.ts"

/** A word about what a call does. */
export interface Hint {
  readonly text: string
  readonly tone: "neutral" | "good" | "bad"
  readonly title: string
}

/** The hints about the effect of an operation, without those that its type implies. */
export function hintsOf({
  annotations = {},
  type,
}: Pick<OperationSpec, "annotations" | "type">): Hint[] {
  const { readOnly, destructive, idempotent, openWorld } = annotations
  const claim = "Its source declares it read-only; the hub still treats it as a mutation"
  const isChange = type === "mutation"
  const hints: readonly (readonly [
    boolean | undefined,
    text: string,
    Hint["tone"],
    title: string,
  ])[] = [
    [destructive, "destructive", "bad", "Its changes cannot be undone"],
    [readOnly && isChange, "declared read-only", "neutral", claim],
    [readOnly && type === "subscription", "read-only", "good", "It changes nothing"],
    [idempotent && isChange, "idempotent", "good", "Repeating a call has no further effect"],
    [openWorld, "external", "neutral", "It interacts with systems outside its source"],
  ]
  return hints.flatMap(([isTrue, text, tone, title]) =>
    isTrue === true ? [{ text, tone, title }] : [],
  )
}
