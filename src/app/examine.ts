// One pull request's journey from a snapshot to a verdict: merge, compare, load, ask, judge, decide. Reads the world,
// changes nothing in it; the same for the App and for the command line.
import { approvalsFromReviews, ownerFilePaths } from '../checks/ownership/ownership.ts'
import { allChecks as checks } from '../checks/all-checks.ts'
import { allRules } from '../checks/all-rules.ts'
import type { CheckInput, CheckOutcome } from '../checks/check.ts'
import { questionKey } from '../checks/questions.ts'
import { withEnds } from '../catalog/ends.ts'
import type { Change } from '../change/change.ts'
import type { Texts } from '../change/blob-text.ts'
import { describeChange, type CatalogPair } from '../change/describe-change.ts'
import type { BlobSha, TreeSha, UserId } from '../change/ids.ts'
import { catalogOf, foldersOf, type Layout } from '../change/layout.ts'
import type { PathChange } from '../change/path-change.ts'
import { mayListReferences } from '../change/reference-list.ts'
import { withNewCatalogs } from '../change/recognise-layout.ts'
import type { Snapshot } from '../change/snapshot.ts'
import { configPath } from '../config/config-path.ts'
import { defaultConfig, findUnknownRules, parseConfig, type Config } from '../config/config.ts'
import type { Finding } from '../findings/finding.ts'
import {
  approvalsFromCommands,
  askCommands,
  decideCommands,
  heldBy,
  mergeRequestedBy,
  type CommandDecision,
  type CommandRecord,
} from '../gate/commands.ts'
import { decide, type MergeOutcome } from '../gate/decide.ts'
import type { Verdict } from '../gate/verdict.ts'
import { commitTitle } from '../messages/escape.ts'
import type { PullMemory } from '../ports/pull-memory.ts'
import type { ReadTree, Repository } from '../ports/repository.ts'
import { isGitError } from '../git/git-error.ts'
import { readText, type CatalogLoader } from './catalog-loader.ts'
import { findLayout } from './find-layout.ts'
import { lookAtTrees } from './look-at-trees.ts'
import { gatherAnswers, type Answer, type Ask } from './gather-answers.ts'
import { readTemplates } from './read-templates.ts'
import { packagesByDirectory } from './packages-by-directory.ts'
import { publishedBundles } from './published-bundles.ts'

export interface ExamineOptions {
  readonly repository: Repository
  readonly loader: CatalogLoader
  readonly ask: Ask
  /** What is remembered about this pull request: epochs, shown heads, commands. */
  readonly memory: PullMemory
  readonly stopped?: string | undefined
}

export interface Examination {
  readonly snapshot: Snapshot
  readonly config: Config
  readonly configDigest: string
  readonly layout: Layout
  readonly merge: MergeOutcome
  readonly change: Change
  readonly verdict: Verdict
  readonly epoch: number
  /** Commands in comments that were decided on now: to be recorded and answered. */
  readonly commands: readonly CommandDecision[]
  /** All commands on record, the new ones included. */
  readonly records: readonly CommandRecord[]
}

const nothingChanged: Change = { paths: [], catalogs: [], references: [] }

/** Decides on one snapshot, whose commits must be in the repository already. Rejects with a GitError or StoreError. */
export async function examine(given: Snapshot, options: ExamineOptions): Promise<Examination> {
  const { repository, memory } = options
  const baseTree = await repository.treeOf(given.base)
  const { config, digest: configDigest, findings: configFindings } = await readConfig(repository, baseTree)
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
  // As it was given: landing compares it with what GitHub says then, which names no pusher.
  const known = { snapshot: given, config, configDigest, merge, epoch }
  const gate = { snapshot, config, configDigest, merge, stopped: options.stopped }
  if (merge.kind !== 'clean' || configFindings.length > 0) {
    const outcomes = configFindings.length > 0 ? [configOutcome(configFindings)] : []
    const verdict = decide({ ...gate, changedPaths: 1, outcomes, heldBy: heldBy(onRecord)?.login })
    return { ...known, layout: baseLayout, change: nothingChanged, verdict, commands: [], records: onRecord }
  }

  const [paths, resultEntries] = await Promise.all([
    repository.diff(baseTree, merge.tree),
    repository.list(merge.tree),
  ])
  const resultPaths = applied(basePaths, paths)
  const layout = withNewCatalogs(baseLayout, resultPaths, config.catalogs)
  const blobs = changedBlobs(repository, paths, layout)
  const trees = new Map([
    [baseTree, entries],
    [merge.tree, resultEntries],
  ])
  const look = lookAtTrees(repository, { trees, blobs })
  const catalogs = await loadTouched(layout, paths, baseTree, merge.tree, look, options.loader)
  const texts = await changedTexts(paths, blobs)
  const change = describeChange({ paths, layout, catalogs, texts })
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
    templates: await readTemplates(change, layout, {
      repository: look,
      loader: options.loader,
      config,
      base: { tree: baseTree, paths: basePaths },
      result: { tree: merge.tree, paths: resultPaths },
    }),
  }
  const shown = await memory.shownHeads(snapshot.repository, snapshot.pull)
  const recent = await memory.recentCommands?.(snapshot.repository)
  const commandInput = { check: unapproved, shown, records: onRecord, ...(recent && { recent }) }
  const asked = await gatherAnswers(
    [{ ask: (_input, answers) => askCommands(commandInput, answers) }, ...checks],
    unapproved,
    ask,
  )
  const { decisions } = decideCommands(commandInput, asked)
  const records = [...onRecord, ...decisions.map(({ record }) => record)]
  const approvals = [
    ...approvalsFromReviews(snapshot, epoch, seen),
    ...approvalsFromCommands(records, snapshot.comments),
  ]
  // Checks know again what they have judged: the same value, where there is nothing to judge anew.
  const input: CheckInput = approvals.length === 0 ? unapproved : { ...unapproved, approvals }
  const answers = await gatherAnswers(checks, input, ask, answered)
  if (seenNow.size > 0) await memory.firstSeenAccounts(snapshot.repository, seenNow)
  const outcomes = checks.map((check) => withFoundEnds(check.judge(input, answers), texts))
  const verdict = decide({
    ...gate,
    changedPaths: paths.length,
    outcomes,
    heldBy: heldBy(records)?.login,
    requestedBy: mergeRequestedBy(records, input)?.login,
  })
  return { ...known, layout, change, verdict, commands: decisions, records }
}

/**
 * The snapshot with who pushed its head, as our deliveries told (T24). The author stands for what they pushed once,
 * whoever pushed it again. Where no delivery told, the configuration says whether that matters.
 */
async function withPusher(snapshot: Snapshot, config: Config, memory: PullMemory): Promise<Snapshot> {
  const { repository, pull, head, author } = snapshot
  if (snapshot.pusher !== undefined || memory.pushersOf === undefined) return snapshot
  const pushers = await memory.pushersOf(repository, pull, head)
  const pusher = pushers.find(({ id }) => id === author?.id) ?? pushers.at(-1)
  if (pusher !== undefined) return { ...snapshot, pusher }
  return config.approvals.confirmUnknownPushes ? { ...snapshot, pusher: null } : snapshot
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
  const text = entry.mode.startsWith('100') ? await readConfigText(repository, entry.oid) : '- not a file'
  const parsed = parseConfig(text)
  const findings = parsed.kind === 'config' ? findUnknownRules(text, ruleIds) : parsed.findings
  return { config: parsed.kind === 'config' ? parsed.config : defaultConfig, digest: entry.oid, findings }
}

/** What is too large to be read is not read as if nothing were there. */
async function readConfigText(repository: Repository, oid: BlobSha): Promise<string> {
  try {
    return new TextDecoder().decode(await repository.read(oid, 1024 * 1024))
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
): ReadonlyMap<BlobSha, Promise<Uint8Array>> {
  const wanted = new Set<BlobSha>()
  for (const { path, before, after } of paths) {
    if (catalogOf(path, layout) === undefined && !mayListReferences(path)) continue
    for (const entry of [before, after]) if (entry?.mode.startsWith('100')) wanted.add(entry.oid)
  }
  return new Map(
    [...wanted].map((oid) => {
      const bytes = repository.read(oid)
      // Whoever waits for it is told; until somebody does, a failure is no end of the process.
      bytes.catch(() => undefined)
      return [oid, bytes]
    }),
  )
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
