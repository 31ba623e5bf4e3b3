import { natsUsers, redisUsers } from "./permissions/rules.ts"

const users = [
  { name: "alice", password: "…", calls: ["order.list"] },
  { name: "orders", password: "…", serves: ["order.>"] },
  { name: "hub", password: "…", calls: [">"] },
]

for (const user of natsUsers("operations", users)) console.log(JSON.stringify(user, undefined, 2))
for (const line of redisUsers("operations", users)) console.log(line)
