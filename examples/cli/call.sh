operations call task.create title='Buy milk' hours=2 'labels[]=home' 'labels[]=2024' owner.name=Ada
operations call task.create --input '{"title":"Buy milk","hours":2}' hours=3 --data
operations call task.create hours=0 titel='Buy milk'
operations call library.loans_create isbn=978-0141439518 --dry-run
