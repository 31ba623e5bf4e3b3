export $(cat client.env)
npx @alkdev/operations init --format yaml
npx @alkdev/operations import --remote http://localhost:3000 --header 'authorization: Bearer ${env:TASKS_KEY}' --name team
