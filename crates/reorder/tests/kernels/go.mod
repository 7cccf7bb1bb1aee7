module strait.local/kernels

go 1.24
