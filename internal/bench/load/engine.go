package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/aws/aws-sdk-go-v2/aws"

	"nexus/pkg/item"
	"nexus/pkg/local/engine"
	"nexus/pkg/table"
	"nexus/pkg/table/dynamo"
)

// onEngine starts an engine of its own with the rows in its table, and stops it when the function has returned.
func onEngine(ctx context.Context, rows func() ([]item.Item, error), use func(table.Store) error) (err error) {
	binary, err := engine.Find()
	if err != nil {
		return err
	}
	running, err := engine.Start(ctx, engine.Config{Binary: binary})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, running.Stop(context.WithoutCancel(ctx))) }()
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConns, transport.MaxIdleConnsPerHost = 64, 64 // an agenda's requests side by side
	defer transport.CloseIdleConnections()
	client := dynamo.NewClient(aws.Config{
		BaseEndpoint: aws.String(running.Endpoint()), Region: engine.DefaultRegion,
		HTTPClient: &http.Client{Transport: transport},
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "local", SecretAccessKey: "local"}, nil
		}),
	})
	if _, err := client.CreateTable(ctx, dynamo.CreateInput(table.ProductSchema())); err != nil {
		return fmt.Errorf("create the table: %w", err)
	}
	store := dynamo.New(client)
	if err := fill(ctx, store, rows); err != nil {
		return err
	}
	return use(store)
}
