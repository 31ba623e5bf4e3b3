curl -s localhost:8788/users/7
curl -s -w ' %{http_code}' --json '{"name":"Grace"}' localhost:8788/users
curl -s -X PATCH --json '{"name":"Countess"}' localhost:8788/users/7
curl -s -o /dev/null -w '%{http_code}' -X PUT localhost:8788/users/7
curl -s 'localhost:8788/api/user/get?id=7'
curl -s localhost:8788/openapi.json | grep -o '"/[a-z/{}]*":{"[a-z]*"'
