package api

import (
	"context"
	"net/http"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/transfer"
)

// Exports are the exports of accounts that users ask for: [transfer.Jobs]. The command side requests and deletes, the
// other one reads.
type Exports interface {
	Request(ctx context.Context, user string) (transfer.Job, error)
	List(ctx context.Context, user string) ([]transfer.Job, error)
	Get(ctx context.Context, user, id string) (transfer.Job, error)
	Link(ctx context.Context, user string, of transfer.Job) (address string, until time.Time, err error)
	Delete(ctx context.Context, user, id, key string) (replayed bool, err error)
}

var _ Exports = (*transfer.Jobs)(nil)

const (
	exportsPath = "/v1/me/exports"

	memberExportID = "exportId"
	memberState    = "state"
	memberLines    = "lines"
	memberCounts   = "counts"
	memberBytes    = "bytes"
	memberEndedAt  = "endedAt"
	memberFileEnds = "fileEndsAt"
	memberURL      = "url"
	memberURLUntil = "urlUntil"
)

// exportOperations returns the operations with which a user takes everything along.
func exportOperations(r *entity.Registry) []*operation {
	path := map[string]object{memberExportID: exportIDSchema()}
	job := exportSchema(r)
	return []*operation{
		{
			id: "requestExport", method: http.MethodPost, path: exportsPath, tag: "me", writes: true, alone: true,
			whileLeaving: true, finds: true,
			summary: "Ask for everything of the user, in one file",
			detail: "Read how far it has come at the Location. It is begun within about five minutes, and takes a minute for " +
				"20,000 items.",
			answers: []documented{{
				status: http.StatusAccepted, doc: "The export that was asked for.", schema: job, located: true,
			}},
			conflicts: "An export is open, or three were begun within 24 hours: " + quotaReached.slug + ".",
			run:       requestExport,
		},
		{
			id: "listExports", method: http.MethodGet, path: exportsPath, tag: "me", finds: true,
			summary: "List the exports of the last days", detail: "The newest first, without addresses of files.",
			answers: []documented{{
				status: http.StatusOK, doc: "The exports.",
				schema: record([]string{memberItems}, object{{memberItems, listOf(job)}}),
			}},
			run: listExports,
		},
		{
			id: "getExport", method: http.MethodGet, path: exportsPath + "/{" + memberExportID + "}", tag: "me", finds: true,
			paths: path, summary: "Read how far an export has come, and where its file is",
			detail:  "Each answer has a new address. It serves until urlUntil, 5 minutes at most, and needs no token.",
			answers: []documented{{status: http.StatusOK, doc: "The export.", schema: job}},
			run:     getExport,
		},
		{
			id: "deleteExport", method: http.MethodDelete, path: exportsPath + "/{" + memberExportID + "}", tag: "me",
			writes: true, alone: true, whileLeaving: true, finds: true, paths: path,
			summary: "End an export, and remove its file", detail: "It still counts as one of its day.",
			answers: []documented{{status: http.StatusNoContent, doc: "There is no such export any more."}},
			run: func(ctx context.Context, s *Config, c call) (answer, error) {
				if err := s.mayExport(); err != nil {
					return answer{}, err
				}
				replayed, err := s.Exports.Delete(ctx, c.user, c.path[memberExportID], c.key)
				return answer{status: http.StatusNoContent, replayed: replayed}, err
			},
		},
	}
}

// mayExport reports why nothing can be exported here.
func (s *Config) mayExport() error {
	if s.Exports == nil {
		return refuse(notFound, "This system exports no accounts.")
	}
	return nil
}

// requestExport answers a repetition with the export as it is now.
func requestExport(ctx context.Context, s *Config, c call) (answer, error) {
	if err := s.mayExport(); err != nil {
		return answer{}, err
	}
	steps, err := s.Commands.BeginSteps(ctx, c.user, c.key, "requestExport")
	if err != nil {
		return answer{}, err
	}
	var job transfer.Job
	replayed := steps.Answer != nil
	if replayed {
		job, err = s.Exports.Get(ctx, c.user, string(steps.Answer))
	} else if job, err = s.Exports.Request(ctx, c.user); err == nil {
		err = steps.End(ctx, []byte(job.ID))
	} else {
		_ = steps.Abandon(context.WithoutCancel(ctx)) // a key that is not released is free when its lease ends
	}
	if err != nil {
		return answer{}, err
	}
	out, err := viewAnswer(http.StatusAccepted, viewOfExport(job))
	out.location, out.replayed = exportsPath+"/"+job.ID, replayed
	return out, err
}

func listExports(ctx context.Context, s *Config, c call) (answer, error) {
	if err := s.mayExport(); err != nil {
		return answer{}, err
	}
	jobs, err := s.Exports.List(ctx, c.user)
	if err != nil {
		return answer{}, err
	}
	views := []object{}
	for _, job := range jobs {
		views = append(views, viewOfExport(job))
	}
	return viewAnswer(http.StatusOK, object{{memberItems, views}})
}

func getExport(ctx context.Context, s *Config, c call) (answer, error) {
	if err := s.mayExport(); err != nil {
		return answer{}, err
	}
	job, err := s.Exports.Get(ctx, c.user, c.path[memberExportID])
	if err != nil {
		return answer{}, err
	}
	address, until, err := s.Exports.Link(ctx, c.user, job)
	if err != nil {
		return answer{}, err
	}
	view := viewOfExport(job)
	if address != "" {
		view = append(view, member{memberURL, address}, member{memberURLUntil, item.FormatInstant(until)})
	}
	return viewAnswer(http.StatusOK, view)
}

// viewOfExport returns what a user sees of an export, without the address of its file.
func viewOfExport(j transfer.Job) object {
	view := object{
		{memberExportID, j.ID}, {memberState, j.State}, {entity.AttrCreatedAt, item.FormatInstant(j.CreatedAt)},
		{memberLines, j.Lines},
	}
	if !j.EndedAt.IsZero() {
		view = append(view, member{memberEndedAt, item.FormatInstant(j.EndedAt)})
	}
	if j.State == transfer.Done {
		view = append(view, member{memberCounts, j.Counts}, member{memberBytes, j.Bytes},
			member{memberFileEnds, item.FormatInstant(j.FileEndsAt())})
	}
	if j.Reason != "" {
		view = append(view, member{memberReason, j.Reason})
	}
	return view
}

func exportIDSchema() object {
	return object{{"type", "string"}, {"pattern", "^[0-9]{6}$"}, {"description", "An export."}}
}

func exportSchema(r *entity.Registry) object {
	count := func(doc string) object {
		return object{{"type", "integer"}, {"minimum", 0}, {"description", doc}}
	}
	counts := object{}
	for _, name := range transfer.CountNames(r) {
		counts = append(counts, member{name, object{{"type", "integer"}, {"minimum", 0}}})
	}
	return record([]string{memberExportID, memberState, entity.AttrCreatedAt, memberLines}, object{
		{memberExportID, exportIDSchema()},
		{memberState, enumSchema("WAITING and RUNNING go on; DONE has a file; FAILED says why.",
			transfer.Waiting, transfer.Running, transfer.Done, transfer.Failed)},
		{entity.AttrCreatedAt, instantSchema("When it was asked for.")},
		{memberLines, count("How many lines were read so far.")},
		{memberEndedAt, instantSchema("When it was done, or had failed.")},
		{memberCounts, append(record(nil, counts), member{"description", "How many there are of each in the file."})},
		{memberBytes, count("The size of the file.")},
		{memberFileEnds, instantSchema("Until when the file is there.")},
		{memberReason, textSchema("Why it failed.")},
		{memberURL, object{{"type", "string"}, {"format", "uri-reference"}, {"description",
			"Where the file can be read, without a token: keep it secret. Only of one export that is asked for."}}},
		{memberURLUntil, instantSchema("Until when it can be read there.")},
	})
}
