PRAGMA application_id = 1684169593; PRAGMA user_version = 4;
PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
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
INSERT INTO runs VALUES(1,'5k6i3ofvazikuwyn4hmddvuavy','running','2026-11-30T22:00:00.123456789Z',NULL,'v0.1.0','00000000-0000-4000-8000-000000000000',4242,1000,'{"targets":["mariadb@10.5","mariadb@11.8+noahi"],"suite":"","benchmarks":[{"label":"read-only range=100","group":"range-2"}],"tables":0,"table_size":0,"threads":0,"ps_mode":"","budget_ns":0,"slice_ns":0,"warmup_ns":0,"blocks":0,"instances":0,"min_effect":0.02,"placement":"same","seed":18446744073709551615}','{"name":"host","cpu":"","cpus":2,"smt":false,"memory_bytes":0,"kernel":"","os":"","filesystem":"","notes":["governor: no such file"]}','["could not pin"]','[{"target":"mariadb@10.5","probe":"waits","reason":"performance_schema is off"},{"probe":"disks","reason":"no /sys/block"}]');
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
INSERT INTO targets VALUES(1,0,'mariadb@10.5','mariadb','10.5.29','debian','mariadb-server-core-10.5 bullseye','sha256:abc','/cache/1','','','[{"name":"compiler","value":"GCC: (GNU) 10.2"},{"name":"libc","value":"2.31"}]');
INSERT INTO targets VALUES(1,1,'mariadb@11.8+noahi','mariadb','11.8.3','','','','','+noahi','no memory','[]');
CREATE TABLE settings (
  run_id   INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  target   TEXT NOT NULL,     -- targets.name
  kind     TEXT NOT NULL CHECK (kind IN ('config', 'effective')),  -- asked for by overlays, or read back from the server
  position INTEGER NOT NULL,
  name     TEXT NOT NULL,
  value    TEXT NOT NULL,
  PRIMARY KEY (run_id, target, kind, position)
) STRICT, WITHOUT ROWID;
INSERT INTO settings VALUES(1,'mariadb@11.8+noahi','config',0,'innodb_adaptive_hash_index','1');
INSERT INTO settings VALUES(1,'mariadb@11.8+noahi','config',1,'innodb_adaptive_hash_index','0');
INSERT INTO settings VALUES(1,'mariadb@11.8+noahi','effective',0,'a','');
INSERT INTO settings VALUES(1,'mariadb@11.8+noahi','effective',1,'b','x y');
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
INSERT INTO trials VALUES(1,1,'scan','mariadb@10.5',0,0,0,'2001-09-09T01:46:40.000000005Z',1000000000,0,1000,0,0,0,0.0,0,0,0,0,0,0,0,0,0,'',NULL,'[7,0]',X'000102','[[1,2000],[2,0,1.5,3000000000]]');
INSERT INTO trials VALUES(2,1,'scan','mariadb@10.5',0,1,0,'2001-09-09T01:46:41.000000005Z',1000000000,0,1001,0,0,0,0.0,0,0,0,0,0,0,0,0,0,'',NULL,'[7,0]',X'000102','[[1,2000],[2,0,1.5,3000000000]]');
CREATE TABLE metric_names (
  id   INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE
) STRICT;
INSERT INTO metric_names VALUES(1,'dbms.Innodb_buffer_pool_reads');
INSERT INTO metric_names VALUES(2,'server.rss_bytes');
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
INSERT INTO profiles VALUES(1,1,'scan','mariadb@10.5',1,'2001-09-09T01:46:40.000000007Z',5000000000,12,'');
INSERT INTO profiles VALUES(2,1,'scan','mariadb@10.5',0,'2033-05-18T03:33:20.000000000Z',1,1,'');
INSERT INTO profiles VALUES(3,1,'scan','mariadb@11.8+noahi',0,'2065-01-24T05:20:00.000000000Z',0,0,'the server died');
CREATE TABLE waits (
  profile_id INTEGER NOT NULL REFERENCES profiles (id) ON DELETE CASCADE,
  position   INTEGER NOT NULL,     -- the most time first
  event      TEXT NOT NULL,        -- 'wait/synch/mutex/innodb/trx_sys_mutex', 'LWLock:WALWrite'
  count      INTEGER NOT NULL,     -- waits; of a sampled event the samples that saw it
  total_ns   INTEGER NOT NULL,
  sampled    INTEGER NOT NULL CHECK (sampled IN (0, 1)),  -- 1: estimated from samples, not timed
  PRIMARY KEY (profile_id, position)
) STRICT, WITHOUT ROWID;
INSERT INTO waits VALUES(1,0,'wait/synch/mutex/innodb/trx_sys_mutex',3,9000000000,0);
INSERT INTO waits VALUES(1,1,'LWLock:WALWrite',1,1,1);
CREATE TABLE stacks (
  profile_id INTEGER NOT NULL REFERENCES profiles (id) ON DELETE CASCADE,
  position   INTEGER NOT NULL,
  sampler    TEXT NOT NULL,        -- 'perf cycles', 'perf cpu-clock', 'gdb'
  pprof      BLOB NOT NULL,        -- a gzipped profile.proto
  PRIMARY KEY (profile_id, position)
) STRICT;
INSERT INTO stacks VALUES(2,0,'perf cpu-clock',X'1f8b00');
INSERT INTO stacks VALUES(2,1,'gdb',X'01');
DELETE FROM sqlite_sequence;
INSERT INTO sqlite_sequence VALUES('runs',1);
CREATE INDEX trials_by_run ON trials (run_id, id);
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
CREATE INDEX profiles_by_run ON profiles (run_id, id);
COMMIT;
