// Takes one pull request from a snapshot to a verdict in stages: stand on base, compare, read, ask, judge, decide.
// Changes nothing in the world; the App and the command line share it.
import { addFindingEnds } from '@catalog-bot/fbc/positions/finding-ends'
import type { Finding } from '@catalog-bot/findings/finding'
import { allChecks } from '../checks/all-checks.ts'
import type { ProjectedCatalog } from '../checks/bundles/projected-catalog.ts'
import type { CheckOutcome, CheckInput } from '../checks/check.ts'
import type { TreeFileReader } from '../pull-request/compare-blobs.ts'
import type { PullRequestChange } from '../pull-request/change.ts'
import type { RepositoryLayout } from '../pull-request/layout/layout.ts'
import type { PullSnapshot } from '../pull-request/snapshot.ts'
import type { Config } from '../config/config.ts'
import {
  findActivePullHold,
  isCommandCurrent,
  findMergeRequest,
  type CommandDecision,
  type CommandRecord,
  collectCommandQuestions,
  decideCommands,
} from '../policy/commands.ts'
import { decideVerdict, type GateInput, type TestMergeResult } from '../policy/decide.ts'
import { applyOverrides, findActiveOverrides, type RuleOverride } from '../policy/overrides.ts'
import { toRequiredCheckQuestions, type RequiredCheckAnswer } from '../policy/required-checks.ts'
import type { PullVerdict } from '../policy/verdict.ts'
import { formatMergeMessage } from '../report/merge-message.ts'
import type { DescribedChange } from '../ports/pull-memory.ts'
import { answerCheckQuestions, type AnsweredCheckQuestions } from './answer-check-questions.ts'
import { compareTrees, type IncomingChanges, type TreeComparison } from './compare-trees.ts'
import type { EvaluateOptions } from './evaluate-options.ts'
import { readCheckInput, readOwnerFiles } from './read-check-input.ts'
import { loadBaseBranchState, type BaseBranchState } from './load-base.ts'
import { selectOwnerFilesToRead } from '../checks/ownership/ownership.ts'
import { gatherAnswers } from '../catalogs/gather-answers.ts'

export interface Evaluation {
  readonly snapshot: PullSnapshot
  readonly config: Config
  readonly configDigest: string
  readonly layout: RepositoryLayout
  readonly merge: TestMergeResult
  readonly change: PullRequestChange
  /** Absent where the pull request cannot be merged. */
  readonly becoming?: readonly ProjectedCatalog[]
  /** Absent where the pull request cannot be merged. */
  readonly carried?: IncomingChanges
  /** The verdict's input. Passing it to decideVerdict() gives the same verdict with a new permit. */
  readonly gate: GateInput
  readonly verdict: PullVerdict
  readonly epoch: number
  readonly commands: readonly CommandDecision[]
  readonly records: readonly CommandRecord[]
  /** Absent where the change could not be determined. */
  readonly described?: DescribedChange
  /** Whether the command agreed to exactly the present change. */
  readonly isYesToThis: (record: CommandRecord) => boolean
}

/**
 * Decides on one snapshot, whose commits must already be in the repository. Rejects with a GitError or StoreError, and
 * with TooLargeError where the pull request exceeds its budget.
 */
export async function evaluateSnapshot(given: PullSnapshot, options: EvaluateOptions): Promise<Evaluation> {
  const baseState = await loadBaseBranchState(given, options.repository, options.memory)
  const { config, configDigest, configFindings, merge, epoch } = baseState
  // Keeps the snapshot as given: before merging it is compared with GitHub's state, which names no pusher.
  const known = { snapshot: given, config, configDigest, merge, epoch }
  if (given.state !== 'open' && configFindings.length === 0)
    return {
      ...known,
      ...decideWithoutComparison(baseState),
      commands: await decideClosedPullCommands(baseState, options),
    }
  if (merge.kind !== 'clean' || configFindings.length > 0)
    return { ...known, ...decideWithoutComparison(baseState) }

  const comparison = await compareTrees(baseState, merge.tree, options)
  const unapproved = await readCheckInput(baseState, comparison, options)
  const answered = await answerCheckQuestions(allChecks, baseState, unapproved, options)
  const judged = evaluateChecks(answered, comparison.treeFiles)
  const { outcomes, used } = applyOverrides(judged, findActiveOverrides(answered.records, answered.input))
  // Overrides are part of the merge commit's message, so they change its id.
  const named =
    used.length === 0
      ? baseState
      : { ...baseState, merge: await recreateMergeWithOverrides(used, baseState, options) }
  const required = await fetchRequiredChecks(baseState, options)
  return {
    ...known,
    merge: named.merge,
    ...toEvaluationDecision(named, comparison, answered, outcomes, required),
  }
}

function recreateMergeWithOverrides(
  used: readonly RuleOverride[],
  { snapshot, config }: BaseBranchState,
  { repository }: EvaluateOptions,
): Promise<TestMergeResult> {
  const message = formatMergeMessage(snapshot, config.merge.message, used)
  return repository.merge(snapshot.base, snapshot.head, message)
}

type EvaluationDecision = Omit<Evaluation, 'snapshot' | 'config' | 'configDigest' | 'merge' | 'epoch'>

function evaluateChecks(
  { input, answers, open }: AnsweredCheckQuestions,
  treeFiles: TreeFileReader,
): readonly CheckOutcome[] {
  return allChecks.map((check) =>
    addUndecidedCommandQuestions(addEndLocationsToFindings(check.judge(input, answers), treeFiles), open),
  )
}

function toEvaluationDecision(
  baseState: BaseBranchState,
  { change, layout, paths, carried }: TreeComparison,
  { input, decisions, records, described }: AnsweredCheckQuestions,
  outcomes: readonly CheckOutcome[],
  required: readonly RequiredCheckAnswer[],
): EvaluationDecision {
  const gate: GateInput = {
    ...toGateInput(baseState),
    changedPaths: paths.length,
    outcomes,
    required,
    heldBy: findActivePullHold(records, input),
    requestedBy: findMergeRequest(records, input)?.login,
  }
  return {
    layout,
    change,
    ...(input.projectedCatalogs && { becoming: input.projectedCatalogs }),
    carried,
    gate,
    verdict: decideVerdict(gate),
    commands: decisions,
    records,
    described,
    isYesToThis: (record) => isCommandCurrent(record, input),
  }
}

/** Reads required checks of other Apps last, because they change while the other questions are asked. */
async function fetchRequiredChecks(
  { snapshot, config }: BaseBranchState,
  { ask }: EvaluateOptions,
): Promise<readonly RequiredCheckAnswer[]> {
  return Promise.all(
    toRequiredCheckQuestions(config.merge.requires, snapshot.head).map(async (question) => ({
      question,
      answer: (await ask(question)) as RequiredCheckAnswer['answer'],
    })),
  )
}

/** Nothing can be merged, or the rules are unknown, so there is nothing to compare. */
function decideWithoutComparison(baseState: BaseBranchState): EvaluationDecision {
  const { baseLayout, configFindings, onRecord } = baseState
  const gate: GateInput = {
    ...toGateInput(baseState),
    changedPaths: 1,
    outcomes: configFindings.length > 0 ? [createConfigProblemOutcome(configFindings)] : [],
    heldBy: findActivePullHold(onRecord, undefined),
  }
  return {
    layout: baseLayout,
    change: { paths: [], catalogs: [], references: [] },
    gate,
    verdict: decideVerdict(gate),
    commands: [],
    records: onRecord,
    isYesToThis: () => false,
  }
}

function toGateInput({ snapshot, config, configDigest, merge }: BaseBranchState) {
  return { snapshot, config, configDigest, merge }
}

function createConfigProblemOutcome(findings: readonly Finding[]): CheckOutcome {
  return {
    check: 'ownership',
    findings,
    unanswered: [],
    waiting: [],
    summary: 'the configuration on the base branch',
  }
}

/** An undecided command may be a hold. */
function addUndecidedCommandQuestions(outcome: CheckOutcome, open: CheckOutcome['unanswered']): CheckOutcome {
  if (outcome.check !== 'ownership' || open.length === 0) return outcome
  return { ...outcome, unanswered: [...outcome.unanswered, ...open] }
}

function addEndLocationsToFindings(outcome: CheckOutcome, treeFiles: TreeFileReader): CheckOutcome {
  const read = (path: string) => treeFiles.read('result', path) ?? treeFiles.read('base', path)
  return { ...outcome, findings: addFindingEnds(outcome.findings, read) }
}

/** Rejects with a GitError or StoreError. */
async function decideClosedPullCommands(
  { snapshot, baseTree, basePaths, baseLayout, config, configDigest, epoch, onRecord }: BaseBranchState,
  { ask, memory, repository }: EvaluateOptions,
): Promise<readonly CommandDecision[]> {
  const change = { paths: [], catalogs: [], references: [] }
  const base = { base: baseTree, result: baseTree }
  const check: CheckInput = {
    accounts: await memory.firstSeenAccounts(snapshot.repository, new Map()),
    snapshot,
    config,
    configDigest,
    epoch,
    layout: baseLayout,
    change,
    basePaths,
    ownerFiles: await readOwnerFiles(repository, base, selectOwnerFilesToRead(basePaths, change)),
    approvals: [],
  }
  const recent = await memory.recentCommands?.(snapshot.repository)
  const input = { check, shown: [], change: '', records: onRecord, ...(recent && { recent }) }
  const answers = await gatherAnswers(
    [{ ask: (_input, known) => collectCommandQuestions(input, known) }],
    check,
    ask,
  )
  return decideCommands(input, answers).decisions
}
