/** The data of the application, which knows nothing of procedures and operations. */
export interface Task {
  readonly id: number
  readonly title: string
  readonly owner: string
}

export const tasks: Task[] = []

export function addTask(title: string, owner: string): Task {
  const task = { id: tasks.length + 1, title, owner }
  tasks.push(task)
  return task
}

/** The user whose token is in an `authorization` header. */
export function findUser(header: string | null | undefined): string | undefined {
  return header === "Bearer ada-1" ? "ada" : undefined
}
