import { useDeferredValue, useMemo, useState } from "react"
import type { ReactNode } from "react"
import { Button, CopyButton, SearchField, SearchMatches } from "../ui/index.ts"
import { InlineMarkdown } from "./Markdown.tsx"
import { NodeFacts, NodeType } from "./NodeFacts.tsx"
import { TreeRows } from "./TreeRows.tsx"
import { schemaTree } from "./schema/node.ts"
import { allOpen, openAtFirst, rowsOf, searchSchema, toggled } from "./schema/rows.ts"
import type { Row } from "./schema/rows.ts"
import "./schema.css"

/** A schema as a tree, which the reader expands level by level. */
export function SchemaTree({
  schema,
  label,
}: {
  readonly schema: unknown
  readonly label: string
}): ReactNode {
  const tree = useMemo(() => schemaTree(schema), [schema])
  const [text, setText] = useState("")
  const wanted = useDeferredValue(text)
  const search = useMemo(() => searchSchema(tree, wanted), [tree, wanted])
  const first = useMemo(() => search?.around ?? openAtFirst(tree), [tree, search])
  const [open, setOpen] = useOpen(first)
  const rows = useMemo(() => rowsOf(tree, open, search), [tree, open, search])
  const { facts } = tree
  return (
    <div className="schema">
      <div className="schema-root">
        <NodeType facts={facts} />
        <NodeFacts facts={facts} isOpen />
        {facts.description !== undefined && <InlineMarkdown text={facts.description} />}
      </div>
      {(search !== undefined || isLarge(rows)) && (
        <div className="row schema-search">
          <SearchField
            label={`Search in ${label}`}
            placeholder="Search names and descriptions"
            text={text}
            onText={setText}
          />
          <SearchMatches count={search?.hits.size} isCut={search?.isCut} />
        </div>
      )}
      {rows.length > 0 && (
        <TreeRows label={label} rows={rows} onToggle={(node) => setOpen(toggled(open, node))} />
      )}
      <div className="schema-tools">
        {rows.some(({ isOpen }) => isOpen !== undefined) && (
          <>
            <Button variant="quiet" size="small" onClick={() => setOpen(allOpen(tree))}>
              Open all
            </Button>
            <Button variant="quiet" size="small" onClick={() => setOpen(new Set())}>
              Close all
            </Button>
          </>
        )}
        <CopyButton text={() => JSON.stringify(schema, null, 2)} label="Copy JSON Schema" />
      </div>
    </div>
  )
}

/** Smaller schemas are read faster than searched. */
function isLarge(rows: readonly Row[]): boolean {
  return rows.length > 20 || rows.some(({ isOpen }) => isOpen === false)
}

/** The open nodes; reset when the initially open nodes change. */
function useOpen(
  first: ReadonlySet<string>,
): readonly [ReadonlySet<string>, (open: ReadonlySet<string>) => void] {
  const [state, setState] = useState({ first, open: first })
  const current = state.first === first ? state : { first, open: first }
  if (current !== state) setState(current)
  return [current.open, (open) => setState({ first, open })]
}
