import { lazy, Suspense, useEffect, useState } from "react"
import type { ReactNode } from "react"
import { readPolicies } from "../../../src/core/policy-state.ts"
import type { OperationSpec } from "../api/model.ts"
import { navigate, toast, useOperations, useRoute, useSpec } from "../app/context.tsx"
import { drafts } from "../try/drafts.ts"
import { readJson } from "../try/editor/read-json.ts"
import { withoutReadOnly } from "../try/history/mask.ts"
import { ErrorBox, Spinner, Tabs } from "../ui/index.ts"
import { Skeleton } from "../ui/Skeleton.tsx"
import { OperationHeader } from "./OperationHeader.tsx"
import { OperationPolicies, PoliciesPanel } from "./OperationPolicies.tsx"
import { ErrorsTable } from "./ErrorsTable.tsx"
import { SchemaTree } from "./SchemaTree.tsx"
import { SnippetsPanel } from "./SnippetsPanel.tsx"
import "./read.css"

const TryPanel = lazy(async () => ({ default: (await import("../try/TryPanel.tsx")).TryPanel }))
const WatchPanel = lazy(async () => ({
  default: (await import("../watch/WatchPanel.tsx")).WatchPanel,
}))

/** Everything about one operation. */
export function OperationView({ id }: { readonly id: string }): ReactNode {
  const { spec, status, error } = useSpec(id)
  const operations = useOperations()
  if (spec !== undefined) return <Operation key={id} id={id} spec={spec} />
  return (
    <article className="page operation">
      <h1 tabIndex={-1}>{id}</h1>
      {status === "failed" ? (
        <ErrorBox error={error} onRetry={() => operations.reload()} />
      ) : (
        <Skeleton label={`Loading ${id}`} />
      )}
    </article>
  )
}

function Operation({ id, spec }: { readonly id: string; readonly spec: OperationSpec }): ReactNode {
  const route = useRoute()
  const { tab: asked, input } = route.view === "operation" ? route : {}
  const version = useLinkedInput(id, input, spec)
  const isStream = spec.type === "subscription"
  const policies = readPolicies(spec)
  const tabs = [
    {
      id: "try",
      label: isStream ? "Watch" : "Try",
      panel: (
        <Suspense fallback={<Spinner label="Loading" />}>
          {isStream ? (
            <WatchPanel key={version} spec={spec} />
          ) : (
            <TryPanel key={version} spec={spec} />
          )}
        </Suspense>
      ),
    },
    { id: "schema", label: "Schema", panel: <SchemaPanel spec={spec} /> },
    { id: "snippets", label: "Snippets", panel: <SnippetsPanel spec={spec} /> },
    ...(policies.length > 0
      ? [{ id: "policies", label: "Policies", panel: <PoliciesPanel policies={policies} /> }]
      : []),
  ]
  const value = tabs.find((tab) => tab.id === asked)?.id ?? "try"
  const change = (tab: string): void =>
    navigate({ view: "operation", id, ...(tab !== "try" && { tab }) }, { replace: true })
  return (
    <article className="page operation">
      <OperationPolicies id={id} policies={policies}>
        <OperationHeader id={id} spec={spec} />
        <Tabs label="Views of the operation" tabs={tabs} value={value} onChange={change} />
      </OperationPolicies>
    </article>
  )
}

/** The input, output and errors of an operation. */
function SchemaPanel({ spec }: { readonly spec: OperationSpec }): ReactNode {
  const { inputSchema, outputSchema, errorSchemas = [], type } = spec
  const result = type === "subscription" ? "Each item" : "Output"
  return (
    <div className="stack">
      <section className="stack">
        <h2>Input</h2>
        <SchemaTree schema={inputSchema} label="Input" />
      </section>
      <section className="stack">
        <h2>{result}</h2>
        <SchemaTree schema={outputSchema} label={result} />
      </section>
      <section className="stack">
        <h2>Errors</h2>
        <ErrorsTable errors={errorSchemas} />
      </section>
    </div>
  )
}

/** Makes the input of a link the draft of the operation. Another number for each link. */
function useLinkedInput(
  id: string,
  input: string | undefined,
  { inputSchema }: OperationSpec,
): number {
  const [{ text, version }, setTaken] = useState<{ text?: string | undefined; version: number }>({
    version: 0,
  })
  if (input !== text) {
    setTaken({ text: input, version: input === undefined ? version : version + 1 })
    const read = input === undefined ? undefined : readJson(input)
    if (read?.ok === true) {
      const { value } = withoutReadOnly(read.value, inputSchema)
      drafts.put(id, { input: value, removed: [], isFromLink: true })
    }
  }
  useEffect(() => {
    if (input === undefined) return
    if (!readJson(input).ok) toast("The input in the link is not valid JSON.", "bad")
    // From here on the draft counts, also after a reload.
    navigate({ view: "operation", id }, { replace: true })
  }, [id, input])
  return version
}
