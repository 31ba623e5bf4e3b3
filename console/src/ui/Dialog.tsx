import { useId, useLayoutEffect, useRef } from "react"
import type { ComponentProps, ReactNode } from "react"
import { IconButton } from "./Button.tsx"
import { Icon } from "./Icon.tsx"
import { cx } from "./cx.ts"

/** What opens and closes a dialog. */
export interface OpenProps {
  readonly open: boolean
  readonly onClose: () => void
}

interface DialogProps extends OpenProps {
  readonly title: string
  readonly className?: string | undefined
  readonly children: ReactNode
}

/** A modal dialog: the browser's own, which keeps the focus inside and gives it back. */
export function Dialog({ title, open, onClose, className, children }: DialogProps): ReactNode {
  const id = useId()
  const modal = useModal(open, onClose)
  return (
    <dialog {...modal} className={cx("dialog", className)} aria-labelledby={id}>
      {open && (
        <div className="dialog-content stack-l">
          <header className="dialog-head">
            <h2 id={id}>{title}</h2>
            <IconButton label="Close" onClick={onClose}>
              <Icon name="close" />
            </IconButton>
          </header>
          {children}
        </div>
      )}
    </dialog>
  )
}

/** The properties of a `<dialog>` that is modal while it is open. */
export function useModal(
  open: boolean,
  onClose: () => void,
): Pick<ComponentProps<"dialog">, "ref" | "onCancel" | "onMouseDown"> {
  const ref = useRef<HTMLDialogElement>(null)
  // Not `useEffect`: a dialog that is removed while it is open has to give the focus back before that.
  useLayoutEffect(() => {
    const dialog = ref.current
    if (dialog === null || !open) return undefined
    if (!dialog.open) dialog.showModal()
    // The browser would take the first, which closes it.
    dialog.querySelector<HTMLElement>("[data-autofocus]")?.focus()
    return () => dialog.close()
  }, [open])
  return {
    ref,
    onCancel: (event) => {
      // Closing is up to the owner of the `open` property.
      event.preventDefault()
      onClose()
    },
    onMouseDown: (event) => {
      // Outside of its content is the backdrop.
      if (event.target === ref.current) onClose()
    },
  }
}
