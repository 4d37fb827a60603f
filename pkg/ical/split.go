package ical

// Split cuts a document into calendars of at most so many components each, so that each can be sent as a request. A
// series and its exceptions stay together, even if they are more than that. Every calendar gets the head and the time
// zones of its original.
func Split(document *Document, components int) []*Component {
	var parts []*Component
	for _, calendar := range document.Calendars {
		var zones []*Component
		groups := map[string][]*Component{}
		var order []string
		for _, c := range calendar.Children {
			if c.Name == "VTIMEZONE" {
				zones = append(zones, c)
				continue
			}
			uid := c.Text("UID")
			if uid == "" {
				uid = contentUID(c)
			}
			if groups[uid] == nil {
				order = append(order, uid)
			}
			groups[uid] = append(groups[uid], c)
		}
		var part *Component
		room := 0
		for _, uid := range order {
			group := groups[uid]
			if part == nil || len(group) > room {
				part = &Component{
					Name: calendar.Name, Properties: calendar.Properties, Line: calendar.Line, Children: zones[:len(zones):len(zones)],
				}
				parts = append(parts, part)
				room = components
			}
			part.Children = append(part.Children, group...)
			room -= len(group)
		}
	}
	return parts
}
