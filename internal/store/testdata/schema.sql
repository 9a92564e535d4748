CREATE INDEX profiles_by_run ON profiles (run_id, id);

CREATE INDEX trials_by_run ON trials (run_id, id);

CREATE TABLE metric_names (
  id   INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE profiles (
  id         INTEGER PRIMARY KEY,  -- in order of measurement
  run_id     INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  benchmark  TEXT NOT NULL,
  target     TEXT NOT NULL,        -- targets.name
  instance   INTEGER NOT NULL,
  started    TEXT NOT NULL,
  elapsed_ns INTEGER NOT NULL,
  operations INTEGER NOT NULL,     -- statements
  void       TEXT NOT NULL         -- why it shows nothing, '' if it does
) STRICT;

CREATE TABLE runs (
  id          INTEGER PRIMARY KEY AUTOINCREMENT,
  uid         TEXT NOT NULL UNIQUE,  -- unique everywhere, so that stores can be merged
  state       TEXT NOT NULL CHECK (state IN ('running', 'done', 'interrupted', 'failed')),
  started     TEXT NOT NULL,
  ended       TEXT,                  -- NULL while running or when killed
  program     TEXT NOT NULL,         -- version of dbcanary
  owner_boot  TEXT NOT NULL,         -- boot of the machine in which the owner lives
  owner_pid   INTEGER NOT NULL,      -- process that measures, or did last
  owner_start INTEGER NOT NULL,      -- its start time in clock ticks since boot
  plan        TEXT NOT NULL CHECK (json_valid(plan)),
  host        TEXT NOT NULL CHECK (json_valid(host)),
  problems    TEXT NOT NULL CHECK (json_valid(problems))
, missing TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(missing))) STRICT;

CREATE TABLE settings (
  run_id   INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  target   TEXT NOT NULL,     -- targets.name
  kind     TEXT NOT NULL CHECK (kind IN ('config', 'effective')),  -- asked for by overlays, or read back from the server
  position INTEGER NOT NULL,
  name     TEXT NOT NULL,
  value    TEXT NOT NULL,
  PRIMARY KEY (run_id, target, kind, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE stacks (
  profile_id INTEGER NOT NULL REFERENCES profiles (id) ON DELETE CASCADE,
  position   INTEGER NOT NULL,
  sampler    TEXT NOT NULL,        -- 'perf cycles', 'perf cpu-clock', 'gdb'
  pprof      BLOB NOT NULL,        -- a gzipped profile.proto
  PRIMARY KEY (profile_id, position)
) STRICT;

CREATE TABLE targets (
  run_id   INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  position INTEGER NOT NULL,  -- 0 is the base
  name     TEXT NOT NULL,
  family   TEXT NOT NULL,
  version  TEXT NOT NULL,
  provider TEXT NOT NULL,
  origin   TEXT NOT NULL,
  checksum TEXT NOT NULL,
  dir      TEXT NOT NULL,
  config   TEXT NOT NULL,     -- name of the config, '' for the base config
  dropped  TEXT NOT NULL, made TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(made)),     -- why it could not go on, '' while it takes part
  PRIMARY KEY (run_id, position),
  UNIQUE (run_id, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE trials (
  id          INTEGER PRIMARY KEY,  -- in order of measurement
  run_id      INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  benchmark   TEXT NOT NULL,
  target      TEXT NOT NULL,        -- targets.name
  instance    INTEGER NOT NULL,
  block       INTEGER NOT NULL,
  position    INTEGER NOT NULL,
  started     TEXT NOT NULL,
  elapsed_ns  INTEGER NOT NULL,
  overrun_ns  INTEGER NOT NULL,
  operations  INTEGER NOT NULL,     -- statements
  events      INTEGER NOT NULL,     -- transactions or iterations
  retries     INTEGER NOT NULL,
  latency_min_ns  INTEGER NOT NULL, -- latencies are of events
  latency_mean_ns REAL,
  latency_p50_ns  INTEGER NOT NULL,
  latency_p95_ns  INTEGER NOT NULL,
  latency_p99_ns  INTEGER NOT NULL,
  latency_max_ns  INTEGER NOT NULL,
  server_cpu_ns   INTEGER,
  client_cpu_ns   INTEGER,
  foreign_cpu_ns  INTEGER NOT NULL,
  steal_ns        INTEGER NOT NULL,
  server_context_switches INTEGER,
  void        TEXT NOT NULL,        -- why it does not count, '' if it does
  errors      TEXT CHECK (json_valid(errors)),      -- {"1213": 2}, NULL for none
  per_second  TEXT CHECK (json_valid(per_second)),  -- [events in second 1, …], NULL if not recorded
  histogram   BLOB                  -- HDR histogram V2, compressed; NULL if not recorded
, metrics TEXT CHECK (json_valid(metrics))) STRICT;

CREATE TABLE waits (
  profile_id INTEGER NOT NULL REFERENCES profiles (id) ON DELETE CASCADE,
  position   INTEGER NOT NULL,     -- the most time first
  event      TEXT NOT NULL,        -- 'wait/synch/mutex/innodb/trx_sys_mutex', 'LWLock:WALWrite'
  count      INTEGER NOT NULL,     -- waits; of a sampled event the samples that saw it
  total_ns   INTEGER NOT NULL,
  sampled    INTEGER NOT NULL CHECK (sampled IN (0, 1)),  -- 1: estimated from samples, not timed
  PRIMARY KEY (profile_id, position)
) STRICT, WITHOUT ROWID;

CREATE VIEW rates AS
SELECT run_id, benchmark, target, instance, block, started,
       operations * 1e9 / elapsed_ns AS qps,
       server_cpu_ns / 1e3 / operations AS server_cpu_us,
       latency_p95_ns / 1e6 AS latency_p95_ms
FROM trials
WHERE void = '' AND elapsed_ns > 0 AND operations > 0;

CREATE VIEW trial_metrics AS
SELECT t.run_id, t.benchmark, t.target, t.instance, t.block, t.started, n.name,
       m.value ->> 2 IS NOT NULL AS gauge, m.value ->> 1 AS value, m.value ->> 2 AS first, m.value ->> 3 AS max,
       CASE WHEN m.value ->> 2 IS NULL THEN (m.value ->> 1) * 1.0 / t.operations END AS per_operation,
       CASE WHEN m.value ->> 2 IS NULL THEN (m.value ->> 1) * 1e9 / t.elapsed_ns END AS per_second
FROM trials t JOIN json_each(t.metrics) m JOIN metric_names n ON n.id = m.value ->> 0
WHERE t.void = '' AND t.elapsed_ns > 0 AND t.operations > 0;
