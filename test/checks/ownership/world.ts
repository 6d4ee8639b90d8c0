// A world for ownership: a real git repository, its mirror, and a GitHub that knows accounts, teams and roles.
// Pull requests are judged as the app does it: merge result against base tip, owner files of the base, ask and judge
// until nothing new is asked, then the gate with every other check passed.
import { join } from 'node:path'
import { describeChange } from '../../../src/change/describe-change.ts'
import { commitSha, userId } from '../../../src/change/ids.ts'
import type { CommitSha, TreeSha, UserId } from '../../../src/change/ids.ts'
import { withFirstCatalogs } from '../../../src/change/layout/first-catalogs.ts'
import { recogniseLayout, withNewCatalogs } from '../../../src/change/layout/recognise-layout.ts'
import { mayListReferences } from '../../../src/change/references/reference-list.ts'
import { catalogOf } from '../../../src/change/layout/layout.ts'
import type { Person, Review, Snapshot } from '../../../src/change/snapshot.ts'
import type { Approval } from '../../../src/checks/approval.ts'
import type { CheckInput, CheckOutcome } from '../../../src/checks/check.ts'
import {
  approvalsFromReviews,
  coverage,
  ownerFilePaths,
  ownership,
} from '../../../src/checks/ownership/ownership.ts'
import { answersFrom, questionKey } from '../../../src/checks/questions.ts'
import type { AnswerTo, Question } from '../../../src/checks/questions.ts'
import { configPath } from '../../../src/config/config-path.ts'
import { parseConfig } from '../../../src/config/config.ts'
import type { Config } from '../../../src/config/config.ts'
import { decide } from '../../../src/gate/decide.ts'
import type { Verdict } from '../../../src/gate/verdict.ts'
import { openMirror } from '../../../src/git/mirror.ts'
import type { Mirror } from '../../../src/git/mirror.ts'
import { aSnapshot, outcomesWith, passed } from '../../gate/build.ts'
import { originIn, temporary } from '../../git/origin.ts'
import type { Files, Origin } from '../../git/origin.ts'
import { readCatalog } from './blobs.ts'

type Answer = AnswerTo[keyof AnswerTo]
export const unknown = (reason = 'GitHub answered 503'): Answer => ({
  kind: 'unknown',
  reason,
  retryAfter: 30,
})

/** Accounts, teams and roles; whatever is not in it does not exist. */
export class People {
  readonly accounts = new Map<string, Person>()
  readonly teams = new Map<string, Set<UserId>>()
  readonly roles = new Map<UserId, 'none' | 'read' | 'triage' | 'write' | 'maintain' | 'admin'>()
  /** Questions that GitHub does not answer now. */
  fails: (question: Question) => Answer | undefined = () => undefined
  #next = 1000

  person(login: string): Person {
    const known = this.accounts.get(login.toLowerCase())
    if (known) return known
    const made: Person = {
      id: userId((this.#next += 1)),
      login,
      kind: login.endsWith('[bot]') ? 'bot' : 'user',
    }
    this.accounts.set(login.toLowerCase(), made)
    return made
  }

  answer(question: Question): Answer {
    const failure = this.fails(question)
    if (failure) return failure
    switch (question.kind) {
      case 'user': {
        const person = this.accounts.get(question.login)
        return person ? { kind: 'person', person } : { kind: 'nobody' }
      }
      case 'team-member':
        return this.teams.get(`${question.organization}/${question.team}`)?.has(question.user)
          ? { kind: 'yes' }
          : { kind: 'no' }
      case 'role':
        return { kind: 'role', role: this.roles.get(question.user) ?? 'read' }
      case 'comment':
        return { kind: 'unedited' }
      case 'branch':
        return { kind: 'no' }
      case 'image':
      case 'bundle':
      case 'install':
      case 'check-run':
        throw new Error('ownership asks for no images and checks')
    }
  }
}

export interface Judged {
  readonly input: CheckInput
  readonly outcome: CheckOutcome
  readonly verdict: Verdict
  readonly asked: readonly Question[]
  /** Rules of the findings, each once, sorted. */
  readonly rules: readonly string[]
}

/** Asks and judges until nothing new is asked. */
export function judgeInput(input: CheckInput, people: People): Omit<Judged, 'verdict'> {
  const known = new Map<string, Answer>()
  const asked: Question[] = []
  for (let round = 0; ; round += 1) {
    const fresh = ownership
      .ask(input, answersFrom(known))
      .filter((question) => !known.has(questionKey(question)))
    if (fresh.length === 0) break
    if (round > 6) throw new Error('it never stops asking')
    for (const question of fresh) {
      asked.push(question)
      known.set(questionKey(question), people.answer(question))
    }
  }
  const outcome = ownership.judge(input, answersFrom(known))
  return { input, outcome, asked, rules: [...new Set(outcome.findings.map(({ rule }) => rule))].sort() }
}

export interface PullOptions {
  readonly author?: string | Person | null
  readonly snapshot?: Partial<Snapshot>
  readonly approvals?: readonly Approval[]
  readonly reviews?: readonly Review[]
  readonly epoch?: number
  readonly accounts?: ReadonlyMap<string, UserId>
  readonly packagesByDirectory?: ReadonlyMap<string, readonly string[]>
  readonly configDigest?: string
}

export class World {
  people = new People()
  readonly origin: Origin
  readonly mirror: Mirror
  readonly #remove: () => void

  constructor(origin: Origin, mirror: Mirror, remove: () => void) {
    this.origin = origin
    this.mirror = mirror
    this.#remove = remove
  }

  async close(): Promise<void> {
    await this.mirror.close()
    this.#remove()
  }

  /** Judges a pull request whose head is `head` against the base tip `base`. */
  async judge(base: CommitSha, head: CommitSha, options: PullOptions = {}): Promise<Judged> {
    const merge = await this.mirror.merge(base, head, 'Merge pull request #7')
    const author =
      typeof options.author === 'string' ? this.people.person(options.author) : (options.author ?? null)
    const snapshot: Snapshot = {
      ...aSnapshot(),
      author,
      head,
      base,
      reviews: options.reviews ?? [],
      ...options.snapshot,
    }
    if (merge.kind !== 'clean') {
      const verdict = this.#decide(snapshot, parseConfigOf(undefined), merge, 0, passed('ownership'))
      return { input: undefined as never, outcome: passed('ownership'), verdict, asked: [], rules: [] }
    }
    const baseTree = await this.mirror.treeOf(base)
    const basePaths = (await this.mirror.list(baseTree)).map(({ path }) => path)
    const config = parseConfigOf(await this.#text(baseTree, configPath))
    const resultPaths = (await this.mirror.list(merge.tree)).map(({ path }) => path)
    const before = recogniseLayout(basePaths, config.catalogs)
    const layout =
      before.catalogs.length > 0
        ? withNewCatalogs(before, resultPaths, config.catalogs)
        : withFirstCatalogs(before, recogniseLayout(resultPaths, []), basePaths)
    const paths = await this.mirror.diff(baseTree, merge.tree)
    const roots = new Set(paths.flatMap(({ path }) => catalogOf(path, layout)?.root ?? []))
    const trees = { base: baseTree, result: merge.tree }
    const texts = new Map<string, Uint8Array>()
    const inCatalogs = paths.filter(
      ({ path }) => /\.(?:ya?ml|json)$/.test(path) && (catalogOf(path, layout) || mayListReferences(path)),
    )
    for (const [side, tree] of Object.entries(trees))
      for (const { path } of inCatalogs) {
        const bytes = await this.#bytes(tree, path)
        if (bytes) texts.set(`${side} ${path}`, bytes)
      }
    const catalogs = []
    for (const root of roots)
      catalogs.push({
        root,
        base: readCatalog(await this.#files(baseTree, root)),
        result: readCatalog(await this.#files(merge.tree, root)),
      })
    const change = describeChange({
      paths,
      layout,
      catalogs,
      texts: { read: (side, path) => texts.get(`${side} ${path}`) },
    })
    const files = { base: new Map<string, string>(), result: new Map<string, string>() }
    for (const path of ownerFilePaths(basePaths, change)) {
      const before = await this.#text(baseTree, path)
      if (before !== undefined) files.base.set(path, before)
      const after = await this.#text(merge.tree, path)
      if (after !== undefined) files.result.set(path, after)
    }
    const { approvals = [], epoch, accounts, packagesByDirectory, configDigest } = options
    const input: CheckInput = {
      snapshot,
      config,
      layout,
      change,
      basePaths,
      ownerFiles: files,
      approvals: [],
      ...(epoch !== undefined && { epoch }),
      ...(accounts && { accounts }),
      ...(packagesByDirectory && { packagesByDirectory }),
      ...(configDigest !== undefined && { configDigest }),
    }
    // Whoever says yes here sees what is judged, unless the test says what else they saw.
    const covers = coverage(input)
    const agreed = new Map(snapshot.reviews.map(({ id }) => [id, covers]))
    const reviewed = approvalsFromReviews(snapshot, epoch ?? 0, new Map(), agreed)
    const judged = judgeInput(
      { ...input, approvals: [...reviewed, ...approvals.map((each) => ({ covers, ...each }))] },
      this.people,
    )
    return { ...judged, verdict: this.#decide(snapshot, config, merge, paths.length, judged.outcome) }
  }

  #decide(
    snapshot: Snapshot,
    config: Config,
    merge: Parameters<typeof decide>[0]['merge'],
    changedPaths: number,
    outcome: CheckOutcome,
  ): Verdict {
    return decide({
      snapshot,
      config,
      configDigest: 'digest',
      merge,
      changedPaths,
      outcomes: outcomesWith(outcome),
    })
  }

  /** A base commit and a head on top of it, from whole trees; then judges. */
  async pull(base: Files, head: Files, options: PullOptions = {}): Promise<Judged> {
    const from = this.origin.commit(base)
    return this.judge(from, this.origin.commit(head, [from]), options)
  }

  review(login: string, head: CommitSha, more: Partial<Review> = {}): Review {
    return {
      id: (this.#reviews += 1),
      author: this.people.person(login),
      state: 'approved',
      commit: head,
      submittedAt: `2026-01-01T00:00:${String(this.#reviews % 60).padStart(2, '0')}Z`,
      ...more,
    }
  }
  #reviews = 0

  async #files(tree: TreeSha, root: string): Promise<ReadonlyMap<string, string>> {
    const files = new Map<string, string>()
    for (const { path, oid, mode } of await this.mirror.list(tree, root))
      if (mode === '100644')
        files.set(path.slice(root.length + 1), new TextDecoder().decode(await this.mirror.read(oid)))
    return files
  }

  async #bytes(tree: TreeSha, path: string): Promise<Uint8Array | undefined> {
    const entry = await this.mirror.entry(tree, path)
    return entry && entry.mode !== '160000' ? this.mirror.read(entry.oid) : undefined
  }

  async #text(tree: TreeSha, path: string): Promise<string | undefined> {
    const bytes = await this.#bytes(tree, path)
    return bytes && new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes)
  }
}

export async function openWorld(name: string): Promise<World> {
  const folder = temporary(`ownership-${name}`)
  const directory = join(folder.path, 'mirror.git')
  const mirror = await openMirror({
    directory,
    url: `file://${directory}`,
    credential: async () => undefined,
  })
  // Commits are made where they are read: what is judged is no matter of how it was fetched.
  return new World(originIn(directory), mirror, folder.remove)
}

export const anyHead = commitSha('a'.repeat(40))

function parseConfigOf(text: string | undefined): Config {
  const parsed = parseConfig(text)
  if (parsed.kind === 'unreadable') throw new Error(parsed.findings[0]?.what)
  return parsed.config
}
