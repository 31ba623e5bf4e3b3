import type { ReactNode } from "react"
import type { OperationType } from "../api/model.ts"
import { cx } from "./cx.ts"
import { ICON_PATHS } from "./icon-paths.ts"
import type { IconName } from "./icon-paths.ts"

export type { IconName } from "./icon-paths.ts"

/** An icon beside a text, hidden from screen readers. */
export function Icon({
  name,
  className,
}: {
  readonly name: IconName
  readonly className?: string | undefined
}): ReactNode {
  return (
    <svg className={cx("icon", className)} viewBox="0 0 16 16" aria-hidden="true" focusable="false">
      <path d={ICON_PATHS[name]} />
    </svg>
  )
}

/** The type of an operation, as an icon in its colour. */
export function TypeIcon({ type }: { readonly type: OperationType }): ReactNode {
  return (
    <span className={cx("type-icon", `badge-${type}`)} title={type} aria-hidden="true">
      <Icon name={type} />
    </span>
  )
}

/** The logo of the console: many sources, one hub. */
export function Logo(): ReactNode {
  return (
    <svg className="logo" viewBox="0 0 32 32" aria-hidden="true" focusable="false">
      <rect width="32" height="32" rx="8" />
      <path d="M8 9.5 12.6 13M8 22.5l4.6-3.5M20.5 16h4" />
      <circle cx="16.3" cy="16" r="4.2" />
      <circle className="logo-end" cx="7.6" cy="9" r="2" />
      <circle className="logo-end" cx="7.6" cy="23" r="2" />
      <circle className="logo-end" cx="25" cy="16" r="2" />
    </svg>
  )
}
