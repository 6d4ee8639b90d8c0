// Answers each question of the checks once. An answer that isn't available in time is unknown.
import pLimit from 'p-limit'
import { z } from 'zod'
import { toUserId } from '../pull-request/ids.ts'
import { toRepositoryKey } from '../pull-request/snapshot.ts'
import { toRequiredCheckLookups, type CompletedCheckRunLookup } from '../policy/decide.ts'
import {
  createLookupResults,
  isRegistryLookup,
  toLookupKey,
  type LookupResultByKind,
  type LookupResults,
  type LookupRequest,
} from '../checks/lookups.ts'
import type { CheckInput } from '../checks/check.ts'
import type { Forge } from '../ports/forge.ts'
import { defineCacheNamespace, type Cache } from '../ports/cache.ts'
import type { RegistryLookupResolver } from './registries.ts'

export type LookupResult = LookupResultByKind[LookupRequest['kind']]

/** Must not reject. */
export type LookupResolver = (question: LookupRequest) => Promise<LookupResult>

/** Checks may ask more once they know more; real chains of questions are much shorter. */
const maxLookupRounds = 6
const maxParallelLookups = 32

/** Asks until no check has another question. `allow` sees each round first, and throws when it exceeds the budget. */
export async function gatherLookupResults<Input>(
  checks: readonly { ask(input: Input, answers: LookupResults): readonly LookupRequest[] }[],
  input: Input,
  answerQuestion: LookupResolver,
  allow: (questions: readonly LookupRequest[]) => void = () => undefined,
): Promise<LookupResults> {
  const known = new Map<string, LookupResult>()
  for (let round = 0; round < maxLookupRounds; round++) {
    const answers = createLookupResults(known)
    const open = new Map<string, LookupRequest>()
    for (const check of checks)
      for (const question of check.ask(input, answers)) {
        const key = toLookupKey(question)
        if (!known.has(key)) open.set(key, question)
      }
    if (open.size === 0) break
    allow([...open.values()])
    await pLimit(maxParallelLookups).map(open, async ([key, question]) => {
      known.set(key, await answerQuestion(question))
    })
  }
  return createLookupResults(known)
}

/** Asks each question once, and shares the answer, which may be unknown. */
export function memoizeLookups(answerQuestion: LookupResolver): LookupResolver {
  const asked = new Map<string, Promise<LookupResult>>()
  return (question) => {
    const key = toLookupKey(question)
    const answer = asked.get(key) ?? answerQuestion(question)
    asked.set(key, answer)
    return answer
  }
}

/** Reads the checks of other Apps that the configuration requires on the head. */
export async function fetchRequiredChecks(
  { snapshot, config }: Pick<CheckInput, 'snapshot' | 'config'>,
  answerQuestion: LookupResolver,
): Promise<readonly CompletedCheckRunLookup[]> {
  return Promise.all(
    toRequiredCheckLookups(config.merge.requires, snapshot.head).map(async (question) => ({
      question,
      answer: (await answerQuestion(question)) as CompletedCheckRunLookup['answer'],
    })),
  )
}

/** Rights may be this stale at a merge. */
const permissionCacheSeconds = 30
/**
 * Caching a login's account is safe because the account's rights are checked separately. Missing logins expire sooner
 * because they may be registered soon.
 */
const accountLookupCacheSeconds = { person: 3600, nobody: 300 } as const

const accountLookupResultSchema = z.union([
  z.object({ kind: z.enum(['nobody', 'yes', 'no']) }),
  z.object({
    kind: z.literal('role'),
    role: z.enum(['none', 'read', 'triage', 'write', 'maintain', 'admin']),
  }),
  z.object({
    kind: z.literal('person'),
    person: z.object({
      id: z.int().positive().transform(toUserId),
      login: z.string(),
      kind: z.enum(['user', 'bot']),
    }),
  }),
])
// The type makes storing an answer that the schema cannot read an error.
const accountLookupCacheNamespace = defineCacheNamespace('people', 1, accountLookupResultSchema)

function getLookupCacheSeconds(question: LookupRequest, answer: LookupResult): number {
  if (question.kind !== 'user') return permissionCacheSeconds
  return answer.kind === 'person' || answer.kind === 'nobody'
    ? accountLookupCacheSeconds[answer.kind]
    : permissionCacheSeconds
}

/** People's rights are cached for half a minute, their accounts for an hour. */
export function createLookupResolver(
  forge: Forge,
  answerImageQuestion: RegistryLookupResolver,
  store: Cache,
): LookupResolver {
  return async (question) => {
    if (isRegistryLookup(question)) return answerImageQuestion(question)
    // Whether a comment was edited must be current when its command is obeyed, and a check can be rerun at any moment.
    if (question.kind === 'comment' || question.kind === 'check-run') return forge.answer(question)
    const key = `${toRepositoryKey(forge.repository)} ${toLookupKey(question)}`
    const cached = (await store.getCached(accountLookupCacheNamespace, [key])).get(key)
    if (cached !== undefined) return cached
    const answer = await forge.answer(question)
    if (answer.kind !== 'unknown')
      await store.putCached(
        accountLookupCacheNamespace,
        new Map([[key, answer]]),
        getLookupCacheSeconds(question, answer),
      )
    return answer
  }
}
