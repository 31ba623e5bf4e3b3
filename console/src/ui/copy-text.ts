/** Copies a text to the clipboard; returns whether that worked. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    return copyBySelection(text)
  }
}

/** Pages that come over plain HTTP from another machine have no clipboard, only selections. */
function copyBySelection(text: string): boolean {
  const before = document.activeElement
  const area = document.createElement("textarea")
  area.value = text
  area.className = "visually-hidden"
  area.setAttribute("aria-hidden", "true")
  // Within an open dialog: outside of it nothing can be selected.
  const parent = before?.closest("dialog") ?? document.body
  parent.append(area)
  area.select()
  try {
    return document.execCommand("copy")
  } catch {
    return false
  } finally {
    area.remove()
    if (before instanceof HTMLElement) before.focus()
  }
}
