curl -s localhost:8787/operations?query=price
curl -s -H 'Prefer: return=data' --json '{"article":"tea","count":2}' localhost:8787/operations/shop.price
curl -s 'localhost:8787/api/shop/price?article=tea&count=3'
curl -s 'localhost:8787/api/shop/price?article=tea&count=0' | grep -o '"detail":"[^,]*'
curl -sN -H 'Accept: text/event-stream' 'localhost:8787/api/shop/countdown?from=2'
curl -s --json '[{"id":"shop.price","input":{"article":"tea","count":1}},{"id":"shop.nothing"}]' localhost:8787/batch | grep -o '"ok":[a-z]*'
curl -s localhost:8787/openapi.json | grep -o '"openapi":"[^"]*","info":{[^}]*}'
