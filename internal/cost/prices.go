package cost

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

//go:embed prices.json
var defaultPrices []byte

// Names of billed quantities, as in a price list.
const (
	tableWrites      = "tableWrites"
	tableReads       = "tableReads"
	tableStorage     = "tableStorage"
	tableRecovery    = "tableRecovery"
	streamReads      = "streamReads"
	functionRequests = "functionRequests"
	functionTime     = "functionTime"
	apiRequests      = "apiRequests"
	scheduleCalls    = "scheduleCalls"
	busEvents        = "busEvents"
	queueRequests    = "queueRequests"
	objectPuts       = "objectPuts"
	objectStorage    = "objectStorage"
	logs             = "logs"
	logStorage       = "logStorage"
	metrics          = "metrics"
	alarms           = "alarms"
	dataOut          = "dataOut"
	hintOperations   = "hintOperations"
	hintMinutes      = "hintMinutes"
	dashboards       = "dashboards"
	edgeRequests     = "edgeRequests"
	edgeDataOut      = "edgeDataOut"
	webACLs          = "webACLs"
	webRules         = "webRules"
	webRequests      = "webRequests"
	regionTransfer   = "regionTransfer"
	// Of a unit of capacity each second, by the hour: so many units at full use.
	provisionedWrites = "provisionedWrites"
	provisionedReads  = "provisionedReads"
	// infrequent ends the names of the prices of a table of the class for infrequent access.
	infrequent = "Infrequent"
)

func billed() []string {
	return []string{
		tableWrites, tableReads, tableStorage, tableRecovery, streamReads, functionRequests, functionTime, apiRequests,
		scheduleCalls, busEvents, queueRequests, objectPuts, objectStorage, logs, logStorage, metrics, alarms, dataOut,
		hintOperations, hintMinutes, dashboards, edgeRequests, edgeDataOut, webACLs, webRules, webRequests,
		regionTransfer,
		tableWrites + infrequent, tableReads + infrequent, tableStorage + infrequent, provisionedWrites, provisionedReads,
	}
}

// Price is the price of one kind of quantity.
type Price struct {
	Price float64 `json:"price"`
	Per   float64 `json:"per"`            // so many units
	Free  float64 `json:"free,omitempty"` // units of each month that an account does not pay, for as long as it lives
	Unit  string  `json:"unit"`
}

// costOf returns the price of so many units, without the free ones.
func (p Price) costOf(quantity float64) float64 { return p.whole(max(0, quantity-p.Free)) }

// whole returns the price including the free units.
func (p Price) whole(quantity float64) float64 { return quantity / p.Per * p.Price }

// Prices are a price list.
type Prices struct {
	Source   string           `json:"source"`
	AsOf     string           `json:"asOf"`
	Currency string           `json:"currency"`
	Prices   map[string]Price `json:"prices"`
}

// ErrPrices says that a price list cannot be used for a bill.
var ErrPrices = errors.New("price list")

// DefaultPrices returns the list that is built in.
func DefaultPrices() Prices {
	list, err := ParsePrices(defaultPrices)
	if err != nil {
		panic("cost: " + err.Error()) // it is built in
	}
	return list
}

// DefaultPriceList returns the text of the list that is built in, to begin another with.
func DefaultPriceList() []byte { return slices.Clone(defaultPrices) }

// ParsePrices reads a price list: a price for everything that is billed, and nothing else. Errors match [ErrPrices] and
// name all that is missing.
func ParsePrices(text []byte) (Prices, error) {
	var list Prices
	decoder := json.NewDecoder(strings.NewReader(string(text)))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&list); err != nil {
		return Prices{}, fmt.Errorf("%w: %w", ErrPrices, err)
	}
	var wrong []string
	for _, name := range billed() {
		if p, there := list.Prices[name]; !there || p.Price < 0 || p.Per <= 0 || p.Free < 0 {
			wrong = append(wrong, name)
		}
	}
	if len(wrong) > 0 {
		return Prices{}, fmt.Errorf("%w: no price, or an impossible one, of %s", ErrPrices, strings.Join(wrong, ", "))
	}
	for _, name := range slices.Sorted(maps.Keys(list.Prices)) {
		if !slices.Contains(billed(), name) {
			return Prices{}, fmt.Errorf("%w: %q is nothing that is billed", ErrPrices, name)
		}
	}
	return list, nil
}
