import type { ReactNode } from "react"
import { Badge } from "../../ui/Badge.tsx"
import { printJson } from "../../ui/json-text.ts"
import { diffValues } from "./diff.ts"

const TONES = { added: "good", removed: "bad", changed: "info" } as const

/** What is different between two results. */
export function DiffView({
  before,
  after,
}: {
  readonly before: unknown
  readonly after: unknown
}): ReactNode {
  const { changes, isCut } = diffValues(before, after)
  if (changes.length === 0) return <p className="field-note">Both are the same.</p>
  return (
    <div className="scroll-x">
      <table className="table diff">
        <thead>
          <tr>
            <th scope="col">Where</th>
            <th scope="col">What</th>
            <th scope="col">Before</th>
            <th scope="col">After</th>
          </tr>
        </thead>
        <tbody>
          {changes.map(({ pointer, kind, before: was, after: is }) => (
            <tr key={pointer}>
              <td>
                <code>{pointer === "" ? "/" : pointer}</code>
              </td>
              <td>
                <Badge tone={TONES[kind]}>{kind}</Badge>
              </td>
              <td>{kind !== "added" && <Short value={was} />}</td>
              <td>{kind !== "removed" && <Short value={is} />}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {isCut && <p className="field-note">There are more differences than these.</p>}
    </div>
  )
}

function Short({ value }: { readonly value: unknown }): ReactNode {
  const text = printJson(value) ?? ""
  return <code className="diff-value">{text.length > 300 ? `${text.slice(0, 300)}…` : text}</code>
}
