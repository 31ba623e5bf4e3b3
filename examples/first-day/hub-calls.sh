export OPERATIONS_HUB=http://localhost:3003
npx @alkdev/operations list
npx @alkdev/operations call hello.greet name=Ada
npx @alkdev/operations call team.task.list --data
