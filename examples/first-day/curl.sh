. ./client.env
curl -s -w '\n' localhost:3000/api/task/create -H "X-API-Key: $TASKS_KEY" --json '{"title":"Call from curl"}'
curl -s -o /dev/null -w '%{http_code}\n' localhost:3000/api/task/list
