import type { ReactNode } from "react"

/** Stands where there is nothing to show, and says why or what to do. */
export function Empty({
  title,
  children,
}: {
  readonly title: string
  readonly children?: ReactNode
}): ReactNode {
  return (
    <div className="empty">
      <p className="empty-title">{title}</p>
      {children !== undefined && <div className="empty-text">{children}</div>}
    </div>
  )
}
