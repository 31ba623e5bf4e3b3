import { useState } from "react"
import type { ReactNode } from "react"
import { linkTo, navigate } from "../app/context.tsx"
import { JsonTree } from "../result/JsonTree.tsx"
import { SearchableJson } from "../result/SearchableJson.tsx"
import { Button, IconButton } from "../ui/Button.tsx"
import { Empty } from "../ui/Empty.tsx"
import { Icon } from "../ui/Icon.tsx"
import { formatCount } from "../ui/format.ts"
import { drafts } from "./drafts.ts"
import { DiffView } from "./history/DiffView.tsx"
import { EntryFacts } from "./history/EntryFacts.tsx"
import type { HistoryEntry } from "./history/store.ts"
import { history, isHistoryKept, keepHistory, useHistory } from "./history/use-history.ts"
import "./try.css"

/** Every call that was made from this browser: to find, open, run again and compare. */
export function HistoryView(): ReactNode {
  const entries = useHistory()
  const [filter, setFilter] = useState("")
  const [isKept, setIsKept] = useState(isHistoryKept)
  const [chosen, setChosen] = useState<readonly string[]>([])
  const deleteAll = (): void => {
    if (confirm(`Delete ${formatCount(entries.length, "call")}?`)) history.clear()
  }
  const words = filter.toLowerCase()
  const shown = entries.filter(({ operationId, code }) =>
    `${operationId} ${code ?? ""}`.toLowerCase().includes(words),
  )
  const [before, after] = chosenEntries(entries, chosen)
  const choose = (id: string, isChosen: boolean): void =>
    // The two that were chosen last.
    setChosen(isChosen ? [...chosen, id].slice(-2) : chosen.filter((one) => one !== id))
  return (
    <div className="page stack">
      <header className="page-head">
        <h1 tabIndex={-1}>History</h1>
        <p className="muted">
          Kept in this tab, and forgotten when you sign out. Passwords, tokens and files are never
          kept.
        </p>
        <label className="muted">
          <input
            type="checkbox"
            checked={isKept}
            onChange={(event) => {
              keepHistory(event.target.checked)
              setIsKept(isHistoryKept())
            }}
          />{" "}
          Keep it in this browser when the tab is closed
        </label>
      </header>
      {entries.length === 0 ? (
        <Empty title="No calls yet">Your calls are listed here.</Empty>
      ) : (
        <>
          <div className="row history-bar">
            <label className="row">
              <span>Filter</span>
              <input
                className="input"
                type="search"
                value={filter}
                placeholder="operation or code"
                onChange={(event) => setFilter(event.target.value)}
              />
            </label>
            <Button variant="danger" onClick={deleteAll}>
              Delete all
            </Button>
          </div>
          <p className="muted">Choose two calls to compare their results.</p>
          {before !== undefined && after !== undefined && (
            <section className="card" aria-label="Comparison">
              <h2>
                {before.operationId}, {timeOf(before)} and{" "}
                {after.operationId !== before.operationId && `${after.operationId}, `}
                {timeOf(after)}
              </h2>
              <h3>Input</h3>
              <DiffView before={before.input} after={after.input} />
              <h3>Result</h3>
              <DiffView before={before.result} after={after.result} />
            </section>
          )}
          <ul>
            {shown.map((entry) => (
              <Row
                key={entry.id}
                entry={entry}
                isChosen={chosen.includes(entry.id)}
                onChoose={(isChosen) => choose(entry.id, isChosen)}
              />
            ))}
          </ul>
          {shown.length === 0 && <Empty title="No call matches the filter" />}
        </>
      )}
    </div>
  )
}

function Row({
  entry,
  isChosen,
  onChoose,
}: {
  readonly entry: HistoryEntry
  readonly isChosen: boolean
  readonly onChoose: (isChosen: boolean) => void
}): ReactNode {
  const [isOpen, setOpen] = useState(false)
  const route = { view: "operation", id: entry.operationId } as const
  const reopen = (): void => {
    drafts.put(entry.operationId, entry)
    navigate(route)
  }
  const when = timeOf(entry)
  return (
    <li className="entry row">
      <input
        type="checkbox"
        checked={isChosen}
        aria-label={`Compare ${entry.operationId} of ${when}`}
        onChange={(event) => onChoose(event.target.checked)}
      />
      <a className="entry-name" href={linkTo(route)}>
        {entry.operationId}
      </a>
      <EntryFacts entry={entry} />
      <span className="row">
        <Button size="small" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          Show
        </Button>
        <Button size="small" onClick={reopen}>
          Open with this input
        </Button>
        <IconButton
          label={`Forget ${entry.operationId} of ${when}`}
          size="small"
          onClick={() => history.remove(entry.id)}
        >
          <Icon name="trash" />
        </IconButton>
      </span>
      {isOpen && (
        <div className="entry-details">
          <h3>Input</h3>
          <JsonTree value={entry.input} label="Input" />
          <h3>Result</h3>
          {entry.result === undefined ? (
            <p className="muted">There was none, or it was too large to keep.</p>
          ) : (
            <SearchableJson value={entry.result} label="Result" />
          )}
        </div>
      )}
    </li>
  )
}

function timeOf({ at }: HistoryEntry): string {
  return new Date(at).toLocaleTimeString()
}

/** The two that are compared, the older first. */
function chosenEntries(
  entries: readonly HistoryEntry[],
  chosen: readonly string[],
): readonly (HistoryEntry | undefined)[] {
  if (chosen.length < 2) return []
  return entries.filter(({ id }) => chosen.includes(id)).toSorted((a, b) => a.at - b.at)
}
