/** The OpenAPI extension on the schema of problems in documents of this library. */
export const PROBLEM_EXTENSION = "x-operations-problem"

/** The extension on an operation that has no tags of its own, and is tagged with its namespace. */
export const UNTAGGED_EXTENSION = "x-operation-untagged"

/** The extension that holds the annotations of an operation. */
export const ANNOTATIONS_EXTENSION = "x-operation-annotations"
