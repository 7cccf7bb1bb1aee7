package store

var _ = New
