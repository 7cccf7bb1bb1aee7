module strait.example/corpus

go 1.25.0

require golang.org/x/sync v0.18.0
