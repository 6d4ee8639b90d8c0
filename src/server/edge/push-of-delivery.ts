// Finds who pushed a head. Only the signed delivery says so; missing or contradictory data is treated as unknown.
import { z } from 'zod'
import { toCommitSha, toPullNumber, toUserId } from '../../pull-request/ids.ts'
import type { RecordedHeadPush } from '../../ports/pull-memory.ts'

/** Postgres accepts neither NUL nor unpaired surrogates. */
export const postgresSafeNameSchema = z.string().regex(/^[^\p{Cc}\p{Cs}]+$/u)
const shaSchema = z.string().regex(/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/)
const pushPayloadSchema = z.object({
  action: z.enum(['opened', 'synchronize']),
  repository: z.object({ name: postgresSafeNameSchema, owner: z.object({ login: postgresSafeNameSchema }) }),
  pull_request: z.object({ number: z.number().int().positive(), head: z.object({ sha: shaSchema }) }),
  after: shaSchema.optional(),
  sender: z.object({
    id: z.number().int().positive(),
    login: postgresSafeNameSchema,
    type: z.string().optional(),
  }),
})

/**
 * Returns the sender of an `opened` or `synchronize` delivery with the head it pushed. The sender who opens a pull
 * request counts as the pusher of its head; reopening proves nothing.
 */
export function parsePushFromDelivery(event: string, body: unknown): RecordedHeadPush | undefined {
  if (event !== 'pull_request') return undefined
  const value = pushPayloadSchema.safeParse(body).data
  if (!value) return undefined
  const { repository, pull_request: pull, after, sender } = value
  if (after !== undefined && after !== pull.head.sha) return undefined
  return {
    repository: { owner: repository.owner.login, name: repository.name },
    pull: toPullNumber(pull.number),
    head: toCommitSha(pull.head.sha),
    pusher: { id: toUserId(sender.id), login: sender.login, kind: sender.type === 'Bot' ? 'bot' : 'user' },
  }
}
