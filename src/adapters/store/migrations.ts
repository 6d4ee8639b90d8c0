// Numbered migrations, applied once and in order in one transaction. Never edit a released step; add a new one.
import { type Database, StoreError } from './database.ts'

export const databaseSchemaName = 'catalog_bot'

const migrationSteps: readonly string[] = [
  `
  CREATE TABLE ${databaseSchemaName}.delivery (
    guid text PRIMARY KEY,
    event text NOT NULL,
    -- gzip: a fifth of the bytes go into the database, and are not compressed by it again.
    body bytea NOT NULL,
    received_at timestamptz NOT NULL DEFAULT clock_timestamp()
  );
  ALTER TABLE ${databaseSchemaName}.delivery ALTER COLUMN body SET STORAGE EXTERNAL;
  CREATE INDEX delivery_received_at ON ${databaseSchemaName}.delivery (received_at);

  CREATE TABLE ${databaseSchemaName}.lease (
    name text PRIMARY KEY,
    fence integer NOT NULL,
    -- Null: given back.
    expires_at timestamptz
  );

  CREATE TABLE ${databaseSchemaName}.intent (
    id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    lease text NOT NULL,
    fence integer NOT NULL,
    -- Lower case, as GitHub tells names apart; the landing has them as written.
    repository text NOT NULL,
    pull integer NOT NULL,
    landing jsonb NOT NULL,
    begun_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    outcome text CHECK (outcome IN ('landed', 'abandoned', 'mismatch')),
    ended_at timestamptz
  );
  -- A pull request lands once, whatever the code above believes.
  CREATE UNIQUE INDEX intent_landed_once ON ${databaseSchemaName}.intent (repository, pull) WHERE outcome = 'landed';
  CREATE INDEX intent_open ON ${databaseSchemaName}.intent (repository, id) WHERE outcome IS NULL;

  CREATE TABLE ${databaseSchemaName}.stop (
    repository text PRIMARY KEY,
    reason text NOT NULL,
    since timestamptz NOT NULL DEFAULT clock_timestamp()
  );

  -- Values and reports are JSON kept as text: jsonb takes neither NUL nor half surrogates, and authors' files have both.
  CREATE TABLE ${databaseSchemaName}.cache (
    space text NOT NULL,
    key text NOT NULL,
    value text NOT NULL,
    expires_at timestamptz,
    PRIMARY KEY (space, key)
  );
  CREATE INDEX cache_expires_at ON ${databaseSchemaName}.cache (expires_at) WHERE expires_at IS NOT NULL;

  CREATE TABLE ${databaseSchemaName}.verdict (
    repository text NOT NULL,
    pull integer NOT NULL,
    head text NOT NULL,
    base text NOT NULL,
    config text NOT NULL,
    owner_as_written text NOT NULL,
    name_as_written text NOT NULL,
    verdict text NOT NULL,
    report text NOT NULL,
    decided_at double precision NOT NULL,
    PRIMARY KEY (repository, pull, head, base, config)
  );
  CREATE INDEX verdict_decided_at ON ${databaseSchemaName}.verdict (decided_at);
  `,
  `
  -- Ids of comments, reviews and accounts are 53-bit numbers at most: GitHub's own clients are JavaScript.
  CREATE TABLE ${databaseSchemaName}.epoch (
    repository text NOT NULL,
    pull integer NOT NULL,
    epoch integer NOT NULL,
    head text NOT NULL,
    base_ref text NOT NULL,
    config text NOT NULL,
    begun_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (repository, pull, epoch)
  );
  CREATE TABLE ${databaseSchemaName}.shown_head (
    repository text NOT NULL,
    pull integer NOT NULL,
    epoch integer NOT NULL,
    head text NOT NULL,
    -- As GitHub gave it: it is compared with its own times alone.
    at text NOT NULL,
    PRIMARY KEY (repository, pull, epoch, head)
  );
  CREATE TABLE ${databaseSchemaName}.command (
    repository text NOT NULL,
    pull integer NOT NULL,
    comment double precision NOT NULL,
    record text NOT NULL,
    recorded_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (repository, comment)
  );
  CREATE TABLE ${databaseSchemaName}.review_seen (
    repository text NOT NULL,
    pull integer NOT NULL,
    review double precision NOT NULL,
    epoch integer NOT NULL,
    PRIMARY KEY (repository, pull, review)
  );
  CREATE TABLE ${databaseSchemaName}.account (
    repository text NOT NULL,
    login text NOT NULL,
    id double precision NOT NULL,
    first_seen_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (repository, login)
  );
  `,
  `
  -- Who brought which head: GitHub says it in deliveries alone.
  CREATE TABLE ${databaseSchemaName}.push_seen (
    repository text NOT NULL,
    pull integer NOT NULL,
    head text NOT NULL,
    pusher double precision NOT NULL,
    login text NOT NULL,
    kind text NOT NULL CHECK (kind IN ('user', 'bot')),
    seen_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (repository, pull, head, pusher)
  );
  CREATE INDEX command_recorded_at ON ${databaseSchemaName}.command (repository, recorded_at);
  `,
  `
  -- What pull requests do, for those who agreed to it: JSON, once for however many agree.
  CREATE TABLE ${databaseSchemaName}.described_change (
    repository text NOT NULL,
    pull integer NOT NULL,
    id text NOT NULL,
    covers text NOT NULL,
    PRIMARY KEY (repository, pull, id)
  );
  CREATE TABLE ${databaseSchemaName}.approval_seen (
    repository text NOT NULL,
    pull integer NOT NULL,
    review double precision NOT NULL,
    change text NOT NULL,
    PRIMARY KEY (repository, pull, review)
  );
  -- A pull request can do what it did before: what was shown last is the last row, not the newest change.
  ALTER TABLE ${databaseSchemaName}.shown_head DROP CONSTRAINT shown_head_pkey;
  ALTER TABLE ${databaseSchemaName}.shown_head ADD COLUMN change text;
  ALTER TABLE ${databaseSchemaName}.shown_head ADD COLUMN seq bigint GENERATED ALWAYS AS IDENTITY;
  CREATE UNIQUE INDEX shown_head_in_order ON ${databaseSchemaName}.shown_head (repository, pull, seq);
  `,
  `
  -- What must survive has its own table: the cache may be emptied.
  CREATE TABLE ${databaseSchemaName}.state (
    space text NOT NULL,
    repository text NOT NULL,
    key text NOT NULL,
    version integer NOT NULL,
    value text NOT NULL,
    PRIMARY KEY (space, repository, key)
  );
  -- Version 0 is what stood in the cache. Keys there are JSON texts: \`"owner/name"\`, and \`"owner/name branch"\`.
  INSERT INTO ${databaseSchemaName}.state (space, repository, key, version, value)
    SELECT 'image scan', lower(key::json #>> '{}'), '""', 0, value
    FROM ${databaseSchemaName}.cache WHERE space = 'image scans' AND key LIKE '"%'
    ON CONFLICT DO NOTHING;
  INSERT INTO ${databaseSchemaName}.state (space, repository, key, version, value)
    SELECT 'branch', lower(split_part(key::json #>> '{}', ' ', 1)),
      '"' || substr(key, strpos(key, ' ') + 1), 0, value
    FROM ${databaseSchemaName}.cache WHERE space = 'branches' AND key LIKE '"%'
    ON CONFLICT DO NOTHING;
  INSERT INTO ${databaseSchemaName}.state (space, repository, key, version, value)
    SELECT kept.name, lower(substr(cache.space, length(kept.prefix) + 1)), cache.key, 0, cache.value
    FROM ${databaseSchemaName}.cache AS cache JOIN (VALUES
      ('scan parts ', 'scan part'), ('scan tags ', 'tag of digest'), ('review requests ', 'requested reviews')
    ) AS kept (prefix, name) ON starts_with(cache.space, kept.prefix)
    WHERE cache.expires_at IS NULL OR cache.expires_at > clock_timestamp()
    ON CONFLICT DO NOTHING;
  DELETE FROM ${databaseSchemaName}.cache WHERE space IN ('image scans', 'branches')
    OR space LIKE 'scan parts %' OR space LIKE 'scan tags %' OR space LIKE 'review requests %'
    OR space LIKE 'sweep %' OR space LIKE 'people %' OR space LIKE 'too large %';
  -- What was kept for ever goes after a month, like all that comes now.
  UPDATE ${databaseSchemaName}.cache SET expires_at = clock_timestamp() + interval '30 days' WHERE expires_at IS NULL;
  `,
  `
  -- A stop has a branch ('': every one), a kind and an author, and what ended stays on record.
  ALTER TABLE ${databaseSchemaName}.stop DROP CONSTRAINT stop_pkey;
  ALTER TABLE ${databaseSchemaName}.stop ADD COLUMN branch text NOT NULL DEFAULT '';
  ALTER TABLE ${databaseSchemaName}.stop ADD COLUMN kind text NOT NULL DEFAULT 'audit'
    CHECK (kind IN ('frozen', 'audit', 'refused'));
  ALTER TABLE ${databaseSchemaName}.stop ADD COLUMN owner_as_written text;
  ALTER TABLE ${databaseSchemaName}.stop ADD COLUMN name_as_written text;
  -- JSON: who ordered it.
  ALTER TABLE ${databaseSchemaName}.stop ADD COLUMN made_by text NOT NULL DEFAULT '{"kind":"bot"}';
  ALTER TABLE ${databaseSchemaName}.stop ADD COLUMN pull integer;
  ALTER TABLE ${databaseSchemaName}.stop ADD COLUMN cause text;
  -- Milliseconds since the epoch, by the clock of whoever tries again.
  ALTER TABLE ${databaseSchemaName}.stop ADD COLUMN try_again_at double precision;
  ALTER TABLE ${databaseSchemaName}.stop ADD COLUMN rules text;
  ALTER TABLE ${databaseSchemaName}.stop ADD COLUMN times integer NOT NULL DEFAULT 1;
  -- One refused push stopped a whole repository for good: those go on by themselves now, at once.
  UPDATE ${databaseSchemaName}.stop SET kind = 'refused', try_again_at = 0,
    reason = regexp_replace(reason, '^GitHub refused the push: ', '')
    WHERE reason LIKE 'GitHub refused the push:%';
  UPDATE ${databaseSchemaName}.stop SET branch = coalesce(substring(reason from 'the branch (.+) does not contain the validated tree'), '')
    WHERE kind = 'audit';
  UPDATE ${databaseSchemaName}.stop SET owner_as_written = split_part(repository, '/', 1),
    name_as_written = split_part(repository, '/', 2);
  ALTER TABLE ${databaseSchemaName}.stop ALTER COLUMN owner_as_written SET NOT NULL;
  ALTER TABLE ${databaseSchemaName}.stop ALTER COLUMN name_as_written SET NOT NULL;
  ALTER TABLE ${databaseSchemaName}.stop ADD PRIMARY KEY (repository, branch, kind);

  CREATE TABLE ${databaseSchemaName}.stop_event (
    id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    repository text NOT NULL,
    branch text NOT NULL,
    step text NOT NULL CHECK (step IN ('stopped', 'resumed')),
    kind text NOT NULL,
    reason text NOT NULL,
    made_by text NOT NULL,
    -- The comment that ordered it: it is obeyed once.
    comment double precision,
    at timestamptz NOT NULL DEFAULT clock_timestamp()
  );
  CREATE INDEX stop_event_of_repository ON ${databaseSchemaName}.stop_event (repository, id);
  INSERT INTO ${databaseSchemaName}.stop_event (repository, branch, step, kind, reason, made_by, at)
    SELECT repository, branch, 'stopped', kind, reason, made_by, since FROM ${databaseSchemaName}.stop;

  CREATE TABLE ${databaseSchemaName}.parked_pull (
    repository text NOT NULL,
    pull integer NOT NULL,
    reason text NOT NULL,
    state text NOT NULL,
    times integer NOT NULL,
    try_again_at double precision NOT NULL,
    parked_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (repository, pull)
  );
  `,
  `
  CREATE TABLE ${databaseSchemaName}.ready_pull (
    repository text NOT NULL,
    branch text NOT NULL,
    pull integer NOT NULL,
    snapshot jsonb NOT NULL,
    ready_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (repository, pull)
  );
  CREATE INDEX ready_pull_of_branch ON ${databaseSchemaName}.ready_pull (repository, branch, ready_at);
  `,
  `
  -- For people who look: nothing decides by these. Texts are JSON where a comment says so, for the reason told above.
  CREATE TABLE ${databaseSchemaName}.listed_repository (
    repository text PRIMARY KEY,
    owner_as_written text NOT NULL,
    name_as_written text NOT NULL,
    installation double precision NOT NULL,
    is_public boolean NOT NULL,
    listed_at double precision NOT NULL
  );
  CREATE TABLE ${databaseSchemaName}.pull_seen (
    repository text NOT NULL,
    pull integer NOT NULL,
    state text NOT NULL CHECK (state IN ('open', 'closed', 'merged')),
    verdict text NOT NULL,
    opened_at double precision NOT NULL,
    since double precision NOT NULL,
    looked_at double precision NOT NULL,
    ended_at double precision,
    head text NOT NULL,
    base_ref text NOT NULL,
    -- JSON: the rest of it.
    shown text NOT NULL,
    PRIMARY KEY (repository, pull)
  );
  CREATE INDEX pull_seen_open ON ${databaseSchemaName}.pull_seen (repository, pull) WHERE state = 'open';
  CREATE INDEX pull_seen_ended_at ON ${databaseSchemaName}.pull_seen (ended_at) WHERE ended_at IS NOT NULL;
  CREATE TABLE ${databaseSchemaName}.verdict_change (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    repository text NOT NULL,
    pull integer NOT NULL,
    at double precision NOT NULL,
    head text NOT NULL,
    base text NOT NULL,
    config text NOT NULL,
    base_ref text NOT NULL,
    verdict text NOT NULL,
    -- JSON: reasons, and a line on each check.
    shown text NOT NULL
  );
  CREATE INDEX verdict_change_of_pull ON ${databaseSchemaName}.verdict_change (repository, pull, id);
  CREATE INDEX verdict_change_at ON ${databaseSchemaName}.verdict_change (at);
  CREATE TABLE ${databaseSchemaName}.rule_met (
    repository text NOT NULL,
    day integer NOT NULL,
    rule text NOT NULL,
    pull integer NOT NULL,
    severity text NOT NULL,
    owner text NOT NULL,
    PRIMARY KEY (repository, day, rule, pull)
  );
  CREATE INDEX rule_met_day ON ${databaseSchemaName}.rule_met (day);
  CREATE TABLE ${databaseSchemaName}.recorded_catalog (
    repository text NOT NULL,
    branch text NOT NULL,
    key text NOT NULL,
    -- JSON.
    catalog text NOT NULL,
    PRIMARY KEY (repository, key)
  );
  CREATE TABLE ${databaseSchemaName}.recorded_package (
    repository text NOT NULL,
    catalog text NOT NULL,
    name text NOT NULL,
    bundles integer NOT NULL,
    stranded integer NOT NULL,
    -- JSON: a line for lists, and all of it.
    summary text NOT NULL,
    package text NOT NULL,
    PRIMARY KEY (repository, catalog, name)
  );
  CREATE TABLE ${databaseSchemaName}.seen_image (
    repository text NOT NULL,
    reference text NOT NULL,
    digest text,
    seen_at double precision NOT NULL,
    PRIMARY KEY (repository, reference)
  );
  CREATE INDEX seen_image_seen_at ON ${databaseSchemaName}.seen_image (seen_at);
  CREATE INDEX intent_landed ON ${databaseSchemaName}.intent (repository, id) WHERE outcome = 'landed';
  `,
  // SHA-256 of `package`. Postgres would take 30 ms for each megabyte.
  `ALTER TABLE ${databaseSchemaName}.recorded_package ADD COLUMN digest text;`,
]

/**
 * Brings the tables up to date. If several instances start at once, one migrates and the others wait. Rejects with
 * StoreError `too-new` if the database has steps that this program does not know. `upTo` lets tests of a step set up
 * the earlier state.
 */
export async function migrateDatabase(database: Database, upTo = migrationSteps.length): Promise<void> {
  await database.transaction(async (sql) => {
    await sql.lock('migrate')
    await sql.run(`
      CREATE SCHEMA IF NOT EXISTS ${databaseSchemaName};
      CREATE TABLE IF NOT EXISTS ${databaseSchemaName}.migration (
        step integer PRIMARY KEY,
        applied_at timestamptz NOT NULL DEFAULT clock_timestamp()
      )`)
    const [row] = await sql.query<{ last: number | null }>(
      `SELECT max(step) AS last FROM ${databaseSchemaName}.migration`,
    )
    const last = row?.last ?? 0
    if (last > migrationSteps.length)
      throw new StoreError(
        'too-new',
        `the database is at migration ${last}, but this version of catalog-bot supports only ${migrationSteps.length} migrations`,
      )
    for (const [index, step] of migrationSteps.entries()) {
      if (index < last || index >= upTo) continue
      await sql.run(step)
      await sql.query(`INSERT INTO ${databaseSchemaName}.migration (step) VALUES ($1)`, [index + 1])
    }
  })
}
