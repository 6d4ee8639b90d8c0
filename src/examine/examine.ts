// One pull request's journey from a snapshot to a verdict: merge, compare, load, ask, judge, decide. Reads the world,
// changes nothing in it; the same for the App and for the command line.
import { approvalsFromReviews, coverage, ownerFilePaths } from '../checks/ownership/ownership.ts'
import { allChecks as checks } from '../checks/all-checks.ts'
import { allRules } from '../checks/all-rules.ts'
import type { CheckInput, CheckOutcome } from '../checks/check.ts'
import { questionKey, type Question } from '../checks/questions.ts'
import { withEnds } from '../catalog/positions/ends.ts'
import type { CarriedCommits } from '../change/carried-commits.ts'
import type { Change } from '../change/change.ts'
import type { Texts } from '../change/blob-text.ts'
import { describeChange, type CatalogPair } from '../change/describe-change.ts'
import type { BlobSha, TreeSha, UserId } from '../change/ids.ts'
import { catalogOf, foldersAbove, foldersOf, type Layout } from '../change/layout/layout.ts'
import type { PathChange } from '../change/path-change.ts'
import { mayListReferences } from '../change/references/reference-list.ts'
import { withNewCatalogs } from '../change/layout/recognise-layout.ts'
import type { Snapshot } from '../change/snapshot.ts'
import { configPath } from '../config/config-path.ts'
import { defaultConfig, findUnknownRules, parseConfig, type Config } from '../config/config.ts'
import type { Finding } from '../findings/finding.ts'
import {
  approvalsFromCommands,
  askCommands,
  decideCommands,
  heldBy,
  isYesTo,
  mergeRequestedBy,
  type CommandDecision,
  type CommandRecord,
} from '../gate/commands.ts'
import { decide, type GateInput, type MergeOutcome } from '../gate/decide.ts'
import type { Verdict } from '../gate/verdict.ts'
import { commitTitle } from '../messages/escape.ts'
import type { OpenPull } from '../ports/forge.ts'
import type { DescribedChange, PullMemory } from '../ports/pull-memory.ts'
import type { ReadTree, Repository } from '../ports/repository.ts'
import { isGitError } from '../git/git-error.ts'
import { agreedChanges, describedChange } from './agreed-changes.ts'
import { readText, type CatalogLoader } from './catalogs/catalog-loader.ts'
import { changedLinks } from './changed-links.ts'
import { closedPulls, mayMeetPulls, pullsMet, type MetPull } from './closed-pulls.ts'
import { findLayout } from './find-layout.ts'
import { tooMany, TooLarge, usualBudget, type LookBudget } from './looks/look-budget.ts'
import { lookAtTrees } from './look-at-trees.ts'
import { gatherAnswers, type Answer, type Ask } from './gather-answers.ts'
import { readTemplates } from './read-templates.ts'
import { packagesByDirectory } from './catalogs/packages-by-directory.ts'
import { publishedBundles } from './catalogs/published-bundles.ts'

export interface ExamineOptions {
  readonly repository: Repository
  readonly loader: CatalogLoader
  readonly ask: Ask
  /** What is remembered about this pull request: epochs, shown heads, commands. */
  readonly memory: PullMemory
  readonly stopped?: string | undefined
  /** The open pull requests of the repository. Absent: nobody can say, as in an offline check. */
  readonly openPulls?: () => Promise<readonly OpenPull[]>
  /** Whether the rules of the base branch demand that every commit is signed. */
  readonly demandsSignatures?: boolean
  /** What the look may cost. */
  readonly budget?: LookBudget
}

export interface Examination {
  readonly snapshot: Snapshot
  readonly config: Config
  readonly configDigest: string
  readonly layout: Layout
  readonly merge: MergeOutcome
  readonly change: Change
  /** The commits that landing would carry, and the other pull requests that they would close. Absent: it cannot land. */
  readonly carried?: { readonly commits: CarriedCommits; readonly met: readonly MetPull[] }
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

const nothingChanged: Change = { paths: [], catalogs: [], references: [] }

/**
 * Decides on one snapshot, whose commits must be in the repository already. Rejects with a GitError or StoreError, and
 * with TooLarge where the pull request is larger than its budget.
 */
export async function examine(given: Snapshot, options: ExamineOptions): Promise<Examination> {
  const { repository, memory, budget = usualBudget } = options
  const baseTree = await repository.treeOf(given.base)
  const { config, digest: configDigest, findings } = await readConfig(repository, baseTree)
  const snapshot = await withPusher(given, config, memory)
  const { head, baseRef } = snapshot
  const epoch = await memory.observe(snapshot.repository, snapshot.pull, {
    head,
    baseRef,
    config: configDigest,
  })
  // None of these waits for another's answer.
  const [merge, entries, onRecord] = await Promise.all([
    repository.merge(snapshot.base, snapshot.head, mergeMessage(snapshot)),
    repository.list(baseTree),
    memory.commands(snapshot.repository, snapshot.pull),
  ])
  const basePaths = entries.map((entry) => entry.path)
  const baseLayout = await findLayout(repository, entries, config.catalogs)
  const configFindings = isBehindLink(configPath, basePaths) ? findingsOf(notAFile) : findings
  // As it was given: landing compares it with what GitHub says then, which names no pusher.
  const known = { snapshot: given, config, configDigest, merge, epoch }
  const gate = { snapshot, config, configDigest, merge, stopped: options.stopped }
  if (merge.kind !== 'clean' || configFindings.length > 0) {
    const outcomes = configFindings.length > 0 ? [configOutcome(configFindings)] : []
    const whole = { ...gate, changedPaths: 1, outcomes, heldBy: heldBy(onRecord, undefined) }
    return {
      ...known,
      layout: baseLayout,
      change: nothingChanged,
      gate: whole,
      verdict: decide(whole),
      commands: [],
      records: onRecord,
      isYesToThis: () => false,
    }
  }

  const [paths, resultEntries, carried] = await Promise.all([
    repository.diff(baseTree, merge.tree),
    repository.list(merge.tree),
    findCarried(snapshot, options),
  ])
  if (paths.length > budget.changedPaths) throw tooMany(paths.length, 'changed paths', budget.changedPaths)
  const resultPaths = applied(basePaths, paths)
  const layout = withNewCatalogs(baseLayout, resultPaths, config.catalogs)
  const trees = new Map([
    [baseTree, entries],
    [merge.tree, resultEntries],
  ])
  const links = await changedLinks(lookAtTrees(repository, { trees, blobs: new Map() }), {
    base: baseTree,
    entries,
    result: merge.tree,
    differing: new Set(paths.map(({ path }) => path)),
  })
  const reading = [...paths, ...links.filter(({ path }) => isReadAsCatalog(path, layout))]
  const blobs = changedBlobs(repository, reading, layout, budget.changedBytes)
  const look = lookAtTrees(repository, { trees, blobs })
  const pulls = await closedPulls(carried.met, snapshot, {
    repository,
    look,
    memory,
    blockingLabels: config.merge.blockingLabels,
    baseTree,
    result: merge.tree,
  })
  const catalogs = await loadTouched(layout, reading, baseTree, merge.tree, look, options.loader)
  const texts = await changedTexts(reading, blobs)
  const change = describeChange({ paths: reading, layout, catalogs, texts })
  const places = { repository: look, loader: options.loader, tree: baseTree }
  const directories = await packagesByDirectory(change, layout, basePaths, places)
  const published = await publishedBundles(change, layout, basePaths, places)
  const ownerPaths = ownerFilePaths(basePaths, change)
  const seen = await memory.firstSeenReviews(
    snapshot.repository,
    snapshot.pull,
    epoch,
    snapshot.reviews.map(({ id }) => id),
  )
  // Logins stay with the account they were first seen with: a login can be given up and registered again (T25).
  const accounts = await memory.firstSeenAccounts(snapshot.repository, new Map())
  const seenNow = new Map<string, UserId>()
  const answered = new Map<string, Answer>()
  const allow = withinBudget(budget)
  const ask: Ask = async (question) => {
    const answer = await options.ask(question)
    // What nobody could say a moment ago may be known by the next round.
    if (answer.kind !== 'unknown') answered.set(questionKey(question), answer)
    if (question.kind === 'user' && answer.kind === 'person') seenNow.set(question.login, answer.person.id)
    return answer
  }
  const unapproved: CheckInput = {
    accounts,
    snapshot,
    config,
    configDigest,
    epoch,
    layout,
    change,
    basePaths,
    packagesByDirectory: directories,
    published,
    ownerFiles: await readOwnerFiles(look, { base: baseTree, result: merge.tree }, ownerPaths),
    approvals: [],
    carried: { ...carried.commits, pulls },
    demandsSignatures: options.demandsSignatures ?? false,
    templates: await readTemplates(change, layout, {
      links: links.map(({ path }) => path),
      repository: look,
      loader: options.loader,
      config,
      base: { tree: baseTree, paths: basePaths },
      result: { tree: merge.tree, paths: resultPaths },
    }),
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
  // Checks know again what they have judged: the same value, where there is nothing to judge anew.
  const input: CheckInput = approvals.length === 0 ? unapproved : { ...unapproved, approvals }
  const answers = await gatherAnswers(checks, input, ask, answered, allow)
  if (seenNow.size > 0) await memory.firstSeenAccounts(snapshot.repository, seenNow)
  const outcomes = checks.map((check) =>
    withOpenCommands(withFoundEnds(check.judge(input, answers), texts), open),
  )
  const whole = {
    ...gate,
    changedPaths: paths.length,
    outcomes,
    heldBy: heldBy(records, input),
    requestedBy: mergeRequestedBy(records, input)?.login,
  }
  return {
    ...known,
    layout,
    change,
    carried,
    gate: whole,
    verdict: decide(whole),
    commands: decisions,
    records,
    described,
    isYesToThis: (record) => isYesTo(record, input),
  }
}

/** Counts questions before any of them is asked: what does not fit into the budget costs nobody a request. */
function withinBudget(budget: LookBudget): (questions: readonly Question[]) => void {
  const asked = { people: new Set<string>(), images: new Set<string>() }
  return (questions) => {
    for (const question of questions) {
      const isImage = question.kind === 'image' || question.kind === 'bundle'
      asked[isImage ? 'images' : 'people'].add(questionKey(question))
    }
    if (asked.people.size > budget.people)
      throw tooMany(asked.people.size, 'questions to GitHub about people', budget.people)
    if (asked.images.size > budget.images)
      throw tooMany(asked.images.size, 'images to look up', budget.images)
  }
}

/**
 * The snapshot with who pushed its head, as our deliveries told (T24). The author stands for what they pushed once,
 * whoever pushed it again. Where deliveries told of other heads, that of this one was lost or has yet to come: nobody is
 * taken for its pusher. Where none ever told, as without webhooks, the configuration says whether that matters.
 */
async function withPusher(snapshot: Snapshot, config: Config, memory: PullMemory): Promise<Snapshot> {
  const { repository, pull, head, author } = snapshot
  if (snapshot.pusher !== undefined || memory.pushersOf === undefined) return snapshot
  const pushers = await memory.pushersOf(repository, pull, head)
  const pusher = pushers.find(({ id }) => id === author?.id) ?? pushers.at(-1)
  if (pusher !== undefined) return { ...snapshot, pusher }
  const waits = config.approvals.confirmUnknownPushes || (await memory.hasSeenPushes?.(repository, pull))
  return waits === true ? { ...snapshot, pusher: null } : snapshot
}

/** What the push would carry, and which other open pull requests it meets. */
async function findCarried(
  snapshot: Snapshot,
  { repository, openPulls }: ExamineOptions,
): Promise<NonNullable<Examination['carried']>> {
  const commits = await repository.carried(snapshot.base, snapshot.head)
  const open = openPulls !== undefined && mayMeetPulls(commits) ? await openPulls() : []
  return { commits, met: pullsMet(open, commits, snapshot) }
}

/** Both sides of every catalog that a path lies in. */
async function loadTouched(
  layout: Layout,
  paths: readonly PathChange[],
  baseTree: TreeSha,
  resultTree: TreeSha,
  repository: ReadTree,
  loader: CatalogLoader,
): Promise<readonly CatalogPair[]> {
  const folders = foldersOf(paths.map(({ path }) => path))
  const touched = layout.catalogs.filter(({ root }) => folders.has(root))
  return Promise.all(
    touched.map(async (catalog): Promise<CatalogPair> => {
      const [base, result] = await Promise.all([
        loader.load(repository, baseTree, catalog.root),
        loader.load(repository, resultTree, catalog.root),
      ])
      return { ...catalog, ...(base && { base }), ...(result && { result }) }
    }),
  )
}

/** The message of the merge commit that would land: a function of the snapshot, so the commit has one id. */
export function mergeMessage(snapshot: Snapshot): string {
  const title = commitTitle(snapshot.title)
  return `Merge pull request ${snapshot.pull}${title === '' ? '' : `: ${title}`}\n\nHead: ${snapshot.head}\n`
}

/** The configuration at a tree, with the id of what it came from. An unreadable one gives findings and closes the gate. */
export async function readConfig(
  repository: Repository,
  tree: TreeSha,
): Promise<{ config: Config; digest: string; findings: readonly Finding[] }> {
  const entry = await repository.entry(tree, configPath)
  if (entry === undefined) return { config: defaultConfig, digest: 'default', findings: [] }
  const text = entry.mode.startsWith('100') ? await readConfigText(repository, entry.oid) : notAFile
  const parsed = parseConfig(text)
  const findings = parsed.kind === 'config' ? findUnknownRules(text, ruleIds) : parsed.findings
  return {
    config: parsed.kind === 'config' ? parsed.config : defaultConfig,
    digest: entry?.oid ?? 'behind a link',
    findings,
  }
}

/** No configuration can be read from it. */
const notAFile = '- not a file'

function findingsOf(text: string): readonly Finding[] {
  const parsed = parseConfig(text)
  return parsed.kind === 'config' ? [] : parsed.findings
}

/** A directory that is a link, or a submodule, has the file on a checkout, and GitHub sees none: no absence to trust. */
function isBehindLink(path: string, paths: readonly string[]): boolean {
  const above = new Set(foldersAbove(path))
  return paths.some((other) => above.has(other))
}

/** What is too large to be read is not read as if nothing were there. */
async function readConfigText(repository: Repository, oid: BlobSha): Promise<string> {
  try {
    return new TextDecoder('utf-8', { ignoreBOM: true }).decode(await repository.read(oid, 1024 * 1024))
  } catch (error) {
    if (isGitError(error, 'too-large')) return '- larger than any configuration'
    throw error
  }
}

const ruleIds: ReadonlySet<string> = new Set(allRules.map(({ id }) => id))

function configOutcome(findings: readonly Finding[]): CheckOutcome {
  return {
    check: 'ownership',
    findings,
    unanswered: [],
    waiting: [],
    summary: 'the configuration at the base branch',
  }
}

/** Texts of owner files in both trees. Most are the same in both. */
async function readOwnerFiles(
  repository: ReadTree,
  trees: { readonly base: TreeSha; readonly result: TreeSha },
  paths: readonly string[],
): Promise<CheckInput['ownerFiles']> {
  const texts = new Map<BlobSha, Promise<string>>()
  const textOf = (oid: BlobSha): Promise<string> => {
    const text = texts.get(oid) ?? readText(repository, oid)
    texts.set(oid, text)
    return text
  }
  const readSide = async (tree: TreeSha): Promise<ReadonlyMap<string, string>> => {
    const found = await Promise.all(
      paths.map(async (path) => {
        const entry = await repository.entry(tree, path)
        const isFile = entry?.mode.startsWith('100') === true
        return isFile ? [[path, await textOf(entry.oid)] as const] : []
      }),
    )
    return new Map(found.flat())
  }
  const [base, result] = await Promise.all([readSide(trees.base), readSide(trees.result)])
  return { base, result }
}

/**
 * The bytes of every changed catalog file and list, before and after, by blob. Asked for all at once: each question that
 * waits for the answer to another one costs a way to git and back.
 */
function changedBlobs(
  repository: Repository,
  paths: readonly PathChange[],
  layout: Layout,
  mostBytes: number,
): ReadonlyMap<BlobSha, Promise<Uint8Array>> {
  let size = 0
  const read = async (oid: BlobSha) => {
    if (size > mostBytes) throw tooMuch(mostBytes)
    const bytes = await repository.read(oid)
    size += bytes.length
    if (size > mostBytes) throw tooMuch(mostBytes)
    return bytes
  }
  const wanted = new Set<BlobSha>()
  for (const { path, before, after } of paths) {
    if (!isReadAsCatalog(path, layout)) continue
    for (const entry of [before, after]) if (entry?.mode.startsWith('100')) wanted.add(entry.oid)
  }
  return new Map(
    [...wanted].map((oid) => {
      const bytes = read(oid)
      // Whoever waits for it is told; until somebody does, a failure is no end of the process.
      bytes.catch(() => undefined)
      return [oid, bytes]
    }),
  )
}

/** Whether what stands at a path is read for what it says of packages and images. */
function isReadAsCatalog(path: string, layout: Layout): boolean {
  return catalogOf(path, layout) !== undefined || mayListReferences(path)
}

function tooMuch(mostBytes: number): TooLarge {
  return new TooLarge(`its changed files have more than ${Math.floor(mostBytes / 1024 / 1024)} MB together`)
}

/** What tells an edited bundle from a moved one. */
async function changedTexts(
  paths: readonly PathChange[],
  blobs: ReadonlyMap<BlobSha, Promise<Uint8Array>>,
): Promise<Texts> {
  const read = new Map(await Promise.all([...blobs].map(async ([oid, bytes]) => [oid, await bytes] as const)))
  const sides = {
    base: new Map(paths.map(({ path, before }) => [path, before])),
    result: new Map(paths.map(({ path, after }) => [path, after])),
  }
  return {
    read: (side, path) => {
      const entry = sides[side].get(path)
      return entry?.mode.startsWith('100') === true ? read.get(entry.oid) : undefined
    },
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

function applied(basePaths: readonly string[], changes: readonly PathChange[]): readonly string[] {
  const paths = new Set(basePaths)
  for (const { path, after } of changes)
    if (after === undefined) paths.delete(path)
    else paths.add(path)
  return [...paths].sort()
}
