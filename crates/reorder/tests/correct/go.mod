module example.com/strait/correct

go 1.24
