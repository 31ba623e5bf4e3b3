import { useEffect, useEffectEvent } from "react"

export interface Shortcuts {
  readonly onPalette: () => void
  readonly onSearch: () => void
  readonly onHelp: () => void
}

/** The keyboard shortcuts of the page; those without Ctrl are disabled in text fields. */
export function useShortcuts({ onPalette, onSearch, onHelp }: Shortcuts): void {
  const actionOf = (event: KeyboardEvent): (() => void) | undefined => {
    if (event.ctrlKey || event.metaKey) {
      const isPlain = !event.altKey && !event.shiftKey
      return isPlain && event.key.toLowerCase() === "k" ? onPalette : undefined
    }
    if (isWriting(event)) return undefined
    return event.key === "/" ? onSearch : event.key === "?" ? onHelp : undefined
  }
  const press = useEffectEvent((event: KeyboardEvent): void => {
    if (event.defaultPrevented || document.querySelector("dialog[open]") !== null) return
    const act = actionOf(event)
    if (act === undefined) return
    event.preventDefault()
    act()
  })
  useEffect(() => {
    const listener = (event: KeyboardEvent): void => press(event)
    addEventListener("keydown", listener)
    return () => removeEventListener("keydown", listener)
  }, [])
}

const NO_TEXT: ReadonlySet<string> = new Set(["button", "checkbox", "radio", "range", "submit"])

/** Looks into shadow roots, where editors may be. */
function isWriting(event: KeyboardEvent): boolean {
  const [target] = event.composedPath()
  if (!(target instanceof HTMLElement)) return false
  if (target instanceof HTMLInputElement) return !NO_TEXT.has(target.type)
  return (
    target instanceof HTMLTextAreaElement ||
    target instanceof HTMLSelectElement ||
    target.isContentEditable
  )
}
