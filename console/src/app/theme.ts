import { useSyncExternalStore } from "react"
import { Listeners } from "../../../src/internal/listeners.ts"

/** The chosen theme; `system` follows the machine. */
export type Theme = "system" | "light" | "dark"

const KEY = "operations.theme"
const ORDER: readonly Theme[] = ["system", "light", "dark"]

let chosen: Theme = "system"
const listeners = new Listeners()

/** Applies the stored theme, and follows the system from now on. */
export function startTheme(): void {
  chosen = stored()
  const dark = matchMedia("(prefers-color-scheme: dark)")
  dark.addEventListener("change", apply)
  apply()
}

/** What is chosen, and how to choose the next. */
export function useTheme(): {
  readonly theme: Theme
  readonly next: Theme
  readonly choose: () => void
} {
  const theme = useSyncExternalStore(listeners.add, () => chosen)
  const next = ORDER[(ORDER.indexOf(theme) + 1) % ORDER.length] ?? "system"
  return { theme, next, choose: () => choose(next) }
}

function choose(theme: Theme): void {
  chosen = theme
  try {
    localStorage.setItem(KEY, theme)
  } catch {
    // A browser that stores nothing forgets it with the page.
  }
  apply()
  listeners.notify()
}

function stored(): Theme {
  try {
    const value = localStorage.getItem(KEY)
    return ORDER.find((theme) => theme === value) ?? "system"
  } catch {
    return "system"
  }
}

function apply(): void {
  const isDark = matchMedia("(prefers-color-scheme: dark)").matches
  document.documentElement.dataset["theme"] =
    chosen === "system" ? (isDark ? "dark" : "light") : chosen
}
