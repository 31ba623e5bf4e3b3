import { useId } from "react"
import type { ReactNode } from "react"
import type { CallFilter } from "./call-rows.ts"

const STATES: readonly CallFilter["state"][] = [
  "any",
  "running",
  "ok",
  "error",
  "aborted",
  "unknown",
]

/** The filters of the calls. */
export function CallFilters({
  filter,
  onChange,
}: {
  readonly filter: CallFilter
  readonly onChange: (filter: CallFilter) => void
}): ReactNode {
  const text = useId()
  const state = useId()
  return (
    <>
      <label htmlFor={text} className="visually-hidden">
        Filter by operation, code, source or caller
      </label>
      <input
        id={text}
        type="search"
        className="input activity-filter"
        placeholder="Filter by operation, code, caller"
        value={filter.text}
        onChange={(event) => onChange({ ...filter, text: event.target.value })}
      />
      <label htmlFor={state} className="visually-hidden">
        Filter by outcome
      </label>
      <select
        id={state}
        className="input"
        value={filter.state}
        onChange={(event) => onChange({ ...filter, state: stateOf(event.target.value) })}
      >
        {STATES.map((name) => (
          <option key={name} value={name}>
            {name === "any" ? "Any outcome" : name}
          </option>
        ))}
      </select>
    </>
  )
}

function stateOf(value: string): CallFilter["state"] {
  return STATES.find((name) => name === value) ?? "any"
}
