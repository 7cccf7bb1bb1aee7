module strait.local/helper

go 1.24
