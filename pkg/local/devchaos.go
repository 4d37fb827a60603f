package local

import (
	"errors"
	"net/http"
	"slices"

	"nexus/pkg/fault"
	"nexus/pkg/system"
)

// chaosParts are the parts that a fault may name: those that use the table, and the ports that all share.
func (p *Platform) chaosParts() []string {
	parts := []string{system.PartAPI, system.PartNotify, system.PartWalk, fault.PartScheduler, fault.PartBus}
	for _, r := range p.readers {
		parts = append(append(parts, r.mapping.Config().Name), r.Line.Consumers...)
	}
	return parts
}

// chaosOperations are the operations of ports that a fault may name.
var chaosOperations = []string{"Get", "BatchGet", "Query", "Put", "Update", "Delete", "Transact", "Publish"}

// getChaos lists the faults that are armed, and what may be named.
func (p *Platform) getChaos(w http.ResponseWriter, _ *http.Request) error {
	return answer(w, struct {
		Items      []fault.Armed `json:"items"`
		Faults     []fault.Kind  `json:"faults"`
		Parts      []string      `json:"parts"`
		Operations []string      `json:"operations"`
	}{p.faults.All(), fault.Kinds(), p.chaosParts(), chaosOperations})
}

// postChaos arms a fault for its next calls.
func (p *Platform) postChaos(w http.ResponseWriter, r *http.Request) error {
	body := struct {
		Fault     fault.Kind `json:"fault"`
		Part      string     `json:"part"`
		Operation string     `json:"operation"`
		Times     int        `json:"times"`
	}{Times: 1}
	if err := readBody(r, &body); err != nil {
		return err
	}
	isOfDeliveries := body.Fault == fault.Kill || body.Fault == fault.TwoWorkers
	isReaders := slices.ContainsFunc(p.readers, func(one *reader) bool {
		return one.mapping.Config().Name == body.Part || slices.Contains(one.Line.Consumers, body.Part)
	})
	switch {
	case !slices.Contains(fault.Kinds(), body.Fault):
		return refusal(http.StatusUnprocessableEntity, "fault is one of %v", fault.Kinds())
	case !slices.Contains(p.chaosParts(), body.Part):
		return refusal(http.StatusUnprocessableEntity, "part is one of %v", p.chaosParts())
	case isOfDeliveries && !isReaders:
		return refusal(http.StatusUnprocessableEntity, "part: %s is of the deliveries to a reader or a consumer", body.Fault)
	case body.Operation != "" && (isOfDeliveries || !slices.Contains(chaosOperations, body.Operation)):
		return refusal(http.StatusUnprocessableEntity, "operation is one of %v, and none for %s and %s", chaosOperations,
			fault.Kill, fault.TwoWorkers)
	case body.Times < 1 || body.Times > fault.MostTimes:
		return refusal(http.StatusUnprocessableEntity, "times has to be 1 to %d", fault.MostTimes)
	}
	one, err := p.faults.Arm(body.Fault, body.Part, body.Operation, body.Times)
	if errors.Is(err, fault.ErrFull) {
		return refusal(http.StatusConflict, "%v", err)
	}
	if err != nil {
		return err
	}
	return answer(w, one)
}

// deleteChaos disarms all faults.
func (p *Platform) deleteChaos(w http.ResponseWriter, _ *http.Request) error {
	p.faults.Disarm()
	return answer(w, struct {
		Items []fault.Armed `json:"items"`
	}{p.faults.All()})
}
