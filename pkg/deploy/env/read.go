package env

import (
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"nexus/pkg/limit"
	"nexus/pkg/pepper"
)

// Settings are the values of a function's variables. Those that the function does not list are empty.
type Settings struct {
	Function Function

	TableName             string
	ArchiveBucket         string
	SnapshotBucket        string
	ParkingBucket         string
	BusName               string
	HintsHost             string
	HintsRealtimeHost     string
	ScheduleGroup         string
	ScheduleTargetARN     string
	ScheduleRoleARN       string
	ScheduleDeadLetterARN string
	WalkQueueURL          string
	Announce              string
	SyncForm              string
	SubjectForm           string
	PepperText            string
	Limits                string
	Scopes                string
	Issuer                string
	Audience              string
	FeedOrigin            string
	EdgeSecretList        string
	APIAddress            string
	TokenEndpoint         string
	TokenScope            string
	ClientID              string
	ClientSecret          string
	PushKey               string
	PushKeyParameter      string
	HookKeyParameter      string
	PushHostList          string
	DeliverARN            string
	pushService           string

	AWS AWS
}

// Form returns the deployment's form of sync tokens.
func (s Settings) Form() uint16 {
	n, _ := strconv.ParseUint(s.SyncForm, 10, 16) // it was checked when it was read
	return uint16(n)
}

// Subjects returns how user ids are made of tokens.
func (s Settings) Subjects() int {
	n, _ := strconv.Atoi(s.SubjectForm) // it was checked when it was read
	return n
}

// Announces returns the detail types of [Announce].
func (s Settings) Announces() []string {
	if s.Announce == AnnounceNone {
		return nil
	}
	return strings.Split(s.Announce, ",")
}

// Pepper returns the deployment's pepper.
func (s Settings) Pepper() pepper.Pepper {
	p, _ := pepper.Parse(s.PepperText) // it was checked when it was read
	return p
}

// ScopeList returns the scopes one of which a token needs.
func (s Settings) ScopeList() []string { return strings.Fields(s.Scopes) }

// EdgeSecrets returns the values of the header that CloudFront adds; none in a stage without an edge.
func (s Settings) EdgeSecrets() []string {
	if s.EdgeSecretList == EdgeNone {
		return nil
	}
	return strings.Split(s.EdgeSecretList, ",")
}

// PushHosts returns the suffixes of the hosts of push services that users may name; none allows all.
func (s Settings) PushHosts() []string {
	if s.PushHostList == PushHostsAny {
		return nil
	}
	return strings.Split(s.PushHostList, ",")
}

// PushService returns the address of a push service on this machine; the zero address without one.
func (s Settings) PushService() netip.AddrPort {
	at, _ := netip.ParseAddrPort(s.pushService) // it was checked when it was read
	return at
}

// AudienceList returns whom a token may be for.
func (s Settings) AudienceList() []string { return strings.Fields(s.Audience) }

// Numbers returns the limits of each user.
func (s Settings) Numbers() limit.Numbers {
	n, err := limit.Parse(s.Limits)
	if err != nil {
		panic("env: " + err.Error()) // it was checked when it was read
	}
	return n
}

// AWS configures the clients of the services.
type AWS struct {
	Region          string
	AccessKeyID     string
	SecretAccessKey string
	SessionToken    string // empty with long-lived credentials
	// Endpoints are the addresses that replace the region's; a service without one has the region's.
	Endpoints map[Service]string
}

// Error lists the faults of a function's environment: each variable once, in order.
type Error struct {
	Function Function
	Problems []Problem
}

// Problem is one variable that is missing or malformed.
type Problem struct{ Variable, Reason string }

func (e *Error) Error() string {
	texts := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		texts[i] = p.Variable + " " + p.Reason
	}
	return fmt.Sprintf("environment of function %s: %s", e.Function, strings.Join(texts, "; "))
}

const missing = "is missing"

// Read returns the settings of the function, or an [*Error] with everything that is wrong. Lookup returns a variable's
// value, empty if it is not set: os.Getenv.
func Read(f Function, lookup func(name string) string) (Settings, error) {
	s := Settings{Function: f}
	var problems []Problem
	for _, v := range variables() {
		if !v.always && !slices.Contains(f.Variables(), v.name) {
			continue
		}
		value := lookup(v.name)
		switch {
		case value == "" && !v.optional:
			problems = append(problems, Problem{v.name, missing})
		case value != "" && v.form != nil && !v.form(value):
			problems = append(problems, Problem{v.name, "is not " + v.what})
		default:
			*v.field(&s) = value
		}
	}
	s.AWS.Endpoints = map[Service]string{}
	for _, service := range services() {
		address, problem := endpoint(service, lookup)
		switch {
		case problem != nil && !slices.Contains(problems, *problem):
			problems = append(problems, *problem)
		case address != "":
			s.AWS.Endpoints[service] = address
		}
	}
	if len(problems) > 0 {
		return Settings{}, &Error{f, problems}
	}
	return s, nil
}

// endpoint returns the address that the environment gives a service, if any. The service's own variable goes first.
func endpoint(service Service, lookup func(string) string) (string, *Problem) {
	for _, name := range []string{endpointURL + "_" + string(service), endpointURL} {
		address := lookup(name)
		if address == "" {
			continue
		}
		u, err := url.Parse(address)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil {
			return "", &Problem{name, "is not an http or https address"}
		}
		return address, nil
	}
	return "", nil
}

// variable is one setting: its form in words and as a test, and where its value goes.
type variable struct {
	name     string
	what     string
	form     func(string) bool // nil accepts any text
	field    func(*Settings) *string
	always   bool // for every function
	optional bool
}

func variables() []variable {
	return []variable{
		{name: TableName, what: "a table's name", form: tableForm, field: func(s *Settings) *string { return &s.TableName }},
		{name: ArchiveBucket, what: "a bucket's name", form: bucketForm,
			field: func(s *Settings) *string { return &s.ArchiveBucket }},
		{name: ParkingBucket, what: "a bucket's name", form: bucketForm,
			field: func(s *Settings) *string { return &s.ParkingBucket }},
		{name: SnapshotBucket, what: "a bucket's name", form: bucketForm,
			field: func(s *Settings) *string { return &s.SnapshotBucket }},
		{name: BusName, what: "an event bus's name or ARN", form: busForm,
			field: func(s *Settings) *string { return &s.BusName }},
		{name: HintsHost, what: "a host's name", form: hostForm, field: func(s *Settings) *string { return &s.HintsHost }},
		{name: HintsRealtimeHost, what: "a host's name", form: hostForm,
			field: func(s *Settings) *string { return &s.HintsRealtimeHost }},
		{name: ScheduleGroup, what: "a schedule group's name", form: groupForm,
			field: func(s *Settings) *string { return &s.ScheduleGroup }},
		{name: ScheduleTargetARN, what: "a function's ARN", form: lambdaForm,
			field: func(s *Settings) *string { return &s.ScheduleTargetARN }},
		{name: ScheduleRoleARN, what: "a role's ARN", form: roleForm,
			field: func(s *Settings) *string { return &s.ScheduleRoleARN }},
		{name: ScheduleDeadLetterARN, what: "a queue's ARN", form: queueForm,
			field: func(s *Settings) *string { return &s.ScheduleDeadLetterARN }},
		{name: WalkQueueURL, what: "a FIFO queue's address", form: queueAddressForm,
			field: func(s *Settings) *string { return &s.WalkQueueURL }},
		{name: Announce, what: "a list of events, or none", form: announceForm,
			field: func(s *Settings) *string { return &s.Announce }},
		{name: SyncForm, what: "a whole number from 0 to 65535", form: syncForm,
			field: func(s *Settings) *string { return &s.SyncForm }},
		{name: SubjectForm, what: "1 or 2", form: func(s string) bool { return s == "1" || s == "2" },
			field: func(s *Settings) *string { return &s.SubjectForm }},
		{name: Pepper, what: "a pepper: " + strconv.Itoa(pepper.TextLength) + " hexadecimal digits in lower case",
			form: pepperForm, field: func(s *Settings) *string { return &s.PepperText }},
		{name: Limits, what: "a list of all limits with their numbers", form: limitsForm,
			field: func(s *Settings) *string { return &s.Limits }},
		{name: Scopes, what: "a list of scopes with a space between two", form: scopesForm,
			field: func(s *Settings) *string { return &s.Scopes }},
		{name: Issuer, what: "an https address", form: addressForm,
			field: func(s *Settings) *string { return &s.Issuer }},
		{name: Audience, what: "a list of audiences with a space between two", form: audienceForm,
			field: func(s *Settings) *string { return &s.Audience }},
		{name: FeedOrigin, what: "https:// and a host's name", form: originForm,
			field: func(s *Settings) *string { return &s.FeedOrigin }},
		{name: EdgeSecrets, what: "none, or one or two secrets of 64 hexadecimal digits in lower case", form: edgeForm,
			field: func(s *Settings) *string { return &s.EdgeSecretList }},
		{name: APIAddress, what: "an https address without a path", form: apiForm,
			field: func(s *Settings) *string { return &s.APIAddress }},
		{name: TokenEndpoint, what: "an https address", form: addressForm,
			field: func(s *Settings) *string { return &s.TokenEndpoint }},
		{name: TokenScope, field: func(s *Settings) *string { return &s.TokenScope }},
		{name: ClientID, field: func(s *Settings) *string { return &s.ClientID }},
		{name: ClientSecret, field: func(s *Settings) *string { return &s.ClientSecret }},
		{name: PushKey, what: "a point of P-256, uncompressed, in base64url without padding", form: pushKeyForm,
			field: func(s *Settings) *string { return &s.PushKey }},
		{name: PushKeyParameter, what: "a parameter's name with its path", form: parameterForm,
			field: func(s *Settings) *string { return &s.PushKeyParameter }},
		{name: HookKeyParameter, what: "a parameter's name with its path", form: parameterForm,
			field: func(s *Settings) *string { return &s.HookKeyParameter }},
		{name: PushHosts, what: "a list of hosts, or any", form: pushHostsForm,
			field: func(s *Settings) *string { return &s.PushHostList }},
		{name: DeliverARN, what: "a function's ARN", form: lambdaForm,
			field: func(s *Settings) *string { return &s.DeliverARN }},
		{name: pushService, what: "an address of this machine with a port", form: loopbackForm, always: true, optional: true,
			field: func(s *Settings) *string { return &s.pushService }},
		{name: region, what: "a region's name", form: regionForm, always: true,
			field: func(s *Settings) *string { return &s.AWS.Region }},
		{name: accessKeyID, always: true, field: func(s *Settings) *string { return &s.AWS.AccessKeyID }},
		{name: secretAccessKey, always: true, field: func(s *Settings) *string { return &s.AWS.SecretAccessKey }},
		{name: sessionToken, always: true, optional: true, field: func(s *Settings) *string { return &s.AWS.SessionToken }},
	}
}
