-- JSON array of names and values: how the server was made and which libraries it loads.
ALTER TABLE targets ADD COLUMN made TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(made));
