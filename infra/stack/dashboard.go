package stack

import (
	"slices"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/interfaces/interfacesawscloudwatch"
	"github.com/aws/jsii-runtime-go"
)

const (
	// columns are those of a dashboard; a row has three graphs.
	columns      = 24
	graphsInARow = 3
	graphHeight  = 6
	// resolutionMinutes is the period of a point.
	resolutionMinutes = 5
)

// graph is one graph of the dashboard.
type graph struct {
	title string
	lines []line
}

// line is one metric in a graph.
type line struct {
	label, namespace, name, statistic string
	dimensions                        map[string]*string
}

// addDashboard draws the metrics that the alarms watch, and those that an operator checks next.
func (d *deployment) addDashboard() {
	var alarms []interfacesawscloudwatch.IAlarmRef
	for _, a := range d.alarms {
		alarms = append(alarms, a)
	}
	rows := []*[]awscloudwatch.IWidget{{
		awscloudwatch.NewAlarmStatusWidget(&awscloudwatch.AlarmStatusWidgetProps{
			Title: jsii.String("Alarms"), Alarms: &alarms, Width: jsii.Number(columns), Height: jsii.Number(graphHeight),
		}),
	}}
	for graphs := range slices.Chunk(d.graphs(), graphsInARow) {
		var row []awscloudwatch.IWidget
		for _, g := range graphs {
			row = append(row, g.widget())
		}
		rows = append(rows, &row)
	}
	var queries []awscloudwatch.IWidget
	for _, q := range logQueries() {
		queries = append(queries, d.queryWidget(q))
	}
	rows = append(rows, &queries)
	awscloudwatch.NewDashboard(d.Stack, jsii.String("Dashboard"), &awscloudwatch.DashboardProps{
		DashboardName: jsii.String(prefix + d.settings.Stage), Widgets: &rows,
	})
}

func (g graph) widget() awscloudwatch.IWidget {
	var metrics []awscloudwatch.IMetric
	for _, l := range g.lines {
		metrics = append(metrics, awscloudwatch.NewMetric(&awscloudwatch.MetricProps{
			Namespace: jsii.String(l.namespace), MetricName: jsii.String(l.name), Statistic: jsii.String(l.statistic),
			DimensionsMap: &l.dimensions, Label: jsii.String(l.label),
			Period: awscdk.Duration_Minutes(jsii.Number(resolutionMinutes)),
		}))
	}
	return awscloudwatch.NewGraphWidget(&awscloudwatch.GraphWidgetProps{
		Title: jsii.String(g.title), Left: &metrics, Width: jsii.Number(columns / graphsInARow),
		Height:    jsii.Number(graphHeight),
		LeftYAxis: &awscloudwatch.YAxisProps{Min: jsii.Number(0)},
	})
}

// queryWidget queries the logs of the functions while the dashboard is open: their numbers that are no metrics are not
// paid for by the month.
func (d *deployment) queryWidget(q logQuery) awscloudwatch.IWidget {
	var groups []*string
	for _, f := range d.settings.deployed() {
		groups = append(groups, jsii.String(logGroupPrefix+functionName(f)))
	}
	return awscloudwatch.NewLogQueryWidget(&awscloudwatch.LogQueryWidgetProps{
		Title: jsii.String(q.title), LogGroupNames: &groups, QueryLines: jsii.Strings(q.lines...), View: q.view,
		Width: jsii.Number(columns / graphsInARow), Height: jsii.Number(graphHeight),
	})
}
