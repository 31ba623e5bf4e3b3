import type { ReactNode } from "react"

/** Says that something is under way, and what. */
export function Spinner({ label }: { readonly label: string }): ReactNode {
  return (
    <div className="spinner" role="status">
      <span className="turning" aria-hidden="true" />
      <span>{label}</span>
    </div>
  )
}
