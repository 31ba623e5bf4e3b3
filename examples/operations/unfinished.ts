export default { namespace: "demo", name: "later", type: "query" }
