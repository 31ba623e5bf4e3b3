import { useEffect, useImperativeHandle, useRef, useState } from "react"
import type { ReactNode, Ref } from "react"
import { Spinner } from "../ui/Spinner.tsx"
import type { JsonEditorHandle } from "./editor/create-editor.ts"
import type { InputCheck } from "./schema/issues.ts"
import type { JsonSchema } from "./schema/json.ts"

/** JSON as text, with completion and validation from a schema. A plain field until the editor is loaded. */
export function JsonEditor({
  text,
  version,
  schema,
  check,
  onText,
  handle,
}: {
  readonly text: string
  /** Changes when the text is another than what was typed: then it is shown. */
  readonly version: number
  readonly schema: JsonSchema
  readonly check: InputCheck
  readonly onText: (text: string) => void
  readonly handle?: Ref<Pick<JsonEditorHandle, "focus">>
}): ReactNode {
  const host = useRef<HTMLDivElement>(null)
  const editor = useRef<JsonEditorHandle>(undefined)
  const now = useRef({ text, schema, check, onText })
  const shownText = useRef(text)
  const [state, setState] = useState<"loading" | "ready" | "failed">("loading")
  useEffect(() => {
    now.current = { text, schema, check, onText }
  })
  useEffect(() => {
    let isOver = false
    const open = async (): Promise<void> => {
      const { createJsonEditor } = await import("./editor/create-editor.ts")
      if (isOver || host.current === null) return
      shownText.current = now.current.text
      editor.current = createJsonEditor({
        parent: host.current,
        text: shownText.current,
        label: "Input as JSON",
        schema: () => now.current.schema,
        check: () => now.current.check,
        onText: (next) => {
          if (next === shownText.current) return
          shownText.current = next
          now.current.onText(next)
        },
      })
      setState("ready")
    }
    // Without the editor the text can still be typed.
    open().catch(() => setState("failed"))
    return () => {
      isOver = true
      editor.current?.destroy()
      editor.current = undefined
    }
  }, [])
  useEffect(() => {
    // What was typed comes back here late, and must not undo what was typed since.
    if (shownText.current === now.current.text) return
    shownText.current = now.current.text
    editor.current?.setText(shownText.current)
  }, [version])
  useImperativeHandle(handle, () => ({ focus: () => editor.current?.focus() }))
  return (
    <div className="json-editor">
      <div ref={host} className="json-editor-host" />
      {state === "loading" && <Spinner label="Loading the editor…" />}
      {state === "failed" && (
        <textarea
          className="input input-area input-code"
          aria-label="Input as JSON"
          rows={12}
          spellCheck={false}
          defaultValue={text}
          onChange={(event) => onText(event.target.value)}
        />
      )}
    </div>
  )
}
