// app/v1/[...path]/route.ts
import { api, toIdentity } from "@/lib/members"
import { userOf } from "@/lib/sessions"

async function handle(request: Request): Promise<Response> {
  // In place of `const session = await auth()`, or what your library has.
  const user = userOf(request.headers.get("cookie"))
  return await api.fetch(request, { identity: toIdentity(user) })
}

export { handle as GET, handle as HEAD, handle as OPTIONS }
export { handle as POST, handle as PUT, handle as PATCH, handle as DELETE }
