// Measures the size of the project, and fails if it exceeds a limit: `npm run budgets`. A limit rises only with a feature, and its commit says so. After a
// change that makes something smaller, lower the limit to the new value, until it reaches the target.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { memoizePerObject } from '@catalog-bot/findings/memoize'

interface CodeSizeBudget {
  readonly name: string
  readonly limit: number
  readonly target: number
  readonly measure: (project: ProjectFiles) => number
}

/** The text of each TypeScript file, by path from the root. */
type ProjectFiles = ReadonlyMap<string, string>

const sourcePathPattern = /^(?:packages|src)\//
const toolPathPattern = /^(?:sandbox|simulate|scripts|bench)\//
const corePathPattern = /^src\/(?:evaluate|policy|merge)\//

const codeSizeBudgets: readonly CodeSizeBudget[] = [
  {
    name: 'lines of packages and src',
    limit: 108_661,
    target: 88_000,
    measure: countLines(sourcePathPattern),
  },
  { name: 'files of packages and src', limit: 585, target: 620, measure: countFiles(sourcePathPattern) },
  {
    name: 'lines of sandbox, simulate, scripts, and bench',
    limit: 28_241,
    target: 22_000,
    measure: countLines(toolPathPattern),
  },
  { name: 'lines of tests', limit: 84_518, target: 65_000, measure: countLines(/^test\//) },
  {
    name: 'lines of evaluate, policy, merge',
    limit: 8_407,
    target: 9_000,
    measure: countLines(corePathPattern),
  },
  { name: 'files of evaluate, policy, merge', limit: 41, target: 70, measure: countFiles(corePathPattern) },
  { name: 'functions above 60 lines', limit: 19, target: 25, measure: countFunctionsLongerThan(60) },
  { name: 'functions above 120 lines', limit: 0, target: 0, measure: countFunctionsLongerThan(120) },
]

function countLines(where: RegExp): CodeSizeBudget['measure'] {
  return (files) =>
    [...files].reduce((sum, [path, text]) => sum + (where.test(path) ? text.split('\n').length - 1 : 0), 0)
}

function countFiles(where: RegExp): CodeSizeBudget['measure'] {
  return (files) => [...files.keys()].filter((path) => where.test(path)).length
}

/** A function that contains other functions includes their lines. */
function countFunctionsLongerThan(lines: number): CodeSizeBudget['measure'] {
  return (files) => listFunctionLengths(files).filter((length) => length > lines).length
}

const listFunctionLengths = memoizePerObject((files: ProjectFiles): readonly number[] => {
  const lengths: number[] = []
  for (const [path, text] of files) {
    if (!sourcePathPattern.test(path)) continue
    const source = ts.createSourceFile(path, text, ts.ScriptTarget.ES2024)
    const getLine = (position: number) => source.getLineAndCharacterOfPosition(position).line
    const visit = (node: ts.Node): void => {
      if (ts.isFunctionLike(node)) lengths.push(getLine(node.end) - getLine(node.getStart(source)) + 1)
      ts.forEachChild(node, visit)
    }
    visit(source)
  }
  return lengths
})

function readProjectFiles(root: string): ProjectFiles {
  const paths = execFileSync('git', ['ls-files', '*.ts', '*.mts'], { cwd: root, encoding: 'utf8' })
  return new Map(
    paths
      .trim()
      .split('\n')
      .map((path) => [path, readFileSync(join(root, path), 'utf8')]),
  )
}

/** The measured values, and the budgets that they exceed. */
export function checkCodeSizeBudgets(files: ProjectFiles): {
  readonly table: string
  readonly exceeded: readonly string[]
} {
  const rows = codeSizeBudgets.map((budget) => ({ ...budget, value: budget.measure(files) }))
  return {
    table: rows
      .map(
        ({ name, value, limit, target }) =>
          `${String(value).padStart(8)}  limit ${String(limit).padStart(7)}  target ${String(target).padStart(6)}  ${name}\n`,
      )
      .join(''),
    exceeded: rows
      .filter(({ value, limit }) => value > limit)
      .map(({ name, value, limit }) => `${name}: ${value}, but at most ${limit} are allowed`),
  }
}

if (import.meta.main) {
  const { table, exceeded } = checkCodeSizeBudgets(readProjectFiles(join(import.meta.dirname, '..')))
  process.stdout.write(table)
  for (const problem of exceeded) process.stdout.write(`${problem}\n`)
  process.exitCode = exceeded.length === 0 ? 0 : 1
}
