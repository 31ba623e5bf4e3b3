import { useCallback, useEffect, useId, useMemo, useRef, useState } from "react"
import type { KeyboardEvent, ReactNode } from "react"
import type { CallOutcome, OperationSpec } from "../api/model.ts"
import { ResultView } from "../result/ResultView.tsx"
import { Button } from "../ui/Button.tsx"
import { Icon } from "../ui/Icon.tsx"
import { Spinner } from "../ui/Spinner.tsx"
import { formatDuration } from "../ui/format.ts"
import { InputEditor, startValue } from "./InputEditor.tsx"
import type { InputEditorHandle, InputValidity } from "./InputEditor.tsx"
import { RecentCalls } from "./history/RecentCalls.tsx"
import { dropInput, peekInput } from "./history/use-history.ts"
import type { HistoryEntry } from "./history/store.ts"
import { fromPointer } from "./schema/pointer.ts"
import { idOf, useCall } from "./use-call.ts"
import "./try.css"

/** Calls an operation: its input, the run, the result, and the calls before. */
export function TryPanel({ spec }: { readonly spec: OperationSpec }): ReactNode {
  const id = idOf(spec)
  // Another operation gets a new panel, so that typed input is not carried over.
  return <Panel key={id} id={id} spec={spec} />
}

function Panel({ id, spec }: { readonly id: string; readonly spec: OperationSpec }): ReactNode {
  const left = useMemo(() => peekInput(id), [id])
  const [value, setValue] = useState<unknown>(() => left?.input ?? startValue(spec.inputSchema))
  const [removed, setRemoved] = useState<readonly string[]>(left?.removed ?? [])
  const [validity, setValidity] = useState<InputValidity>({ isJson: true, issues: [] })
  const [deadline, setDeadline] = useState("")
  const { isRunning, outcome, previous, run, cancel } = useCall(spec)
  const editor = useRef<InputEditorHandle>(null)
  useEffect(() => dropInput(id), [id])
  const timeoutMs = readDeadline(deadline)
  const canRun = validity.isJson && timeoutMs !== "wrong"
  const start = (input: unknown): void => {
    if (canRun) run(input, timeoutMs)
  }
  const press = (event: KeyboardEvent): void => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return
    event.preventDefault()
    start(value)
  }
  const focusIssue = useCallback((pointer: string) => {
    editor.current?.focusPath(fromPointer(pointer))
  }, [])
  const use = (entry: HistoryEntry): void => {
    setValue(entry.input)
    setRemoved(entry.removed)
  }
  return (
    // oxlint-disable-next-line jsx-a11y/no-static-element-interactions -- keys of all that is inside
    <div className="try" onKeyDown={press}>
      <InputEditor
        schema={spec.inputSchema}
        value={value}
        onChange={setValue}
        onValidity={setValidity}
        examples={spec.examples}
        handle={editor}
      />
      {removed.length > 0 && (
        <p className="input-problem">
          Not kept in the history, please enter again: {removed.slice(0, 8).join(", ")}
        </p>
      )}
      <RunBar
        isRunning={isRunning}
        canRun={canRun}
        issues={validity.issues.length}
        deadline={deadline}
        onDeadline={setDeadline}
        onRun={() => start(value)}
        onCancel={cancel}
      />
      <p className="visually-hidden" role="status">
        {isRunning ? "Running" : outcome === undefined ? "" : sentenceOf(outcome)}
      </p>
      <section className="try-result" aria-label="Result" aria-busy={isRunning}>
        {isRunning && <Spinner label="Running…" />}
        {!isRunning && outcome !== undefined && (
          <ResultView outcome={outcome} onIssue={focusIssue} />
        )}
      </section>
      <RecentCalls
        id={id}
        outcome={outcome}
        previous={previous}
        isRunning={isRunning}
        onUse={use}
        onAgain={(entry) => {
          use(entry)
          if (entry.removed.length === 0) start(entry.input)
        }}
      />
    </div>
  )
}

function RunBar({
  isRunning,
  canRun,
  issues,
  deadline,
  onDeadline,
  onRun,
  onCancel,
}: {
  readonly isRunning: boolean
  readonly canRun: boolean
  readonly issues: number
  readonly deadline: string
  readonly onDeadline: (text: string) => void
  readonly onRun: () => void
  readonly onCancel: () => void
}): ReactNode {
  const id = useId()
  return (
    <div className="run-bar">
      <Button
        variant="primary"
        busy={isRunning}
        disabled={!canRun}
        onClick={onRun}
        aria-keyshortcuts="Control+Enter Meta+Enter"
      >
        <Icon name="play" /> Run
      </Button>
      {isRunning && (
        <Button variant="danger" onClick={onCancel}>
          <Icon name="stop" /> Cancel
        </Button>
      )}
      <span className="deadline">
        <label htmlFor={id}>Deadline</label>
        <input
          id={id}
          className="input"
          inputMode="numeric"
          placeholder="none"
          value={deadline}
          aria-invalid={readDeadline(deadline) === "wrong" || undefined}
          onChange={(event) => onDeadline(event.target.value)}
        />
        <span className="muted">ms</span>
      </span>
      <span className="muted run-hint">
        {issues > 0
          ? `The input has ${issues} validation ${issues === 1 ? "error" : "errors"}: the hub will reject it.`
          : "Ctrl or ⌘ and Enter"}
      </span>
    </div>
  )
}

/** Parses whole milliseconds; empty means no deadline. */
function readDeadline(text: string): number | undefined | "wrong" {
  const trimmed = text.trim()
  if (trimmed === "") return undefined
  const ms = Number(trimmed)
  return Number.isInteger(ms) && ms > 0 && ms <= 86_400_000 ? ms : "wrong"
}

/** The announcement of the result for screen readers. */
function sentenceOf(outcome: CallOutcome): string {
  const time = formatDuration(outcome.durationMs)
  return outcome.ok
    ? `Done in ${time}.`
    : `Failed after ${time}: ${outcome.problem.code}. ${outcome.problem.detail}`
}
