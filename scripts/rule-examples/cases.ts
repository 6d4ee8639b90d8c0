// The examples of rules: fixtures/rules/<id>/{good,bad}/<why>/, where the folder name is the reason. The contents
// depend on the subject of the rule: a catalog, a bundle, or a pull request. A pull request consists of the trees
// `base/` and `result/`, and of `shown/base/` and `shown/result/` if catalog-bot's comment showed reviewers a
// different change. A line that ends in `# <id>` must have a finding of that rule. In the .indexignore of a bad case,
// such a line represents the whole catalog. `_case.json` contains settings that files cannot express, and is not part
// of the example.
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { allRules } from '../../src/checks/all-rules.ts'
import type { CatalogSizeLimits } from '../../src/checks/validation/catalog-rule.ts'
import type { RuleSubjectKind } from '@catalog-bot/findings/rule'

const ruleFixturesDirectory = join(import.meta.dirname, '../../fixtures/rules')

/** The contents of `_case.json`. */
export interface ExampleCaseSettings {
  /** Lower limits, for examples that cannot practically reach the real ones. */
  readonly limits?: Partial<CatalogSizeLimits>
  /** Rules that unavoidably also have findings, each with the reason. */
  readonly alongside?: Readonly<Record<string, string>>
  /** Bundle files that are too large to store: the path, and the number of incompressible bytes. */
  readonly noise?: Readonly<Record<string, number>>
  /** Like the previous field, but with highly compressible bytes. */
  readonly padding?: Readonly<Record<string, number>>
  /** The labels of the bundle image. */
  readonly labels?: Readonly<Record<string, string>>
  /** The author of the pull request. Default: `alice`. */
  readonly author?: string
  /** The user who pushed its head. */
  readonly pusher?: string
  /** Reviews of its head, by login. */
  readonly reviews?: Readonly<Record<string, 'approved' | 'changes-requested'>>
  /** File modes of the result, by path. */
  readonly modes?: Readonly<Record<string, string>>
  /** Accounts that do not exist. */
  readonly nobody?: readonly string[]
  /** Accounts that had another ID when they were first seen. */
  readonly renamed?: Readonly<Record<string, number>>
  /** Registry answers by reference. An image that is not listed exists under its digest. */
  readonly images?: Readonly<Record<string, object>>
  /** Contents of bundle images by reference. Images that are not listed cannot be opened. */
  readonly bundles?: Readonly<Record<string, object>>
  /** The commits that the merge would add, newest first, starting with the head. Default: one ordinary commit. */
  readonly commits?: readonly ExampleCommit[]
  /** The number of additional older commits, all ordinary. */
  readonly olderCommits?: number
  /** Whether the rules of the base branch require signed commits. */
  readonly demandsSignatures?: boolean
  /** Other open pull requests, by number. The folder `pulls/<number>/` is the tree that each of them would merge. */
  readonly openPulls?: Readonly<Record<string, ExamplePullRequest>>
}

/** A commit, as far as it differs from an ordinary one: signed, with a message that closes nothing. */
export interface ExampleCommit {
  readonly message?: string
  /** The encoding header. Absent by default. */
  readonly encoding?: string
  readonly isSigned?: boolean
  readonly editsWorkflows?: boolean
  /** The files in the commit, by path, with their sizes in bytes. */
  readonly files?: Readonly<Record<string, number>>
  /** The open pull request that has this commit as its head. */
  readonly headOf?: number
}

/** Another open pull request. By default it has the same base branch and is not a draft. */
export interface ExamplePullRequest {
  readonly author: string
  readonly baseRef?: string
  readonly draft?: boolean
  readonly labels?: readonly string[]
}

export interface ExampleCase {
  readonly id: string
  readonly judges: RuleSubjectKind
  readonly kind: 'good' | 'bad'
  /** The folder name: the reason why it is good or bad. */
  readonly why: string
  readonly directory: string
  readonly settings: ExampleCaseSettings
  /** Lines that must have a finding, as `file:line rule`, or `rule` for the whole example. Sorted. */
  readonly marked: readonly string[]
}

export const exampleCaseSettingsFileName = '_case.json'

/** Every case in a folder of fixtures, by rule. */
export function readExampleCases(root = ruleFixturesDirectory): ExampleCase[] {
  return listFolders(root).flatMap((id) => readExampleCasesForRule(id, root))
}

/** The cases of one rule, good cases first. */
export function readExampleCasesForRule(id: string, root = ruleFixturesDirectory): ExampleCase[] {
  return (['good', 'bad'] as const).flatMap((kind) =>
    listFolders(join(root, id, kind)).map((why) => readExampleCase(root, id, kind, why)),
  )
}

const subjectKindByRuleId = new Map(allRules.map(({ id, judges }) => [id, judges]))

function readExampleCase(root: string, id: string, kind: 'good' | 'bad', why: string): ExampleCase {
  const directory = join(root, id, kind, why)
  const settings = join(directory, exampleCaseSettingsFileName)
  const judges = subjectKindByRuleId.get(id) ?? 'catalog'
  // A pull request is judged by the tree that would merge.
  const marked = judges === 'pull request' ? join(directory, 'result') : directory
  return {
    id,
    judges,
    kind,
    why,
    directory,
    settings: existsSync(settings) ? (JSON.parse(readFileSync(settings, 'utf8')) as ExampleCaseSettings) : {},
    marked: listFilesRecursively(marked)
      .flatMap((file) => readExpectedFindingMarkers(file, join(marked, file)))
      .sort(),
  }
}

/** All files in a folder, including links, with `/` as the separator. Sorted. */
export function listFilesRecursively(directory: string): string[] {
  if (!existsSync(directory)) return []
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory() && entry.name !== exampleCaseSettingsFileName)
    .map((entry) => join(entry.parentPath, entry.name).slice(directory.length + 1))
    .sort()
}

function readExpectedFindingMarkers(file: string, path: string): string[] {
  if (!existsSync(path)) return []
  return readFileSync(path, 'utf8')
    .split('\n')
    .flatMap((line, index) => {
      const id = /# (?<id>[a-z][a-z0-9-]*)$/.exec(line)?.groups?.id
      if (id === undefined || !subjectKindByRuleId.has(id)) return []
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
