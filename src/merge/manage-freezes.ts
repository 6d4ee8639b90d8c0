// Freezes and unfreezes merging, as a comment command, the command line, or the server requests.
import { z } from 'zod'
import type { FreezeAuthor, MergeFreeze, FreezeEvent } from '../policy/merge-freeze.ts'
import type { MergeFreezeStore } from '../ports/merge-records.ts'
import type { PullSnapshot } from '../pull-request/snapshot.ts'
import type { CommandRecord } from '../policy/command-records.ts'
import type { JobQueue } from '../ports/jobs.ts'
import type { JobContext } from '../jobs/job-context.ts'

/** Postgres accepts neither a NUL nor an unpaired surrogate. */
const postgresSafeTextSchema = z
  .string()
  .max(255)
  .regex(/^[^\p{Cc}\p{Cs}]+$/u)
const repositorySchema = z
  .object({ owner: postgresSafeTextSchema.max(100), name: postgresSafeTextSchema.max(100) })
  .strict()

const freezeChangeFields = {
  repository: repositorySchema,
  branch: postgresSafeTextSchema.optional(),
  reason: z.string().max(1000),
  user: postgresSafeTextSchema.max(100),
}

/** Requests can arrive through a socket, so they are validated. */
export const freezeRequestSchema = z.discriminatedUnion('verb', [
  z.object({ verb: z.literal('list'), repository: repositorySchema.optional() }).strict(),
  z.object({ verb: z.literal('stop'), ...freezeChangeFields }).strict(),
  /** `audit`: whether to include freezes requested by an audit. */
  z.object({ verb: z.literal('resume'), ...freezeChangeFields, audit: z.boolean() }).strict(),
])

export type ManageFreezesRequest = z.output<typeof freezeRequestSchema>

export interface ManageFreezesResponse {
  readonly changed: readonly MergeFreeze[]
  readonly stops: readonly MergeFreeze[]
  /** Earlier events of one repository, newest first. */
  readonly events: readonly FreezeEvent[]
}

const maxListedFreezeEvents = 20

/** Handles freeze requests from the command line, directly on the store or in the server. */
export async function handleFreezeRequest(
  request: ManageFreezesRequest,
  store: MergeFreezeStore,
): Promise<ManageFreezesResponse> {
  const changed = await applyFreezeRequest(request, store)
  return {
    changed,
    stops: await store.listFreezes(request.repository),
    events:
      request.repository === undefined
        ? []
        : await store.listFreezeEvents(request.repository, maxListedFreezeEvents),
  }
}

async function applyFreezeRequest(
  request: ManageFreezesRequest,
  store: MergeFreezeStore,
): Promise<readonly MergeFreeze[]> {
  if (request.verb === 'list') return []
  const { repository: of, branch, reason, user } = request
  const by: FreezeAuthor = { kind: 'command-line', user }
  if (request.verb === 'stop') {
    const freeze = await store.freezeMerges({ repository: of, branch, kind: 'frozen', reason, by })
    return freeze === undefined ? [] : [freeze]
  }
  const kinds = request.audit ? (['frozen', 'refused', 'audit'] as const) : (['frozen', 'refused'] as const)
  return store.unfreezeMerges({ repository: of, branch, kinds, by, reason })
}

/**
 * Handles /freeze and /thaw. They affect a branch, so all pull requests are evaluated afterwards. Returns whether a
 * freeze began or ended. Idempotent by comment id.
 */
export async function executeFreezeCommand(
  { command, outcome, stop, login, user, comment }: CommandRecord,
  { repository, pull, comments }: PullSnapshot,
  { app, installation }: JobContext<MergeFreezeStore & JobQueue>,
): Promise<boolean> {
  if (outcome !== 'done' || stop === undefined) return false
  const { branch, reason, kinds } = stop
  const by = { kind: 'person', login, user, comment } as const
  if (command === 'freeze') {
    const started = await app.store.freezeMerges({ repository, branch, kind: 'frozen', reason, by, pull })
    if (started === undefined) return false
  } else {
    const commandedAt = Date.parse(comments.find(({ id }) => id === comment)?.createdAt ?? '')
    const ended = await app.store.unfreezeMerges({
      repository,
      branch,
      kinds,
      by,
      reason,
      requestedAt: commandedAt,
    })
    if (ended.length === 0) return false
  }
  app.log.info({ repository, branch, command, login }, 'a maintainer changed a merge freeze')
  await app.store.enqueue({ kind: 'sweep', installation, repository })
  return true
}
