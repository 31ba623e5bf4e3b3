operations watch task.countdown hours=2
operations watch task.countdown hours=9 --limit 1 --data
