import { refusal } from "../core/errors.ts"
import type { CallOptions, OperationSpec } from "../core/types.ts"
import type { AnyRegistry } from "../engine/registry.ts"
import { isRecord, stringsOf } from "../internal/guards.ts"
import type { RouteRequest } from "../serve/http/context.ts"
import type { HTTPContext } from "../serve/http/http-context.ts"
import { parseQuery } from "../serve/query-input.ts"
import { completionOf } from "../tools/completion.ts"

/** An argument of a prompt or a template: its text so far, and the other arguments. */
export interface TypedArgument {
  readonly name: string
  readonly value: string
  readonly given: unknown
}

/** The values for an argument that begin with its text. */
export async function argumentValues(
  registry: Pick<AnyRegistry, "execute">,
  spec: OperationSpec,
  { name, value, given }: TypedArgument,
  options: CallOptions,
): Promise<readonly string[]> {
  const context = { arguments: isRecord(given) ? given : {} }
  const about = { argument: { name, value }, context }
  const { completion } = await completionOf(registry, spec, about, options)
  return stringsOf(completion["values"])
}

/** The values for `?argument=` of an operation that begin with `&value=`; `&given=` has the others as JSON. */
export async function completeArgument(
  context: HTTPContext,
  { incoming, caller, params: [id = ""] }: RouteRequest,
): Promise<{ readonly values: readonly string[] }> {
  const spec = context.findFor(caller, id)
  if (spec === undefined) throw context.missing(id, caller)
  const query = parseQuery(incoming.query)
  const [name] = query.get("argument") ?? []
  if (name === undefined) throw refusal("VALIDATION_ERROR", `The query needs "argument".`)
  const [value = ""] = query.get("value") ?? []
  const [others] = query.get("given") ?? []
  const given = others === undefined ? undefined : context.parseBody(others)
  const options = { identity: caller.identity, via: "http" } as const
  return { values: await argumentValues(context.registry, spec, { name, value, given }, options) }
}
