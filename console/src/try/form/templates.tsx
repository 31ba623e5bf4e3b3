// The layout of labels, descriptions, errors and buttons of the form.

import { ADDITIONAL_PROPERTY_FLAG, canExpand, descriptionId, errorId, titleId } from "@rjsf/utils"
import type {
  ArrayFieldItemTemplateProps,
  ArrayFieldTemplateProps,
  DescriptionFieldProps,
  FieldErrorProps,
  FieldTemplateProps,
  IconButtonProps,
  MultiSchemaFieldTemplateProps,
  ObjectFieldTemplateProps,
  TemplatesType,
  UnsupportedFieldProps,
  WrapIfAdditionalTemplateProps,
} from "@rjsf/utils"
import { useId, useState } from "react"
import type { ReactNode } from "react"
import { Button, IconButton } from "../../ui/Button.tsx"
import { Icon } from "../../ui/Icon.tsx"
import { SearchField } from "../../ui/SearchField.tsx"
import { limitsOf } from "../../../../src/schema/read/facts.ts"
import { Markdown } from "../../read/Markdown.tsx"
import { initialValue } from "../schema/initial.ts"
import { sameJson } from "../schema/json.ts"
import { FORMAT, JSON_FIELD } from "../schema/to-form.ts"
import { BaseInput } from "./widgets.tsx"

function Required(): ReactNode {
  return (
    <span className="field-required" title="required">
      <span aria-hidden="true">*</span>
      <span className="visually-hidden"> required</span>
    </span>
  )
}

/** The type and the limits of a field in a few words: "integer, 1 to 10", "string, date". */
function kindOf(schema: FieldTemplateProps["schema"]): string {
  if (schema.$id === JSON_FIELD) return "any JSON"
  if (schema.$id !== undefined) return [schema.type].flat().join(" or ")
  if (schema.enum !== undefined) return ""
  const { type, format, items: _items, properties: _properties, ...rest } = schema
  const formatName: unknown = rest[FORMAT as keyof typeof rest] ?? format
  const shown = typeof formatName === "string" && formatName !== "textarea" ? [formatName] : []
  const types = [type].flat().filter((one) => one !== undefined && one !== "null")
  return [...types, ...shown, ...limitsOf({ ...rest, type })].join(", ")
}

function FieldTemplate(props: FieldTemplateProps): ReactNode {
  const { id, schema, required, hidden, displayLabel, description, errors, children } = props
  const { formData, registry, fieldPathId } = props
  const label = itemTitle(fieldPathId.path) ?? props.label
  const Wrap = registry.templates.WrapIfAdditionalTemplate
  const isBoolean = schema.type === "boolean"
  const isNull = formData === null && isNullable(schema)
  // A required constant is set from the beginning.
  if (hidden === true || (required === true && isConstant(schema, formData))) return null
  if (isFolded(props)) return <Folded {...props} />
  return (
    <Wrap {...props}>
      <div className="field">
        {displayLabel === true && label !== "" && (
          <div className="field-head">
            <label className="field-label" htmlFor={id}>
              {label}
              {required === true && <Required />}
            </label>
            <span className="field-kind">{kindOf(schema)}</span>
          </div>
        )}
        <Unfolded {...props} />
        {!isNull && children}
        {(displayLabel === true || isBoolean) && description}
        <NullSwitch {...props} />
        {errors}
      </div>
    </Wrap>
  )
}

function isConstant(schema: FieldTemplateProps["schema"], formData: unknown): boolean {
  return schema.const !== undefined && sameJson(schema.const, formData)
}

/** Whether it is an absent optional group or list, which is collapsed. */
function isFolded({ schema, formData, required, fieldPathId }: FieldTemplateProps): boolean {
  if (formData !== undefined || required === true || fieldPathId.path.length === 0) return false
  if (ADDITIONAL_PROPERTY_FLAG in schema) return false
  const options = schema.oneOf ?? schema.anyOf ?? []
  return isGroup(schema) || options.some((option) => typeof option === "object" && isGroup(option))
}

/** Whether a field is drawn as a group. A selection from fixed values is a single control. */
function isGroup({ $id, type, uniqueItems, items }: FieldTemplateProps["schema"]): boolean {
  if ($id !== undefined) return false
  const types: readonly unknown[] = Array.isArray(type) ? type : [type]
  if (types.includes("object")) return true
  const isSelect = uniqueItems === true && typeof items === "object" && "enum" in items
  return types.includes("array") && !isSelect
}

function Folded(props: FieldTemplateProps): ReactNode {
  const { id, label, schema, fieldPathId, disabled, readonly, rawDescription, onChange } = props
  const isList = [schema.type].flat().includes("array")
  const add = (): void => onChange(startOf(schema), fieldPathId.path)
  return (
    <div className="field">
      <div className="field-head">
        <Button id={id} size="small" disabled={disabled || readonly} onClick={add}>
          <Icon name="plus" /> Add {label}
        </Button>
        {isList && <span className="field-kind">list</span>}
      </div>
      <Text id={descriptionId(id)} text={rawDescription} />
      <NullSwitch {...props} />
      {props.errors}
    </div>
  )
}

/** The initial value of a group or list; a tuple has all its items. */
function startOf(schema: FieldTemplateProps["schema"]): unknown {
  const { type, items } = schema
  if (Array.isArray(items)) {
    return items.map((item) => (typeof item === "object" ? (item.default ?? null) : null))
  }
  return initialValue(schema) ?? ([type].flat().includes("array") ? [] : {})
}

/** Removes an optional group or list. */
function Unfolded(props: FieldTemplateProps): ReactNode {
  const { label, schema, formData, required, fieldPathId, disabled, readonly, onChange } = props
  const isGiven = formData !== undefined && formData !== null && required !== true
  if (!isGiven || !isGroup(schema) || fieldPathId.path.length === 0) return null
  if (ADDITIONAL_PROPERTY_FLAG in schema) return null
  return (
    <IconButton
      label={`Remove ${label}`}
      size="small"
      className="group-remove"
      disabled={disabled || readonly}
      onClick={() => onChange(undefined, fieldPathId.path)}
    >
      <Icon name="trash" />
    </IconButton>
  )
}

function isNullable(schema: FieldTemplateProps["schema"]): boolean {
  return Array.isArray(schema.type) && schema.type.includes("null") && schema.$id === undefined
}

/** A switch for null, which is different from an empty field. */
function NullSwitch(props: FieldTemplateProps): ReactNode {
  const { schema, formData, fieldPathId, label, disabled, readonly, onChange } = props
  if (!isNullable(schema)) return null
  return (
    <label className="check check-null">
      <input
        type="checkbox"
        checked={formData === null}
        disabled={disabled || readonly}
        aria-label={`${label} is null`}
        onChange={(event) => onChange(event.target.checked ? null : undefined, fieldPathId.path)}
      />
      <span>null</span>
    </label>
  )
}

/** A property of a map, which can be renamed and removed. */
function WrapIfAdditional(props: WrapIfAdditionalTemplateProps): ReactNode {
  const { id, label, schema, disabled, readonly, onKeyRenameBlur, onRemoveProperty, children } =
    props
  if (!(ADDITIONAL_PROPERTY_FLAG in schema)) return children
  const isFixed = disabled || readonly
  return (
    <div className="map-entry">
      <div className="field map-key">
        <label className="field-label" htmlFor={`${id}-key`}>
          Key
        </label>
        <input
          key={label}
          id={`${id}-key`}
          className="input"
          defaultValue={label}
          disabled={isFixed}
          onBlur={onKeyRenameBlur}
        />
      </div>
      <div className="map-value">{children}</div>
      <IconButton
        label={`Remove ${label}`}
        size="small"
        disabled={isFixed}
        onClick={onRemoveProperty}
      >
        <Icon name="trash" />
      </IconButton>
    </div>
  )
}

function Description({ id, description }: DescriptionFieldProps): ReactNode {
  return <Text id={id} text={description} />
}

function FieldErrors({ errors = [], fieldPathId }: FieldErrorProps): ReactNode {
  if (errors.length === 0) return null
  return (
    <ul id={errorId(fieldPathId)}>
      {errors.map((error, at) => (
        <li key={at} className="field-error">
          {error}
        </li>
      ))}
    </ul>
  )
}

/** More optional fields than this are folded. */
const MAX_OPTIONAL = 12

/** The fields of an object: required and filled-in ones, and the others on demand. */
function Properties(props: ObjectFieldTemplateProps): ReactNode {
  const { properties, schema, errorSchema, title } = props
  const formData = props.formData as Readonly<Record<string, unknown>> | undefined
  const [isOpen, setOpen] = useState(false)
  const [filter, setFilter] = useState("")
  const isShown = ({ name }: { readonly name: string }): boolean =>
    schema.required?.includes(name) === true ||
    formData?.[name] !== undefined ||
    errorSchema?.[name] !== undefined
  const optional = properties.filter((one) => !isShown(one))
  if (optional.length <= MAX_OPTIONAL) return properties.map((one) => one.content)
  const words = filter.trim().toLowerCase()
  const hits = optional.filter(({ name }) => textOfField(schema, name).includes(words))
  return (
    <>
      {properties.filter(isShown).map((one) => one.content)}
      <div className="optional">
        <Button size="small" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          <Icon name={isOpen ? "down" : "next"} /> {optional.length} optional fields
        </Button>
        {isOpen && (
          <SearchField
            label={`Filter the optional fields${title === "" ? "" : ` of ${title}`}`}
            placeholder="Filter by name or description"
            text={filter}
            onText={setFilter}
          />
        )}
      </div>
      {isOpen && hits.map((one) => one.content)}
      {isOpen && hits.length === 0 && <p className="field-note">No field matches the filter.</p>}
    </>
  )
}

/** The text of a field that the filter searches. */
function textOfField(schema: ObjectFieldTemplateProps["schema"], name: string): string {
  const property = schema.properties?.[name]
  const { title = "", description = "" } = typeof property === "object" ? property : {}
  return `${name} ${title} ${description}`.toLowerCase()
}

/** The library calls an item of a list `items-1`. */
function itemTitle(path: readonly (string | number)[]): string | undefined {
  const last = path.at(-1)
  return typeof last === "number" ? `Item ${last + 1}` : undefined
}

function ObjectTemplate(props: ObjectFieldTemplateProps): ReactNode {
  const { description, properties, required, schema, uiSchema, formData } = props
  const { fieldPathId, disabled, readonly, onAddProperty } = props
  const title = itemTitle(fieldPathId.path) ?? props.title
  const isRoot = fieldPathId.path.length === 0
  if ((schema.oneOf ?? schema.anyOf) !== undefined && properties.length === 0) return null
  const content = (
    <>
      {!isRoot && <Text id={descriptionId(fieldPathId)} text={description} />}
      <Properties {...props} />
      {canExpand(schema, uiSchema, formData) && (
        <Button
          size="small"
          disabled={disabled === true || readonly === true}
          onClick={onAddProperty}
        >
          <Icon name="plus" /> Add entry{isRoot || title === "" ? "" : ` to ${title}`}
        </Button>
      )}
    </>
  )
  if (isRoot) {
    return (
      <div id={fieldPathId.$id} className="fields">
        {content}
      </div>
    )
  }
  return (
    <fieldset id={fieldPathId.$id} className="group">
      <legend id={titleId(fieldPathId)} className="group-title">
        <Label title={title} required={required} />
      </legend>
      {content}
    </fieldset>
  )
}

function Label({
  title,
  required,
}: {
  readonly title: string
  readonly required?: boolean | undefined
}): ReactNode {
  return (
    <span className="field-label">
      {title}
      {required === true && <Required />}
    </span>
  )
}

/** A hint of a schema, which is Markdown. */
function Text({ id, text }: { readonly id: string; readonly text: ReactNode }): ReactNode {
  if (text === undefined || text === "") return null
  return (
    <div className="field-description" id={id}>
      {typeof text === "string" ? <Markdown text={text} /> : text}
    </div>
  )
}

function ArrayTemplate(props: ArrayFieldTemplateProps): ReactNode {
  const { items, canAdd, required, schema, fieldPathId } = props
  const { disabled, readonly, onAddClick } = props
  const title = itemTitle(fieldPathId.path) ?? props.title
  return (
    <fieldset id={fieldPathId.$id} className="group">
      <legend className="group-title">
        <Label title={title} required={required} /> <span className="field-kind">list</span>
      </legend>
      <Text id={descriptionId(fieldPathId)} text={schema.description} />
      <ol className="items">{items}</ol>
      {canAdd && (
        <Button size="small" disabled={disabled === true || readonly === true} onClick={onAddClick}>
          <Icon name="plus" /> Add item to {title === "" ? "the list" : title}
        </Button>
      )}
    </fieldset>
  )
}

function ItemTemplate({ children, buttonsProps, index }: ArrayFieldItemTemplateProps): ReactNode {
  const { disabled, readonly, hasMoveUp, hasMoveDown, hasRemove } = buttonsProps
  const isFixed = disabled === true || readonly === true
  return (
    <li className="item">
      <div className="item-content">{children}</div>
      <div className="item-buttons" role="group" aria-label={`Item ${index + 1}`}>
        {(hasMoveUp || hasMoveDown) && (
          <>
            <IconButton
              label={`Move item ${index + 1} up`}
              size="small"
              disabled={isFixed || !hasMoveUp}
              onClick={buttonsProps.onMoveUpItem}
            >
              ↑
            </IconButton>
            <IconButton
              label={`Move item ${index + 1} down`}
              size="small"
              disabled={isFixed || !hasMoveDown}
              onClick={buttonsProps.onMoveDownItem}
            >
              ↓
            </IconButton>
          </>
        )}
        {hasRemove && (
          <IconButton
            label={`Remove item ${index + 1}`}
            size="small"
            disabled={isFixed}
            onClick={buttonsProps.onRemoveItem}
          >
            <Icon name="trash" />
          </IconButton>
        )}
      </div>
    </li>
  )
}

/** A choice: which kind of value it is, then its fields. */
function UnionTemplate({
  selector,
  optionSchemaField,
  schema,
}: MultiSchemaFieldTemplateProps): ReactNode {
  const name = useId()
  return (
    <div className="union" role="group" aria-labelledby={name}>
      <div className="union-choice">
        <span id={name} className="field-kind">
          {schema.title ?? "One of"}
        </span>
        {selector}
      </div>
      {optionSchemaField}
    </div>
  )
}

function Unsupported({ reason }: UnsupportedFieldProps): ReactNode {
  return (
    <p className="field-note">
      Only the JSON editor can fill this in{reason === undefined ? "" : `: ${reason}`}.
    </p>
  )
}

function NoButton(_props: IconButtonProps): ReactNode {
  return null
}

/** The templates of the form library. */
export const templates: Partial<Omit<TemplatesType, "ButtonTemplates">> & {
  readonly ButtonTemplates: Partial<TemplatesType["ButtonTemplates"]>
} = {
  FieldTemplate,
  WrapIfAdditionalTemplate: WrapIfAdditional,
  DescriptionFieldTemplate: Description,
  FieldErrorTemplate: FieldErrors,
  ObjectFieldTemplate: ObjectTemplate,
  ArrayFieldTemplate: ArrayTemplate,
  ArrayFieldItemTemplate: ItemTemplate,
  MultiSchemaFieldTemplate: UnionTemplate,
  UnsupportedFieldTemplate: Unsupported,
  BaseInputTemplate: BaseInput,
  ButtonTemplates: { ClearButton: NoButton, CopyButton: NoButton },
}
