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
  const hints: Hint[] = []
  if (destructive === true) {
    hints.push({
      text: "destructive",
      tone: "bad",
      title: "Its changes cannot be undone",
    })
  }
  if (readOnly === true && type === "mutation") {
    hints.push({
      text: "declared read-only",
      tone: "neutral",
      title: "Its source declares it read-only; the hub still treats it as a mutation",
    })
  }
  if (readOnly === true && type === "subscription") {
    hints.push({ text: "read-only", tone: "good", title: "It changes nothing" })
  }
  if (idempotent === true && type === "mutation") {
    hints.push({
      text: "idempotent",
      tone: "good",
      title: "Repeating a call has no further effect",
    })
  }
  if (openWorld === true) {
    hints.push({
      text: "external",
      tone: "neutral",
      title: "It interacts with systems outside its source",
    })
  }
  return hints
}
