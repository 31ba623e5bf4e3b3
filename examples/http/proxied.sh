curl -s localhost:8789/v1/readyz
curl -s -H 'Host: api.example.com' -H 'X-Forwarded-For: 203.0.113.7' localhost:8789/v1/api/clock/year
curl -s -o /dev/null -w '%{http_code}\n' -H 'Host: other.example.com' localhost:8789/v1/api/clock/year
