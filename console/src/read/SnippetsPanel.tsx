import { useId, useMemo, useState } from "react"
import type { ReactNode } from "react"
import type { OperationSpec } from "../api/model.ts"
import { useHub } from "../app/context.tsx"
import { useIsSignedIn } from "../app/use-session.ts"
import { CodeBlock } from "../ui/index.ts"
import { exampleInputs } from "./snippets/example-input.ts"
import { snippetsOf } from "./snippets/snippets.ts"

/** Code snippets that call the operation with a valid input. */
export function SnippetsPanel({ spec }: { readonly spec: OperationSpec }): ReactNode {
  const { baseUrl } = useHub()
  const isSignedIn = useIsSignedIn()
  const inputs = useMemo(() => exampleInputs(spec), [spec])
  const [chosen, setChosen] = useState(0)
  const input = inputs[Math.min(chosen, inputs.length - 1)]
  const snippets = useMemo(
    () => snippetsOf(spec, input, { baseUrl, needsToken: isSignedIn }),
    [spec, input, baseUrl, isSignedIn],
  )
  return (
    <div className="stack">
      {inputs.length > 1 && (
        <ExampleChoice count={inputs.length} value={chosen} onChange={setChosen} />
      )}
      {snippets.map(({ id, label, language, code, note }) => (
        <section key={id} className="operation-snippet">
          <h2>{label}</h2>
          {note !== "" && <p className="muted">{note}</p>}
          <CodeBlock code={code} language={language} label={label} />
        </section>
      ))}
    </div>
  )
}

function ExampleChoice({
  count,
  value,
  onChange,
}: {
  readonly count: number
  readonly value: number
  readonly onChange: (value: number) => void
}): ReactNode {
  const id = useId()
  return (
    <div className="row">
      <label htmlFor={id}>Input</label>
      <select
        id={id}
        className="input"
        value={value}
        onChange={(event) => onChange(Number(event.target.value))}
      >
        {Array.from({ length: count }, (_, at) => (
          <option key={at} value={at}>
            Example {at + 1}
          </option>
        ))}
      </select>
    </div>
  )
}
