import { useMemo, useState } from "react"
import type { ReactNode } from "react"
import { idOf } from "../api/model.ts"
import type { OperationSpec } from "../api/model.ts"
import { InputEditor, VALID } from "../try/InputEditor.tsx"
import type { InputValidity } from "../try/InputEditor.tsx"
import { Request, ShareButtons } from "../try/Request.tsx"
import { useInput } from "../try/use-input.ts"
import { Button, Empty, ErrorBox, Icon } from "../ui/index.ts"
import { ItemList } from "./ItemList.tsx"
import { SeriesChart } from "./SeriesChart.tsx"
import { WatchBar } from "./WatchBar.tsx"
import { isMatch } from "./model.ts"
import { useWatch } from "./use-watch.ts"
import "./watch.css"

/** Reads a subscription, as a live list and, where there are numbers, as a chart. */
export function WatchPanel({ spec }: { readonly spec: OperationSpec }): ReactNode {
  const id = idOf(spec)
  const { input, isFromLink, set } = useInput(id, spec)
  const [{ isJson, issues }, setValidity] = useState<InputValidity>(VALID)
  const [text, setText] = useState("")
  const { state, dispatch, start, stop } = useWatch(spec)
  const { shown, phase, error } = state
  const entries = useMemo(() => shown.filter((entry) => isMatch(entry, text)), [shown, text])
  const isRunning = phase === "running"
  const begin = (): void => {
    if (!isRunning) start(input ?? {})
  }
  const bar = (
    <>
      {isRunning ? (
        <Button variant="danger" onClick={stop}>
          <Icon name="stop" /> Stop
        </Button>
      ) : (
        <Button variant="primary" onClick={begin}>
          <Icon name="play" /> {phase === "idle" ? "Start watching" : "Start again"}
        </Button>
      )}
      {!isRunning && (!isJson || issues.length > 0) && (
        <span className="action-hint muted">
          {isJson
            ? "The input does not match its schema: the hub will reject it."
            : "The text is not JSON: the last valid input is sent."}
        </span>
      )}
      <ShareButtons id={id} spec={spec} input={input} />
    </>
  )
  return (
    <Request
      onRun={begin}
      bar={bar}
      request={
        <InputEditor
          schema={spec.inputSchema}
          value={input}
          isFromLink={isFromLink}
          onChange={set}
          onValidity={setValidity}
          examples={spec.examples}
        />
      }
      response={
        phase === "idle" ? (
          <Empty title="Not started">Items appear here as they arrive.</Empty>
        ) : (
          <div className="stack-l">
            <WatchBar state={state} dispatch={dispatch} text={text} onText={setText} />
            {error !== undefined && <ErrorBox error={error} />}
            <SeriesChart entries={entries} />
            {entries.length > 0 ? (
              <ItemList entries={entries} />
            ) : (
              <Nothing isFiltered={shown.length > 0} isRunning={isRunning} />
            )}
          </div>
        )
      }
    />
  )
}

function Nothing({
  isFiltered,
  isRunning,
}: {
  readonly isFiltered: boolean
  readonly isRunning: boolean
}): ReactNode {
  if (isFiltered) return <Empty title="No item contains this text." />
  return <Empty title={isRunning ? "Waiting for items" : "There are no items."} />
}
