package memory

import "nexus/pkg/entity"

// itemSize is the size in bytes by which DynamoDB bounds and bills an item: names and values, and for lists and maps
// three bytes and one for each member.
func itemSize(item entity.Item) int {
	size := 0
	for name, v := range item {
		size += len(name) + valueSize(v)
	}
	return size
}

func valueSize(v entity.Value) int {
	size := 0
	switch v := v.(type) {
	case entity.String:
		size = len(v)
	case entity.Number:
		size = numberSize(v)
	case entity.Binary:
		size = len(v)
	case entity.StringSet:
		for _, member := range v {
			size += len(member)
		}
	case entity.NumberSet:
		for _, member := range v {
			size += numberSize(entity.Number(member))
		}
	case entity.BinarySet:
		for _, member := range v {
			size += len(member)
		}
	case entity.List:
		size = 3 + len(v)
		for _, e := range v {
			size += valueSize(e)
		}
	case entity.Map:
		size = 3 + len(v) + itemSize(entity.Item(v))
	default: // Bool, Null
		size = 1
	}
	return size
}
