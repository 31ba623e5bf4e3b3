import { defaultHighlightStyle, HighlightStyle } from "@codemirror/language"
import { EditorView } from "@codemirror/view"

/** The editor's own colours for words, and the page's instead: those are right in both themes. */
const COLOURS: Readonly<Record<string, string>> = {
  "#a11": "var(--tok-string)",
  "#164": "var(--tok-number)",
  "#219": "var(--tok-word)",
  "#708": "var(--tok-word)",
  "#e40": "var(--tok-word)",
  "#f00": "var(--bad)",
}

/** How words are coloured. */
export const highlightStyle: HighlightStyle = HighlightStyle.define(
  defaultHighlightStyle.specs.map(({ tag, color }) => ({
    tag,
    color: typeof color === "string" ? (COLOURS[color] ?? "var(--tok-key)") : "inherit",
  })),
)

/** The looks of the page, which reach into a shadow root as custom properties. */
export const theme = EditorView.theme({
  "&": {
    color: "var(--text)",
    backgroundColor: "var(--surface)",
    border: "1px solid var(--border-strong)",
    borderRadius: "var(--radius-s)",
    fontSize: "13px",
    minHeight: "180px",
    maxHeight: "60vh",
  },
  "&.cm-focused": { outline: "2px solid var(--accent)", outlineOffset: "1px" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.5" },
  ".cm-content": { caretColor: "var(--text)" },
  ".cm-cursor": { borderLeftColor: "var(--text)" },
  ".cm-gutters": {
    backgroundColor: "var(--surface-2)",
    color: "var(--muted)",
    borderRight: "1px solid var(--border)",
  },
  ".cm-placeholder": { color: "var(--muted)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground":
    { backgroundColor: "var(--accent-soft)" },
  "&.cm-focused .cm-matchingBracket": { backgroundColor: "var(--accent-soft)" },
  ".cm-tooltip": {
    backgroundColor: "var(--surface)",
    color: "var(--text)",
    border: "1px solid var(--border)",
    borderRadius: "var(--radius-s)",
    maxWidth: "min(480px, 90vw)",
  },
  ".cm-tooltip-autocomplete > ul > li[aria-selected]": {
    backgroundColor: "var(--accent)",
    color: "var(--on-accent)",
  },
  ".cm-completionDetail": { color: "inherit", opacity: "0.85", fontStyle: "normal" },
  ".cm-panels": { backgroundColor: "var(--surface-2)", color: "var(--text)" },
  ".cm-diagnostic-error": { borderLeftColor: "var(--bad)" },
  ".cm-diagnostic-warning": { borderLeftColor: "var(--warn)" },
  ".cm-lintRange-error, .cm-lintRange-warning": {
    backgroundImage: "none",
    textDecoration: "underline wavy var(--bad)",
    textDecorationSkipInk: "none",
  },
  ".cm-lintRange-warning": { textDecorationColor: "var(--warn)" },
})
