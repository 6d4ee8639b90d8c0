// Sends signed build requests to a webhook until it accepts them, always with the same id, and polls the build's status
// if possible. Only the publishing process knows the secret.
import { createHash } from 'node:crypto'
import type { CommitSha } from '../pull-request/ids.ts'
import type { RebuildState } from '../report/rebuild-check.ts'
import type { JobContext } from '../jobs/job-context.ts'

export interface WebhookRebuild {
  readonly commit: CommitSha
  readonly catalogs: readonly string[]
  readonly dispatchedAt?: number
  readonly attempts?: number
  /** Milliseconds since the epoch; do not send before. */
  readonly again?: number
  /** The build's status URL. */
  readonly status?: string
}

export type WebhookRebuildStepResult<Rebuild> =
  | { readonly next: Rebuild; readonly shown?: RebuildState }
  /** The rebuild ended. */
  | { readonly next?: undefined; readonly shown: RebuildState }

const maxWebhookAttempts = 10
/** Milliseconds. */
const maxWebhookRetryDelayMs = 10 * 60_000

/** Stable across restarts, so that the receiver can drop duplicates. */
export function computeDeliveryId(
  repository: string,
  branch: string,
  { commit, catalogs }: WebhookRebuild,
): string {
  return createHash('sha256')
    .update(JSON.stringify([repository.toLowerCase(), branch, commit, catalogs]))
    .digest('hex')
    .slice(0, 32)
}

export async function advanceWebhookRebuild<Rebuild extends WebhookRebuild>(
  url: string,
  rebuild: Rebuild,
  branch: string,
  { app, forge, installation }: JobContext,
): Promise<WebhookRebuildStepResult<Rebuild>> {
  const { commit, catalogs, dispatchedAt, attempts = 0, again = 0, status } = rebuild
  const { owner, name } = forge.repository
  const requester = { github: forge.repository, installation, url }
  const now = app.clock.now()
  if (dispatchedAt === undefined) {
    if (now < again) return { next: rebuild }
    const delivery = computeDeliveryId(`${owner}/${name}`, branch, rebuild)
    const payload = { repository: `${owner}/${name}`, branch, commit, catalogs }
    const answer = await app.publishing.order({ kind: 'deliver', ...requester, delivery, payload })
    if (answer.kind === 'delivered')
      return {
        next: {
          ...rebuild,
          dispatchedAt: now,
          ...(answer.status !== undefined && { status: answer.status }),
        },
      }
    const why = 'why' in answer ? answer.why : answer.kind
    if (answer.kind !== 'failed' || !answer.retryable || attempts + 1 >= maxWebhookAttempts)
      return { shown: { kind: 'not-dispatched', why } }
    const wait = Math.min(app.settings.publishRetrySeconds * 1000 * 2 ** attempts, maxWebhookRetryDelayMs)
    return {
      next: { ...rebuild, attempts: attempts + 1, again: now + wait },
      shown: { kind: 'retrying', why },
    }
  }
  if (status === undefined) return { shown: { kind: 'received' } }
  const answer = await app.publishing.order({ kind: 'follow', ...requester, status })
  if (answer.kind === 'followed') {
    const shown = { kind: answer.state, ...(answer.url !== undefined && { url: answer.url }) }
    return answer.state === 'running' ? { next: rebuild, shown } : { shown }
  }
  return answer.kind === 'failed' && answer.retryable
    ? { next: rebuild, shown: { kind: 'running' } }
    : { shown: { kind: 'received' } }
}
