// The JSON editor itself. Loaded when it is first shown: it is larger than the rest of the console.

import {
  acceptCompletion,
  autocompletion,
  closeBrackets,
  closeBracketsKeymap,
  completionKeymap,
} from "@codemirror/autocomplete"
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands"
import { json } from "@codemirror/lang-json"
import {
  bracketMatching,
  foldGutter,
  foldKeymap,
  indentOnInput,
  syntaxHighlighting,
} from "@codemirror/language"
import { forceLinting, linter, lintKeymap } from "@codemirror/lint"
import { EditorState, Prec } from "@codemirror/state"
import type { Extension, Transaction } from "@codemirror/state"
import { drawSelection, EditorView, keymap, lineNumbers, placeholder } from "@codemirror/view"
import type { InputCheck } from "../schema/issues.ts"
import type { JsonSchema } from "../schema/json.ts"
import { completionFrom } from "./complete.ts"
import { diagnose } from "./lint.ts"
import { highlightStyle, theme } from "./theme.ts"

/** An editor that is on the page. */
export interface JsonEditorHandle {
  /** Replaces the text; undo restores the typed one. */
  setText(text: string): void
  focus(): void
  destroy(): void
}

/** The options of an editor. */
export interface JsonEditorOptions {
  readonly parent: HTMLElement
  readonly text: string
  readonly label: string
  readonly schema: () => JsonSchema
  readonly check: () => InputCheck
  readonly onText: (text: string) => void
}

/**
 * Creates an editor inside a shadow root.
 *
 * There its styles are adopted sheets, which the page's policy allows; in the page they would be a
 * `style` element, which it does not.
 */
export function createJsonEditor(options: JsonEditorOptions): JsonEditorHandle {
  const { parent, text } = options
  const root = parent.shadowRoot ?? parent.attachShadow({ mode: "open" })
  const view = new EditorView({
    root,
    parent: root,
    state: EditorState.create({ doc: text, extensions: extensions(options) }),
  })
  return {
    setText: (next) => {
      view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: next } })
      forceLinting(view)
    },
    focus: () => view.focus(),
    destroy: () => view.destroy(),
  }
}

/**
 * Typing over a selection, done by the editor and not by the browser.
 *
 * Chromium carries the style of what it deletes along with what is typed, in `style` attributes:
 * the page's policy forbids those, and every one would be reported.
 */
const typing = EditorView.domEventHandlers({
  beforeinput: (event, view) => {
    const { inputType, data, isComposing, cancelable } = event
    if (inputType !== "insertText" || data === null || isComposing || !cancelable) return false
    const { from, to, empty } = view.state.selection.main
    if (empty) return false
    const insert = (): Transaction =>
      view.state.update(view.state.replaceSelection(data), {
        userEvent: "input.type",
        scrollIntoView: true,
      })
    const isTaken = view.state
      .facet(EditorView.inputHandler)
      .some((take) => take(view, from, to, data, insert))
    if (!isTaken) view.dispatch(insert())
    return true
  },
})

function extensions({ label, schema, check, onText }: JsonEditorOptions): Extension {
  return [
    // The page handles this key: the event is passed on, and no blank line is inserted.
    Prec.highest(keymap.of([{ key: "Mod-Enter", run: () => true }])),
    typing,
    lineNumbers(),
    foldGutter(),
    history(),
    drawSelection(),
    indentOnInput(),
    bracketMatching(),
    closeBrackets(),
    json(),
    syntaxHighlighting(highlightStyle),
    autocompletion({ override: [completionFrom(schema)], icons: false }),
    linter((view) => diagnose(view.state, check()), { delay: 250 }),
    placeholder("{ }"),
    EditorView.lineWrapping,
    EditorView.contentAttributes.of({ "aria-label": label, autocapitalize: "off", tabindex: "0" }),
    theme,
    // Tab leaves the editor, as everywhere; it only takes a completion that is open.
    keymap.of([
      { key: "Tab", run: acceptCompletion },
      ...closeBracketsKeymap,
      ...completionKeymap,
      ...lintKeymap,
      ...foldKeymap,
      ...historyKeymap,
      ...defaultKeymap,
    ]),
    EditorView.updateListener.of((update) => {
      if (update.docChanged) onText(update.state.doc.toString())
    }),
  ]
}
