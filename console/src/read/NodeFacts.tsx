import type { ReactNode } from "react"
import { Badge } from "../ui/index.ts"
import type { Facts } from "../../../src/schema/read/facts.ts"
import { SHORT_LIST } from "./schema/rows.ts"

/** The type of a value, with its format. */
export function NodeType({ facts }: { readonly facts: Facts }): ReactNode {
  const { type, format } = facts
  return (
    <>
      <code className="schema-type">{type}</code>
      {format !== undefined && <code className="schema-format">{format}</code>}
      {facts.isDeprecated && <Badge tone="warn">deprecated</Badge>}
      {facts.isReadOnly && <Badge>read-only</Badge>}
      {facts.isWriteOnly && <Badge>write-only</Badge>}
    </>
  )
}

/** The constraints of a value: values, bounds, default, examples. */
export function NodeFacts({
  facts,
  isOpen,
}: {
  readonly facts: Facts
  readonly isOpen: boolean
}): ReactNode {
  const { values, constraints, examples } = facts
  return (
    <span className="schema-facts">
      {constraints.map((text) => (
        <span key={text}>{text}</span>
      ))}
      {values !== undefined && <Values values={values} isOpen={isOpen} />}
      {facts.default !== undefined && (
        <span>
          default <code>{facts.default}</code>
        </span>
      )}
      {examples.length > 0 && (
        <span>
          for example <Codes texts={examples} />
        </span>
      )}
    </span>
  )
}

function Values({
  values,
  isOpen,
}: {
  readonly values: readonly string[]
  readonly isOpen: boolean
}): ReactNode {
  const isShort = isOpen || values.length <= SHORT_LIST
  const shown = isShort ? values : values.slice(0, SHORT_LIST)
  return (
    <span>
      {values.length === 1 ? "always " : "one of "}
      <Codes texts={shown} />
      {!isShort && <span className="muted"> and {values.length - SHORT_LIST} more</span>}
    </span>
  )
}

function Codes({ texts }: { readonly texts: readonly string[] }): ReactNode {
  return texts.map((text, at) => (
    <span key={at}>
      {at > 0 && ", "}
      <code>{text}</code>
    </span>
  ))
}
