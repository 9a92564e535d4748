-- A profile: what one profiling slice showed, apart from the trials and never part of a ratio.
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
CREATE INDEX profiles_by_run ON profiles (run_id, id);

-- What the threads of the server waited for in a profile.
CREATE TABLE waits (
  profile_id INTEGER NOT NULL REFERENCES profiles (id) ON DELETE CASCADE,
  position   INTEGER NOT NULL,     -- the most time first
  event      TEXT NOT NULL,        -- 'wait/synch/mutex/innodb/trx_sys_mutex', 'LWLock:WALWrite'
  count      INTEGER NOT NULL,     -- waits; of a sampled event the samples that saw it
  total_ns   INTEGER NOT NULL,
  sampled    INTEGER NOT NULL CHECK (sampled IN (0, 1)),  -- 1: estimated from samples, not timed
  PRIMARY KEY (profile_id, position)
) STRICT, WITHOUT ROWID;

-- Stacks of the server that were sampled in a profile.
CREATE TABLE stacks (
  profile_id INTEGER NOT NULL REFERENCES profiles (id) ON DELETE CASCADE,
  position   INTEGER NOT NULL,
  sampler    TEXT NOT NULL,        -- 'perf cycles', 'perf cpu-clock', 'gdb'
  pprof      BLOB NOT NULL,        -- a gzipped profile.proto
  PRIMARY KEY (profile_id, position)
) STRICT;
