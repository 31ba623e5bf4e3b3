// The controls of the form, all plain elements of the browser.

import { ariaDescribedByIds, getInputProps } from "@rjsf/utils"
import type { BaseInputTemplateProps, RegistryWidgetsType, WidgetProps } from "@rjsf/utils"
import { useId, useState } from "react"
import type { ChangeEvent, ReactNode } from "react"
import { Button } from "../../ui/Button.tsx"
import { printJson } from "../../ui/json-text.ts"
import { formatBytes } from "../../ui/format.ts"
import { toBase64 } from "../../../../src/internal/base64.ts"

/** More values than this are searched, not listed. */
const MAX_LISTED = 200
/** How many of them are offered at once. */
const MAX_OFFERED = 50

/** A value as the text of an option. */
function labelOf(value: unknown): string {
  return typeof value === "string" ? value : (printJson(value) ?? "")
}

function textOf(value: unknown): string {
  return value === undefined || value === null ? "" : labelOf(value)
}

/** The placeholder of an empty field: an example, or the default. */
function hintOf({ examples, default: preset }: WidgetProps["schema"]): string {
  const example: unknown = Array.isArray(examples) ? examples[0] : undefined
  if (example !== undefined && example !== null) return `e.g. ${labelOf(example).slice(0, 80)}`
  return preset === undefined || preset === null || preset === ""
    ? ""
    : `default ${labelOf(preset).slice(0, 80)}`
}

function marks({ id, rawErrors, required }: WidgetProps): {
  readonly "aria-describedby": string
  readonly "aria-invalid": boolean | undefined
  readonly "aria-required": boolean | undefined
} {
  return {
    "aria-describedby": ariaDescribedByIds(id),
    "aria-invalid": (rawErrors?.length ?? 0) > 0 || undefined,
    "aria-required": required === true || undefined,
  }
}

/** The one-line input that most widgets use. */
export function BaseInput(props: BaseInputTemplateProps): ReactNode {
  const { id, value, type, options, schema, readonly, disabled, onChange, onChangeOverride } = props
  const input = getInputProps(schema, type, options)
  const change = (event: ChangeEvent<HTMLInputElement>): void => {
    onChange(event.target.value === "" ? options.emptyValue : event.target.value)
  }
  return (
    <input
      id={id}
      className="input"
      value={textOf(value)}
      type={input.type === "integer" ? "number" : input.type}
      step={input.step}
      min={input.min}
      max={input.max}
      autoComplete={type === "password" ? "new-password" : "off"}
      placeholder={hintOf(schema)}
      readOnly={readonly}
      disabled={disabled}
      onChange={onChangeOverride ?? change}
      {...marks(props)}
    />
  )
}

/** A text field. A text with line breaks gets several lines, because a single-line input would lose them. */
function TextWidget(props: WidgetProps): ReactNode {
  const { value, registry, schema } = props
  if (typeof value === "string" && (value.includes("\n") || value.length > 120)) {
    return <AreaWidget {...props} />
  }
  const Input = registry.templates.BaseInputTemplate
  return <Input {...props} type={schema.type === "string" ? "text" : undefined} />
}

function AreaWidget(props: WidgetProps): ReactNode {
  const { id, value, schema, readonly, disabled, onChange } = props
  return (
    <textarea
      id={id}
      className="input input-area"
      rows={Math.min(12, Math.max(3, textOf(value).split("\n").length))}
      value={textOf(value)}
      placeholder={hintOf(schema)}
      readOnly={readonly}
      disabled={disabled}
      onChange={(event) => onChange(event.target.value === "" ? undefined : event.target.value)}
      {...marks(props)}
    />
  )
}

/** One of some values, or several of them. Very many are searched by typing. */
function SelectWidget(props: WidgetProps): ReactNode {
  const { id, label, value, options, schema, multiple, disabled, readonly, required, onChange } =
    props
  const { enumOptions = [] } = options
  if (enumOptions.length > MAX_LISTED && multiple !== true) return <SearchedWidget {...props} />
  const indexOf = (one: unknown): string =>
    String(enumOptions.findIndex((option) => labelOf(option.value) === labelOf(one)))
  const change = (event: ChangeEvent<HTMLSelectElement>): void => {
    const chosen = [...event.target.selectedOptions].map(
      (option) => enumOptions[Number(option.value)],
    )
    if (multiple === true) onChange(chosen.map((option) => option?.value as unknown))
    else onChange(event.target.value === "" ? undefined : chosen[0]?.value)
  }
  const selected = Array.isArray(value) ? value.map(indexOf) : []
  // A choice of kinds has no label of its own on the page.
  const isChoice = /__(?:one|any)of_select$/.test(id)
  const isKnown = value !== undefined && value !== null && indexOf(value) !== "-1"
  return (
    <select
      id={id}
      className="input"
      multiple={multiple}
      size={multiple === true ? Math.min(8, Math.max(2, enumOptions.length)) : undefined}
      aria-label={isChoice ? `${label === "" ? "Input" : label}: one of` : undefined}
      value={multiple === true ? selected : isKnown ? indexOf(value) : ""}
      disabled={disabled === true || readonly === true}
      onChange={change}
      {...marks(props)}
    >
      {multiple !== true && !isChoice && (!isKnown || required !== true) && (
        <option value="">{hintOf(schema) || "not set"}</option>
      )}
      {enumOptions.map((option, at) => (
        <option key={at} value={String(at)}>
          {labelled(option.label, option.value)}
        </option>
      ))}
    </select>
  )
}

/** The library's own label of an object would be "[object Object]". */
function labelled(label: string, value: unknown): string {
  return typeof value === "object" ? labelOf(value) : label
}

/** A list of thousands of values, searched by typing. */
function SearchedWidget(props: WidgetProps): ReactNode {
  const { id, value, options, disabled, readonly, onChange } = props
  const { enumOptions = [] } = options
  const list = useId()
  const typed = textOf(value)
  const wanted = typed.toLowerCase()
  const offered: string[] = []
  for (const option of enumOptions) {
    const label = labelOf(option.value)
    if (label.toLowerCase().includes(wanted)) offered.push(label)
    if (offered.length >= MAX_OFFERED) break
  }
  const change = (event: ChangeEvent<HTMLInputElement>): void => {
    const text = event.target.value
    const match = enumOptions.find((option) => labelOf(option.value) === text)
    onChange(text === "" ? undefined : match === undefined ? text : match.value)
  }
  return (
    <>
      <input
        id={id}
        className="input"
        list={list}
        value={typed}
        placeholder={`type to search ${enumOptions.length.toLocaleString("en")} values`}
        autoComplete="off"
        disabled={disabled}
        readOnly={readonly}
        onChange={change}
        {...marks(props)}
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
function BooleanWidget(props: WidgetProps): ReactNode {
  const { id, value, label, required, disabled, readonly, schema, hideLabel, onChange } = props
  const isFixed = disabled === true || readonly === true
  if (required === true) {
    return (
      <label className="check">
        <input
          id={id}
          type="checkbox"
          checked={value === true}
          disabled={isFixed}
          onChange={(event) => onChange(event.target.checked)}
          {...marks(props)}
        />
        <span>{label}</span>
      </label>
    )
  }
  const chosen = typeof value === "boolean" ? String(value) : ""
  return (
    <>
      {hideLabel !== true && (
        <label className="field-label" htmlFor={id}>
          {label}
        </label>
      )}
      <select
        id={id}
        className="input"
        value={chosen}
        disabled={isFixed}
        onChange={({ target }) =>
          onChange(target.value === "" ? undefined : target.value === "true")
        }
        {...marks(props)}
      >
        <option value="">{hintOf(schema) || "not set"}</option>
        <option value="true">true</option>
        <option value="false">false</option>
      </select>
    </>
  )
}

/** A file, which is sent as base64 text. */
function FileWidget(props: WidgetProps): ReactNode {
  const { id, value, disabled, readonly, schema, onChange } = props
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
  const accept: unknown = schema["contentMediaType"]
  const isFixed = disabled === true || readonly === true
  return (
    <div>
      <input
        id={id}
        type="file"
        className="input"
        accept={typeof accept === "string" ? accept : undefined}
        disabled={isFixed}
        onChange={(event) => void take(event.target.files?.[0])}
        {...marks(props)}
      />
      {typeof value === "string" && value !== "" && (
        <p className="file-state">
          {name ?? "base64 text"}, {formatBytes(base64Bytes(value))}{" "}
          <Button
            size="small"
            disabled={isFixed}
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
function DateTimeWidget(props: WidgetProps): ReactNode {
  const { id, value, disabled, readonly, onChange, registry } = props
  const local = typeof value === "string" ? toLocal(value) : undefined
  const Input = registry.templates.BaseInputTemplate
  if (typeof value === "string" && value !== "" && local === undefined) {
    return <Input {...props} type="text" />
  }
  return (
    <>
      <input
        id={id}
        className="input"
        type="datetime-local"
        step={1}
        value={local ?? ""}
        disabled={disabled}
        readOnly={readonly}
        onChange={(event) => onChange(toMoment(event.target.value))}
        {...marks(props)}
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

/** The controls by the names that the form library asks for. */
export const widgets: RegistryWidgetsType = {
  TextWidget,
  TextareaWidget: AreaWidget,
  SelectWidget,
  CheckboxWidget: BooleanWidget,
  FileWidget,
  DateTimeWidget,
}
