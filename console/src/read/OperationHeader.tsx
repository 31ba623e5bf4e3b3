import { useState } from "react"
import type { ReactNode } from "react"
import { useMissing } from "../activity/use-requested.ts"
import type { OperationSpec, SourceStatus } from "../api/model.ts"
import { linkTo, useHubInfo, useOperations, useSources } from "../app/context.tsx"
import { favourites, useKeptIds } from "../find/kept-ids.ts"
import { titleOf } from "../find/tree.ts"
import { IconButton } from "../ui/Button.tsx"
import { Badge, Button, CopyButton, Icon, TypeBadge } from "../ui/index.ts"
import { Markdown } from "./Markdown.tsx"
import { OpenCircuit } from "./OperationPolicies.tsx"
import { accessRules } from "./access.ts"
import { hintsOf } from "./hints.ts"
import { plainText } from "../../../src/internal/plain-text.ts"
import { provenanceOf, requestOf, sourceFor } from "./provenance.ts"

/** What an operation is, in two lines; the rest is opened on demand. */
export function OperationHeader({
  id,
  spec,
}: {
  readonly id: string
  readonly spec: OperationSpec
}): ReactNode {
  const { description, deprecated } = spec
  const title = titleOf(spec)
  const summary = plainText(description)
  const isFavourite = useKeptIds(favourites).includes(id)
  const [isOpen, setOpen] = useState(false)
  const { operations } = useOperations()
  const sources = useSources() ?? []
  const name = operations.find((operation) => operation.id === id)?.source
  const source = sourceFor(id, name, sources)
  const { isAdmin } = useHubInfo()
  const request = requestOf(spec)
  const facts = [request, source?.name ?? name, accessText(spec)].filter((one) => one !== undefined)
  return (
    <header className="operation-head">
      <div className="operation-title">
        <h1 tabIndex={-1}>{title ?? id}</h1>
        <IconButton
          label="Favourite"
          size="small"
          aria-pressed={isFavourite}
          className="favourite"
          onClick={() => favourites.toggle(id)}
        >
          <Icon name="star" />
        </IconButton>
        <TypeBadge type={spec.type} />
        <OpenCircuit />
        {source !== undefined && isAdmin && <MissingCredential source={source} />}
        {deprecated === true && <Badge tone="warn">deprecated</Badge>}
        {hintsOf(spec).map(({ text, tone, title: why }) => (
          <Badge key={text} tone={tone} title={why}>
            {text}
          </Badge>
        ))}
        <Button
          variant="quiet"
          size="small"
          className="operation-more"
          aria-expanded={isOpen}
          onClick={() => setOpen(!isOpen)}
        >
          <Icon name={isOpen ? "down" : "next"} /> Details
        </Button>
      </div>
      <p className="operation-line">
        <code>{id}</code>
        <CopyButton text={id} label="Copy id" />
        {facts.map((fact) => (
          <span key={fact}>{fact}</span>
        ))}
      </p>
      {isOpen ? (
        <div className="operation-details card stack">
          <Markdown text={description} />
          <Facts spec={spec} origins={provenanceOf(spec, source)} />
        </div>
      ) : (
        summary.replace(/\.$/, "") !== title && <p className="ellipsis">{summary}</p>
      )}
    </header>
  )
}

/** Credentials that the source of the operation needs and does not have. */
function MissingCredential({ source }: { readonly source: SourceStatus }): ReactNode {
  const [missing] = useMissing(source)
  if (missing === undefined) return null
  return (
    <a href={linkTo({ view: "sources" })} title={missing.how}>
      <Badge tone="warn">{missing.name} is not set</Badge>
    </a>
  )
}

function accessText(spec: OperationSpec): string {
  const [first, ...more] = accessRules(spec)
  if (first === undefined) return "No scope needed"
  return `${first.text} ${first.names.join(", ")}${more.length > 0 ? " and more" : ""}`
}

function Facts({
  spec,
  origins,
}: {
  readonly spec: OperationSpec
  readonly origins: ReturnType<typeof provenanceOf>
}): ReactNode {
  const { tags = [], version } = spec
  const rules = accessRules(spec)
  const about = [
    ...rules.map(({ text, names }) => ({ label: text, value: names.join(", ") })),
    ...(tags.length > 0 ? [{ label: "Tags", value: tags.join(", ") }] : []),
    { label: "Version", value: version },
    ...origins,
  ]
  return (
    <dl className="operation-facts">
      {about.map(({ label, value, ...more }) => (
        <div key={`${label} ${value}`}>
          <dt>{label}</dt>
          <dd className={"isWarning" in more && more.isWarning ? "operation-warning" : undefined}>
            <code>{value}</code>
          </dd>
        </div>
      ))}
    </dl>
  )
}
