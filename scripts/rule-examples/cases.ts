// The examples of rules: fixtures/rules/<id>/{good,bad}/<why>/, a folder whose name says why. What is in it depends on
// what the rule judges: a catalog, a bundle, or a pull request as the trees `base/` and `result/` (and `shown/base/` and
// `shown/result/`, where our comment showed its reviewers something else than it does now). A line that ends in
// `# <id>` must have a finding of that rule; in a bad case's .indexignore such a line stands for the whole catalog.
// `_case.json` says what files cannot; it is no part of the example.
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { allRules } from '../../src/checks/all-rules.ts'
import type { SizeLimits } from '../../src/checks/validation/limits.ts'
import type { RuleSubject } from '../../src/findings/rule.ts'

const fixturesRoot = join(import.meta.dirname, '../../fixtures/rules')

/** What `_case.json` may hold. */
export interface ExampleCaseSettings {
  /** Lower ceilings, that no example should reach in earnest. */
  readonly limits?: Partial<SizeLimits>
  /** Rules that cannot help finding something too, each with the reason why. */
  readonly alongside?: Readonly<Record<string, string>>
  /** Files of a bundle that are too large to keep: the path, and how many bytes that gzip cannot make smaller. */
  readonly noise?: Readonly<Record<string, number>>
  /** The same with bytes that gzip makes nothing of. */
  readonly padding?: Readonly<Record<string, number>>
  /** Labels of a bundle's image. */
  readonly labels?: Readonly<Record<string, string>>
  /** Who opened the pull request; `alice` where nothing is said. */
  readonly author?: string
  /** Who pushed its head. */
  readonly pusher?: string
  /** Reviews of its head, by login. */
  readonly reviews?: Readonly<Record<string, 'approved' | 'changes-requested'>>
  /** File modes of the result, by path. */
  readonly modes?: Readonly<Record<string, string>>
  /** Accounts that nobody has. */
  readonly nobody?: readonly string[]
  /** Accounts that had another id when they were first seen. */
  readonly renamed?: Readonly<Record<string, number>>
  /** What registries answer, by reference. An image that is not here is there, as its digest says. */
  readonly images?: Readonly<Record<string, object>>
  /** What bundle images hold, by reference; none is opened that is not here. */
  readonly bundles?: Readonly<Record<string, object>>
  /** The commits that landing would bring, newest first: its head. One with nothing special where nothing is said. */
  readonly commits?: readonly ExampleCommit[]
  /** So many older commits besides, with nothing special. */
  readonly olderCommits?: number
  /** The rules of the base branch demand signed commits. */
  readonly demandsSignatures?: boolean
  /** Other open pull requests, by number. The folder `pulls/<number>/` is the tree that each of them would land. */
  readonly openPulls?: Readonly<Record<string, ExamplePull>>
}

/** A commit, as far as it is not like every other one: signed, and with a message that closes nothing. */
export interface ExampleCommit {
  readonly message?: string
  /** The header of that name; none where nothing is said. */
  readonly encoding?: string
  readonly isSigned?: boolean
  readonly editsWorkflows?: boolean
  /** Files that it has, by path, and how many bytes each has. */
  readonly files?: Readonly<Record<string, number>>
  /** The open pull request whose head it is. */
  readonly headOf?: number
}

/** Another open pull request: for the same branch, and no draft, where nothing else is said. */
export interface ExamplePull {
  readonly author: string
  readonly baseRef?: string
  readonly draft?: boolean
  readonly labels?: readonly string[]
}

export interface ExampleCase {
  readonly id: string
  readonly judges: RuleSubject
  readonly kind: 'good' | 'bad'
  /** The folder's name: why it is good or bad. */
  readonly why: string
  readonly directory: string
  readonly settings: ExampleCaseSettings
  /** Lines that must have a finding, as `file:line rule`, or `rule` for the whole; sorted. */
  readonly marked: readonly string[]
}

export const caseSettingsFile = '_case.json'

/** Every case below a folder of fixtures, by rule. */
export function readExampleCases(root = fixturesRoot): ExampleCase[] {
  return listFolders(root).flatMap((id) => readRuleExampleCases(id, root))
}

/** The cases of one rule, good ones first. */
export function readRuleExampleCases(id: string, root = fixturesRoot): ExampleCase[] {
  return (['good', 'bad'] as const).flatMap((kind) =>
    listFolders(join(root, id, kind)).map((why) => readExampleCase(root, id, kind, why)),
  )
}

const subjectByRuleId = new Map(allRules.map(({ id, judges }) => [id, judges]))

function readExampleCase(root: string, id: string, kind: 'good' | 'bad', why: string): ExampleCase {
  const directory = join(root, id, kind, why)
  const settings = join(directory, caseSettingsFile)
  const judges = subjectByRuleId.get(id) ?? 'catalog'
  // A pull request is judged by what would land.
  const marked = judges === 'pull request' ? join(directory, 'result') : directory
  return {
    id,
    judges,
    kind,
    why,
    directory,
    settings: existsSync(settings) ? (JSON.parse(readFileSync(settings, 'utf8')) as ExampleCaseSettings) : {},
    marked: listFilesBelow(marked)
      .flatMap((file) => readExpectedFindingMarks(file, join(marked, file)))
      .sort(),
  }
}

/** Files below a folder, links among them, with `/` in their paths; sorted. */
export function listFilesBelow(directory: string): string[] {
  if (!existsSync(directory)) return []
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory() && entry.name !== caseSettingsFile)
    .map((entry) => join(entry.parentPath, entry.name).slice(directory.length + 1))
    .sort()
}

function readExpectedFindingMarks(file: string, path: string): string[] {
  if (!existsSync(path)) return []
  return readFileSync(path, 'utf8')
    .split('\n')
    .flatMap((line, index) => {
      const id = /# (?<id>[a-z][a-z0-9-]*)$/.exec(line)?.groups?.id
      if (id === undefined || !subjectByRuleId.has(id)) return []
      return [file === '.indexignore' ? id : `${file}:${index + 1} ${id}`]
    })
}

function listFolders(directory: string): string[] {
  if (!existsSync(directory)) return []
  return readdirSync(directory, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .sort()
}
