// Gets the answers that checks ask for: each question once, images through the registry, people through GitHub,
// with short-lived answers from the store. What cannot be had in time is unknown.
import { z } from 'zod'
import { userId } from '../change/ids.ts'
import { repositoryKey } from '../change/repository-key.ts'
import { answersFrom, questionKey, type AnswerTo, type Answers, type Question } from '../checks/questions.ts'
import type { Check, CheckInput } from '../checks/check.ts'
import type { Forge } from '../ports/forge.ts'
import { defineCache, type Cache } from '../ports/cache.ts'
import type { AskRegistries } from './registries.ts'

export type Answer = AnswerTo[Question['kind']]

/** How one question is answered. Must not reject. */
export type Ask = (question: Question) => Promise<Answer>

/** Checks may ask again once they know more; this many rounds are plenty for any honest chain of questions. */
const maxRounds = 6
const parallel = 32

/**
 * Asks until nobody has another question. What was `answered` before, by question, is not asked again. `allow` sees each
 * round before it is asked, and throws when it is too much.
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

/** Seconds for which GitHub's word about people's rights is kept: they may be this stale at a landing. */
const rightsSeconds = 30
/**
 * Which account has a login gives nobody a right that it lost: the account that acts is told anew each time, and one that
 * gave its login up does not have it any more. A login that nobody had may be had soon.
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

/** Answers from GitHub and registries: people's rights remembered for half a minute, their accounts for an hour. */
export function answerQuestions(forge: Forge, askRegistries: AskRegistries, store: Cache): Ask {
  return async (question) => {
    if (question.kind === 'image' || question.kind === 'bundle' || question.kind === 'install')
      return askRegistries(question)
    // Whether a comment was edited is asked when it is to be obeyed, not remembered from before.
    if (question.kind === 'comment') return forge.answer(question)
    // A check can be run again at any moment.
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

/** Runs `work` over all items, at most `limit` at once. */
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
