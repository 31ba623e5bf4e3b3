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
import { useId } from "react"
import type { ReactNode } from "react"
import { Button, IconButton } from "../../ui/Button.tsx"
import { Icon } from "../../ui/Icon.tsx"
import { cx } from "../../ui/cx.ts"
import { initialValue } from "../schema/initial.ts"
import { BaseInput } from "./widgets.tsx"

function Required(): ReactNode {
  return (
    <span className="field-required" title="required">
      <span aria-hidden="true">*</span>
      <span className="visually-hidden"> required</span>
    </span>
  )
}

/** The types of a field in a word: "integer", "string, date". */
function kindOf(schema: FieldTemplateProps["schema"]): string {
  const { type, format } = schema
  if (schema.$id !== undefined) return "any JSON"
  const kinds = (Array.isArray(type) ? type : [type]).filter((one) => one !== "null")
  const kind = kinds.length === 1 ? String(kinds[0] ?? "") : ""
  if (schema.enum !== undefined) return ""
  return typeof format === "string" && format !== "textarea" ? `${kind}, ${format}` : kind
}

function FieldTemplate(props: FieldTemplateProps): ReactNode {
  const { id, schema, required, hidden, displayLabel, description, errors, children } = props
  const { formData, registry, fieldPathId } = props
  const label = itemTitle(fieldPathId.path) ?? props.label
  const Wrap = registry.templates.WrapIfAdditionalTemplate
  const isBoolean = schema.type === "boolean"
  const isNull = formData === null && isNullable(schema)
  if (hidden === true) return null
  if (isFolded(props)) return <Folded {...props} />
  return (
    <Wrap {...props}>
      <div className={cx("field", (props.rawErrors?.length ?? 0) > 0 && "field-faulty")}>
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

/** Whether it is an absent optional group or list, which is collapsed. */
function isFolded({ schema, formData, required, fieldPathId }: FieldTemplateProps): boolean {
  if (formData !== undefined || required === true || fieldPathId.path.length === 0) return false
  return isGroup(schema) && !(ADDITIONAL_PROPERTY_FLAG in schema)
}

/** Several values of a fixed list are one control, and no group. */
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
        <span className="field-label">{label}</span>
        <span className="field-kind">{isList ? "list" : "group"}</span>
        <Button
          id={id}
          size="small"
          aria-label={`Add ${label}`}
          disabled={disabled || readonly}
          onClick={add}
        >
          <Icon name="plus" /> Add
        </Button>
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

/** Null is a value of its own, beside leaving the field empty. */
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

/** A property of a map: its name can be changed, and it can be taken away. */
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
  if (description === undefined || description === "") return null
  return (
    <p className="field-description" id={id}>
      {description}
    </p>
  )
}

function FieldErrors({ errors = [], fieldPathId }: FieldErrorProps): ReactNode {
  if (errors.length === 0) return null
  return (
    <ul className="field-errors" id={errorId(fieldPathId)}>
      {errors.map((error, at) => (
        <li key={at} className="field-error">
          {error}
        </li>
      ))}
    </ul>
  )
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
      {properties.map((one) => one.content)}
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
        <span className="field-label">
          {title}
          {required === true && <Required />}
        </span>
      </legend>
      {content}
    </fieldset>
  )
}

function Text({ id, text }: { readonly id: string; readonly text: ReactNode }): ReactNode {
  if (text === undefined || text === "") return null
  return (
    <p className="field-description" id={id}>
      {text}
    </p>
  )
}

function ArrayTemplate(props: ArrayFieldTemplateProps): ReactNode {
  const { items, canAdd, required, schema, fieldPathId } = props
  const { disabled, readonly, onAddClick } = props
  const title = itemTitle(fieldPathId.path) ?? props.title
  return (
    <fieldset id={fieldPathId.$id} className="group group-list">
      <legend className="group-title">
        <span className="field-label">
          {title}
          {required === true && <Required />}
        </span>{" "}
        <span className="field-kind">list</span>
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
