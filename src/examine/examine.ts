// One pull request's journey from a snapshot to a verdict, stage by stage, each stage a value that can be printed: stand on
// the base, compare, read, ask, judge, decide. Reads the world, changes nothing in it; the same for the App and for the
// command line.
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
  /** What catalogs become when the bundles of the change are added to them. Absent: it cannot land. */
  readonly becoming?: readonly Becoming[]
  /** The commits that landing would carry, and the other pull requests that they would close. Absent: it cannot land. */
  readonly carried?: Carried
  /** What the verdict was made of: whoever gives the same to decide() gets it again, with a permit of their own. */
  readonly gate: GateInput
  readonly verdict: Verdict
  readonly epoch: number
  /** Commands in comments that were decided on now: to be recorded and answered. */
  readonly commands: readonly CommandDecision[]
  /** All commands on record, the new ones included. */
  readonly records: readonly CommandRecord[]
  /** What the change does, as it is kept for those who agree to it; absent where it could not be worked out. */
  readonly described?: DescribedChange
  /** Whether what a command said yes to is what the change does now. */
  readonly isYesToThis: (record: CommandRecord) => boolean
}

/**
 * Decides on one snapshot, whose commits must be in the repository already. Rejects with a GitError or StoreError, and
 * with TooLarge where the pull request is larger than its budget.
 */
export async function examine(given: Snapshot, options: ExamineOptions): Promise<Examination> {
  const standing = await standOnBase(given, options.repository, options.memory)
  const { config, configDigest, configFindings, merge, epoch } = standing
  // The snapshot as it was given: landing compares it with what GitHub says then, which names no pusher.
  const known = { snapshot: given, config, configDigest, merge, epoch }
  if (given.state !== 'open' && configFindings.length === 0)
    return { ...known, ...incomparable(standing), commands: await commandsOfClosed(standing, options) }
  if (merge.kind !== 'clean' || configFindings.length > 0) return { ...known, ...incomparable(standing) }

  const comparison = await compareTrees(standing, merge.tree, options)
  const unapproved = await readCheckInput(standing, comparison, options)
  const answered = await askChecks(allChecks, standing, unapproved, options)
  const judged = judge(answered, comparison.texts)
  const { outcomes, used } = override(judged, overridesOf(answered.records, answered.input))
  // What was let pass stands in the message of the commit that lands, so that commit is another.
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

/** The fifth stage: each check's judgement of what it was told. */
function judge({ input, answers, open }: Answered, texts: Texts): readonly CheckOutcome[] {
  return allChecks.map((check) => withOpenCommands(withFoundEnds(check.judge(input, answers), texts), open))
}

/** The last stage: the verdict, with what it was made of. */
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

/** How the checks of other Apps stand that the configuration requires; asked last, for they change while others are asked. */
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

/** Where nothing would land, or nobody knows under which rules: there is nothing to compare. */
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

/** A command that cannot be decided on yet may be one that keeps the pull request back. */
function withOpenCommands(outcome: CheckOutcome, open: CheckOutcome['unanswered']): CheckOutcome {
  if (outcome.check !== 'ownership' || open.length === 0) return outcome
  return { ...outcome, unanswered: [...outcome.unanswered, ...open] }
}

/** Ends of what findings point at, in the files whose bytes are here: those that the pull request changes. */
function withFoundEnds(outcome: CheckOutcome, texts: Texts): CheckOutcome {
  const read = (path: string) => texts.read('result', path) ?? texts.read('base', path)
  return { ...outcome, findings: withEnds(outcome.findings, read) }
}
