// A field of the form: its label, description and errors, and the fields below it.

import { createContext, use, useId, useState } from "react"
import type { FocusEvent, ReactNode } from "react"
import { isRecord } from "../../../../src/internal/guards.ts"
import { childPointer, listOf, setOwn } from "../../../../src/schema/json.ts"
import { Markdown } from "../../read/Markdown.tsx"
import { Button, IconButton } from "../../ui/Button.tsx"
import { Icon } from "../../ui/Icon.tsx"
import { SearchField } from "../../ui/SearchField.tsx"
import type { Field } from "../schema/field.ts"
import { emptyOf, startOf } from "../schema/initial.ts"
import { own } from "../schema/json.ts"
import { sameData } from "../../../../src/internal/same-data.ts"
import { mismatch, optionFor } from "../schema/match.ts"
import { Control } from "./controls.tsx"
import type { About } from "./controls.tsx"

/** What every field needs of its form. */
export interface FormState {
  readonly idOf: (pointer: string) => string
  readonly errorsAt: (pointer: string) => readonly string[]
  /** Whether there are errors at a place or below it. */
  readonly hasErrors: (pointer: string) => boolean
  readonly change: (pointer: string, value: unknown) => void
}

export const FormContext = createContext<FormState>({
  idOf: (pointer) => pointer,
  errorsAt: () => [],
  hasErrors: () => false,
  change: () => undefined,
})

interface FieldProps {
  readonly field: Field
  readonly value: unknown
  readonly pointer: string
  /** The name of the property, or what stands for it. */
  readonly name: string
  readonly isRequired: boolean
  /** It can be removed with a button of its parent. */
  readonly isEntry?: boolean | undefined
  /** It is the only field of the form, and so open from the beginning. */
  readonly isAlone?: boolean | undefined
  /** It is the chosen option of the field at the same place: its description, where it has one of its own. */
  readonly option?: { readonly description: string | undefined } | undefined
}

/** A field, with everything that is below it. */
export function FieldView(props: FieldProps): ReactNode {
  const { field, value, pointer, isRequired, isEntry = false, option } = props
  const form = use(FormContext)
  const { kind } = field
  const label = option === undefined && !isEntry ? (field.facts.title ?? props.name) : props.name
  const id = `${form.idOf(pointer)}${option === undefined ? "" : "__option"}`
  const errors = form.errorsAt(pointer)
  const description = option === undefined ? field.facts.description : option.description
  // A required constant is set from the beginning.
  if (isRequired && field.constant !== undefined && sameData(field.constant, value)) return null
  const about = {
    ...{ label, id, description, isRequired, isInvalid: errors.length > 0 },
    // An item of a list and an entry of a map stay when they are emptied.
    onChange: (next: unknown) =>
      form.change(pointer, isEntry && next === undefined ? (kind === "text" ? "" : null) : next),
  }
  const isRoot = pointer === ""
  const isOwn = option === undefined
  const isNull = value === null && field.isNullable
  const isOpen = props.isAlone === true && kind === "object"
  const isFolded = field.isGroup && value === undefined && !isRoot && isOwn && !isOpen
  const isBox = (kind === "object" || kind === "array") && !isFolded && !isNull
  const isTicked = isRequired && typeof value === "boolean" && kind === "boolean"
  return (
    <div className="field">
      {isFolded && (
        <div className="field-head">
          <Button id={id} size="small" onClick={() => about.onChange(emptyOf(field))}>
            <Icon name="plus" /> Add {label}
            {isRequired && <Required />}
          </Button>
          {kind === "array" && <span className="field-kind">list</span>}
        </div>
      )}
      {!isFolded && !isBox && !isTicked && label !== "" && (
        <div className="field-head">
          <label className="field-label" htmlFor={id}>
            {label}
            {isRequired && <Required />}
          </label>
          <span className="field-kind">{kindText(field)}</span>
        </div>
      )}
      {field.isGroup && value !== undefined && !isNull && !isRequired && !isEntry && isOwn && (
        <IconButton
          label={`Remove ${label}`}
          size="small"
          className="group-remove"
          onClick={() => about.onChange(undefined)}
        >
          <Icon name="trash" />
        </IconButton>
      )}
      {!isFolded && !isNull && <Body {...props} about={about} />}
      {!isBox && <Description {...about} />}
      {isOwn && field.isNullable && (
        <label className="check check-null">
          <input
            type="checkbox"
            checked={value === null}
            aria-label={`${label} is null`}
            onChange={(event) => about.onChange(event.target.checked ? null : undefined)}
          />
          <span>null</span>
        </label>
      )}
      {isOwn && errors.length > 0 && (
        <ul id={`${id}__error`}>
          {errors.map((error, at) => (
            <li key={at} className="field-error">
              {error}
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}

type BodyProps = FieldProps & { readonly about: About }

function Body(props: BodyProps): ReactNode {
  const { field, value, about } = props
  switch (field.kind) {
    case "object":
      return <ObjectBody {...props} />
    case "array":
      return <ListBody {...props} />
    case "choice":
      return <ChoiceBody {...props} />
    default:
      return <Control field={field} value={value} {...about} />
  }
}

function Required(): ReactNode {
  return (
    <span className="field-required" title="required">
      <span aria-hidden="true">*</span>
      <span className="visually-hidden"> required</span>
    </span>
  )
}

/** A hint of a schema, which is Markdown. */
function Description({ id, description }: About): ReactNode {
  if (description === undefined) return null
  return (
    <div className="field-description" id={`${id}__description`}>
      <Markdown text={description} />
    </div>
  )
}

/** The type and the limits of a field in a few words: "integer, 1 to 10", "string, date". */
function kindText({ kind, types, facts }: Field): string {
  const { format, constraints, isDeprecated } = facts
  const old = isDeprecated ? ["deprecated"] : []
  if (kind === "json") return ["any JSON", ...old].join(", ")
  if (kind === "scalar") return [types.join(" or "), ...old].join(", ")
  if (kind === "values" || kind === "choice" || kind === "boolean") return old.join()
  return [...types, ...(format === undefined ? [] : [format]), ...constraints, ...old].join(", ")
}

/** A group of fields under a title; those of the input itself have none. */
function Group({
  about,
  isRoot,
  isList = false,
  children,
}: {
  readonly about: About
  readonly isRoot: boolean
  readonly isList?: boolean
  readonly children: ReactNode
}): ReactNode {
  if (isRoot && !isList) {
    return (
      <div id={about.id} className="fields">
        {children}
      </div>
    )
  }
  return (
    <fieldset id={about.id} className="group">
      <legend className="group-title">
        <span className="field-label">
          {about.label}
          {about.isRequired && <Required />}
        </span>{" "}
        {isList && <span className="field-kind">list</span>}
      </legend>
      <Description {...about} />
      {children}
    </fieldset>
  )
}

/** More optional fields than this are folded. */
const MAX_OPTIONAL = 12
/** More fields of an object are not drawn at once. */
const MAX_FIELDS = 300

/** The fields of an object: required and filled-in ones, and the others on demand; then the entries of a map. */
function ObjectBody({ field, value, pointer, about }: BodyProps): ReactNode {
  const form = use(FormContext)
  const isRoot = pointer === ""
  const [isOpen, setOpen] = useState(false)
  const [filter, setFilter] = useState("")
  const shown = field.under(value)
  const { names, rest, required } = shown
  const isUsed = (name: string): boolean =>
    required.has(name) ||
    own(value, name) !== undefined ||
    form.hasErrors(childPointer(pointer, name))
  const optional = names.filter((name) => !isUsed(name))
  const isLong = optional.length > MAX_OPTIONAL
  const words = filter.trim().toLowerCase()
  const hits = isOpen ? optional.filter((name) => searchedText(shown, name).includes(words)) : []
  const view = (name: string): ReactNode => {
    const child = shown.property(name)
    const at = childPointer(pointer, name)
    const isAlone = isRoot && names.length === 1
    const common = { pointer: at, name, isRequired: required.has(name), isAlone }
    return child && <FieldView key={name} field={child} value={own(value, name)} {...common} />
  }
  const where = isRoot || about.label === "" ? "" : about.label
  return (
    <Group about={about} isRoot={isRoot}>
      {names
        .filter((name) => !isLong || isUsed(name))
        .slice(0, MAX_FIELDS)
        .map(view)}
      {isLong && (
        <div className="row optional">
          <Button size="small" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
            <Icon name={isOpen ? "down" : "next"} /> {optional.length} optional fields
          </Button>
          {isOpen && (
            <SearchField
              label={`Filter the optional fields${where === "" ? "" : ` of ${where}`}`}
              placeholder="Filter by name or description"
              text={filter}
              onText={setFilter}
            />
          )}
        </div>
      )}
      {isLong && hits.slice(0, MAX_FIELDS).map(view)}
      {isLong && isOpen && hits.length === 0 && (
        <p className="field-note">No field matches the filter.</p>
      )}
      {Math.max(names.length - optional.length, hits.length) > MAX_FIELDS && (
        <p className="field-note">There are more fields: filter them, or use JSON.</p>
      )}
      {rest && <Entries field={shown} rest={rest} value={value} pointer={pointer} where={where} />}
    </Group>
  )
}

/** The text of a field that the filter searches. */
function searchedText(field: Field, name: string): string {
  const { title = "", description = "" } = field.property(name)?.facts ?? {}
  return `${name} ${title} ${description}`.toLowerCase()
}

/** The entries of a map, which can be renamed and removed. */
function Entries({
  field,
  rest,
  value,
  pointer,
  where,
}: {
  readonly field: Field
  readonly rest: Field
  readonly value: unknown
  readonly pointer: string
  readonly where: string
}): ReactNode {
  const form = use(FormContext)
  const entries = Object.entries(isRecord(value) ? value : {})
  const others = entries.filter(([name]) => field.property(name) === undefined)
  const put = (next: readonly (readonly [string, unknown])[]): void => {
    const map = {}
    for (const [name, item] of next) setOwn(map, name, item)
    form.change(pointer, map)
  }
  const isTaken = (name: string): boolean => entries.some(([one]) => one === name)
  const free = (name: string, number = 1): string => {
    const tried = number === 1 ? name : `${name}-${number}`
    return isTaken(tried) ? free(name, number + 1) : tried
  }
  const rename = (from: string, { target }: FocusEvent<HTMLInputElement>): void => {
    const to = target.value
    if (to === from) return
    const name = free(to)
    put(entries.map(([one, item]) => [one === from ? name : one, item]))
  }
  const most = field.number("maxProperties") ?? Number.POSITIVE_INFINITY
  return (
    <>
      {others.map(([name, item], index) => {
        const at = childPointer(pointer, name)
        const key = `${form.idOf(at)}-key`
        return (
          // Not by its name: a field with the focus stays when the key before it was changed.
          <div key={index} className="map-entry">
            <div className="field map-key">
              <label className="field-label" htmlFor={key}>
                Key
              </label>
              <input
                key={name}
                id={key}
                className="input"
                defaultValue={name}
                onBlur={(event) => rename(name, event)}
              />
            </div>
            <div className="map-value">
              <FieldView
                field={rest}
                value={item}
                pointer={at}
                name={name}
                isRequired={false}
                isEntry
              />
            </div>
            <IconButton
              label={`Remove ${name}`}
              size="small"
              onClick={() => form.change(at, undefined)}
            >
              <Icon name="trash" />
            </IconButton>
          </div>
        )
      })}
      {entries.length < most && (
        <Button size="small" onClick={() => put([...entries, [free("newKey"), emptyOf(rest)]])}>
          <Icon name="plus" /> Add entry{where === "" ? "" : ` to ${where}`}
        </Button>
      )}
    </>
  )
}

function ListBody({ field, value, pointer, about }: BodyProps): ReactNode {
  const form = use(FormContext)
  const items = listOf(value)
  const { fixed } = field
  const next = field.item(Math.max(items.length, fixed))
  const swap = (from: number, to: number): void => {
    form.change(pointer, items.with(from, items[to]).with(to, items[from]))
  }
  const count = Math.max(items.length, fixed)
  const most = field.number("maxItems") ?? Number.POSITIVE_INFINITY
  return (
    <Group about={about} isRoot={pointer === ""} isList>
      <ol className="items">
        {Array.from({ length: count }, (_, index) => {
          const child = field.item(index)
          const name = `Item ${index + 1}`
          return (
            <li key={index} className="item">
              <div className="item-content">
                {child && (
                  <FieldView
                    field={child}
                    value={items[index]}
                    pointer={childPointer(pointer, index)}
                    name={name}
                    isRequired
                    isEntry
                  />
                )}
              </div>
              {index >= fixed && (
                <div className="item-buttons" role="group" aria-label={name}>
                  {count - fixed > 1 && (
                    <>
                      <IconButton
                        label={`Move item ${index + 1} up`}
                        size="small"
                        disabled={index === fixed}
                        onClick={() => swap(index, index - 1)}
                      >
                        ↑
                      </IconButton>
                      <IconButton
                        label={`Move item ${index + 1} down`}
                        size="small"
                        disabled={index === count - 1}
                        onClick={() => swap(index, index + 1)}
                      >
                        ↓
                      </IconButton>
                    </>
                  )}
                  <IconButton
                    label={`Remove item ${index + 1}`}
                    size="small"
                    onClick={() => form.change(pointer, items.toSpliced(index, 1))}
                  >
                    <Icon name="trash" />
                  </IconButton>
                </div>
              )}
            </li>
          )
        })}
      </ol>
      {next && count < most && (
        <Button size="small" onClick={() => form.change(pointer, [...items, emptyOf(next)])}>
          <Icon name="plus" /> Add item to {about.label === "" ? "the list" : about.label}
        </Button>
      )}
    </Group>
  )
}

/** A choice: which kind of value it is, then its fields. */
function ChoiceBody({ field, value, pointer, isEntry, about }: BodyProps): ReactNode {
  const [picked, setPicked] = useState<number>()
  const name = useId()
  const { options } = field
  const at = optionFor(field, value, picked)
  const option = options[at]
  const pick = (index: number): void => {
    setPicked(index)
    const next = options[index]?.field
    if (next !== undefined) about.onChange(converted(value, next))
  }
  return (
    <div className="union" role="group" aria-labelledby={name}>
      <div className="union-choice">
        <span id={name} className="field-kind">
          One of
        </span>
        <select
          id={about.id}
          className="input"
          aria-label={`${about.label === "" ? "Input" : about.label}: one of`}
          value={at}
          onChange={(event) => pick(Number(event.target.value))}
        >
          {options.map(({ title }, index) => (
            <option key={index} value={index}>
              {title}
            </option>
          ))}
        </select>
      </div>
      {option && (
        <FieldView
          key={at}
          field={option.field}
          value={value}
          pointer={pointer}
          name={option.title}
          isRequired={about.isRequired}
          isEntry={isEntry}
          option={option}
        />
      )}
    </div>
  )
}

/** The value of another option: its own start, with what fits of the previous value. */
function converted(value: unknown, field: Field): unknown {
  const start = startOf(field)
  if (field.kind !== "object" || !isRecord(value)) {
    return value !== undefined && mismatch(field, value) === 0 ? value : start
  }
  const next = { ...(isRecord(start) ? start : {}) }
  for (const name of field.names) {
    const item = own(value, name)
    const child = field.property(name)
    if (item === undefined || child === undefined || child.constant !== undefined) continue
    if (mismatch(child, item) === 0) setOwn(next, name, item)
  }
  return next
}
