module example.com/strait/examples

go 1.24
