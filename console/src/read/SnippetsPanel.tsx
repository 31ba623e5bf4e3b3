import { useId, useMemo, useState } from "react"
import type { ReactNode } from "react"
import { idOf } from "../api/model.ts"
import type { OperationSpec } from "../api/model.ts"
import { useHub, useHubInfo } from "../app/context.tsx"
import { useIsSignedIn } from "../app/use-session.ts"
import { useDraft } from "../try/drafts.ts"
import { CodeBlock, Select } from "../ui/index.ts"
import { exampleInputs } from "../../../src/schema/read/sample/example-input.ts"
import { snippetsOf } from "./snippets/snippets.ts"

/** Code snippets that call the operation with the input of the form, or with an example. */
export function SnippetsPanel({ spec }: { readonly spec: OperationSpec }): ReactNode {
  const { baseUrl } = useHub()
  const { mcp, websocket } = useHubInfo()
  const needsToken = useIsSignedIn()
  const draft = useDraft(idOf(spec))
  const examples = useMemo(() => exampleInputs(spec), [spec])
  const inputs = useMemo(
    () => [
      ...(draft === undefined ? [] : [{ label: "Your input", input: draft.input }]),
      ...examples.map((input, at) => ({ label: `Example ${at + 1}`, input })),
    ],
    [draft, examples],
  )
  const choice = useId()
  const [chosen, setChosen] = useState<string>()
  const { label, input } = inputs.find((one) => one.label === chosen) ?? inputs[0] ?? NOTHING
  const snippets = useMemo(
    () => snippetsOf(spec, input, { baseUrl, needsToken, mcp, websocket }),
    [spec, input, baseUrl, needsToken, mcp, websocket],
  )
  const left = label === "Your input" ? (draft?.removed ?? []) : []
  return (
    <div className="stack">
      {inputs.length > 1 && (
        <div className="row">
          <label htmlFor={choice}>Input</label>
          <Select
            id={choice}
            value={label}
            options={inputs.map((one) => [one.label, one.label])}
            onChange={setChosen}
          />
        </div>
      )}
      {left.length > 0 && <p className="input-problem">Left out: {left.join(", ")}</p>}
      {snippets.map(({ id, label: name, language, code, note }) => (
        <section key={id} className="operation-snippet">
          <h2>{name}</h2>
          {note !== "" && <p className="muted">{note}</p>}
          <CodeBlock code={code} language={language} label={name} />
        </section>
      ))}
    </div>
  )
}

const NOTHING = { label: "", input: undefined }
