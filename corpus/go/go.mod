module strait.example/corpus

go 1.25.0
