curl -s -o /dev/null -w '%{http_code}\n' localhost:8788/api/staff/whoAmI
curl -s -H 'X-API-Key: ada-key-0123456789' localhost:8788/api/staff/whoAmI
curl -s -H 'Authorization: Bearer bob-key-0123456789' localhost:8788/api/staff/whoAmI | grep -o '"code":"[^"]*"'
curl -s -H 'X-API-Key: bob-key-0123456789' localhost:8788/operations
curl -s -o /dev/null -w '%{http_code}\n' -H 'Host: evil.example' -H 'Origin: https://evil.example' -H 'X-API-Key: ada-key-0123456789' localhost:8788/operations
