/** The id of the field at a path. */
export function fieldId(prefix: string, path: readonly (string | number)[]): string {
  return [prefix, ...path].join("_")
}

/**
 * Focuses the field at a path, or the nearest visible one that contains it.
 *
 * Returns whether there was one.
 */
export function focusField(prefix: string, path: readonly (string | number)[]): boolean {
  for (let length = path.length; length >= 0; length--) {
    const field = document.getElementById(fieldId(prefix, path.slice(0, length)))
    const target = field === null ? null : focusable(field)
    if (target === null) continue
    target.scrollIntoView({ block: "center" })
    target.focus()
    return true
  }
  return false
}

const CONTROLS = "input:not([type=hidden]), select, textarea, button"

function focusable(element: HTMLElement): HTMLElement | null {
  return element.matches(CONTROLS) ? element : element.querySelector<HTMLElement>(CONTROLS)
}
