import type { Clock } from "../internal/platform.ts"
import { systemClock } from "../internal/clock.ts"
import { validateOptions, type OptionsSchema } from "../internal/options.ts"
import type { Logger } from "../internal/logger.ts"
import type { NormalizeReport, OutputWarning } from "./result-pipeline.ts"
import type { NormalizeMode, OutputMode } from "../core/types.ts"
import type { OperationPolicy } from "../core/operation-settings.ts"
import { POLICY_MEMBERS } from "./operation-settings.ts"
import type { CatalogOptions } from "./catalog.ts"
import type { ErrorListener } from "./failures.ts"
import type { KernelOptions } from "./kernel.ts"
import { POLICY_RULE, type PolicyRule } from "../core/resilience.ts"
import { Approvals, fixedLists } from "../approvals/approvals.ts"
import { APPROVAL_LIST, type ApprovalList } from "../core/approvals.ts"
import { isolatedLogger } from "../internal/notify.ts"

/** The options of a registry. All have defaults. */
export interface RegistryOptions {
  /**
   * For a result that does not match its schema: log it (the default), fail the call, or ignore it. `"strict"` is for
   * operations of your own, whose callers rely on their types; `"warn"` for imported ones, whose descriptions may be wrong.
   */
  readonly output?: OutputMode | undefined
  /**
   * Strip undeclared properties of results (the default), keep them (the default of imported
   * operations), or do not change results. If it is set here, it also applies to imported operations.
   */
  readonly normalize?: NormalizeMode | undefined
  /** Receives a warning for every result that does not match its schema, besides the log. */
  readonly onWarning?: ((warning: OutputWarning) => void) | undefined
  /** Receives a report for every result that was changed to match its schema. */
  readonly onNormalize?: ((report: NormalizeReport) => void) | undefined
  /**
   * Receives each `EXECUTION_ERROR`, `UNKNOWN_ERROR` and `OUTPUT_VALIDATION_ERROR` that an outermost call ended with,
   * for all callers. An error of another registry is reported there.
   */
  readonly onError?: ErrorListener | undefined
  /** Timeout in milliseconds for calls without a deadline; 30,000. `Infinity` for no limit. */
  readonly timeout?: number | undefined
  /**
   * Milliseconds that a caller may take to answer a question of a handler; 300,000. The call's own timeout does not count
   * meanwhile, up to ten minutes.
   */
  readonly inputTimeout?: number | undefined
  /** Maximum nesting of calls, including the outermost; 16. */
  readonly maxDepth?: number | undefined
  /** Maximum number of nested calls of one outermost call; 1,000. */
  readonly maxNestedCalls?: number | undefined
  /** Whether `format` in schemas rejects values; by default it is only an annotation. */
  readonly formats?: boolean | undefined
  /** Policies by pattern. The first matching rule that sets a policy counts, then the definition. */
  readonly policies?: readonly PolicyRule[] | undefined
  /**
   * What a person has to approve first, and what is denied: rules, of which the first that applies counts, or what
   * `createApprovals` returns. With rules, even an empty list, mutations that no rule applies to are asked about.
   */
  readonly approvals?: ApprovalList | Approvals | undefined
  readonly logger?: Logger | undefined
  readonly clock?: Clock | undefined
}

export const REGISTRY_OPTIONS: OptionsSchema<RegistryOptions> = {
  output: { oneOf: ["warn", "strict", "off"] },
  normalize: { oneOf: ["strip", "keep", "off"] },
  onWarning: "function",
  onNormalize: "function",
  onError: "function",
  timeout: "duration",
  inputTimeout: "duration",
  maxDepth: { min: 1 },
  maxNestedCalls: { min: 1 },
  formats: "boolean",
  policies: { list: { members: POLICY_RULE } },
  approvals: { either: [APPROVAL_LIST, { methods: ["decide", "for"], expected: "approvals" }] },
  logger: "logger",
  clock: "clock",
}

/** Throws a `TypeError` that names the first invalid option. */
export function validateRegistryOptions(caller: string, options: RegistryOptions): void {
  validateOptions(caller, options, REGISTRY_OPTIONS)
}

/** Fills in the defaults. Throws a `TypeError` that names the first invalid option. */
export function kernelOptions(options: RegistryOptions): KernelOptions & CatalogOptions {
  validateRegistryOptions("new OperationRegistry", options)
  return {
    output: options.output ?? "warn",
    normalize: options.normalize,
    formats: options.formats === true,
    logger: isolatedLogger(options.logger),
    clock: options.clock ?? systemClock,
    timeout: options.timeout ?? 30_000,
    inputTimeout: options.inputTimeout ?? 300_000,
    maxDepth: options.maxDepth ?? 16,
    maxNestedCalls: options.maxNestedCalls ?? 1000,
    onWarning: options.onWarning,
    onNormalize: options.onNormalize,
    onError: options.onError,
    policies: options.policies ?? [],
    approvals: approvalsOf(options),
  }
}

function approvalsOf({ approvals, clock }: RegistryOptions): Approvals | undefined {
  if (approvals === undefined || approvals instanceof Approvals) return approvals
  return new Approvals(fixedLists("new OperationRegistry", [approvals]), clock)
}

/** How a registration treats an existing operation with the same id. */
export interface RegisterOptions {
  /** Replace an operation with the same id; without it, an existing one is an error. */
  readonly replace?: boolean | undefined
}

export const REGISTER_OPTIONS: OptionsSchema<RegisterOptions> = { replace: "boolean" }

/** The policy of a handler is validated where it is registered. */
export const REGISTER_HANDLER_OPTIONS: OptionsSchema<RegisterOptions & OperationPolicy> = {
  ...POLICY_MEMBERS,
  ...REGISTER_OPTIONS,
}

/** Whether a registration replaces another. Throws a `TypeError` for invalid options. */
export function replaces(caller: string, options: RegisterOptions | undefined): boolean {
  if (options === undefined) return false
  const isHandler = caller === "registerHandler"
  validateOptions(caller, options, isHandler ? REGISTER_HANDLER_OPTIONS : REGISTER_OPTIONS)
  return options.replace === true
}
