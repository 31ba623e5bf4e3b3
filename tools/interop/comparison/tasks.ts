export * from "../../../examples/from-trpc-or-orpc/tasks.ts"
