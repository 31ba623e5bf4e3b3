import { useCallback, useEffect, useId, useRef, useState } from "react"
import type { InputHTMLAttributes, ReactNode } from "react"
import { idOf } from "../api/model.ts"
import type { CallOutcome, OperationSpec } from "../api/model.ts"
import { endingOf } from "../api/outcome.ts"
import { ResultView } from "../result/ResultView.tsx"
import { Button } from "../ui/Button.tsx"
import { Dialog } from "../ui/Dialog.tsx"
import { Empty } from "../ui/Empty.tsx"
import { Icon } from "../ui/Icon.tsx"
import { Output } from "../ui/Output.tsx"
import { formatCount, formatDuration } from "../ui/format.ts"
import { logText } from "../ui/log-lines.ts"
import { InputEditor, VALID } from "./InputEditor.tsx"
import type { InputEditorHandle, InputValidity } from "./InputEditor.tsx"
import { Request, ShareButtons } from "./Request.tsx"
import { RunningCall } from "./RunningCall.tsx"
import { RecentCalls } from "./history/RecentCalls.tsx"
import { fromPointer } from "./schema/pointer.ts"
import { useCall } from "./use-call.ts"
import { useInput } from "./use-input.ts"

/** Calls an operation: its input, the run, the result, and the calls before. */
export function TryPanel({ spec }: { readonly spec: OperationSpec }): ReactNode {
  const id = idOf(spec)
  const { input, removed, isFromLink, set, use } = useInput(id, spec)
  const [{ isJson, issues }, setValidity] = useState<InputValidity>(VALID)
  const [deadline, setDeadline] = useState("")
  const [fields, setFields] = useState("")
  // The hub decides what is valid: what fails here can be sent all the same.
  const [isChecked, setChecked] = useState(false)
  const { run, cancel, ...call } = useCall(spec)
  const { isRunning, outcome, previous, isPlain, log } = call
  const editor = useRef<InputEditorHandle>(null)
  const result = useRef<HTMLElement>(null)
  useEffect(() => {
    // Where the result is below the form it may be out of sight.
    if (outcome !== undefined) result.current?.scrollIntoView({ block: "nearest" })
  }, [outcome])
  const timeoutMs = readDeadline(deadline)
  const canRun = isJson && timeoutMs !== "wrong"
  const paths = fields.split(",").flatMap((path) => path.trim() || [])
  const options = {
    ...(timeoutMs !== "wrong" && { timeoutMs }),
    ...(paths.length > 0 && { select: paths }),
  }
  const [unconfirmed, setUnconfirmed] = useState<{ readonly input: unknown }>()
  const send = (value: unknown): void => {
    setChecked(false)
    if (!canRun || isRunning) return
    if (spec.annotations?.destructive === true) setUnconfirmed({ input: value })
    else run(value, options)
  }
  const start = (): void => {
    if (issues.length === 0 || !canRun) return send(input)
    setChecked(true)
    editor.current?.showIssues()
  }
  const dismiss = (): void => setUnconfirmed(undefined)
  const confirm = (): void => {
    dismiss()
    if (canRun) run(unconfirmed?.input, options)
  }
  const focusIssue = useCallback((pointer: string) => {
    editor.current?.focusPath(fromPointer(pointer))
  }, [])
  const bar = (
    <>
      <Button
        variant="primary"
        busy={isRunning}
        disabled={!canRun}
        onClick={start}
        title="Ctrl or ⌘ and Enter"
        aria-keyshortcuts="Control+Enter Meta+Enter"
      >
        <Icon name="play" /> Run
      </Button>
      {isRunning && (
        <Button variant="danger" onClick={cancel}>
          <Icon name="stop" /> Cancel
        </Button>
      )}
      <Setting
        label="Deadline"
        className="deadline"
        inputMode="numeric"
        placeholder="none"
        value={deadline}
        aria-invalid={readDeadline(deadline) === "wrong" || undefined}
        onText={setDeadline}
      >
        <span className="muted">ms</span>
      </Setting>
      <Setting
        label="Fields"
        className="select-fields"
        placeholder="all"
        title="Paths in the result, separated by commas: number, owner.name"
        value={fields}
        onText={setFields}
      />
      {issues.length > 0 && (
        <span className="action-hint" role={isChecked ? "alert" : undefined}>
          <span className={isChecked ? "field-error" : "muted"}>
            {formatCount(issues.length, "problem")} in the input
          </span>
          {isChecked && (
            <Button size="small" variant="quiet" onClick={() => send(input)}>
              Send anyway
            </Button>
          )}
        </span>
      )}
      <ShareButtons id={id} spec={spec} input={input} />
    </>
  )
  return (
    <Request
      onRun={start}
      bar={
        <>
          {bar}
          <Dialog
            title="Run a destructive operation?"
            open={unconfirmed !== undefined}
            onClose={dismiss}
          >
            <p>
              The changes of <strong>{spec.title ?? id}</strong> cannot be undone.
            </p>
            <div className="row">
              <Button variant="danger" onClick={confirm}>
                Run it
              </Button>
              <Button data-autofocus onClick={dismiss}>
                Do not run
              </Button>
            </div>
          </Dialog>
        </>
      }
      request={
        <>
          {removed.length > 0 && (
            <p className="input-problem">Not kept; enter again: {removed.slice(0, 8).join(", ")}</p>
          )}
          <InputEditor
            schema={spec.inputSchema}
            value={input}
            isFromLink={isFromLink}
            onChange={set}
            onValidity={setValidity}
            examples={spec.examples}
            handle={editor}
          />
        </>
      }
      response={
        <>
          <p className="visually-hidden" role="status">
            {isRunning ? "Running" : outcome === undefined ? "" : sentenceOf(outcome)}
          </p>
          <section ref={result} className="try-result" aria-label="Result" aria-busy={isRunning}>
            {isRunning && <RunningCall {...call} />}
            {!isRunning && outcome === undefined && (
              <Empty title="No result yet">
                Press Run, or <kbd>Ctrl</kbd> <kbd>Enter</kbd>.
              </Empty>
            )}
            {!isRunning && outcome !== undefined && (
              <ResultView
                outcome={outcome}
                previous={previous}
                isQuery={spec.type === "query"}
                onIssue={focusIssue}
              />
            )}
            {log.length > 0 && (
              <section aria-label="Log">
                <h2>Log of the server</h2>
                <Output label={`Log of ${id}`} text={logText(log)} />
              </section>
            )}
            {!isRunning && isPlain === true && outcome?.status !== 0 && (
              <p className="field-note">
                There is no WebSocket to the hub, so the operation could neither report progress nor
                ask you anything.
              </p>
            )}
          </section>
          <RecentCalls
            id={id}
            outcome={outcome}
            isRunning={isRunning}
            onUse={use}
            onAgain={(entry) => {
              use(entry)
              if (entry.removed.length === 0) send(entry.input)
            }}
          />
        </>
      }
    />
  )
}

/** A short text beside the button that runs the operation. */
function Setting({
  label,
  className,
  onText,
  children,
  ...input
}: {
  readonly label: string
  readonly className: string
  readonly onText: (text: string) => void
  readonly children?: ReactNode
} & Omit<InputHTMLAttributes<HTMLInputElement>, "onChange" | "id">): ReactNode {
  const id = useId()
  return (
    <span className={`row ${className}`}>
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        className="input"
        {...input}
        onChange={(event) => onText(event.target.value)}
      />
      {children}
    </span>
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
  const { code, text } = endingOf(outcome)
  if (code === undefined) return `Done in ${time}.`
  const why = outcome.ok ? "" : `, ${code}. ${outcome.problem.detail}`
  return `Failed after ${time}: ${text}${why}`
}
