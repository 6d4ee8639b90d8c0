// The fourth stage: asks for reviews, commands and other facts that the checks need.
import { approvalsFromReviews, coverage } from '../checks/ownership/ownership.ts'
import type { Check, CheckInput, CheckOutcome } from '../checks/check.ts'
import { questionKey, type Question } from '../checks/questions.ts'
import type { UserId } from '../change/ids.ts'
import {
  approvalsFromCommands,
  askCommands,
  decideCommands,
  type CommandDecision,
  type CommandRecord,
} from '../gate/commands.ts'
import type { DescribedChange } from '../ports/pull-memory.ts'
import { agreedChanges, describedChange } from './agreed-changes.ts'
import type { ExamineOptions } from './examine-options.ts'
import { gatherAnswers, type Answer, type Ask } from './gather-answers.ts'
import { tooMany, usualBudget, type LookBudget } from './looks/look-budget.ts'
import type { Standing } from './stand-on-base.ts'

export interface Answered {
  readonly input: CheckInput
  readonly answers: Awaited<ReturnType<typeof gatherAnswers>>
  readonly decisions: readonly CommandDecision[]
  readonly open: CheckOutcome['unanswered']
  readonly records: readonly CommandRecord[]
  readonly described: DescribedChange
}

/** Rejects with a StoreError, and with TooLarge where the questions exceed the budget. */
export async function askChecks(
  checks: readonly Check[],
  { snapshot, epoch, onRecord }: Standing,
  unapproved: CheckInput,
  { ask: askWorld, memory, repository, budget = usualBudget }: ExamineOptions,
): Promise<Answered> {
  const seen = await memory.firstSeenReviews(
    snapshot.repository,
    snapshot.pull,
    epoch,
    snapshot.reviews.map(({ id }) => id),
  )
  const seenNow = new Map<string, UserId>()
  const answered = new Map<string, Answer>()
  const allow = withinBudget(budget)
  const ask: Ask = async (question) => {
    const answer = await askWorld(question)
    // An unknown answer may be available in the next round.
    if (answer.kind !== 'unknown') answered.set(questionKey(question), answer)
    if (question.kind === 'user' && answer.kind === 'person') seenNow.set(question.login, answer.person.id)
    return answer
  }
  const shown = await memory.shownHeads(snapshot.repository, snapshot.pull)
  const recent = await memory.recentCommands?.(snapshot.repository)
  const described = describedChange(coverage(unapproved))
  const commandInput = {
    check: unapproved,
    shown,
    change: described.id,
    records: onRecord,
    ...(recent && { recent }),
  }
  const asked = await gatherAnswers(
    [{ ask: (_input, answers) => askCommands(commandInput, answers) }, ...checks],
    unapproved,
    ask,
    new Map(),
    allow,
  )
  const { decisions, open } = decideCommands(commandInput, asked)
  const records = [...onRecord, ...decisions.map(({ record }) => record)]
  const agreed = await agreedChanges({ snapshot, epoch, seen, now: described, shown, memory, repository })
  const approvals = [
    ...approvalsFromReviews(snapshot, epoch, seen, agreed),
    ...approvalsFromCommands(records, snapshot.comments),
  ]
  // Checks cache their judgment by input identity, so an unchanged input stays the same object.
  const input: CheckInput = approvals.length === 0 ? unapproved : { ...unapproved, approvals }
  const answers = await gatherAnswers(checks, input, ask, answered, allow)
  if (seenNow.size > 0) await memory.firstSeenAccounts(snapshot.repository, seenNow)
  return { input, answers, decisions, open, records, described }
}

/** Counts questions before asking any, so exceeding the budget costs no request. */
function withinBudget(budget: LookBudget): (questions: readonly Question[]) => void {
  const asked = { people: new Set<string>(), images: new Set<string>() }
  return (questions) => {
    for (const question of questions) {
      const isImage = question.kind === 'image' || question.kind === 'bundle' || question.kind === 'install'
      asked[isImage ? 'images' : 'people'].add(questionKey(question))
    }
    if (asked.people.size > budget.people)
      throw tooMany(asked.people.size, 'questions to GitHub about people', budget.people)
    if (asked.images.size > budget.images)
      throw tooMany(asked.images.size, 'images to look up', budget.images)
  }
}
