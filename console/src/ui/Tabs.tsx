import { useId, useState } from "react"
import type { KeyboardEvent, ReactNode } from "react"

export interface Tab {
  readonly id: string
  readonly label: ReactNode
  readonly panel: ReactNode
}

/**
 * Panels, one of which is visible.
 *
 * A panel is created when it is first opened, and stays: text that was typed in it is not lost.
 */
export function Tabs({
  label,
  tabs,
  value,
  onChange,
}: {
  readonly label: string
  readonly tabs: readonly Tab[]
  readonly value: string
  readonly onChange: (id: string) => void
}): ReactNode {
  const base = useId()
  const [seen, setSeen] = useState<ReadonlySet<string>>(() => new Set([value]))
  if (!seen.has(value)) setSeen(new Set([...seen, value]))
  const move = (event: KeyboardEvent<HTMLButtonElement>): void => {
    const to = neighbour(tabs, value, event.key)
    if (to === undefined) return
    event.preventDefault()
    onChange(to)
    document.getElementById(`${base}-tab-${to}`)?.focus()
  }
  return (
    <div>
      <div className="tabs-list" role="tablist" aria-label={label}>
        {tabs.map(({ id, label: text }) => (
          <button
            key={id}
            type="button"
            role="tab"
            id={`${base}-tab-${id}`}
            aria-selected={id === value}
            aria-controls={`${base}-panel-${id}`}
            tabIndex={id === value ? 0 : -1}
            className="tab"
            onClick={() => onChange(id)}
            onKeyDown={move}
          >
            {text}
          </button>
        ))}
      </div>
      {tabs.map(({ id, panel }) => (
        <div
          key={id}
          role="tabpanel"
          id={`${base}-panel-${id}`}
          aria-labelledby={`${base}-tab-${id}`}
          hidden={id !== value}
          className="tab-panel"
        >
          {(seen.has(id) || id === value) && panel}
        </div>
      ))}
    </div>
  )
}

/** Where a key leads from a tab, around the ends. */
function neighbour(tabs: readonly Tab[], value: string, key: string): string | undefined {
  const at = tabs.findIndex(({ id }) => id === value)
  switch (key) {
    case "ArrowRight":
      return tabs[(at + 1) % tabs.length]?.id
    case "ArrowLeft":
      return tabs[(at - 1 + tabs.length) % tabs.length]?.id
    case "Home":
      return tabs[0]?.id
    case "End":
      return tabs.at(-1)?.id
    default:
      return undefined
  }
}
