import type {
  BodyModel,
  FieldModel,
  MediaModel,
  ParameterModel,
  ParameterStyle,
  RequestPlan,
  ServerModel,
} from "../../../../src/sources/openapi/model.ts"

const DEFAULT_STYLE: Record<ParameterModel["in"], ParameterStyle> = {
  path: "simple",
  query: "form",
  header: "simple",
  cookie: "form",
  querystring: "form",
}

/** A plan with the parts a test is about. */
export function planOf(parts: Partial<RequestPlan> = {}): RequestPlan {
  return {
    id: "demo.op",
    method: "GET",
    path: "/",
    parameters: [],
    accept: [],
    servers: [],
    rootServers: [],
    security: [],
    ...parts,
  }
}

/** A parameter with the defaults that OpenAPI gives it. */
export function parameterOf(
  place: ParameterModel["in"],
  name: string,
  parts: Partial<ParameterModel> = {},
): ParameterModel {
  const style = parts.style ?? DEFAULT_STYLE[place]
  return {
    key: name,
    name,
    in: place,
    required: place === "path",
    allowEmptyValue: false,
    allowReserved: false,
    style,
    explode: style === "form" || style === "cookie",
    ...parts,
  }
}

/** One content type, with what is known of its fields. */
export function mediaOf(
  type: string,
  fields: Record<string, Partial<FieldModel>> = {},
  isBinary = false,
): MediaModel {
  const known = Object.entries(fields).map(
    ([name, field]) => [name, { isBinary: false, ...field }] as const,
  )
  return { type, isBinary, fields: () => new Map(known) }
}

/** A body that may have any of these content types. */
export function bodyOf(...media: (MediaModel | string)[]): BodyModel {
  return {
    required: false,
    media: media.map((each) => (typeof each === "string" ? mediaOf(each) : each)),
  }
}

/** A server, with its variables. */
export function serverOf(
  url: string,
  variables: Record<string, { default: string; enum?: string[] }> = {},
): ServerModel {
  return { url, variables: new Map(Object.entries(variables)) }
}
