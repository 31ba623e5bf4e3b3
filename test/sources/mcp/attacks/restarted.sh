# An MCP server with one tool. A process of Node takes far longer to start than its host takes to start it again.

while read -r line; do
  id=${line##*'"id":'}
  id=${id%%[,\}]*}
  case $line in
    *'"initialize"'*) answer='"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"sh","version":"1"}}' ;;
    *'"tools/list"'*) answer='"result":{"tools":[{"name":"echo","inputSchema":{"type":"object"}}]}' ;;
    *'"tools/call"'*) answer='"result":{"content":[]}' ;;
    *'"id":'*) answer='"error":{"code":-32601,"message":"Method not found"}' ;;
    *) continue ;;
  esac
  printf '{"jsonrpc":"2.0","id":%s,%s}\n' "$id" "$answer"
done
