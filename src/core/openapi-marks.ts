/** The OpenAPI extension on the schema of problems in documents of this library. */
export const PROBLEM_EXTENSION = "x-operations-problem"

/** The extension on an operation without tags, which is tagged with its namespace. */
export const UNTAGGED_EXTENSION = "x-operation-untagged"

/** The extension for the annotations of an operation. */
export const ANNOTATIONS_EXTENSION = "x-operation-annotations"

/** The extension for the `deprecation` of an operation. */
export const DEPRECATION_EXTENSION = "x-operation-deprecation"

/**
 * The extension with the date after which an operation may be removed; tools that compare documents read it.
 */
export const SUNSET_EXTENSION = "x-sunset"
