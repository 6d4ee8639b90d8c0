// Takes one pull request from a snapshot to a verdict in stages: stand on base, compare, read, ask, judge, decide.
// Changes nothing in the world; the App and the command line share it.
import { allChecks } from '../checks/all-checks.ts'
import type { Becoming } from '../checks/bundles/becoming.ts'
import type { CheckOutcome } from '../checks/check.ts'
import { withEnds } from '../catalog/positions/ends.ts'
import type { Texts } from '../change/blob-text.ts'
import type { Change } from '../change/change.ts'
import type { Layout } from '../change/layout/layout.ts'
import type { Snapshot } from '../change/snapshot.ts'
import type { Config } from '../config/config.ts'
import type { Finding } from '../findings/finding.ts'
import {
  heldBy,
  isYesTo,
  mergeRequestedBy,
  type CommandDecision,
  type CommandRecord,
} from '../gate/commands.ts'
import { decide, type GateInput, type MergeOutcome } from '../gate/decide.ts'
import { override, overridesOf, type Override } from '../gate/overrides.ts'
import { askRequired, type RequiredAnswer } from '../gate/required-checks.ts'
import type { Verdict } from '../gate/verdict.ts'
import { mergeMessage } from '../messages/merge-message.ts'
import type { DescribedChange } from '../ports/pull-memory.ts'
import { askChecks, type Answered } from './ask-checks.ts'
import { commandsOfClosed } from './closed-pull.ts'
import { compareTrees, type Carried, type Comparison } from './compare-trees.ts'
import type { ExamineOptions } from './examine-options.ts'
import { readCheckInput } from './read-check-input.ts'
import { standOnBase, type Standing } from './stand-on-base.ts'

export interface Examination {
  readonly snapshot: Snapshot
  readonly config: Config
  readonly configDigest: string
  readonly layout: Layout
  readonly merge: MergeOutcome
  readonly change: Change
  /** Absent where the pull request cannot be merged. */
  readonly becoming?: readonly Becoming[]
  /** Absent where the pull request cannot be merged. */
  readonly carried?: Carried
  /** The verdict's input. Passing it to decide() gives the same verdict with a new permit. */
  readonly gate: GateInput
  readonly verdict: Verdict
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
 * with TooLarge where the pull request exceeds its budget.
 */
export async function examine(given: Snapshot, options: ExamineOptions): Promise<Examination> {
  const standing = await standOnBase(given, options.repository, options.memory)
  const { config, configDigest, configFindings, merge, epoch } = standing
  // Keeps the snapshot as given: before merging it is compared with GitHub's state, which names no pusher.
  const known = { snapshot: given, config, configDigest, merge, epoch }
  if (given.state !== 'open' && configFindings.length === 0)
    return { ...known, ...incomparable(standing), commands: await commandsOfClosed(standing, options) }
  if (merge.kind !== 'clean' || configFindings.length > 0) return { ...known, ...incomparable(standing) }

  const comparison = await compareTrees(standing, merge.tree, options)
  const unapproved = await readCheckInput(standing, comparison, options)
  const answered = await askChecks(allChecks, standing, unapproved, options)
  const judged = judge(answered, comparison.texts)
  const { outcomes, used } = override(judged, overridesOf(answered.records, answered.input))
  // Overrides are part of the merge commit's message, so they change its id.
  const named =
    used.length === 0 ? standing : { ...standing, merge: await mergeNaming(used, standing, options) }
  const required = await answerRequired(standing, options)
  return { ...known, merge: named.merge, ...decided(named, comparison, answered, outcomes, required) }
}

function mergeNaming(
  used: readonly Override[],
  { snapshot, config }: Standing,
  { repository }: ExamineOptions,
): Promise<MergeOutcome> {
  const message = mergeMessage(snapshot, config.merge.message, used)
  return repository.merge(snapshot.base, snapshot.head, message)
}

type Decided = Omit<Examination, 'snapshot' | 'config' | 'configDigest' | 'merge' | 'epoch'>

function judge({ input, answers, open }: Answered, texts: Texts): readonly CheckOutcome[] {
  return allChecks.map((check) => withOpenCommands(withFoundEnds(check.judge(input, answers), texts), open))
}

function decided(
  standing: Standing,
  { change, layout, paths, carried }: Comparison,
  { input, decisions, records, described }: Answered,
  outcomes: readonly CheckOutcome[],
  required: readonly RequiredAnswer[],
): Decided {
  const gate: GateInput = {
    ...gateOf(standing),
    changedPaths: paths.length,
    outcomes,
    required,
    heldBy: heldBy(records, input),
    requestedBy: mergeRequestedBy(records, input)?.login,
  }
  return {
    layout,
    change,
    ...(input.becoming && { becoming: input.becoming }),
    carried,
    gate,
    verdict: decide(gate),
    commands: decisions,
    records,
    described,
    isYesToThis: (record) => isYesTo(record, input),
  }
}

/** Reads required checks of other Apps last, because they change while the other questions are asked. */
async function answerRequired(
  { snapshot, config }: Standing,
  { ask }: ExamineOptions,
): Promise<readonly RequiredAnswer[]> {
  return Promise.all(
    askRequired(config.merge.requires, snapshot.head).map(async (question) => ({
      question,
      answer: (await ask(question)) as RequiredAnswer['answer'],
    })),
  )
}

/** Nothing can be merged, or the rules are unknown, so there is nothing to compare. */
function incomparable(standing: Standing): Decided {
  const { baseLayout, configFindings, onRecord } = standing
  const gate: GateInput = {
    ...gateOf(standing),
    changedPaths: 1,
    outcomes: configFindings.length > 0 ? [configOutcome(configFindings)] : [],
    heldBy: heldBy(onRecord, undefined),
  }
  return {
    layout: baseLayout,
    change: { paths: [], catalogs: [], references: [] },
    gate,
    verdict: decide(gate),
    commands: [],
    records: onRecord,
    isYesToThis: () => false,
  }
}

function gateOf({ snapshot, config, configDigest, merge }: Standing) {
  return { snapshot, config, configDigest, merge }
}

function configOutcome(findings: readonly Finding[]): CheckOutcome {
  return {
    check: 'ownership',
    findings,
    unanswered: [],
    waiting: [],
    summary: 'the configuration at the base branch',
  }
}

/** An undecided command may be a hold. */
function withOpenCommands(outcome: CheckOutcome, open: CheckOutcome['unanswered']): CheckOutcome {
  if (outcome.check !== 'ownership' || open.length === 0) return outcome
  return { ...outcome, unanswered: [...outcome.unanswered, ...open] }
}

function withFoundEnds(outcome: CheckOutcome, texts: Texts): CheckOutcome {
  const read = (path: string) => texts.read('result', path) ?? texts.read('base', path)
  return { ...outcome, findings: withEnds(outcome.findings, read) }
}
