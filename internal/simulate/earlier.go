package simulate

import (
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/table"
)

// earlier writes rows of an earlier release: a user's settings without a preference that was added later.
func (h *history) earlier() {
	if !h.luck.one(8) {
		return
	}
	h.happened["settings of an earlier release"]++
	user := h.users[h.luck.IntN(len(h.users))]
	meta := product.NewUserMeta(user, h.now)
	preferences := meta.Map(product.AttrPreferences).Clone()
	delete(preferences, pick(h.luck, "enableBrowserNotifications", "enableSoundNotifications"))
	meta[product.AttrPreferences] = item.Map(preferences)
	if err := h.store.Put(noContext, table.Put{Item: meta}); err != nil {
		h.violate("port", user, meta.Key().SK, "%v", err)
	}
	h.absorb(nil)
}
