-- The names of metrics: "server.read_bytes", "dbms.Innodb_buffer_pool_reads".
CREATE TABLE metric_names (
  id   INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE
) STRICT;

-- What probes saw of a trial, only what moved: [[metric_names.id, growth], …], and of
-- a gauge [id, last, first, max]. NULL for nothing. What has no entry is unknown or
-- did not move; runs.missing tells what could not be probed.
ALTER TABLE trials ADD COLUMN metrics TEXT CHECK (json_valid(metrics));

-- JSON array: what could not be probed, of which target ('' for the host), and why.
ALTER TABLE runs ADD COLUMN missing TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(missing));

-- The metrics of the trials that count, for people with an SQL prompt.
CREATE VIEW trial_metrics AS
SELECT t.run_id, t.benchmark, t.target, t.instance, t.block, t.started, n.name,
       m.value ->> 2 IS NOT NULL AS gauge, m.value ->> 1 AS value, m.value ->> 2 AS first, m.value ->> 3 AS max,
       CASE WHEN m.value ->> 2 IS NULL THEN (m.value ->> 1) * 1.0 / t.operations END AS per_operation,
       CASE WHEN m.value ->> 2 IS NULL THEN (m.value ->> 1) * 1e9 / t.elapsed_ns END AS per_second
FROM trials t JOIN json_each(t.metrics) m JOIN metric_names n ON n.id = m.value ->> 0
WHERE t.void = '' AND t.elapsed_ns > 0 AND t.operations > 0;
