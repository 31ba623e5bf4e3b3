/** What marks the schema of problems in documents of this library. */
export const PROBLEM_MARK = "x-operations-problem"

/** What marks an operation whose only tag is its namespace, because it has none. */
export const UNTAGGED = "x-operation-untagged"

/** Where such a document has the annotations of an operation. */
export const ANNOTATIONS = "x-operation-annotations"
