import { useState } from "react"
import type { ReactNode } from "react"
import type { OperationSummary } from "../api/model.ts"
import { linkTo, useOperations } from "../app/context.tsx"
import { Badge, Empty, Icon, SearchField, SearchMatches } from "../ui/index.ts"
import { Reader } from "./Reader.tsx"
import "./resources.css"

type Served = OperationSummary & { readonly mcp: NonNullable<OperationSummary["mcp"]> }

/** Longer lists are filtered. */
const MAX_SHOWN = 200

/** The resources and prompts of all sources: to find, read and fill in. */
export function ResourcesView(): ReactNode {
  const { operations } = useOperations()
  const [text, setText] = useState("")
  const all = operations.filter((one): one is Served => one.mcp !== undefined)
  const words = text.trim().toLowerCase().split(/\s+/)
  const shown = all.filter((one) => {
    const about = `${labelOf(one)} ${one.id} ${one.title ?? ""} ${one.description}`.toLowerCase()
    return words.every((word) => about.includes(word))
  })
  return (
    <div className="page stack">
      <header className="page-head">
        <h1 tabIndex={-1}>Resources and prompts</h1>
        {all.length > 0 && (
          <span className="row">
            <SearchField label="Filter" placeholder="Filter" text={text} onText={setText} />
            {text !== "" && <SearchMatches count={shown.length} />}
          </span>
        )}
      </header>
      {all.length === 0 && (
        <Empty title="No resources">
          No MCP server here has resources or prompts, or its source says{" "}
          <code>resources: false</code> and <code>prompts: false</code>.
        </Empty>
      )}
      <List title="Resources" items={shown.filter(({ mcp }) => mcp.as === "resource")} />
      <List title="Prompts" items={shown.filter(({ mcp }) => mcp.as === "prompt")} />
    </div>
  )
}

function List({
  title,
  items,
}: {
  readonly title: string
  readonly items: readonly Served[]
}): ReactNode {
  if (items.length === 0) return null
  return (
    <section className="stack" aria-label={title}>
      <h2>{title}</h2>
      <ul className="stack">
        {items.slice(0, MAX_SHOWN).map((item) => (
          <Item key={item.id} item={item} />
        ))}
      </ul>
      {items.length > MAX_SHOWN && (
        <p className="muted">{items.length - MAX_SHOWN} more: filter the list.</p>
      )}
    </section>
  )
}

function Item({ item }: { readonly item: Served }): ReactNode {
  const [isOpen, setOpen] = useState(false)
  const { id, title, description, source, mcp } = item
  const label = labelOf(item)
  return (
    <li className="card">
      <div className="row">
        <button
          type="button"
          className="served-toggle"
          aria-expanded={isOpen}
          onClick={() => setOpen(!isOpen)}
        >
          <Icon name={isOpen ? "down" : "next"} />
          <code>{label}</code>
        </button>
        {mcp.mimeType !== undefined && <Badge>{mcp.mimeType}</Badge>}
        {source !== undefined && <span className="muted">{source}</span>}
      </div>
      <p className="muted">{title ?? description}</p>
      {isOpen && (
        <div className="stack">
          <Reader id={id} label={label} verb={mcp.as === "prompt" ? "Fill in" : "Read"} />
          <p className="field-note">
            Operation <a href={linkTo({ view: "operation", id })}>{id}</a>
          </p>
        </div>
      )}
    </li>
  )
}

/** The address of a resource, or the name of a prompt. */
function labelOf({ id, mcp }: Served): string {
  return mcp.uri ?? mcp.prompt ?? id
}
