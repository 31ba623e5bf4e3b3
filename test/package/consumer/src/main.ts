import {
  CallError,
  createRegistry,
  defineOperation,
  isCallError,
  isResponseEnvelope,
  OperationRegistry,
  OperationType,
  unwrap,
  type Identity,
  type OperationContext,
  type ResponseEnvelope,
} from "@alkdev/operations"
import { fromStandardSchema } from "@alkdev/operations/from-standard-schema"
import { Type, type Static } from "@alkdev/operations/type"

const createTask = defineOperation({
  namespace: "task",
  name: "create",
  version: "1.0.0",
  type: OperationType.MUTATION,
  description: "Creates a task",
  inputSchema: Type.Object({ title: Type.String() }),
  outputSchema: Type.Object({ text: Type.String() }),
  accessControl: { requiredScopes: ["task:write"] },
  handler: (input, context) => {
    const title: string = input.title
    const id: string = context.requestId
    if (id === "") throw new CallError("EXECUTION_ERROR", "A call has an id.")
    return { text: `${title} is on the list` }
  },
})

// Declarations name the types of TypeBox by the entry, not by a package that only this one depends on.
export const Task = Type.Partial(createTask.inputSchema)
export const milk: Static<typeof Task> = { title: "Milk" }

const registry = createRegistry([createTask])
const identity: Identity = { id: "ada", scopes: ["task:write"] }

const envelope = await registry.execute("task.create", { title: "Milk" }, { identity })
const text: string = envelope.data.text
console.log(text)

export const sameText: string = unwrap(envelope).text
export const again: ResponseEnvelope = envelope
export const isOne: boolean = isResponseEnvelope(again)

export async function refused(): Promise<string> {
  // @ts-expect-error: the input of "task.create" has a title that is a string
  await registry.execute("task.create", { title: 1 })
  // @ts-expect-error: the output of "task.create" has no such property
  void envelope.data.nothing
  try {
    await registry.execute("task.create", { title: "Milk" })
  } catch (error) {
    if (isCallError(error)) return error.code
  }
  return "not refused"
}

/** An id that is not known statically still works, with unknown data. */
export async function dynamic(id: string, input: unknown): Promise<unknown> {
  const open: OperationRegistry = new OperationRegistry()
  const answer = await open.execute(id, input)
  return answer.data
}

export function whoCalls(context: OperationContext): string {
  return context.identity?.id ?? "nobody"
}

export const convert: typeof fromStandardSchema = fromStandardSchema
