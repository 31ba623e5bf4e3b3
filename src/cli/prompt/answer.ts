import { CallError } from "../../core/errors.ts"
import type {
  FormInputRequest,
  InputRequest,
  InputResponse,
  UrlInputRequest,
} from "../../core/types.ts"
import { pathToFileURL } from "node:url"
import { viewOf } from "../../schema/read/view.ts"
import type { CommandIO } from "../model.ts"
import { escapeForTerminal, styled } from "../output.ts"
import { yesNo } from "./ask.ts"
import { askFields } from "./complete.ts"
import { formFields } from "./fields.ts"
import { Interrupted, withTerminal, type Terminal } from "./terminal.ts"

export type Answerer = (request: InputRequest) => Promise<InputResponse>

const CANCEL: InputResponse = { action: "cancel" }

/**
 * Answers requests for input of running operations by asking at the terminal.
 *
 * One question at a time. Ctrl-C cancels it and calls `interrupt`, which cancels the call; waiting
 * and later questions are cancelled without being shown.
 */
export function createAnswerer(io: CommandIO, interrupt: () => void): Answerer {
  let last: Promise<unknown> = Promise.resolve()
  let isInterrupted = false
  return (request) => {
    const answer = last.then(() =>
      isInterrupted || io.signal.aborted
        ? CANCEL
        : withTerminal(io, (terminal) => ask(request, terminal, io)),
    )
    const settled = answer.catch((error: unknown) => {
      if (!(error instanceof Interrupted)) throw error
      isInterrupted = true
      interrupt()
      return CANCEL
    })
    // A failure is reported to the operation that asked; the next question is still asked.
    last = settled.catch(() => undefined)
    return settled
  }
}

async function ask(
  request: InputRequest,
  terminal: Terminal,
  io: CommandIO,
): Promise<InputResponse> {
  switch (request.type) {
    case undefined:
    case "form":
      return await answerForm(request, terminal, io)
    case "url":
      return await visitPage(request, terminal, io)
    case "roots":
      return await listRoots(terminal, io)
    case "sampling":
      throw new CallError(
        "UNAVAILABLE",
        "The operation asks for a language model, and the command line has none. Call it from an agent.",
      )
  }
}

async function answerForm(
  { message, schema, purpose }: FormInputRequest,
  terminal: Terminal,
  io: CommandIO,
): Promise<InputResponse> {
  const { bold } = styled(io, io.stderr)
  if (purpose === "approval") {
    terminal.print(`${bold("Approve:")} ${escapeForTerminal(message)}`)
    return { action: (await agrees(terminal, "Run it? y/n> ")) ? "accept" : "decline" }
  }
  terminal.print(`${bold("The operation asks:")} ${escapeForTerminal(message)}`)
  const fields = formFields(viewOf(schema))
  if (!(await agrees(terminal, "Answer it? y/n> "))) return { action: "decline" }
  const content = await askFields({}, fields, schema, terminal, io)
  return { action: "accept", content }
}

async function visitPage(
  { message, url }: UrlInputRequest,
  terminal: Terminal,
  io: CommandIO,
): Promise<InputResponse> {
  const { bold } = styled(io, io.stderr)
  terminal.print(`${bold("The operation asks you to visit a page:")} ${escapeForTerminal(message)}`)
  // Not opened from here: the user should check the URL first.
  terminal.print(`  ${escapeForTerminal(url)}`)
  const isDone = await agrees(terminal, "Have you done it? y/n> ")
  return { action: isDone ? "accept" : "decline" }
}

async function listRoots(terminal: Terminal, { cwd }: CommandIO): Promise<InputResponse> {
  terminal.print(`The operation asks in which folder you work: ${escapeForTerminal(cwd)}`)
  if (!(await agrees(terminal, "Tell it? y/n> "))) return { action: "decline" }
  return { action: "accept", content: { roots: [{ uri: pathToFileURL(cwd).href }] } }
}

async function agrees(terminal: Terminal, prompt: string): Promise<boolean> {
  for (;;) {
    const answer = yesNo(await terminal.ask(prompt))
    if (answer !== undefined && "value" in answer) return answer.value === true
    terminal.print("  Type y or n.")
  }
}
