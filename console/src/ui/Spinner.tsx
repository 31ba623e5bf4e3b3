import type { ReactNode } from "react"

/** Says what is being loaded or done. */
export function Spinner({ label }: { readonly label: string }): ReactNode {
  return (
    <div className="spinner" role="status">
      <span className="turning" aria-hidden="true" />
      <span>{label}</span>
    </div>
  )
}
