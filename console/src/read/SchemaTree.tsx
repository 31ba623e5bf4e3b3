import { useMemo, useState } from "react"
import type { ReactNode } from "react"
import { Button, CopyButton } from "../ui/index.ts"
import { InlineMarkdown } from "./Markdown.tsx"
import { NodeFacts, NodeType } from "./NodeFacts.tsx"
import { TreeRows } from "./TreeRows.tsx"
import { schemaTree } from "./schema/node.ts"
import type { SchemaNode } from "./schema/node.ts"
import { allOpen, openAtFirst, rowsOf, toggled } from "./schema/rows.ts"
import "./schema.css"

/**
 * A schema as a tree of what it takes, opened a level at a time.
 *
 * References are looked up in `root`; without one, in the schema itself.
 */
export function SchemaTree({
  schema,
  root,
  label = "Schema",
}: {
  readonly schema: unknown
  readonly root?: unknown
  readonly label?: string | undefined
}): ReactNode {
  const tree = useMemo(() => schemaTree(schema, root ?? schema), [schema, root])
  const [open, setOpen] = useOpen(tree)
  const rows = useMemo(() => rowsOf(tree, open), [tree, open])
  const { facts } = tree
  return (
    <div className="schema">
      <div className="schema-root">
        <NodeType facts={facts} />
        <NodeFacts facts={facts} isOpen />
        {facts.description !== undefined && <InlineMarkdown text={facts.description} />}
      </div>
      {rows.length > 0 && (
        <TreeRows label={label} rows={rows} onToggle={(node) => setOpen(toggled(open, node))} />
      )}
      <div className="schema-tools">
        {rows.some(({ isOpenable }) => isOpenable) && (
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

/** The open nodes; reset for another schema. */
function useOpen(
  tree: SchemaNode,
): readonly [ReadonlySet<string>, (open: ReadonlySet<string>) => void] {
  const [state, setState] = useState(() => ({ tree, open: openAtFirst(tree) }))
  const current = state.tree === tree ? state : { tree, open: openAtFirst(tree) }
  if (current !== state) setState(current)
  return [current.open, (open) => setState({ tree, open })]
}
