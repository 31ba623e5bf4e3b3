import { useMemo, useState } from "react"
import type { ReactNode } from "react"
import { Button } from "../ui/Button.tsx"
import { cellText, sortRows } from "./table.ts"
import type { TableModel } from "./table.ts"

const STEP = 200

/** A list of objects as a table that can be sorted. */
export function TableView({ model }: { readonly model: TableModel }): ReactNode {
  const { columns, rows, of, moreColumns } = model
  const [sort, setSort] = useState<{ readonly column: number; readonly isDescending: boolean }>()
  const [limit, setLimit] = useState(STEP)
  const sorted = useMemo(
    () => (sort === undefined ? rows : sortRows(rows, sort.column, sort.isDescending)),
    [rows, sort],
  )
  const press = (column: number): void =>
    setSort({ column, isDescending: sort?.column === column && !sort.isDescending })
  return (
    <>
      <p className="field-note">
        {rows.length.toLocaleString("en")} {rows.length === 1 ? "row" : "rows"}
        {of !== undefined && ` of "${of}"`}
        {moreColumns > 0 && `, ${moreColumns} more columns in the tree`}
      </p>
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- what scrolls can be reached */}
      <div className="result-scroll" tabIndex={0} role="region" aria-label="Table">
        <table className="table">
          <thead>
            <tr>
              {columns.map((name, at) => (
                <th
                  key={name}
                  scope="col"
                  aria-sort={
                    sort?.column !== at ? undefined : sort.isDescending ? "descending" : "ascending"
                  }
                >
                  <button type="button" className="sort" onClick={() => press(at)}>
                    {name}
                    {sort?.column === at && (
                      <span aria-hidden="true">{sort.isDescending ? " ↓" : " ↑"}</span>
                    )}
                  </button>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {sorted.slice(0, limit).map((row, at) => (
              <tr key={at}>
                {row.map((cell, column) => (
                  <td key={column} title={cellText(cell)}>
                    {cellText(cell)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {rows.length > limit && (
        <Button size="small" onClick={() => setLimit(limit + STEP)}>
          Show {Math.min(STEP, rows.length - limit)} more rows
        </Button>
      )}
    </>
  )
}
