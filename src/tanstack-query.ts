// Options for TanStack Query: published as `@alkdev/operations/tanstack-query`.

export { createQueryUtils } from "./protocol/tanstack-query/query-utils.ts"
export type {
  KeyUtils,
  MutationOperationUtils,
  OperationKey,
  OperationKeyDetails,
  OperationUtils,
  QueryOperationUtils,
  QueryUtils,
  StreamOperationUtils,
} from "./protocol/tanstack-query/types.ts"
