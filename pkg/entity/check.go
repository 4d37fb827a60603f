package entity

func checkType(t *Type) error { return nil }
