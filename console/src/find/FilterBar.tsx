import { useId, useMemo, useState } from "react"
import type { ReactNode } from "react"
import { useOperations } from "../app/context.tsx"
import { Button, IconButton } from "../ui/Button.tsx"
import { Icon } from "../ui/Icon.tsx"
import { Select } from "../ui/Select.tsx"
import { countFilters, filterChoices, setFilters, useFilters } from "./filters.ts"
import type { Filters } from "./filters.ts"

type Choice = readonly [value: string, label: string]

const TYPES: readonly Choice[] = [
  ["query", "Queries"],
  ["mutation", "Mutations"],
  ["subscription", "Subscriptions"],
]
const ACCESS: readonly Choice[] = [
  ["open", "Open to all callers"],
  ["protected", "Needs permission"],
]
const DEPRECATION: readonly Choice[] = [
  ["hide", "Not deprecated"],
  ["only", "Deprecated"],
]

/** The number of listed operations, and the filters of the list behind a button. */
export function FilterBar({ label }: { readonly label: string }): ReactNode {
  const filters = useFilters()
  const [isOpen, setOpen] = useState(false)
  const id = useId()
  const count = countFilters(filters)
  return (
    <>
      <div className="find-bar">
        <p className="find-total" role="status">
          {label}
        </p>
        {count > 0 && (
          <Button variant="quiet" size="small" onClick={() => setFilters({})}>
            Clear filters
          </Button>
        )}
        <IconButton
          label={count === 0 ? "Filters" : `Filters: ${count} set`}
          size="small"
          aria-expanded={isOpen}
          aria-controls={id}
          className={count === 0 ? undefined : "is-set"}
          onClick={() => setOpen(!isOpen)}
        >
          <Icon name="filter" />
        </IconButton>
      </div>
      <div id={id} className="find-filters" hidden={!isOpen}>
        {isOpen && <FilterFields filters={filters} />}
      </div>
    </>
  )
}

function FilterFields({ filters }: { readonly filters: Filters }): ReactNode {
  const { operations } = useOperations()
  const { source } = filters
  const { sources, tags } = useMemo(() => filterChoices(operations, source), [operations, source])
  return (
    <>
      <FilterField name="source" label="Source" all="All sources" choices={sources.map(same)} />
      <FilterField name="tag" label="Tag" all="All tags" choices={tags.map(same)} />
      <FilterField name="type" label="Type" all="All types" choices={TYPES} />
      <FilterField name="access" label="Access" all="Any access" choices={ACCESS} />
      <FilterField name="deprecated" label="Deprecation" all="Any state" choices={DEPRECATION} />
    </>
  )
}

function FilterField({
  name,
  label,
  all,
  choices,
}: {
  readonly name: keyof Filters
  readonly label: string
  readonly all: string
  readonly choices: readonly Choice[]
}): ReactNode {
  const filters = useFilters()
  const value: string = filters[name] ?? ""
  // A filter of another list has no choice here, and is displayed all the same.
  const isKnown = value === "" || choices.some(([one]) => one === value)
  return (
    <Select
      label={label}
      value={value}
      options={[["", all], ...(isKnown ? [] : [same(value)]), ...choices]}
      onChange={(chosen) => setFilters({ ...filters, [name]: chosen === "" ? undefined : chosen })}
    />
  )
}

function same(name: string): Choice {
  return [name, name]
}
