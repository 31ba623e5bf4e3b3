import type { ReactNode } from "react"
import type { OperationSpec } from "../api/model.ts"
import { accessRules } from "./access.ts"

/** Who may call an operation, as a term of a list. */
export function AccessFact({ spec }: { readonly spec: OperationSpec }): ReactNode {
  const rules = accessRules(spec)
  return (
    <div>
      <dt>Access</dt>
      <dd>
        {rules.length === 0 && "Anyone whom the hub lets in"}
        {rules.map(({ text, names }) => (
          <span key={text} className="operation-rule">
            {text}{" "}
            {names.map((name, at) => (
              <span key={name}>
                {at > 0 && ", "}
                <code>{name}</code>
              </span>
            ))}
          </span>
        ))}
      </dd>
    </div>
  )
}
