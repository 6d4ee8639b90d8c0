// Checks a change: lint and format of its files, layers, types, and the tests that import the changed files.
// Usage: npm run touched [-- --since REVISION]. By default, since the branch left main. Exits with 1 if a step fails.
// Imports do not show code that a test reaches only through a separate process. CI runs everything.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { startStepTimer } from './step-times.mjs'

const projectRoot = join(import.meta.dirname, '..')

/** Tests of files that are not imported, by the paths of these files. */
const testsByPathPattern: readonly (readonly [where: RegExp, tests: readonly string[]])[] = [
  [/^(?:docs\/rules|fixtures\/rules)\//, ['test/checks/rules.test.ts', 'test/scripts/rule-pages.test.ts']],
  [/^(?:docs|site)\//, ['test/docs']],
  [/^(?:ARCHITECTURE|CONTRIBUTING|README)\.md$/, ['test/docs']],
  [/^fixtures\/demo\//, ['test/stories/demo.test.ts']],
  [/^\.ci\//, ['test/scripts/reject-leftovers.test.ts']],
  [/^bin\//, ['test/cli/old-node.test.ts', 'test/cli/built-command.test.ts']],
  [/^src\/cli(?:\.ts|\/)/, ['test/cli']],
]
const isCodeFile = (file: string) => /\.[cm]?[jt]s$/.test(file)

export interface TouchedFilesCheckPlan {
  readonly lint: readonly string[]
  readonly format: readonly string[]
  /** Their importers' tests are run. */
  readonly imported: readonly string[]
  /** The test files and folders to run in addition. */
  readonly tests: readonly string[]
}

/** The steps to run for these files, given as paths from the root. */
export function planTouchedFilesChecks(files: readonly string[]): TouchedFilesCheckPlan {
  return {
    lint: files.filter(isCodeFile),
    format: files,
    imported: files.filter(
      (file) => /^(?:packages|src|sandbox|test|scripts|bench)\//.test(file) && isCodeFile(file),
    ),
    tests: [
      ...new Set(
        files.flatMap((file) =>
          testsByPathPattern.flatMap(([where, tests]) => (where.test(file) ? tests : [])),
        ),
      ),
    ],
  }
}

/** Files that differ from the merge base with `since`, and untracked files, without deleted ones. */
function listChangedFiles(since: string | undefined): string[] {
  const bases = since === undefined ? ['main', 'origin/main', 'HEAD'] : [since]
  const base = bases.map((name) => runGit('merge-base', 'HEAD', name)).find((found) => found !== undefined)
  if (base === undefined) throw new Error(`Git cannot find a common ancestor with ${bases.join(' or ')}`)
  const lists = [
    runGit('diff', '--name-only', '-z', '--diff-filter=d', base.trim()),
    runGit('ls-files', '-z', '--others', '--exclude-standard'),
  ]
  const files = lists.flatMap((list) => list?.split('\0') ?? []).filter((file) => file !== '')
  return [...new Set(files)].filter((file) => existsSync(join(projectRoot, file))).sort()
}

function runGit(...args: string[]): string | undefined {
  const { status, stdout } = spawnSync('git', args, {
    cwd: projectRoot,
    encoding: 'utf8',
    maxBuffer: 1 << 28,
  })
  return status === 0 ? stdout : undefined
}

/** The tests that import one of the files, directly or indirectly. */
function findTestsImporting(imported: readonly string[]): string[] {
  if (imported.length === 0) return []
  const { stdout } = spawnSync(
    process.execPath,
    [...jestArguments, '--listTests', '--findRelatedTests', ...imported],
    { cwd: projectRoot, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] },
  )
  return stdout.split('\n').filter((file) => file !== '')
}

const jestArguments = ['--no-warnings', 'node_modules/jest/bin/jest.js']

function main(): number {
  const { values } = parseArgs({ options: { since: { type: 'string' } } })
  const files = listChangedFiles(values.since)
  if (files.length === 0) {
    console.log('no files have changed')
    return 0
  }
  const { lint, format, imported, tests } = planTouchedFilesChecks(files)
  const related = [...new Set([...findTestsImporting(imported), ...tests])]
  const steps: readonly (readonly [name: string, command: string, args: readonly string[]])[] = [
    [
      'format',
      'npx',
      ['--no-install', 'prettier', '--check', '--ignore-unknown', '--log-level=warn', ...format],
    ],
    ...(lint.length > 0 ? [['lint', 'npx', ['--no-install', 'oxlint', ...lint]] as const] : []),
    ['layers', 'npm', ['run', '--silent', 'layers']],
    ['types', 'npm', ['run', '--silent', 'types']],
    ...(related.length > 0 ? [['tests', process.execPath, [...jestArguments, ...related]] as const] : []),
  ]
  console.log(`${files.length} files have changed`)
  const times = startStepTimer()
  const failed = steps.find(([name, command, args]) => {
    const { status } = spawnSync(command, args, { cwd: projectRoot, stdio: 'inherit' })
    times.end(name)
    return status !== 0
  })
  console.log(`\n${times.table()}`)
  if (failed) console.error(`${failed[0]} failed`)
  return failed ? 1 : 0
}

if (import.meta.main) process.exitCode = main()
