package tabletest

import (
	"fmt"
	"regexp"
	"strings"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
)

var (
	camelCase = regexp.MustCompile(`^[a-z][a-zA-Z0-9]*$`)
	upperCase = regexp.MustCompile(`^[A-Z_]+$`)
	keyName   = regexp.MustCompile(`^(PK|SK|GSI[1-4](PK|SK))$`)
)

// CheckRow returns the conventions that the row of an entity breaks, a line each.
func CheckRow(t *entity.Type, row item.Item) []string {
	var broken []string
	breach := func(format string, args ...any) { broken = append(broken, fmt.Sprintf(format, args...)) }

	user, err := entity.ParseUserPK(row.Str(item.AttrPK))
	if err != nil {
		breach("%v", err)
		return broken
	}
	if row.Str(entity.AttrType) != t.Name || !upperCase.MatchString(row.Str(entity.AttrType)) {
		breach("entityType is %q, want %s in upper case", row.Str(entity.AttrType), t.Name)
	}
	id := row.Str(t.IDAttr)
	if want := t.Name + "#" + id; t.Name == entity.TypeInstance {
		broken = append(broken, checkInstanceKey(row)...)
	} else if row.Str(item.AttrSK) != want {
		breach("SK is %q, want %q", row.Str(item.AttrSK), want)
	}
	if t.HasCollection() && !strings.HasPrefix(id, t.IDPrefix+"_") {
		breach("%s is %q, want the prefix %s_", t.IDAttr, id, t.IDPrefix)
	}
	for name, v := range row {
		if !keyName.MatchString(name) && !camelCase.MatchString(name) {
			breach("attribute %s is not camelCase", name)
		}
		if isEmpty(v) {
			breach("attribute %s is empty and yet there", name)
		}
	}
	if status := row.Str(entity.AttrStatus); status != "" && !upperCase.MatchString(status) {
		breach("status %s is not UPPERCASE", status)
	}
	broken = append(broken, checkMandatory(t, row)...)
	broken = append(broken, checkIndexKeys(user, t, row)...)
	if !checkEditVersion(row) {
		breach("editVersion is %d, and version %d", row.Int(entity.AttrEditVersion), row.Int(entity.AttrVersion))
	}
	if t.Retention == nil && row.Has(entity.AttrTTL) {
		breach("ttl on an entity that is never archived: its removal would be for good")
	}
	for _, e := range t.Validate(row) {
		breach("%s %s", e.Pointer, e.Detail)
	}
	return broken
}

func checkMandatory(t *entity.Type, row item.Item) []string {
	var broken []string
	least := int64(1)
	if !t.HasCollection() {
		least = 0
	}
	if _, ok := row[entity.AttrVersion].(item.Number); !ok || row.Int(entity.AttrVersion) < least {
		broken = append(broken, fmt.Sprintf("version is %v, want a number from %d", row[entity.AttrVersion], least))
	}
	for _, attr := range []string{entity.AttrCreatedAt, entity.AttrUpdatedAt} {
		if _, ok := row.Time(attr); !ok {
			broken = append(broken, fmt.Sprintf("%s is %v, want an instant", attr, row[attr]))
		}
	}
	return broken
}

func checkIndexKeys(user string, t *entity.Type, row item.Item) []string {
	var broken []string
	if pk := row.Str(item.AttrGSI1PK); pk != "" {
		at, ok := row.Time(item.AttrGSI1SK)
		if !ok || pk != fmt.Sprintf("USER#%s#%04d", user, at.Year()) {
			broken = append(broken, fmt.Sprintf("GSI1 keys are %s / %s, want USER#<user>#<YYYY> and an instant of that year", pk,
				row.Str(item.AttrGSI1SK)))
		}
	}
	if pk := row.Str(item.AttrGSI3PK); pk != "" {
		parts := strings.Split(row.Str(item.AttrGSI3SK), "#")
		name := t.Name
		if name == entity.TypeInstance {
			name = product.TypeEvent // a long one is found among the long events
		}
		if pk != entity.UserPK(user) || len(parts) < 3 || parts[0] != name || !upperOrDigit(parts[1]) {
			broken = append(broken,
				fmt.Sprintf("GSI3 keys are %s / %s, want USER#<user> and TYPE#STATE#<sort>", pk, row.Str(item.AttrGSI3SK)))
		}
	}
	broken = append(broken, checkSeriesKeys(t, row)...)
	for _, pair := range [][2]string{
		{item.AttrGSI1PK, item.AttrGSI1SK}, {item.AttrGSI2PK, item.AttrGSI2SK}, {item.AttrGSI3PK, item.AttrGSI3SK},
	} {
		if row.Has(pair[0]) != row.Has(pair[1]) {
			broken = append(broken, fmt.Sprintf("%s and %s must come together", pair[0], pair[1]))
		}
	}
	if row.Has(item.AttrGSI4PK) {
		broken = append(broken, "GSI4 keys belong to LINK rows")
	}
	return broken
}

func upperOrDigit(s string) bool { return upperCase.MatchString(s) || s == "0" || s == "1" }

func isEmpty(v item.Value) bool {
	switch v := v.(type) {
	case item.StringSet:
		return len(v) == 0
	case item.NumberSet:
		return len(v) == 0
	case item.List:
		return len(v) == 0
	case item.Null:
		return true
	}
	return false
}
