key=$(openssl rand -hex 24)
echo "TASKS_KEY=$key" > client.env
echo "TASKS_KEY_HASH=$(echo "$key" | npx @alkdev/operations hash-key)" > server.env
