// The editor of an input: as a form, as JSON, and what a link has filled in.
import {
  lazy,
  Suspense,
  useCallback,
  useId,
  useImperativeHandle,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from "react"
import type { ReactNode, Ref } from "react"
import { flushSync } from "react-dom"
import { scopeOf } from "../../../src/schema/read/resolve-ref.ts"
import { exampleInputs } from "../../../src/schema/read/sample/example-input.ts"
import { fullSampleOf } from "../../../src/schema/read/sample/sample.ts"
import { Boundary } from "../app/Boundary.tsx"
import { Button } from "../ui/Button.tsx"
import { printJson } from "../ui/json-text.ts"
import { Output } from "../ui/Output.tsx"
import { Spinner } from "../ui/Spinner.tsx"
import { cx } from "../ui/cx.ts"
import { JsonEditor } from "./JsonEditor.tsx"
import { readJson } from "./editor/read-json.ts"
import { focusField } from "./form/ids.ts"
import { createCheck } from "./schema/issues.ts"
import type { InputIssue } from "./schema/issues.ts"
import { startOf } from "./schema/initial.ts"
import { fieldOf } from "./schema/field.ts"
import type { Field } from "./schema/field.ts"
import { isSchema } from "../../../src/schema/json.ts"
import { sameData } from "../../../src/internal/same-data.ts"
import type { JsonRecord, Path } from "./schema/json.ts"
import { toPointer } from "./schema/pointer.ts"
import { unseenIn } from "./schema/match.ts"
import "./input.css"

const SchemaForm = lazy(async () => {
  const { SchemaForm: Loaded } = await import("./form/SchemaForm.tsx")
  return { default: Loaded }
})

/** The validity of an input while it is edited. */
export interface InputValidity {
  /** Whether the text of the JSON editor is valid JSON; otherwise the value is the last valid one. */
  readonly isJson: boolean
  /** The validation errors of the input. It can still be sent; the hub reports the same errors. */
  readonly issues: readonly InputIssue[]
}

/** The validity of an input that has not been edited yet. */
export const VALID: InputValidity = { isJson: true, issues: [] }

/** The imperative handle of the editor. */
export interface InputEditorHandle {
  /** Puts the focus on the field at a path. */
  focusPath(path: readonly string[]): void
  /** Marks every field with an issue, and puts the focus on the first. */
  showIssues(): void
}

export interface InputEditorProps {
  readonly schema: unknown
  readonly value: unknown
  readonly isFromLink?: boolean | undefined
  readonly onChange: (value: unknown) => void
  readonly onValidity?: ((validity: InputValidity) => void) | undefined
  /** Whole inputs that the operation gives as examples. */
  readonly examples?: readonly unknown[] | undefined
  /** What it is the input of, if not of the operation: then it is only a form. */
  readonly answerTo?: string | undefined
  readonly handle?: Ref<InputEditorHandle> | undefined
}

type View = "form" | "json" | "both"
const VIEWS: readonly { readonly id: View; readonly label: string }[] = [
  { id: "form", label: "Form" },
  { id: "json", label: "JSON" },
  { id: "both", label: "Both" },
]

/** An input, as a form and as JSON text: both show the same, whichever is used. */
export function InputEditor({
  schema: schemaSource,
  value,
  isFromLink = false,
  onChange,
  onValidity,
  examples = [],
  answerTo,
  handle,
}: InputEditorProps): ReactNode {
  const schema = isSchema(schemaSource) ? schemaSource : true
  const field = useMemo(() => fieldOf(schema), [schema])
  const check = useMemo(() => createCheck(schema), [schema])
  const issues = useMemo(() => check(value), [check, value])
  const unseen = useMemo(() => unseenIn(field, value), [field, value])
  const prefix = useId().replaceAll(/[^\w-]/g, "")
  const [view, setView] = useState<View>(answerTo === undefined ? firstView : "form")
  const [isTouched, setTouched] = useState(false)
  const { text, version, reason, type } = useText(value, onChange)
  const isJson = reason === undefined
  const change = useCallback(
    (next: unknown) => {
      setTouched(true)
      onChange(next)
    },
    [onChange],
  )
  // Before the next event: a key that sends the input may follow the one that made it valid.
  useLayoutEffect(() => onValidity?.({ isJson, issues }), [onValidity, isJson, issues])
  const json = useRef<{ focus(): void }>(null)
  const pane = useRef<HTMLDivElement>(null)
  const focusPath = (path: readonly string[]): void => {
    // At once: only fields that are marked can be found.
    flushSync(() => setTouched(true))
    if (!focusField(prefix, path)) json.current?.focus()
  }
  useImperativeHandle(handle, () => ({
    focusPath,
    showIssues: () => {
      flushSync(() => setTouched(true))
      const first = pane.current?.querySelector<HTMLElement>('[aria-invalid="true"]') ?? undefined
      if (first === undefined) return focusPath(issues[0]?.path ?? [])
      first.scrollIntoView({ block: "center" })
      first.focus()
    },
  }))
  const fill = (): void => {
    const [example] = examples.length === 0 ? [] : exampleInputs({ examples, inputSchema: schema })
    change(structuredClone(example ?? fullSampleOf({ schema, scope: scopeOf(schema) })))
  }
  // A schema that breaks the form must not break the page.
  const fallback = (
    <div className="input-problem" role="alert">
      This schema cannot be shown as a form.{" "}
      <Button size="small" onClick={() => setView("json")}>
        Enter the input as JSON
      </Button>
    </div>
  )
  return (
    <section className="input-editor stack" aria-label={answerTo ?? "Input"}>
      {answerTo === undefined && (
        <div className="row">
          <div className="segments" role="group" aria-label="Input view">
            {VIEWS.map(({ id, label }) => (
              <button
                key={id}
                type="button"
                className="segment"
                aria-pressed={view === id}
                onClick={() => setView(id)}
              >
                {label}
              </button>
            ))}
          </div>
          <Button size="small" variant="quiet" title="Fills in an example" onClick={fill}>
            Example
          </Button>
          <Button size="small" variant="quiet" onClick={() => change(startOf(field))}>
            Reset
          </Button>
        </div>
      )}
      {!isJson && (
        <p className="input-problem" role="status">
          The JSON is not valid: {reason}{" "}
          {view !== "json" && "The form shows the last valid input."}
        </p>
      )}
      {isFromLink && <p className="input-problem">Filled by a link. Check it before you run it.</p>}
      {view === "form" && unseen.length > 0 && (
        <div className="input-problem" role="status">
          The form does not show everything that is sent:
          <Output label="Fields that the form does not show" text={fieldsText(value, unseen)} />
        </div>
      )}
      <div className={cx("panes", view === "both" && "panes-both")}>
        {view !== "json" && (
          <div className="pane" ref={pane}>
            <Boundary key={prefix} fallback={fallback}>
              <Suspense fallback={<Spinner label="Loading the form…" />}>
                <SchemaForm
                  field={field}
                  value={value}
                  issues={isTouched ? issues : VALID.issues}
                  idPrefix={prefix}
                  onChange={change}
                />
              </Suspense>
            </Boundary>
            {answerTo === undefined && isEmptyForm(field) && (
              <p className="muted no-input">This operation takes no input.</p>
            )}
          </div>
        )}
        {view !== "form" && (
          <div className="pane">
            <JsonEditor
              text={text}
              version={version}
              schema={schema}
              check={check}
              onText={type}
              handle={json}
            />
          </div>
        )}
      </div>
    </section>
  )
}

/** A line for each path, with its value. */
function fieldsText(value: unknown, paths: readonly Path[]): string {
  return paths
    .map((path) => {
      const item = path.reduce((at, part) => (at as JsonRecord)[part], value)
      return `${toPointer(path)}: ${printJson(item) ?? ""}`
    })
    .join("\n")
}

/** Whether there is nothing to fill in. */
function isEmptyForm(field: Field): boolean {
  const isBare = field.names.length === 0 && field.rest === undefined
  return field.kind === "object" && isBare && !field.hasConditions
}

/** Both where there is room for both, beside the result. */
function firstView(): View {
  return window.matchMedia("(min-width: 1800px)").matches ? "both" : "form"
}

/**
 * The text of the JSON editor, beside the value.
 *
 * A value that comes from elsewhere is written out; one that was typed stays as it was typed.
 */
function useText(
  value: unknown,
  onChange: (value: unknown) => void,
): {
  readonly text: string
  /** Another number for every text that was not typed. */
  readonly version: number
  /** Why the text is not JSON. */
  readonly reason: string | undefined
  readonly type: (text: string) => void
} {
  const [typed, setTyped] = useState(() => ({ text: written(value), value, version: 0 }))
  const read = useMemo(() => readJson(typed.text), [typed.text])
  const isOwn = sameData(typed.value, value)
  if (!isOwn) setTyped({ text: written(value), value, version: typed.version + 1 })
  const type = useCallback(
    (text: string) => {
      const next = readJson(text)
      if (next.ok) {
        setTyped(({ version }) => ({ text, value: next.value, version }))
        onChange(next.value)
      } else {
        setTyped((before) => ({ ...before, text }))
      }
    },
    [onChange],
  )
  return {
    text: typed.text,
    version: typed.version,
    reason: read.ok ? undefined : read.reason,
    type,
  }
}

function written(value: unknown): string {
  return printJson(value, 2) ?? ""
}
