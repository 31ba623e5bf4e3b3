import { useEffect } from "react"

export interface Shortcuts {
  readonly onSearch: () => void
  readonly onHelp: () => void
}

/** The keyboard shortcuts of the page, disabled in text fields. */
export function useShortcuts({ onSearch, onHelp }: Shortcuts): void {
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      if (event.defaultPrevented || document.querySelector("dialog[open]") !== null) return
      const isCommand = event.ctrlKey || event.metaKey
      const isSearch = isCommand
        ? event.key.toLowerCase() === "k" && !event.altKey && !event.shiftKey
        : event.key === "/" && !isWriting(event)
      if (isSearch) {
        event.preventDefault()
        onSearch()
      } else if (event.key === "?" && !isCommand && !isWriting(event)) {
        event.preventDefault()
        onHelp()
      }
    }
    addEventListener("keydown", press)
    return () => removeEventListener("keydown", press)
  }, [onSearch, onHelp])
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
