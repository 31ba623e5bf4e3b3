import { useDeferredValue, useMemo, useState } from "react"
import type { ReactNode } from "react"
import { getOwn } from "../../../src/schema/json.ts"
import { Button } from "../ui/Button.tsx"
import { SearchField } from "../ui/SearchField.tsx"
import { formatCount } from "../ui/format.ts"
import { cellOf, filterRows, isNumeric, sortRows } from "./table.ts"
import type { TableModel } from "../../../src/internal/table-of.ts"

const STEP = 200
/** Smaller tables are read faster than filtered. */
const MIN_FILTERED = 8

/** A list of objects as a table that can be sorted and filtered. */
export function TableView({ model }: { readonly model: TableModel }): ReactNode {
  const { columns, rows, of, moreColumns } = model
  const [sort, setSort] = useState<{ readonly column: string; readonly isDescending: boolean }>()
  const [limit, setLimit] = useState(STEP)
  const [text, setText] = useState("")
  const wanted = useDeferredValue(text)
  const shown = useMemo(() => {
    const found = filterRows(model, wanted)
    return sort === undefined ? found : sortRows(found, sort.column, sort.isDescending)
  }, [model, wanted, sort])
  const numeric = useMemo(() => columns.filter((one) => isNumeric(model, one)), [model, columns])
  const press = (column: string): void =>
    setSort({ column, isDescending: sort?.column === column && !sort.isDescending })
  return (
    <>
      <div className="row field-note">
        {rows.length >= MIN_FILTERED && (
          <SearchField label="Filter rows" placeholder="Filter rows" text={text} onText={setText} />
        )}
        <span role="status">
          {wanted.trim() !== "" && `${shown.length.toLocaleString("en")} of `}
          {formatCount(rows.length, "row")}
          {of !== undefined && ` of "${of}"`}
          {moreColumns > 0 && `, ${moreColumns} more columns in the tree`}
        </span>
      </div>
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- what scrolls can be reached */}
      <div className="result-scroll" tabIndex={0} role="region" aria-label="Table">
        <table className="table">
          <thead>
            <tr>
              {columns.map((name) => {
                const isSorted = sort?.column === name
                const order = sort?.isDescending === true ? "descending" : "ascending"
                return (
                  <th
                    key={name}
                    scope="col"
                    className={numeric.includes(name) ? "cell-number" : undefined}
                    aria-sort={isSorted ? order : undefined}
                  >
                    <button type="button" className="sort" onClick={() => press(name)}>
                      {name}{" "}
                      <span aria-hidden="true" className={isSorted ? undefined : "muted"}>
                        {!isSorted ? "↕" : order === "descending" ? "↓" : "↑"}
                      </span>
                    </button>
                  </th>
                )
              })}
            </tr>
          </thead>
          <tbody>
            {shown.slice(0, limit).map((row, at) => (
              <tr key={at}>
                {columns.map((name) => (
                  <CellView key={name} value={getOwn(row, name)} />
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {shown.length > limit && (
        <Button size="small" onClick={() => setLimit(limit + STEP)}>
          Show {Math.min(STEP, shown.length - limit)} more rows
        </Button>
      )}
    </>
  )
}

function CellView({ value }: { readonly value: unknown }): ReactNode {
  const { text, title = text, href, isNumber } = cellOf(value)
  return (
    <td title={title} className={isNumber === true ? "cell-number" : undefined}>
      {href === undefined ? (
        text
      ) : (
        <a href={href} target="_blank" rel="noopener noreferrer">
          {text}
        </a>
      )}
    </td>
  )
}
