import { useEffect, useId, useMemo, useRef, useState } from "react"
import type { KeyboardEvent, ReactNode } from "react"
import { isRecord } from "../../../src/internal/guards.ts"
import type { InputRequest, InputResponse } from "../api/model.ts"
import { JsonTree } from "../result/JsonTree.tsx"
import { Button } from "../ui/Button.tsx"
import { InputEditor, VALID } from "./InputEditor.tsx"
import type { InputEditorHandle, InputValidity } from "./InputEditor.tsx"
import { isRunKey } from "./Request.tsx"
import { own } from "./schema/json.ts"
import { startValue } from "./schema/initial.ts"

/** How a question is displayed, and how its answer is created. */
interface QuestionForm {
  readonly title: string
  readonly message?: string | undefined
  readonly schema: unknown
  /** The label of the button that answers. */
  readonly yes: string
  readonly content: (value: unknown) => unknown
}

/** A question of a running operation, as a form. */
export function Question({
  request,
  onAnswer,
}: {
  readonly request: InputRequest
  readonly onAnswer: (response: InputResponse) => void
}): ReactNode {
  const form = useMemo(() => formOf(request), [request])
  const [value, setValue] = useState<unknown>(() => startValue(form.schema) ?? {})
  const [{ isJson, issues }, setValidity] = useState<InputValidity>(VALID)
  const title = useId()
  const editor = useRef<InputEditorHandle>(null)
  const section = useRef<HTMLElement>(null)
  useEffect(() => {
    section.current?.scrollIntoView({ block: "nearest" })
    const field = section.current?.querySelector<HTMLElement>("input, select, textarea")
    const first = field ?? section.current
    first?.focus()
  }, [])
  const answer = (): void => {
    if (!isJson || issues.length > 0) editor.current?.showIssues()
    else onAnswer({ action: "accept", content: form.content(value) })
  }
  const press = (event: KeyboardEvent): void => {
    if (!isRunKey(event)) return
    event.preventDefault()
    // Not also for the panel around it.
    event.stopPropagation()
    answer()
  }
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- keys of all that is inside
    <section
      ref={section}
      className="question card stack"
      aria-labelledby={title}
      tabIndex={-1}
      onKeyDown={press}
    >
      <h2 id={title}>{form.title}</h2>
      {form.message !== undefined && <p className="question-text">{form.message}</p>}
      {request.type === "url" && <Address url={request.url} />}
      {request.type === "sampling" && <JsonTree value={request.params} label="What it asks" />}
      <InputEditor
        schema={form.schema}
        value={value}
        onChange={setValue}
        onValidity={setValidity}
        answerTo="Answer"
        handle={editor}
      />
      <div className="row">
        <Button variant="primary" onClick={answer}>
          {form.yes}
        </Button>
        <Button onClick={() => onAnswer({ action: "decline" })}>Decline</Button>
      </div>
    </section>
  )
}

/** An address that a person may open; only web pages are links. */
function Address({ url }: { readonly url: string }): ReactNode {
  if (!/^https?:\/\//i.test(url)) return <code>{url}</code>
  return (
    <p>
      <a href={url} target="_blank" rel="noopener noreferrer">
        {url}
      </a>
    </p>
  )
}

const NOTHING = { type: "object", properties: {} }

function formOf(request: InputRequest): QuestionForm {
  switch (request.type) {
    case "url":
      return {
        title: "The operation asks you to visit a page",
        message: request.message,
        schema: NOTHING,
        yes: "Done",
        content: () => undefined,
      }
    case "sampling":
      return {
        title: "The operation asks a language model",
        message: "There is none here. You can answer in its place.",
        schema: textSchema("text", "Answer", { format: "multiline" }),
        yes: "Send answer",
        content: (value) => ({
          role: "assistant",
          model: "a person",
          stopReason: "endTurn",
          content: { type: "text", text: own(value, "text") },
        }),
      }
    case "roots":
      return {
        title: "The operation asks in which folder you work",
        schema: textSchema("uri", "Address of the folder", { examples: ["file:///home/ada"] }),
        yes: "Send answer",
        content: (value) => ({ roots: [{ uri: own(value, "uri") }] }),
      }
    case "form":
    case undefined:
      return {
        title: "The operation asks",
        message: request.message,
        schema: withSets(request.schema),
        yes: "Send answer",
        content: (value) => value,
      }
  }
}

/** The lists of an MCP form are sets of choices, so that one field takes all of them. */
function withSets(schema: unknown): unknown {
  const properties = own(schema, "properties")
  if (!isRecord(schema) || !isRecord(properties)) return schema
  const sets = Object.entries(properties).map(([name, one]) =>
    own(one, "type") === "array" ? [name, { uniqueItems: true, ...(one as object) }] : [name, one],
  )
  return { ...schema, properties: Object.fromEntries(sets) as object }
}

function textSchema(name: string, title: string, more: object): object {
  const text = { type: "string", title, minLength: 1, ...more }
  return { type: "object", properties: { [name]: text }, required: [name] }
}
