import { useCallback, useMemo, useState } from "react"
import type { OperationSpec } from "../api/model.ts"
import { linkTo } from "../app/route.ts"
import { printJson } from "../ui/json-text.ts"
import { drafts } from "./drafts.ts"
import type { Draft } from "./drafts.ts"
import { withoutSecrets } from "./history/mask.ts"
import { startValue } from "./schema/initial.ts"
import { own } from "./schema/json.ts"
import { sameData } from "../../../src/internal/same-data.ts"
import { fromPointer } from "./schema/pointer.ts"

/** Longer links are cut by chats and mail programs. */
const MAX_LINK = 4000

/** The input of an operation; what is entered is kept as its draft. */
export interface Input extends Draft {
  readonly set: (input: unknown) => void
  /** Restores an earlier input, and marks what has to be entered again. */
  readonly use: (draft: Draft) => void
}

/** The input of an operation, as it was left. */
export function useInput(id: string, { inputSchema }: OperationSpec): Input {
  const start = useMemo(() => startValue(inputSchema), [inputSchema])
  const [draft, setDraft] = useState<Draft>(
    () => drafts.draftOf(id) ?? { input: start, removed: NOTHING },
  )
  const set = useCallback(
    (input: unknown) => {
      setDraft(({ removed }) => ({
        input,
        removed: removed.filter((pointer) => !isGiven(input, pointer)),
      }))
      if (sameData(input, start)) drafts.put(id, undefined)
      else drafts.keep(id, input, inputSchema)
    },
    [id, inputSchema, start],
  )
  const use = useCallback(
    (newDraft: Draft) => {
      setDraft(newDraft)
      drafts.put(id, newDraft)
    },
    [id],
  )
  return { ...draft, set, use }
}

const NOTHING: readonly string[] = []

/** Whether an input has a value at a pointer. */
function isGiven(input: unknown, pointer: string): boolean {
  const value = fromPointer(pointer).reduce<unknown>((at, part) => own(at, part), input)
  return value !== undefined && value !== null
}

/** A link to an operation with an input, and what it leaves out; `undefined` for one that is too long. */
export function linkWithInput(
  id: string,
  input: unknown,
  schema: unknown,
): { readonly link: string; readonly removed: readonly string[] } | undefined {
  const { value, removed } = withoutSecrets(input, schema)
  const text = printJson(value)
  const link = linkTo({ view: "operation", id, ...(text !== undefined && { input: text }) })
  return link.length > MAX_LINK ? undefined : { link, removed }
}
