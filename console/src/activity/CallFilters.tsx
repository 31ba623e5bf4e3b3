import type { ReactNode } from "react"
import { SearchField, Select } from "../ui/index.ts"
import type { CallFilter } from "./call-rows.ts"

const STATES: readonly (readonly [state: CallFilter["state"], text: string])[] = [
  ["any", "Any outcome"],
  ...(["running", "ok", "error", "aborted", "unknown"] as const).map((one) => [one, one] as const),
]

const APPROVALS: readonly (readonly [approval: CallFilter["approval"], text: string])[] = [
  ["any", "Any decision"],
  ["asked", "asked, not approved"],
  ["approved", "approved"],
  ["denied", "denied by a rule"],
]

const DURATIONS = [
  ["0", "Any duration"],
  ["100", "100 ms and more"],
  ["1000", "1 s and more"],
  ["10000", "10 s and more"],
] as const

/** The filters of the calls. */
export function CallFilters({
  filter,
  sources,
  onChange,
}: {
  readonly filter: CallFilter
  readonly sources: readonly string[]
  readonly onChange: (filter: CallFilter) => void
}): ReactNode {
  return (
    <>
      <SearchField
        label="Filter by operation, code, source or caller; code:TIMEOUT, caller:ada or operation:task for one of them"
        placeholder="Filter by operation, code, caller"
        text={filter.text}
        onText={(text) => onChange({ ...filter, text })}
      />
      <Select
        label="Filter by outcome"
        value={filter.state}
        options={STATES}
        onChange={(state) => onChange({ ...filter, state })}
      />
      <Select
        label="Filter by decision"
        value={filter.approval}
        options={APPROVALS}
        onChange={(approval) => onChange({ ...filter, approval })}
      />
      {sources.length > 0 && (
        <Select
          label="Filter by source"
          value={filter.source}
          options={[["", "Any source"], ...sources.map((one) => [one, one] as const)]}
          onChange={(source) => onChange({ ...filter, source })}
        />
      )}
      <Select
        label="Filter by duration"
        value={String(filter.minMs)}
        options={DURATIONS}
        onChange={(least) => onChange({ ...filter, minMs: Number(least) })}
      />
    </>
  )
}
