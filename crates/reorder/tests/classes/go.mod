module example.com/classes

go 1.24
