import { useState } from "react"
import type { ReactNode } from "react"
import type { OperationSpec } from "../api/model.ts"
import { Button } from "../ui/index.ts"
import { InlineMarkdown } from "./Markdown.tsx"
import { SchemaTree } from "./SchemaTree.tsx"
import { isRecord } from "../../../src/internal/guards.ts"

type ErrorDefinition = NonNullable<OperationSpec["errorSchemas"]>[number]

/** The errors that an operation declares, each with the schema of its details. */
export function ErrorsTable({
  errors,
}: {
  readonly errors: readonly ErrorDefinition[]
}): ReactNode {
  return (
    <>
      {errors.length > 0 && (
        <ul className="operation-errors">
          {errors.map((error, at) => (
            <ErrorEntry key={at} error={error} />
          ))}
        </ul>
      )}
      <p className="muted">
        {errors.length === 0 ? "It declares none of its own. " : ""}
        Every call can fail with the codes of the hub: <code>VALIDATION_ERROR</code>,{" "}
        <code>ACCESS_DENIED</code>, <code>TIMEOUT</code>, <code>UNAVAILABLE</code> and so on.
      </p>
    </>
  )
}

function ErrorEntry({ error }: { readonly error: ErrorDefinition }): ReactNode {
  const [isOpen, setOpen] = useState(false)
  const { code, description, httpStatus } = error
  const schema: unknown = error.schema
  const hasDetails = isRecord(schema) && Object.keys(schema).length > 0
  return (
    <li className="card">
      <div className="row">
        <code className="operation-code">{code}</code>
        {httpStatus !== undefined && !code.includes(String(httpStatus)) && (
          <span className="muted">HTTP {httpStatus}</span>
        )}
        {hasDetails && (
          <Button
            variant="quiet"
            size="small"
            aria-expanded={isOpen}
            onClick={() => setOpen(!isOpen)}
          >
            {isOpen ? "Hide details" : "Details"}
            <span className="visually-hidden"> of {code}</span>
          </Button>
        )}
      </div>
      <InlineMarkdown text={description} />
      {isOpen && <SchemaTree schema={schema} label={`Details of ${code}`} />}
    </li>
  )
}
