// Finds who pushed a head. Only the signed delivery says so; missing or contradictory data is treated as unknown.
import { z } from 'zod'
import { commitSha, pullNumber, userId } from '../../change/ids.ts'
import type { SeenPush } from '../../ports/pull-memory.ts'

/** Postgres accepts neither NUL nor unpaired surrogates. */
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
 * Returns the sender of an `opened` or `synchronize` delivery with the head it pushed. The sender who opens a pull
 * request counts as the pusher of its head; reopening proves nothing.
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
