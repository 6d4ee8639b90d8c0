// Evaluates one pull request in stages, from a snapshot to a verdict: load the base, compare, read, ask, evaluate, and
// decide. Has no side effects. The App and the command line share this module.
import { addFindingEndPositions } from '@catalog-bot/fbc/positions/finding-ends'
import type { Finding } from '@catalog-bot/findings/finding'
import { allChecks } from '../checks/all-checks.ts'
import type { PostReleaseCatalog } from '../checks/bundles/post-release-catalog.ts'
import type { CheckOutcome, CheckInput } from '../checks/check.ts'
import type { TreeFileReader } from '../pull-request/compare-blobs.ts'
import type { PullRequestChange } from '../pull-request/change.ts'
import type { RepositoryLayout } from '../pull-request/layout/layout.ts'
import type { PullSnapshot } from '../pull-request/snapshot.ts'
import type { Config } from '../config/config.ts'
import { type CommandDecision, collectCommandLookups, decideCommands } from '../policy/commands.ts'
import {
  findActivePullHold,
  isCommandStillValid,
  findMergeCommand,
  type CommandRecord,
  applyRuleOverrides,
  findActiveRuleOverrides,
  type RuleOverride,
} from '../policy/command-records.ts'
import {
  decideVerdict,
  type VerdictInput,
  type TestMergeResult,
  type CompletedCheckRunLookup,
} from '../policy/decide.ts'
import type { PullVerdict } from '../policy/verdict.ts'
import { formatMergeMessage } from '../report/merge-message.ts'
import type { PullChangeFingerprint } from '../ports/pull-history.ts'
import { resolveCheckLookups, startImageLookups, type ResolvedCheckLookups } from './resolve-check-lookups.ts'
import { compareTrees, type IncomingCommitsAndClosedPulls, type TreeComparison } from './compare-trees.ts'
import { loadBaseBranchState, type BaseBranchState, type EvaluatePullOptions } from './load-base-branch.ts'
import { readCheckInput, readBaseAndResultOwnerFiles } from './read-check-input.ts'
import { selectOwnerFilePathsToRead } from '../checks/ownership/owner-files.ts'
import { fetchRequiredChecks, gatherLookupResults } from '../catalogs/gather-lookup-results.ts'

export interface SnapshotEvaluation {
  readonly snapshot: PullSnapshot
  readonly config: Config
  readonly configDigest: string
  readonly layout: RepositoryLayout
  readonly merge: TestMergeResult
  readonly change: PullRequestChange
  /** Absent where the pull request cannot be merged. */
  readonly projectedCatalogs?: readonly PostReleaseCatalog[]
  /** Absent where the pull request cannot be merged. */
  readonly incoming?: IncomingCommitsAndClosedPulls
  /** The verdict's input. Passing it to decideVerdict() gives the same verdict with a new permit. */
  readonly verdictInput: VerdictInput
  readonly verdict: PullVerdict
  readonly epoch: number
  readonly commands: readonly CommandDecision[]
  readonly records: readonly CommandRecord[]
  /** Absent where the change could not be determined. */
  readonly described?: PullChangeFingerprint | undefined
  /** Whether the command agreed to exactly the present change. */
  readonly isCommandStillValid: (record: CommandRecord) => boolean
}

/**
 * Decides on one snapshot, whose commits must already be in the repository. Rejects with a GitError or StoreError, and
 * with ChangeTooLargeError where the pull request exceeds its budget.
 */
export async function evaluatePullSnapshot(
  given: PullSnapshot,
  options: EvaluatePullOptions,
): Promise<SnapshotEvaluation> {
  const baseState = await loadBaseBranchState(given, options.repository, options.memory)
  const { config, configDigest, configFindings, merge, epoch } = baseState
  // Keeps the snapshot as given: before merging it is compared with GitHub's state, which names no pusher.
  const known = { snapshot: given, config, configDigest, merge, epoch }
  if (given.state !== 'open' || merge.kind !== 'clean' || configFindings.length > 0)
    return {
      ...known,
      ...decideVerdictWithoutDiff(baseState),
      commands: configFindings.length > 0 ? [] : await decideCommandsWithoutDiff(baseState, options),
    }

  const comparison = await compareTrees(baseState, merge.tree, options)
  const lookups = startImageLookups(baseState, comparison, options)
  const unapproved = await readCheckInput(baseState, comparison, options)
  const answered = await resolveCheckLookups(allChecks, baseState, unapproved, lookups, options)
  const evaluated = evaluateChecks(answered, comparison.treeFiles)
  const { outcomes, used } = applyRuleOverrides(
    evaluated,
    findActiveRuleOverrides(answered.records, answered.input),
  )
  // Overrides are part of the merge commit's message, so they change its id.
  const named =
    used.length === 0
      ? baseState
      : { ...baseState, merge: await createTestMergeWithOverrides(used, baseState, options) }
  // Last, because they change while the other questions are asked.
  const required = await fetchRequiredChecks(baseState, options.ask)
  return {
    ...known,
    merge: named.merge,
    ...createSnapshotEvaluationOutcome(named, comparison, answered, outcomes, required),
  }
}

function createTestMergeWithOverrides(
  used: readonly RuleOverride[],
  { snapshot, config }: BaseBranchState,
  { repository }: EvaluatePullOptions,
): Promise<TestMergeResult> {
  const message = formatMergeMessage(snapshot, config.merge.message, used)
  return repository.merge(snapshot.base, snapshot.head, message)
}

type SnapshotEvaluationOutcome = Omit<
  SnapshotEvaluation,
  'snapshot' | 'config' | 'configDigest' | 'merge' | 'epoch'
>

function evaluateChecks(
  { input, answers, open }: ResolvedCheckLookups,
  treeFiles: TreeFileReader,
): readonly CheckOutcome[] {
  return allChecks.map((check) =>
    addPendingCommandLookups(addEndLocationsToFindings(check.judge(input, answers), treeFiles), open),
  )
}

function createSnapshotEvaluationOutcome(
  baseState: BaseBranchState,
  { change, layout, paths, incoming }: TreeComparison,
  { input, decisions, records, described }: ResolvedCheckLookups,
  outcomes: readonly CheckOutcome[],
  required: readonly CompletedCheckRunLookup[],
): SnapshotEvaluationOutcome {
  const verdictInput: VerdictInput = {
    ...pickVerdictInputFromBaseState(baseState),
    changedPaths: paths.length,
    outcomes,
    required,
    heldBy: findActivePullHold(records, input),
    requestedBy: findMergeCommand(records, input)?.login,
  }
  return {
    layout,
    change,
    ...(input.projectedCatalogs && { projectedCatalogs: input.projectedCatalogs }),
    incoming,
    verdictInput,
    verdict: decideVerdict(verdictInput),
    commands: decisions,
    records,
    described,
    isCommandStillValid: (record) => isCommandStillValid(record, input),
  }
}

/** Nothing can be merged, or the rules are unknown, so there is nothing to compare. */
function decideVerdictWithoutDiff(baseState: BaseBranchState): SnapshotEvaluationOutcome {
  const { baseLayout, configFindings, recordedCommands } = baseState
  const verdictInput: VerdictInput = {
    ...pickVerdictInputFromBaseState(baseState),
    changedPaths: 1,
    outcomes: configFindings.length > 0 ? [createInvalidConfigOutcome(configFindings)] : [],
    heldBy: findActivePullHold(recordedCommands, undefined),
  }
  return {
    layout: baseLayout,
    change: { paths: [], catalogs: [], references: [] },
    verdictInput,
    verdict: decideVerdict(verdictInput),
    commands: [],
    records: recordedCommands,
    isCommandStillValid: () => false,
  }
}

function pickVerdictInputFromBaseState({ snapshot, config, configDigest, merge }: BaseBranchState) {
  return { snapshot, config, configDigest, merge }
}

function createInvalidConfigOutcome(findings: readonly Finding[]): CheckOutcome {
  return {
    check: 'ownership',
    findings,
    unanswered: [],
    waiting: [],
    summary: 'the configuration on the base branch',
  }
}

/** An undecided command might be a hold. */
function addPendingCommandLookups(outcome: CheckOutcome, open: CheckOutcome['unanswered']): CheckOutcome {
  if (outcome.check !== 'ownership' || open.length === 0) return outcome
  return { ...outcome, unanswered: [...outcome.unanswered, ...open] }
}

function addEndLocationsToFindings(outcome: CheckOutcome, treeFiles: TreeFileReader): CheckOutcome {
  const read = (path: string) => treeFiles.read('result', path) ?? treeFiles.read('base', path)
  return { ...outcome, findings: addFindingEndPositions(outcome.findings, read) }
}

/** Rejects with a GitError or StoreError. */
async function decideCommandsWithoutDiff(
  {
    snapshot,
    baseTree,
    basePaths,
    baseLayout,
    config,
    configDigest,
    epoch,
    recordedCommands,
  }: BaseBranchState,
  { ask, memory, repository }: EvaluatePullOptions,
): Promise<readonly CommandDecision[]> {
  if (!snapshot.comments.some(({ author }) => author?.kind === 'user')) return []
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
    ownerFiles: await readBaseAndResultOwnerFiles(
      repository,
      base,
      selectOwnerFilePathsToRead(basePaths, change),
    ),
    approvals: [],
  }
  const recent = await memory.recentCommands?.(snapshot.repository)
  const input = { check, shown: [], records: recordedCommands, ...(recent && { recent }) }
  const answers = await gatherLookupResults(
    [{ ask: (_input, known) => collectCommandLookups(input, known) }],
    check,
    ask,
  )
  return decideCommands(input, answers).decisions
}
