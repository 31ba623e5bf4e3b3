import type { ComponentProps, MouseEvent, ReactNode } from "react"
import { cx } from "./cx.ts"

export interface ButtonProps extends ComponentProps<"button"> {
  readonly variant?: "primary" | "plain" | "danger" | "quiet" | undefined
  readonly size?: "small" | undefined
  /** Something that it started is running: it shows a spinner, and cannot be pressed. */
  readonly busy?: boolean | undefined
}

/** A button. A busy one keeps the focus, which a disabled one would lose. */
export function Button({
  variant = "plain",
  size,
  busy = false,
  className,
  onClick,
  children,
  ...rest
}: ButtonProps): ReactNode {
  const press = (event: MouseEvent<HTMLButtonElement>): void => {
    if (busy) event.preventDefault()
    else onClick?.(event)
  }
  return (
    <button
      type="button"
      {...rest}
      onClick={press}
      aria-disabled={busy || undefined}
      aria-busy={busy || undefined}
      className={cx("button", `button-${variant}`, size === "small" && "button-small", className)}
    >
      {busy && <span className="turning" aria-hidden="true" />}
      {children}
    </button>
  )
}

/** A button that is only an icon; `label` is its name and its tooltip. */
export function IconButton({
  label,
  className,
  children,
  ...rest
}: Omit<ButtonProps, "aria-label" | "title"> & { readonly label: string }): ReactNode {
  return (
    <Button
      variant="quiet"
      {...rest}
      aria-label={label}
      title={label}
      className={cx("button-icon", className)}
    >
      {children}
    </Button>
  )
}
