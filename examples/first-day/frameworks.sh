curl -s -w '\n' localhost:3001/tasks/api/task/list
curl -s -w '\n' localhost:3002/tasks/api/task/list
