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

/** The filters of the calls. */
export function CallFilters({
  filter,
  onChange,
}: {
  readonly filter: CallFilter
  readonly onChange: (filter: CallFilter) => void
}): ReactNode {
  return (
    <>
      <SearchField
        label="Filter by operation, code, source or caller"
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
    </>
  )
}
