// A user's flow with the types that openapi-typescript makes of the OpenAPI document, and openapi-fetch for the requests. It is
// that of flow.go. The address to ask is the only argument.
import assert from "node:assert/strict";
import createClient from "openapi-fetch";
import type { components, paths } from "./generated/schema.js";

type Schemas = components["schemas"];

const client = createClient<paths>({ baseUrl: process.argv[2]!, headers: { Authorization: "Bearer ts-client" } });

// uuid is another id at each call; the store is new.
let ids = 0;
const uuid = () => `00000000-0000-4000-8000-${String(++ids).padStart(12, "0")}`;

// answered is what an answer brought, which has the status.
function answered<T>(what: string, status: number, got: { data?: T; error?: unknown; response: Response }): T {
  assert.equal(got.response.status, status, `${what}: ${JSON.stringify(got.error)}`);
  return got.data as T;
}

const tag = (version: number) => `"${version}"`;

async function series() {
  const made = answered("create a series", 201, await client.POST("/v1/series", {
    params: { header: { "Idempotency-Key": "series-1" } },
    body: {
      title: "Stand-up", rrule: "FREQ=DAILY;COUNT=5", startUtc: "2026-03-02T09:00:00Z", endUtc: "2026-03-02T09:15:00Z",
      startTzid: "Europe/London", tags: ["team"], reminderMinutes: [10],
    },
  }));
  assert(made);
  const moved = answered("change an occurrence", 200, await client.PUT("/v1/series/{masterId}/instances/{date}", {
    params: { path: { masterId: made.masterId, date: "20260303" }, header: { "If-Match": tag(made.version) } },
    body: { title: "Stand-up with guests", location: null },
  }));
  assert(moved);
  const whole = answered("read the series", 200, await client.GET("/v1/series/{masterId}", { params: { path: { masterId: made.masterId } } }));
  assert.equal(whole.instances.length, 1);
  const found = answered("read an occurrence", 200, await client.GET("/v1/events/{eventId}", { params: { path: { eventId: moved.eventId } } }));
  assert(found.entityType === "INSTANCE");
  assert.equal(found.recurrenceId, "2026-03-03T09:00:00Z");
}

// when says what an item of the agenda is, and compiles only while each kind of item is told from the others.
function when(item: Schemas["AgendaItem"]): string {
  switch (item.entityType) {
    case "INSTANCE":
      return `${item.title} ${item.occurrenceStart} ${item.masterId.slice(0, 4)}`;
    case "EVENT":
    case "REMINDER":
    case "NOTE":
      return `${item.title} ${item.occurrenceStart}`;
    case "TASK":
      return `${item.title} ${item.occurrenceStart} ${item.priority}`;
    default: {
      const none: never = item;
      return none;
    }
  }
}

async function agenda() {
  answered("create a task", 201, await client.POST("/v1/tasks", {
    body: { title: "Write the report", dueUtc: "2026-03-03T12:00:00Z", dueTzid: "Europe/London", priority: 2 },
  }));
  const page = answered("read the agenda", 200, await client.GET("/v1/agenda", {
    params: { query: { from: "2026-03-03T00:00:00Z", to: "2026-03-05T00:00:00Z" } },
  }));
  assert.deepEqual(page.items.map(when), [
    "Stand-up with guests 2026-03-03T09:00:00Z mst_", "Write the report 2026-03-03T12:00:00Z 2", "Stand-up 2026-03-04T09:00:00Z mst_",
  ]);
}

async function links() {
  const task = answered("create a task", 201, await client.POST("/v1/tasks", { body: { title: "Buy paint" } }));
  assert(task);
  answered("create a note", 201, await client.POST("/v1/notes", {
    body: { title: "Colours", links: [{ targetType: "TASK", targetId: task.taskId, relation: "for" }] },
  }));
  const other = answered("create a note", 201, await client.POST("/v1/notes", { body: { title: "Shops" } }));
  assert(other);
  answered("add a link", 200, await client.PUT("/v1/notes/{noteId}/links/{targetType}/{targetId}", {
    params: { path: { noteId: other.noteId, targetType: "TASK", targetId: task.taskId } }, body: {},
  }));
  // Backlinks follow the stream, so they are asked for until both notes are there.
  let titles: string[] = [];
  for (let i = 0; i < 100 && titles.length < 2; i++) {
    const page = answered("list backlinks", 200, await client.GET("/v1/tasks/{taskId}/backlinks", {
      params: { path: { taskId: task.taskId }, query: { limit: 10 } },
    }));
    titles = page.items.flatMap((item) => (item.entityType === "NOTE" ? [item.title] : []));
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  assert.deepEqual(titles.sort(), ["Colours", "Shops"]);
}

async function settings() {
  const me = await client.GET("/v1/me");
  answered("read the settings", 200, me);
  const changed = answered("change the settings", 200, await client.PATCH("/v1/me", {
    params: { header: { "If-Match": me.response.headers.get("ETag")! } },
    body: { defaultTzid: "Europe/London", preferences: { defaultEventDuration: 45, weekStart: null } },
  }));
  assert.equal(changed.defaultTzid, "Europe/London");
  assert.equal(changed.preferences.defaultEventDuration, 45);
  answered("read the statistics", 200, await client.GET("/v1/me/stats"));
}

async function batch() {
  const taskId = `task_${uuid()}`;
  const commands: Schemas["Command"][] = [
    { id: "b1", type: "CreateTask", data: { taskId, title: "On the train" } },
    { id: "b2", type: "UpdateTask", expectedAfter: "b1", data: { taskId, status: "COMPLETED" } },
    { id: "b3", type: "DeleteTask", expectedVersion: 1, data: { taskId } },
  ];
  const { results } = answered("carry out a batch", 200, await client.POST("/v1/commands", { body: { commands } }));
  assert.deepEqual(results.map((r) => r.status), [201, 200, 412]);
  const task = results[1]!.entity;
  assert(task?.entityType === "TASK");
  assert.equal(task.status, "COMPLETED");
  assert.equal(results[1]!.version, 2);
  assert.equal(results[2]!.problem?.currentVersion, 2);
}

async function repositories() {
  const driver = `drv_${uuid()}`, action = `act_${uuid()}`, date = "2026-03-02";
  const tree = answered("commit the tree", 201, await client.POST("/v1/values/revisions", {
    body: {
      message: "Begun", source: "weekly_review",
      nodes: [
        { nodeId: driver, nodeType: "DRIVER", title: "Stay healthy" },
        { nodeId: action, nodeType: "ACTION", title: "Run", driverId: driver },
      ],
      edges: [{ parentNodeId: driver, childNodeId: action, order: 1 }],
    },
  }));
  answered("edit the tree", 201, await client.POST("/v1/values/revisions", {
    body: {
      message: "Said better", source: "daily_update", parentRevId: tree.revId,
      operations: [{ op: "update", nodeId: action, title: "Run in the park" }],
    },
  }));
  const children = answered("list children", 200, await client.GET("/v1/values/nodes/{nodeId}/children", { params: { path: { nodeId: driver } } }));
  assert.equal(children.items[0]?.childNodeId, action);
  answered("commit the plan", 201, await client.POST("/v1/plans/{date}/revisions", {
    params: { path: { date } },
    body: {
      reason: "morning_plan", todos: [{ actionId: action, classification: "important", estimatedPomodoros: 1 }],
      blocks: [{ blockType: "POMODORO", startTimeIso: `${date}T09:00:00Z`, endTimeIso: `${date}T09:25:00Z`, actionId: action, pomodoroIndex: 1 }],
    },
  }));
  const done = answered("complete the action", 200, await client.POST("/v1/plans/{date}/complete", {
    params: { path: { date } }, body: { actionId: action },
  }));
  assert(done.planChanged && done.valuesChanged && done.plan.todos[0]?.completedAt);
  const history = answered("read the history", 200, await client.GET("/v1/plans/{date}/revisions", { params: { path: { date } } }));
  assert.equal(history.items.length, 2);
}

// changes takes a snapshot, which has what the flow has made, and asks for what is new. An exception of a series comes as it is
// stored.
async function changes() {
  const kinds = new Set<string>();
  let next: string | undefined, cursor: string | undefined;
  while (next === undefined) {
    const page = answered("take a snapshot", 200, await client.GET("/v1/changes", { params: { query: cursor ? { cursor } : {} } }));
    for (const change of page!.items!) {
      kinds.add(change.type);
      if (change.item?.entityType === "INSTANCE") assert.deepEqual(change.item.modifiedFields, ["title", "location"]);
    }
    ({ next, cursor } = page!);
  }
  for (const kind of ["USER_META", "MASTER", "INSTANCE", "VALUES"]) assert(kinds.has(kind), kind);
  const since = answered("ask for changes", 200, await client.GET("/v1/changes", { params: { query: { since: next } } }));
  assert.equal(since!.more, false);
  assert.match(answered("check the copy", 200, await client.GET("/v1/changes/check"))!.digest, /^[0-9a-f]{32}$/);
  const reset = await client.GET("/v1/changes", { params: { query: { since: "undefined" } } });
  assert.equal(reset.error?.type, "/problems/malformed-request");
}

async function refusals() {
  const made = await client.POST("/v1/tasks", { body: { title: "Call back" } });
  const task = answered("create a task", 201, made);
  assert(task);
  const path = { taskId: task.taskId };
  const stale = await client.PATCH("/v1/tasks/{taskId}", { params: { path, header: { "If-Match": tag(7) } }, body: { title: "x" } });
  assert.equal(stale.response.status, 412);
  assert.equal(stale.error?.currentVersion, 1);
  const missing = await client.GET("/v1/tasks/{taskId}", { params: { path: { taskId: `task_${uuid()}` } } });
  assert.equal(missing.error?.type, "/problems/not-found");
  const etag = made.response.headers.get("ETag")!;
  const same = await client.GET("/v1/tasks/{taskId}", { params: { path, header: { "If-None-Match": etag } } });
  assert.equal(same.response.status, 304);
  const gone = await client.DELETE("/v1/tasks/{taskId}", { params: { path, header: { "If-Match": etag } } });
  assert.equal(gone.response.status, 204);
  const left = await client.GET("/v1/tasks/{taskId}", { params: { path } });
  assert.deepEqual([left.error?.type, left.error?.reason], ["/problems/gone", "deleted"]);
}

await series();
await agenda();
await links();
await settings();
await batch();
await repositories();
await changes();
await refusals();
console.log("clients: the flow holds with the types of openapi-typescript");
