// Who brought a head, by the delivery that tells of it: GitHub says it nowhere else (T24). The delivery is signed;
// what it does not say, or says in two ways, is not known. Decides nothing.
import { z } from 'zod'
import { commitSha, pullNumber, userId } from '../../change/ids.ts'
import type { SeenPush } from '../../ports/pull-memory.ts'

/** A name as GitHub has them. Postgres takes neither a NUL nor half a surrogate pair. */
export const nameText = z.string().regex(/^[^\p{Cc}\p{Cs}]+$/u)
const sha = z.string().regex(/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/)
const payload = z.object({
  action: z.enum(['opened', 'synchronize']),
  repository: z.object({ name: nameText, owner: z.object({ login: nameText }) }),
  pull_request: z.object({ number: z.number().int().positive(), head: z.object({ sha }) }),
  after: sha.optional(),
  sender: z.object({
    id: z.number().int().positive(),
    login: nameText,
    type: z.string().optional(),
  }),
})

/**
 * The sender of a pull request's `opened` or `synchronize` delivery with the head it brought; undefined for others.
 * Whoever opens a pull request stands for the head it has then; reopening one says nothing of the kind.
 */
export function pushOfDelivery(event: string, body: unknown): SeenPush | undefined {
  if (event !== 'pull_request') return undefined
  const value = payload.safeParse(body).data
  if (!value) return undefined
  const { repository, pull_request: pull, after, sender } = value
  if (after !== undefined && after !== pull.head.sha) return undefined
  return {
    repository: { owner: repository.owner.login, name: repository.name },
    pull: pullNumber(pull.number),
    head: commitSha(pull.head.sha),
    pusher: { id: userId(sender.id), login: sender.login, kind: sender.type === 'Bot' ? 'bot' : 'user' },
  }
}
