import { useEffect, useId, useState } from "react"
import type { FormEvent, ReactNode } from "react"
import { viewOf } from "../../../src/schema/read/view.ts"
import type { SchemaView } from "../../../src/schema/read/view.ts"
import type { OperationSpec } from "../api/model.ts"
import { useHub, useSpec } from "../app/context.tsx"
import { ResultView } from "../result/ResultView.tsx"
import { RunningCall } from "../try/RunningCall.tsx"
import { useCall } from "../try/use-call.ts"
import { Button, ErrorBox, Spinner } from "../ui/index.ts"

interface ReaderProps {
  /** The address or name. */
  readonly label: string
  /** What its button does. */
  readonly verb: string
}

/** Reads a resource, or fills in a prompt. */
export function Reader({ id, ...props }: ReaderProps & { readonly id: string }): ReactNode {
  const { spec, status, error } = useSpec(id)
  if (spec !== undefined) return <SpecReader spec={spec} {...props} />
  return status === "failed" ? <ErrorBox error={error} /> : <Spinner label="Loading" />
}

type Texts = Readonly<Record<string, string>>

function SpecReader({
  spec,
  label,
  verb,
}: ReaderProps & { readonly spec: OperationSpec }): ReactNode {
  const [texts, setTexts] = useState<Texts>({})
  const { run, cancel, ...call } = useCall(spec)
  const input = viewOf(spec.inputSchema)
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    run(inputOf(texts, input))
  }
  return (
    <>
      <form className="served-form" aria-label={label} onSubmit={submit}>
        {input.names.map((name) => (
          <Argument
            key={name}
            spec={spec}
            name={name}
            view={input.property(name)}
            isRequired={input.required.includes(name)}
            texts={texts}
            onText={(text) => setTexts({ ...texts, [name]: text })}
          />
        ))}
        <Button variant="primary" type="submit" busy={call.isRunning}>
          {verb}
        </Button>
        {call.isRunning && (
          <Button variant="danger" onClick={cancel}>
            Cancel
          </Button>
        )}
      </form>
      <section aria-label={`Content of ${label}`} aria-busy={call.isRunning}>
        {call.isRunning && <RunningCall {...call} />}
        {!call.isRunning && call.outcome !== undefined && (
          <ResultView outcome={call.outcome} isQuery={spec.type === "query"} />
        )}
      </section>
    </>
  )
}

/** One argument, with the values that the server offers for what is typed. */
function Argument({
  spec,
  name,
  view,
  isRequired,
  texts,
  onText,
}: {
  readonly spec: OperationSpec
  readonly name: string
  readonly view: SchemaView
  readonly isRequired: boolean
  readonly texts: Texts
  readonly onText: (text: string) => void
}): ReactNode {
  const id = useId()
  const text = texts[name] ?? ""
  const [hasFocus, setFocus] = useState(false)
  const values = useOffered(spec, name, texts, hasFocus)
  const description = view.text("description")
  return (
    <div className="field">
      <label htmlFor={id}>
        {name} {!isRequired && <span className="muted">optional</span>}
      </label>
      {description !== undefined && (
        <p id={`${id}-about`} className="field-note">
          {description}
        </p>
      )}
      <input
        id={id}
        className="input"
        required={isRequired}
        list={`${id}-values`}
        autoComplete="off"
        aria-describedby={description === undefined ? undefined : `${id}-about`}
        value={text}
        onFocus={() => setFocus(true)}
        onBlur={() => setFocus(false)}
        onChange={(event) => onText(event.target.value)}
      />
      <datalist id={`${id}-values`}>
        {values.map((value) => (
          <option key={value} value={value}>
            {value}
          </option>
        ))}
      </datalist>
    </div>
  )
}

/** Between two requests while somebody types. */
const PAUSE_MS = 150

/** The values that begin with the text of an argument, while it has the focus. */
function useOffered(
  { namespace, name: operation }: OperationSpec,
  name: string,
  texts: Texts,
  isAsked: boolean,
): readonly string[] {
  const hub = useHub()
  const [values, setValues] = useState<readonly string[]>([])
  const given = JSON.stringify(texts)
  useEffect(() => {
    if (!isAsked) return undefined
    const ending = new AbortController()
    const timer = setTimeout(() => {
      // Without values the text can be typed all the same.
      hub
        .complete(`${namespace}.${operation}`, name, JSON.parse(given) as Texts, ending.signal)
        .then(setValues, () => undefined)
    }, PAUSE_MS)
    return () => {
      clearTimeout(timer)
      ending.abort()
    }
  }, [hub, namespace, operation, name, given, isAsked])
  return values
}

/** The texts as an input: numbers and yes or no where the schema takes no text. */
function inputOf(texts: Texts, input: SchemaView): object {
  const given = Object.entries(texts).filter(([, text]) => text !== "")
  return Object.fromEntries(
    given.map(([name, text]) => [name, valueOf(text, input.property(name))]),
  )
}

function valueOf(text: string, { types }: SchemaView): string | number | boolean {
  if (types.has("string") || types.size === 0) return text
  if (types.has("boolean") && (text === "true" || text === "false")) return text === "true"
  return Number.isFinite(Number(text)) ? Number(text) : text
}
