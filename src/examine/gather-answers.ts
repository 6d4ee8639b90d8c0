// Answers the checks' questions, each once, from registries, GitHub and short-lived cached answers. What isn't
// available in time is unknown.
import { z } from 'zod'
import { userId } from '../change/ids.ts'
import { repositoryKey } from '../change/repository-key.ts'
import { answersFrom, questionKey, type AnswerTo, type Answers, type Question } from '../checks/questions.ts'
import type { Check, CheckInput } from '../checks/check.ts'
import type { Forge } from '../ports/forge.ts'
import { defineCache, type Cache } from '../ports/cache.ts'
import type { AskRegistries } from './registries.ts'

export type Answer = AnswerTo[Question['kind']]

/** Must not reject. */
export type Ask = (question: Question) => Promise<Answer>

/** Checks may ask more once they know more; real chains of questions are much shorter. */
const maxRounds = 6
const parallel = 32

/**
 * Asks until no check has another question. Skips questions in `answered`. `allow` sees each round first, and throws
 * when it exceeds the budget.
 */
export async function gatherAnswers(
  checks: readonly Pick<Check, 'ask'>[],
  input: CheckInput,
  ask: Ask,
  answered: ReadonlyMap<string, Answer> = new Map(),
  allow: (questions: readonly Question[]) => void = () => undefined,
): Promise<Answers> {
  const known = new Map(answered)
  for (let round = 0; round < maxRounds; round++) {
    const answers = answersFrom(known)
    const open = new Map<string, Question>()
    for (const check of checks)
      for (const question of check.ask(input, answers)) {
        const key = questionKey(question)
        if (!known.has(key)) open.set(key, question)
      }
    if (open.size === 0) break
    allow([...open.values()])
    await eachOf([...open], parallel, async ([key, question]) => {
      known.set(key, await ask(question))
    })
  }
  return answersFrom(known)
}

/** Rights may be this stale at a merge. */
const rightsSeconds = 30
/**
 * Caching a login's account is safe because the account's rights are checked separately. Missing logins expire sooner
 * because they may be registered soon.
 */
const accountSeconds = { person: 3600, nobody: 300 } as const

const peopleAnswer = z.union([
  z.object({ kind: z.enum(['nobody', 'yes', 'no']) }),
  z.object({
    kind: z.literal('role'),
    role: z.enum(['none', 'read', 'triage', 'write', 'maintain', 'admin']),
  }),
  z.object({
    kind: z.literal('person'),
    person: z.object({
      id: z.int().positive().transform(userId),
      login: z.string(),
      kind: z.enum(['user', 'bot']),
    }),
  }),
])
const peopleAnswers = defineCache<Answer>('people', {
  version: 1,
  read: (stored) => peopleAnswer.safeParse(stored).data,
})

function secondsToKeep(question: Question, answer: Answer): number {
  if (question.kind !== 'user') return rightsSeconds
  return answer.kind === 'person' || answer.kind === 'nobody' ? accountSeconds[answer.kind] : rightsSeconds
}

/** People's rights are cached for half a minute, their accounts for an hour. */
export function answerQuestions(forge: Forge, askRegistries: AskRegistries, store: Cache): Ask {
  return async (question) => {
    if (question.kind === 'image' || question.kind === 'bundle' || question.kind === 'install')
      return askRegistries(question)
    // Whether a comment was edited must be current when its command is obeyed.
    if (question.kind === 'comment') return forge.answer(question)
    // A check can be rerun at any moment.
    if (question.kind === 'check-run') return forge.answer(question)
    const key = `${repositoryKey(forge.repository)} ${questionKey(question)}`.toLowerCase()
    const cached = (await store.getCached(peopleAnswers, [key])).get(key)
    if (cached !== undefined) return cached
    const answer = await forge.answer(question)
    if (answer.kind !== 'unknown')
      await store.putCached(peopleAnswers, new Map([[key, answer]]), secondsToKeep(question, answer))
    return answer
  }
}

export async function eachOf<T>(
  items: readonly T[],
  limit: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const queue = items.values()
  const lane = async () => {
    for (const item of queue) await work(item)
  }
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, lane))
}
