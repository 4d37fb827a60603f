// Package env is the configuration of the functions: the names of their environment variables, which function needs
// which, and the reading of them.
//
// It promises that a function with a missing or malformed variable does not start, and that one error names all of
// them. The infrastructure sets exactly the variables listed here. It must never fall back on a built-in value, and
// never put a value that may be a secret into an error.
package env

import "slices"

// Function is a deployed function, named as its folder.
type Function string

// The functions.
const (
	Command     Function = "command"
	Query       Function = "query"
	Projections Function = "projections"
	Effects     Function = "effects"
	Notify      Function = "notify"
	Deliver     Function = "deliver"
	Walk        Function = "walk"
	Account     Function = "account"
	Canary      Function = "canary"
)

// Functions returns all of them.
func Functions() []Function {
	return []Function{Command, Query, Projections, Effects, Notify, Deliver, Walk, Account, Canary}
}

// Variables that the deployment sets.
const (
	// TableName is the name of the table.
	TableName = "TABLE_NAME"
	// ArchiveBucket is the bucket of cold copies.
	ArchiveBucket = "ARCHIVE_BUCKET"
	// ParkingBucket is the bucket of records that a consumer could not process.
	ParkingBucket = "PARKING_BUCKET"
	// SnapshotBucket is the bucket of snapshots of indexes of words.
	SnapshotBucket = "SNAPSHOT_BUCKET"
	// BusName is the name or ARN of the event bus.
	BusName = "BUS_NAME"
	// HintsHost is the host that publishes live hints: the HTTP domain of the event API.
	HintsHost = "HINTS_HOST"
	// HintsRealtimeHost is the host at which apps subscribe to them: the API's real-time domain.
	HintsRealtimeHost = "HINTS_REALTIME_HOST"
	// ScheduleGroup is the schedule group of all schedules.
	ScheduleGroup = "SCHEDULE_GROUP"
	// ScheduleTargetARN is the target of each schedule that the function puts: notify, or deliver for its own.
	ScheduleTargetARN = "SCHEDULE_TARGET_ARN"
	// ScheduleRoleARN is the role that calls it.
	ScheduleRoleARN = "SCHEDULE_ROLE_ARN"
	// ScheduleDeadLetterARN is the queue of calls that could not be made.
	ScheduleDeadLetterARN = "SCHEDULE_DEAD_LETTER_ARN"
	// Announce names the events about archived, expired and restored items that are published, with commas between, or
	// [AnnounceNone].
	Announce = "ANNOUNCE"
	// WalkQueueURL is the address of the queue of walks.
	WalkQueueURL = "WALK_QUEUE_URL"
	// SyncForm is the deployment's form of sync tokens: a setting that names no resource.
	SyncForm = "SYNC_FORM"
	// SubjectForm says how user ids are made of tokens; see api.SubjectForm.
	SubjectForm = "SUBJECT_FORM"
	// Limits are the limits of each user, all of them, as package limit formats them.
	Limits = "LIMITS"
	// Scopes are those one of which a user's token needs for the function, separated by spaces: to change for command, to
	// read for query.
	Scopes = "SCOPES"
	// Issuer is the address of the issuer of users' tokens, and Audience whom a token may be for, separated by spaces:
	// one of them has to be its aud, or its client_id. Only requests that come by a function URL need them.
	Issuer   = "ISSUER"
	Audience = "AUDIENCE"
	// FeedOrigin is the origin of the addresses of calendars: the stage's domain, which outlives all else.
	FeedOrigin = "FEED_ORIGIN"
	// EdgeSecrets are the values of the header that CloudFront adds, with a comma between: a request with none of them is
	// refused. [EdgeNone] in a stage without an edge, where no request has the header.
	EdgeSecrets = "EDGE_SECRETS"
	// APIAddress is where users reach the HTTP API: https://host, without a path.
	APIAddress = "API_ADDRESS"
	// TokenEndpoint is where the issuer gives tokens for the credentials ClientID and ClientSecret, with the scopes
	// TokenScope.
	TokenEndpoint = "TOKEN_ENDPOINT"
	TokenScope    = "TOKEN_SCOPE"
	ClientID      = "CLIENT_ID"
	ClientSecret  = "CLIENT_SECRET"
	// Pepper is the deployment's pepper (package pepper): the value of PepperParameter.
	Pepper = "PEPPER"
	// PushKey is the public key by which push services know the deployment, and PushKeyParameter the name of the parameter
	// that holds its secret (AWS Systems Manager Parameter Store), which deliver reads when it starts.
	PushKey          = "PUSH_KEY"
	PushKeyParameter = "PUSH_KEY_PARAMETER"
	// HookKeyParameter is the name of the parameter that holds the secret from which those of webhooks follow. deliver
	// reads it, and command, which tells them.
	HookKeyParameter = "WEBHOOK_KEY_PARAMETER"
	// PushHosts are the suffixes of the hosts of push services that users may name, with commas between, or
	// [PushHostsAny].
	PushHosts = "PUSH_HOSTS"
	// DeliverARN is the function deliver, which command has send a test, and effects what webhooks are told.
	DeliverARN = "DELIVER_ARN"
)

// Variables of the HTTP API's stage, which come beside each request: the function URLs of command and query. The
// functions cannot have them as their own, because a URL is made after its function.
const (
	CommandURL = "commandUrl"
	QueryURL   = "queryUrl"
	// NoURL is their value where there is none.
	NoURL = "none"
)

// DirectAlias is the alias of command and query that their function URLs call, and nothing else does.
const DirectAlias = "direct"

// AnnounceNone is the value of [Announce] for no event: a variable is never empty. So is EdgeNone of [EdgeSecrets].
const (
	AnnounceNone = "none"
	EdgeNone     = "none"
)

// PushHostsAny is the value of [PushHosts] for all hosts.
const PushHostsAny = "any"

// The parameter that holds the deployment's pepper (AWS Systems Manager Parameter Store), and its version. An operator
// makes it once; a version other than the first would be another pepper.
const (
	PepperParameter = "/nexus/pepper"
	PepperVersion   = "1"
)

// The parameters that hold the key by which push services know the deployment: the secret, of type SecureString, and
// the public key, with its version. An operator makes both once. Each subscription of a browser is for one key.
const (
	PushSecretParameter = "/nexus/push"
	// HookSecretParameter is the parameter with the secret from which those of webhooks follow.
	HookSecretParameter = "/nexus/webhooks"
	PushPublicParameter = "/nexus/push-public"
	PushPublicVersion   = "1"
)

// Variables that Lambda sets in every function (AWS Lambda Developer Guide, "Defined runtime environment variables").
const (
	region          = "AWS_REGION"
	accessKeyID     = "AWS_ACCESS_KEY_ID"
	secretAccessKey = "AWS_SECRET_ACCESS_KEY"
	sessionToken    = "AWS_SESSION_TOKEN"
)

// pushService is the address, on this machine, of a push service and receiver of webhooks that may be called although
// it is not a public one. A deployment never sets it.
const pushService = "PUSH_SERVICE"

// endpointURL begins the variables that replace the region's endpoints for clients. Alone it is for all services, with
// an underscore and a service's name for that one (AWS SDKs and Tools Reference Guide, "Service-specific endpoints").
const endpointURL = "AWS_ENDPOINT_URL"

// Service is a service that the functions call, named as it is in endpoint variables.
type Service string

// The services.
const (
	DynamoDB    Service = "DYNAMODB"
	S3          Service = "S3"
	EventBridge Service = "EVENTBRIDGE"
	Scheduler   Service = "SCHEDULER"
	AppSync     Service = "APPSYNC"
	SQS         Service = "SQS"
	SSM         Service = "SSM"
	Lambda      Service = "LAMBDA"
)

func services() []Service {
	return []Service{DynamoDB, S3, EventBridge, Scheduler, AppSync, SQS, SSM, Lambda}
}

// Variables returns the names of the variables that the deployment has to set for the function, sorted. All are
// required, and there are no others.
func (f Function) Variables() []string {
	schedule := []string{ScheduleGroup, ScheduleTargetARN, ScheduleRoleARN, ScheduleDeadLetterARN}
	names := []string{TableName, Pepper}
	switch f {
	case Canary: // it is a user, and has no way to the table
		names = []string{APIAddress, TokenEndpoint, TokenScope, ClientID, ClientSecret}
	case Query:
		names = append(names, ArchiveBucket /* for addresses of files */, SnapshotBucket, SyncForm, SubjectForm, Limits,
			Scopes, Issuer, Audience, EdgeSecrets, PushKey)
	case Command:
		names = append(names, ArchiveBucket /* to restore from */, HintsHost, HintsRealtimeHost, SubjectForm, Limits,
			Scopes, Issuer, Audience, FeedOrigin, EdgeSecrets, PushHosts, DeliverARN,
			HookKeyParameter)
	case Projections:
		names = append(names, ParkingBucket, HintsHost, SyncForm)
	case Effects:
		names = append(append(names, ArchiveBucket, ParkingBucket, BusName, WalkQueueURL, Announce, DeliverARN),
			schedule...)
	case Walk:
		names = append(append(names, BusName, WalkQueueURL), schedule...)
	case Account:
		names = append(append(names, ArchiveBucket, ParkingBucket, SnapshotBucket, BusName), schedule...)
	case Deliver: // push services are told where the stage is reached
		names = append(append(names, PushKey, PushKeyParameter, HookKeyParameter, FeedOrigin), schedule...)
	case Notify:
		names = append(append(names, BusName), schedule...)
	}
	slices.Sort(names)
	return names
}
