import { useState } from "react"
import type { ReactNode } from "react"
import type { OperationSpec } from "../api/model.ts"
import { useOperations, useSources } from "../app/context.tsx"
import { Badge, Button, CopyButton, cx, TypeBadge } from "../ui/index.ts"
import { AccessFact } from "./AccessFact.tsx"
import { Markdown } from "./Markdown.tsx"
import { hintsOf } from "./hints.ts"
import { provenanceOf, sourceFor } from "./provenance.ts"

/** Longer descriptions are collapsed, so that the tabs below stay visible. */
const LONG = 700

/** The name, description, access rules and origin of an operation. */
export function OperationHeader({
  id,
  spec,
}: {
  readonly id: string
  readonly spec: OperationSpec
}): ReactNode {
  const { title, version, tags = [], deprecated } = spec
  return (
    <header className="operation-head">
      <h1 tabIndex={-1}>{title ?? id}</h1>
      <div className="row">
        <code className="operation-id">{id}</code>
        <CopyButton text={id} label="Copy id" />
        <TypeBadge type={spec.type} />
        {deprecated === true && <Badge tone="warn">deprecated</Badge>}
        {hintsOf(spec).map(({ text, tone, title: why }) => (
          <Badge key={text} tone={tone} title={why}>
            {text}
          </Badge>
        ))}
        {tags.map((tag) => (
          <Badge key={tag}>{tag}</Badge>
        ))}
        <span className="muted">version {version}</span>
      </div>
      <Description text={spec.description} title={title} />
      <Origins id={id} spec={spec} />
    </header>
  )
}

function Description({
  text,
  title,
}: {
  readonly text: string
  readonly title: string | undefined
}): ReactNode {
  const [isWhole, setWhole] = useState(false)
  if (text.trim() === "" || text.trim() === title?.trim()) return null
  const isLong = text.length > LONG || text.split("\n").length > 12
  return (
    <div>
      <div className={cx("operation-text", isLong && !isWhole && "operation-text-folded")}>
        <Markdown text={text} />
      </div>
      {isLong && (
        <Button
          variant="quiet"
          size="small"
          aria-expanded={isWhole}
          onClick={() => setWhole(!isWhole)}
        >
          {isWhole ? "Show less" : "Show all"}
        </Button>
      )}
    </div>
  )
}

function Origins({ id, spec }: { readonly id: string; readonly spec: OperationSpec }): ReactNode {
  const { operations } = useOperations()
  const sources = useSources() ?? []
  const summary = operations.find((operation) => operation.id === id)
  const origins = provenanceOf(spec, sourceFor(id, summary?.source, sources))
  return (
    <dl className="operation-facts">
      <AccessFact spec={spec} />
      {origins.map(({ label, value, isWarning }) => (
        <div key={`${label} ${value}`}>
          <dt>{label}</dt>
          <dd className={isWarning === true ? "operation-warning" : undefined}>
            <code>{value}</code>
          </dd>
        </div>
      ))}
    </dl>
  )
}
