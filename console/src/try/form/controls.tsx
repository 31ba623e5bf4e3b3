// The controls of the form, all plain elements of the browser.

import { useId, useState } from "react"
import type { AriaAttributes, ChangeEvent, InputHTMLAttributes, ReactNode } from "react"
import { toBase64 } from "../../../../src/internal/base64.ts"
import { Button } from "../../ui/Button.tsx"
import { formatBytes } from "../../ui/format.ts"
import { printJson, toInteger } from "../../ui/json-text.ts"
import { readJson } from "../editor/read-json.ts"
import type { Field } from "../schema/field.ts"
import { sameData } from "../../../../src/internal/same-data.ts"

/** More values than this are searched, not listed. */
const MAX_LISTED = 200
/** How many of them are offered at once. */
const MAX_OFFERED = 50

/** What the parts of a field have in common. */
export interface About {
  readonly label: string
  readonly id: string
  readonly description: string | undefined
  readonly isRequired: boolean
  readonly isInvalid: boolean
  readonly onChange: (value: unknown) => void
}

interface ControlProps extends About {
  readonly field: Field
  readonly value: unknown
}

/** The control of a field without fields below it. */
export function Control(props: ControlProps): ReactNode {
  const { field } = props
  switch (field.kind) {
    case "values":
    case "several":
      return <SelectControl {...props} />
    case "boolean":
      return <BooleanControl {...props} />
    case "number":
    case "scalar":
      return <NumberControl {...props} />
    case "json":
      return <JsonControl {...props} />
    case "null":
      return <p className="field-note">null</p>
    default:
      return <TextControl {...props} />
  }
}

/** A value as the text of an option. */
function labelOf(value: unknown): string {
  return typeof value === "string" ? value : (printJson(value) ?? "")
}

function textOf(value: unknown): string {
  return value === undefined || value === null ? "" : labelOf(value)
}

/** The placeholder of an empty field: an example, or the default. */
function hintOf(field: Field): string {
  const examples = field.first("examples")
  const [example = field.first("example")] = Array.isArray(examples) ? (examples as unknown[]) : []
  if (example !== undefined && example !== null) return `e.g. ${labelOf(example).slice(0, 80)}`
  const preset = textOf(field.first("default"))
  return preset === "" ? "" : `default ${preset.slice(0, 80)}`
}

/** The attributes that every control has. */
function marks(control: ControlProps): AriaAttributes & { readonly id: string } {
  const { id, label, description, isRequired, isInvalid } = control
  const about = [isInvalid && `${id}__error`, description !== undefined && `${id}__description`]
  return {
    id,
    // The whole input has no label on the page.
    "aria-label": label === "" ? "Input" : undefined,
    "aria-describedby": about.filter(Boolean).join(" ") || undefined,
    "aria-invalid": isInvalid || undefined,
    "aria-required": isRequired || undefined,
  }
}

/** A one-line input of some type. */
function LineControl({
  control,
  onText,
  ...attributes
}: Omit<InputHTMLAttributes<HTMLInputElement>, "onChange"> & {
  readonly control: ControlProps
  readonly onText: (text: string) => void
}): ReactNode {
  return (
    <input
      className="input"
      autoComplete="off"
      placeholder={hintOf(control.field)}
      onChange={(event) => onText(event.target.value)}
      {...marks(control)}
      {...attributes}
    />
  )
}

/** Types of inputs by format; one of another format is only text. */
const INPUT_TYPES: Readonly<Record<string, string>> = {
  date: "date",
  time: "time",
  email: "email",
  uri: "url",
  password: "password",
}

/** A text. One with line breaks gets several lines, because a single-line input would lose them. */
function TextControl(props: ControlProps): ReactNode {
  const { field, value, onChange } = props
  const { format = "" } = field.facts
  if (isFile(field)) return <FileControl {...props} />
  if (format === "date-time") return <MomentControl {...props} />
  const text = textOf(value)
  if (isLong(field) || text.includes("\n") || text.length > 120) return <AreaControl {...props} />
  const type = INPUT_TYPES[format] ?? "text"
  const change = (typed: string): void => {
    // Browsers leave the seconds out if they are 0.
    if (type === "time" && /^\d\d:\d\d$/.test(typed)) onChange(`${typed}:00`)
    else onChange(typed === "" ? undefined : typed)
  }
  const autoComplete = type === "password" ? "new-password" : "off"
  const step = type === "time" ? 1 : undefined
  return (
    <LineControl control={props} value={text} {...{ type, step, autoComplete }} onText={change} />
  )
}

function isFile(field: Field): boolean {
  const { format } = field.facts
  return format === "binary" || format === "byte" || field.first("contentEncoding") === "base64"
}

/** Whether texts are expected to have several lines. */
function isLong(field: Field): boolean {
  const { format } = field.facts
  if (String(field.first("contentMediaType")).startsWith("text/")) return true
  // Some documents give every id room for 5,000 characters.
  if (format === undefined) return (field.number("maxLength") ?? 0) > 5000
  return format === "markdown" || format === "html" || format === "multiline"
}

function AreaControl(props: ControlProps): ReactNode {
  const { field, value, onChange } = props
  const text = textOf(value)
  return (
    <textarea
      className="input input-area"
      rows={Math.min(12, Math.max(3, text.split("\n").length))}
      value={text}
      placeholder={hintOf(field)}
      onChange={({ target }) => onChange(target.value === "" ? undefined : target.value)}
      {...marks(props)}
    />
  )
}

/** A number as it is typed, or a text or number: what is typed decides which. */
function NumberControl(props: ControlProps): ReactNode {
  const { field, value, onChange } = props
  const [typed, setTyped] = useState<string>()
  const { types } = field
  const isEither = field.kind === "scalar"
  const takesText = isEither && types.includes("string")
  const read = (text: string): unknown => {
    const number = numberOf(text)
    // "0049" and "1.50" are texts: as numbers they would be written in another way.
    return takesText && number !== undefined && String(number) !== text ? text : number
  }
  const change = (text: string): void => {
    setTyped(text)
    onChange(read(text))
  }
  // "1.50" stays as it was typed while it is the same number.
  const isTyped = typed !== undefined && read(typed) === value
  const isText = isEither || typeof value === "string"
  return (
    <>
      <LineControl
        control={props}
        type={isText ? "text" : "number"}
        step={field.number("multipleOf") ?? (types.includes("integer") ? 1 : "any")}
        min={field.number("minimum")}
        max={field.number("maximum")}
        value={isTyped ? typed : textOf(value)}
        onText={change}
      />
      {typeof value === "bigint" && (
        <p className="field-error">The hub takes integers up to {Number.MAX_SAFE_INTEGER} only.</p>
      )}
    </>
  )
}

/** The number of a text; the text itself while it is none. */
function numberOf(text: string): number | bigint | string | undefined {
  if (text.trim() === "") return undefined
  if (/^-?\d+$/.test(text)) return toInteger(text)
  const number = Number(text)
  return Number.isNaN(number) ? text : number
}

/** Any value, as JSON text. Invalid text stays as it was typed, and does not change the value. */
function JsonControl(props: ControlProps): ReactNode {
  const { field, value, label, isInvalid, onChange } = props
  const [typed, setTyped] = useState<{ readonly text: string; readonly value: unknown }>()
  const text = typed !== undefined && sameData(typed.value, value) ? typed.text : written(value)
  const read = readJson(text)
  const change = (next: string): void => {
    const result = readJson(next)
    setTyped({ text: next, value: result.ok ? result.value : value })
    if (result.ok) onChange(result.value)
  }
  return (
    <>
      <textarea
        className="input input-area input-code"
        rows={Math.min(12, Math.max(2, text.split("\n").length))}
        value={text}
        spellCheck={false}
        placeholder={hintOf(field) || "JSON"}
        onChange={(event) => change(event.target.value)}
        {...marks(props)}
        aria-label={label === "" ? "Input, as JSON" : undefined}
        aria-invalid={!read.ok || isInvalid || undefined}
      />
      {!read.ok && <p className="field-error">This is not JSON yet. Put texts in quotes.</p>}
    </>
  )
}

function written(value: unknown): string {
  return printJson(value, 2) ?? ""
}

/** One of some values, or several of them. Very many are searched by typing. */
function SelectControl(props: ControlProps): ReactNode {
  const { field, value, isRequired, onChange } = props
  const isMultiple = field.kind === "several"
  const values = (isMultiple ? field.item(0)?.values : field.values) ?? []
  if (values.length > MAX_LISTED && !isMultiple) return <SearchedControl {...props} />
  const indexOf = (one: unknown): string =>
    String(values.findIndex((option) => sameData(option.value, one)))
  const change = ({ target }: ChangeEvent<HTMLSelectElement>): void => {
    const chosen = Array.from(
      target.selectedOptions,
      (option) => values[Number(option.value)]?.value,
    )
    if (isMultiple) onChange(chosen)
    else onChange(target.value === "" ? undefined : chosen[0])
  }
  const isKnown = indexOf(value) !== "-1"
  const single = isKnown ? indexOf(value) : ""
  return (
    <select
      className="input"
      multiple={isMultiple}
      size={isMultiple ? Math.min(8, Math.max(2, values.length)) : undefined}
      value={isMultiple ? (Array.isArray(value) ? value : []).map(indexOf) : single}
      onChange={change}
      {...marks(props)}
    >
      {!isMultiple && (!isKnown || !isRequired) && (
        <option value="">{hintOf(field) || "not set"}</option>
      )}
      {values.map((option, at) => (
        <option key={at} value={String(at)}>
          {option.title ?? labelOf(option.value)}
        </option>
      ))}
    </select>
  )
}

/** A list of thousands of values, searched by typing. */
function SearchedControl(props: ControlProps): ReactNode {
  const { field, value, onChange } = props
  const values = field.values ?? []
  const list = useId()
  const typed = textOf(value)
  const wanted = typed.toLowerCase()
  const offered: string[] = []
  for (const option of values) {
    const label = labelOf(option.value)
    if (label.toLowerCase().includes(wanted)) offered.push(label)
    if (offered.length >= MAX_OFFERED) break
  }
  const change = (text: string): void => {
    const match = values.find((option) => labelOf(option.value) === text)
    onChange(text === "" ? undefined : match === undefined ? text : match.value)
  }
  const placeholder = `type to search ${values.length.toLocaleString("en")} values`
  return (
    <>
      <LineControl
        control={props}
        list={list}
        value={typed}
        placeholder={placeholder}
        onText={change}
      />
      <datalist id={list}>
        {offered.map((label) => (
          <option key={label}>{label}</option>
        ))}
      </datalist>
    </>
  )
}

/** Yes or no; an optional one can also be left out. */
function BooleanControl(props: ControlProps): ReactNode {
  const { field, value, label, isRequired, onChange } = props
  if (isRequired && typeof value === "boolean") {
    return (
      <label className="check">
        <input
          type="checkbox"
          checked={value}
          onChange={(event) => onChange(event.target.checked)}
          {...marks(props)}
        />
        <span>{label}</span>
      </label>
    )
  }
  return (
    <select
      className="input"
      value={typeof value === "boolean" ? String(value) : ""}
      onChange={({ target }) => onChange(target.value === "" ? undefined : target.value === "true")}
      {...marks(props)}
    >
      <option value="">{hintOf(field) || "not set"}</option>
      <option value="true">true</option>
      <option value="false">false</option>
    </select>
  )
}

/** A file, which is sent as base64 text. */
function FileControl(props: ControlProps): ReactNode {
  const { field, value, onChange } = props
  const [problem, setProblem] = useState<string>()
  const [name, setName] = useState<string>()
  const take = async (file: File | undefined): Promise<void> => {
    if (file === undefined) return
    try {
      onChange(await readFile(file))
      setName(file.name)
      setProblem(undefined)
    } catch (thrown) {
      setProblem(thrown instanceof Error ? thrown.message : "The file cannot be read.")
    }
  }
  const accept = field.first("contentMediaType")
  return (
    <div>
      <input
        type="file"
        className="input"
        accept={typeof accept === "string" ? accept : undefined}
        onChange={(event) => void take(event.target.files?.[0])}
        {...marks(props)}
      />
      {typeof value === "string" && value !== "" && (
        <p className="file-state">
          {name ?? "base64 text"}, {formatBytes(base64Bytes(value))}{" "}
          <Button
            size="small"
            onClick={() => {
              setName(undefined)
              onChange(undefined)
            }}
          >
            Remove file
          </Button>
        </p>
      )}
      {problem !== undefined && (
        <p className="field-error" role="alert">
          {problem}
        </p>
      )}
    </div>
  )
}

/** Larger files would make a page that holds them as text slow. */
const MAX_FILE_BYTES = 8 * 1024 * 1024

/** The bytes of a file as base64 text. Rejects with what to do when it is too large. */
async function readFile(file: File): Promise<string> {
  if (file.size > MAX_FILE_BYTES) {
    throw new Error(
      `"${file.name}" is larger than 8 MB. Send it with the command or the API instead.`,
    )
  }
  return toBase64(new Uint8Array(await file.arrayBuffer()))
}

/** How many bytes base64 text stands for. */
function base64Bytes(text: string): number {
  const padding = text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0
  return Math.max(0, Math.floor((text.length * 3) / 4) - padding)
}

/** A moment in the reader's own time; sent in UTC. An invalid one stays text. */
function MomentControl(props: ControlProps): ReactNode {
  const { value, onChange } = props
  const local = typeof value === "string" ? toLocal(value) : undefined
  if (typeof value === "string" && value !== "" && local === undefined) {
    const change = (text: string): void => onChange(text === "" ? undefined : text)
    return <LineControl control={props} type="text" value={value} onText={change} />
  }
  return (
    <>
      <LineControl
        control={props}
        type="datetime-local"
        step={1}
        value={local ?? ""}
        onText={(text) => onChange(toMoment(text))}
      />
      {typeof value === "string" && <p className="field-note">Sent as {value}</p>}
    </>
  )
}

/** A moment as an input of the browser shows it: local, without an offset. `undefined` if it is invalid. */
function toLocal(value: string): string | undefined {
  const moment = new Date(value)
  if (value === "" || Number.isNaN(moment.getTime())) return undefined
  const shifted = new Date(moment.getTime() - moment.getTimezoneOffset() * 60_000)
  return shifted.toISOString().slice(0, 19)
}

/** What the browser's input holds, as a moment with its offset. */
function toMoment(local: string): string | undefined {
  const moment = new Date(local)
  if (local === "" || Number.isNaN(moment.getTime())) return undefined
  return moment.toISOString().replace(/\.000Z$/, "Z")
}
