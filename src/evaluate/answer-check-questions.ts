// The fourth stage: asks for reviews, commands and other facts that the checks need.
import { toReviewApprovals, computeChangeCoverage } from '../checks/ownership/ownership.ts'
import type { Check, CheckInput, CheckOutcome } from '../checks/check.ts'
import { toCheckQuestionKey, type CheckQuestion } from '../checks/questions.ts'
import type { UserId } from '../pull-request/ids.ts'
import {
  findCommandApprovals,
  collectCommandQuestions,
  decideCommands,
  type CommandDecision,
  type CommandRecord,
} from '../policy/commands.ts'
import type { DescribedChange } from '../ports/pull-memory.ts'
import { resolveApprovalCoverages, toDescribedChange } from './agreed-changes.ts'
import type { EvaluateOptions } from './evaluate-options.ts'
import { gatherAnswers, type CheckAnswer, type QuestionAnswerer } from '../catalogs/gather-answers.ts'
import {
  createTooManyError,
  defaultEvaluationBudget,
  type EvaluationBudget,
} from '../catalogs/evaluation-budget.ts'
import type { BaseBranchState } from './load-base.ts'

export interface AnsweredCheckQuestions {
  readonly input: CheckInput
  readonly answers: Awaited<ReturnType<typeof gatherAnswers>>
  readonly decisions: readonly CommandDecision[]
  readonly open: CheckOutcome['unanswered']
  readonly records: readonly CommandRecord[]
  readonly described: DescribedChange
}

/** Rejects with a StoreError, and with TooLargeError where the questions exceed the budget. */
export async function answerCheckQuestions(
  checks: readonly Check[],
  { snapshot, epoch, onRecord }: BaseBranchState,
  unapproved: CheckInput,
  { ask: answerExternal, memory, repository, budget = defaultEvaluationBudget }: EvaluateOptions,
): Promise<AnsweredCheckQuestions> {
  const firstSeen = await memory.firstSeenReviews(
    snapshot.repository,
    snapshot.pull,
    epoch,
    snapshot.reviews.map(({ id }) => id),
  )
  const seenNow = new Map<string, UserId>()
  const answered = new Map<string, CheckAnswer>()
  const allow = createQuestionBudgetCheck(budget)
  const ask: QuestionAnswerer = async (question) => {
    const answer = await answerExternal(question)
    // An unknown answer may be available in the next round.
    if (answer.kind !== 'unknown') answered.set(toCheckQuestionKey(question), answer)
    if (question.kind === 'user' && answer.kind === 'person') seenNow.set(question.login, answer.person.id)
    return answer
  }
  const shown = await memory.shownHeads(snapshot.repository, snapshot.pull)
  const recent = await memory.recentCommands?.(snapshot.repository)
  const described = toDescribedChange(computeChangeCoverage(unapproved))
  const commandInput = {
    check: unapproved,
    shown,
    change: described.id,
    records: onRecord,
    ...(recent && { recent }),
  }
  const gathered = await gatherAnswers(
    [{ ask: (_input, answers) => collectCommandQuestions(commandInput, answers) }, ...checks],
    unapproved,
    ask,
    new Map(),
    allow,
  )
  const { decisions, open } = decideCommands(commandInput, gathered)
  const records = [...onRecord, ...decisions.map(({ record }) => record)]
  const agreed = await resolveApprovalCoverages({
    snapshot,
    epoch,
    seen: firstSeen,
    now: described,
    shown,
    memory,
    repository,
  })
  const approvals = [
    ...toReviewApprovals(snapshot, epoch, firstSeen, agreed),
    ...findCommandApprovals(records, snapshot.comments),
  ]
  // Checks cache their judgment by input identity, so an unchanged input stays the same object.
  const input: CheckInput = approvals.length === 0 ? unapproved : { ...unapproved, approvals }
  const answers = await gatherAnswers(checks, input, ask, answered, allow)
  if (seenNow.size > 0) await memory.firstSeenAccounts(snapshot.repository, seenNow)
  return { input, answers, decisions, open, records, described }
}

/** Counts questions before asking any, so exceeding the budget costs no request. */
function createQuestionBudgetCheck(budget: EvaluationBudget): (questions: readonly CheckQuestion[]) => void {
  const counted = { people: new Set<string>(), images: new Set<string>() }
  return (questions) => {
    for (const question of questions) {
      const isImage = question.kind === 'image' || question.kind === 'bundle' || question.kind === 'install'
      counted[isImage ? 'images' : 'people'].add(toCheckQuestionKey(question))
    }
    if (counted.people.size > budget.people)
      throw createTooManyError(counted.people.size, 'GitHub users to look up', budget.people)
    if (counted.images.size > budget.images)
      throw createTooManyError(counted.images.size, 'images to look up', budget.images)
  }
}
