operations list
operations search borrow a book
operations describe task.create
operations describe task.creat
operations list task --json
operations list --openapi ../openapi/library.yaml --type query
